package endpoints

import (
	"fmt"
	"strings"
)

// toolThenUser refuses a message of a person right behind a tool's result.
func toolThenUser(no *Refusal) Check {
	return func(c *Call) *Refusal {
		before := ""
		for _, m := range objects(c.Body["messages"]) {
			role := str(m["role"])
			if role == "user" && before == "tool" {
				return no
			}
			before = role
		}
		return nil
	}
}

// alternates wants user and assistant in turn, as Jinja templates of older models do; tools are not counted.
func alternates(no *Refusal) Check {
	return func(c *Call) *Refusal {
		before := "assistant"
		for _, m := range objects(c.Body["messages"]) {
			role := str(m["role"])
			if role != "user" && role != "assistant" {
				continue
			}
			if _, called := m["tool_calls"]; called {
				continue
			}
			if role == before {
				return no
			}
			before = role
		}
		return nil
	}
}

// mistralIDs wants call ids of nine letters and digits.
func mistralIDs(c *Call) *Refusal {
	for _, m := range objects(c.Body["messages"]) {
		ids := []string{}
		if str(m["role"]) == "tool" {
			ids = append(ids, str(m["tool_call_id"]))
		}
		for _, k := range objects(m["tool_calls"]) {
			ids = append(ids, str(k["id"]))
		}
		for _, id := range ids {
			if !matches(`^[a-zA-Z0-9]{9}$`, id) {
				return mistral(400, "invalid_function_call", "3280", "Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", id)
			}
		}
	}
	return nil
}

// mistralOrder wants an assistant between a tool and a person, and nothing but a person or a tool at the end.
func mistralOrder(c *Call) *Refusal {
	messages := objects(c.Body["messages"])
	before := ""
	for _, m := range messages {
		role := str(m["role"])
		if role == "user" && before == "tool" {
			return mistral(400, "invalid_request_message_order", "3230", "Unexpected role 'user' after role 'tool'")
		}
		before = role
	}
	if before != "user" && before != "tool" {
		return mistral(400, "invalid_request_message_order", "3230", "Expected last role User or Tool (or Assistant with prefix True) for serving but got %s", before)
	}
	return nil
}

// sameIDs wants the ids of its own calls back as they were given out. In the chat in which a second provider stepped in there are others.
func sameIDs(no func(id string) *Refusal) Check {
	return func(c *Call) *Refusal {
		if strings.Contains(c.System, "direct:two") {
			return nil
		}
		for _, m := range c.Messages {
			for _, k := range m.Calls {
				if !c.memory.ours(k.ID) {
					return no(k.ID)
				}
			}
		}
		return nil
	}
}

// signatures wants the thought signature of the first call of each step of the turn, as it was given out with that call; a step of
// another model may have Google's placeholder.
func signatures(c *Call) *Refusal {
	for i, m := range c.Turn() {
		if len(m.Calls) == 0 {
			continue
		}
		k := m.Calls[0]
		extra, _ := k.Raw["extra_content"].(obj)
		own, _ := extra["google"].(obj)
		sig := str(own["thought_signature"])
		if sig == "skip_thought_signature_validator" {
			continue
		}
		if of, ok := c.memory.owner(sig); !ok || of != k.Name+k.Args {
			return google(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s` , position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", k.Name, i+2)
		}
	}
	return nil
}

// details wants OpenRouter's reasoning_details back, whole and in order, with the calls that they came with.
func details(no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		return assistants(c, func(i int, m obj) *Refusal {
			calls := objects(m["tool_calls"])
			if len(calls) == 0 {
				return nil
			}
			thought, ours := c.memory.thoughtOf(str(calls[0]["id"]))
			if !ours {
				return nil
			}
			for _, d := range objects(m["reasoning_details"]) {
				if of, ok := c.memory.owner(str(d["data"])); ok && of == thought {
					return nil
				}
			}
			return no(i)
		})
	}
}

func position(format string, make func(message string) *Refusal) func(int) *Refusal {
	return func(i int) *Refusal { return make(fmt.Sprintf(format, i)) }
}

// nullContent refuses an assistant message whose content is null or missing.
func nullContent(no *Refusal) Check {
	return func(c *Call) *Refusal {
		return assistants(c, func(_ int, m obj) *Refusal {
			if m["content"] == nil {
				return no
			}
			return nil
		})
	}
}

// emptyContent refuses an assistant message whose content is an empty text.
func emptyContent(no *Refusal) Check {
	return func(c *Call) *Refusal {
		return assistants(c, func(_ int, m obj) *Refusal {
			if m["content"] == "" {
				return no
			}
			return nil
		})
	}
}

// systemFirst refuses a system message that is not the first message.
func systemFirst(no *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, m := range objects(c.Body["messages"]) {
			if role := str(m["role"]); i > 0 && (role == "system" || role == "developer") {
				return no
			}
		}
		return nil
	}
}
