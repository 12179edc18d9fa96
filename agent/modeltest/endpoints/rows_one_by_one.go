package endpoints

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// firstTool refuses the first tool that has a fault, by its name.
func firstTool(isBad func(tool obj) bool, no func(name string) *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, t := range objects(c.Body["tools"]) {
			f := t
			if nested := function(t); nested != nil {
				f = nested
			}
			if isBad(f) {
				return no(str(f["name"]))
			}
		}
		return nil
	}
}

// parametersOf gives the schema of a tool's arguments.
func parametersOf(tool obj) obj {
	schema, ok := tool["parameters"].(obj)
	if !ok {
		schema, _ = tool["input_schema"].(obj)
	}
	return schema
}

// longDescription reports whether the description of a tool is longer than so many characters.
func longDescription(most int) func(obj) bool {
	return func(tool obj) bool { return utf8.RuneCountInString(str(tool["description"])) > most }
}

// anySchema reports whether a part of a tool's schema, below its top, has a fault.
func anySchema(isBad func(obj) bool) func(obj) bool {
	return func(tool obj) bool {
		return walk(parametersOf(tool), nil, func(path []string, s obj) bool { return len(path) > 0 && isBad(s) }) != nil
	}
}

// plainlyNamed calls the tool by the name that letters and digits leave of it.
func plainlyNamed(c *Call) Say {
	s := Usual(c)
	if s.Text == "I have no such tool." && slices.Contains(c.Tools, "sessionsList") {
		s.Text, s.Calls = "", []ToolCall{{Name: "sessionsList", Args: `{"limit":5}`}}
	}
	return s
}

// allTools is what people see of an endpoint that dislikes something of all tools, and names the first one: all stay.
func allTools(refused int, sends ...string) Expectation {
	return Expectation{Refused: refused, Sends: append(sends, `"name":"sessions_?[lL]ist"`)}
}

// oneByOne are endpoints that name the first tool with a fault that many have.
var oneByOne = []Row{
	{ID: "first-long-description", Vendor: "any", Source: "jan-janssen/LangSim#66", Does: "takes descriptions of tools of 200 characters, and names the first longer one",
		Checks: []Check{firstTool(longDescription(200), func(name string) *Refusal {
			return message(400, "Function '%s': description too long (max 200)", name)
		})}, Want: allTools(1)},
	{ID: "messages-first-long-description", API: Messages, Vendor: "a relay", Source: "jan-janssen/LangSim#66", Does: "takes descriptions of tools of 200 characters, and names the first longer one",
		Checks: []Check{firstTool(longDescription(200), func(name string) *Refusal {
			return claude(400, "invalid_request_error", "tool %s: description too long (max 200)", name)
		})}, Want: allTools(1)},
	{ID: "first-long-property", Vendor: "any", Source: "microsoft/genaiscript#1381", Does: "takes descriptions of arguments of 60 characters, and names the first longer one",
		Checks: []Check{firstTool(anySchema(longDescription(60)), func(name string) *Refusal {
			return message(400, "Function '%s': description of property 'search' exceeds 60 characters", name)
		})}, Want: allTools(1)},
	{ID: "responses-first-long-property", API: Responses, Vendor: "a gateway", Source: "microsoft/genaiscript#1381", Does: "takes descriptions of arguments of 60 characters, and names the first longer one",
		Checks: []Check{firstTool(anySchema(longDescription(60)), func(name string) *Refusal {
			return invalid("tools", "invalid_value", "Function '%s': description of property 'search' exceeds 60 characters", name)
		})}, Want: allTools(1)},
	{ID: "first-enum-by-name", Vendor: "any", Source: "anomalyco/opencode#43371", Does: "takes no list of values in a schema, and names tools that have one without a word for it",
		Checks: []Check{firstTool(anySchema(func(s obj) bool { return s["enum"] != nil }), func(name string) *Refusal {
			return message(400, "Function '%s': a choice is unsupported", name)
		})}, Want: allTools(4)},
	{ID: "first-without-required", Vendor: "any", Source: "microsoft/foundry-local#336", Does: "wants an argument that is required in each tool, and names the first one without",
		Checks: []Check{firstTool(func(tool obj) bool { l, _ := parametersOf(tool)["required"].(list); return len(l) == 0 }, func(name string) *Refusal {
			return message(400, "Function '%s': must have at least one required parameter", name)
		})}, Want: allTools(3)},
	{ID: "first-name-with-underscore", Vendor: "any", Source: "https://ai.google.dev/gemini-api/docs/function-calling", Does: "takes letters and digits in the names of tools, and names the first other one",
		Checks: []Check{firstTool(func(tool obj) bool { return strings.ContainsAny(str(tool["name"]), "_-.") }, func(name string) *Refusal {
			return message(400, "Function name '%s' is invalid: only letters and digits", name)
		})}, Mind: plainlyNamed, Want: allTools(1)},
}

// nameOf is the end of a turn whose request the endpoint refuses because of a setting that its words name.
func nameOf(setting string) Expectation {
	out := dies("rejects the form of my requests")
	out.Refused, out.Log = 6, "The setting `"+setting+"` of row/model-1 is the reason"
	return out
}

// namedSettings are endpoints whose refusals name what a setting adds to the way of a request, or leaves out of it.
var namedSettings = []Row{
	{ID: "unknown-beta-header", API: Messages, Vendor: "Anthropic", Source: "https://platform.claude.com/docs/en/api/beta-headers", Config: "headers: {anthropic-beta: invalid-beta-name}", Does: "names a header of the settings whose value it does not know",
		Checks: []Check{refusing(claude(400, "invalid_request_error", "Unexpected value(s) `invalid-beta-name` for the `anthropic-beta` header. Please consult our documentation at platform.claude.com/docs or try again without the header."))}, Want: nameOf(`headers\.Anthropic-Beta`)},
	{ID: "unknown-part-of-the-query", Vendor: "a gateway", Source: "https://platform.openai.com/docs/guides/error-codes", Config: "query: {profile: fast}", Does: "names a part of the query of the settings", Checks: []Check{refusing(message(400, "Unknown query parameter: profile"))}, Want: nameOf(`query\.profile`)},
	{ID: "system-off-against-a-system-message", Vendor: "any", Source: "https://huggingface.co/google/gemma-2-9b-it", Config: "system: off", Does: "wants a system message, which a setting forbids", Checks: []Check{func(c *Call) *Refusal {
		if systemless(refused)(c) == nil {
			return message(400, "a system message is required")
		}
		return nil
	}}, Want: nameOf("system: off")},
	{ID: "counts-more-than-estimated", Vendor: "vLLM", Source: "vllm-project/vllm#20409", Config: "contextWindow: 200000, maxTokens: 32000", Does: "counts twice the tokens that are estimated, and bounds prompt and answer together", Checks: []Check{func(c *Call) *Refusal {
		if c.pictures() > 0 {
			return nil
		}
		prompt := len(encode(c.Body)) / 2
		answer, _ := c.Body["max_tokens"].(float64)
		if all := prompt + int(answer); all > 32768 {
			return vllm(400, "This model's maximum context length is 32768 tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.", all, prompt, int(answer))
		}
		return nil
	}}, Want: Expectation{Refused: 2, Again: 1}},
}

// refused is any refusal.
var refused = message(400, "refused")

// oneTextBlock refuses a message that is a list of more than one text.
func oneTextBlock(no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, m := range objects(c.Body["messages"]) {
			n := 0
			for _, b := range objects(m["content"]) {
				if b["type"] == "text" {
					n++
				}
			}
			if n > 1 {
				return no(i)
			}
		}
		return nil
	}
}

// objectArguments refuses calls whose arguments are a text.
func objectArguments(no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, item := range objects(c.Body["input"]) {
			if _, isText := item["arguments"].(string); isText {
				return no(i)
			}
		}
		for i, m := range objects(c.Body["messages"]) {
			for _, call := range objects(m["tool_calls"]) {
				if _, isText := function(call)["arguments"].(string); isText {
					return no(i)
				}
			}
		}
		return nil
	}
}

// otherHistories are endpoints that want the history in another form.
var otherHistories = []Row{
	{ID: "messages-one-text-block", API: Messages, Vendor: "a relay", Source: "decolua/9router#2634", Does: "takes one text block in a message", Checks: []Check{oneTextBlock(func(i int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content: only one text block is allowed per message", i)
	})}, Want: Expectation{Refused: 1}},
	{ID: "arguments-as-an-object", Vendor: "vLLM", Source: "QwenLM/Qwen3-Coder#444", Does: "has a template that goes through arguments as an object", Lax: true, Checks: []Check{objectArguments(func(int) *Refusal {
		return vllm(400, "Can only get item pairs from a mapping.")
	})}, Want: Expectation{Refused: 1, Sends: []string{`"arguments":\{`}}},
	{ID: "arguments-as-an-object-by-pydantic", Vendor: "a FastAPI server", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#dict_type", Does: "wants arguments of calls as an object", Lax: true, Checks: []Check{objectArguments(func(i int) *Refusal {
		return fastAPI("dict_type", list{"body", "messages", i, "tool_calls", 0, "function", "arguments"}, "Input should be a valid dictionary", "{}")
	})}, Want: Expectation{Refused: 1, Sends: []string{`"arguments":\{`}}},
	{ID: "responses-arguments-as-an-object", API: Responses, Vendor: "a server in Go", Source: "https://pkg.go.dev/encoding/json#UnmarshalTypeError", Does: "wants arguments of calls as an object", Lax: true, Checks: []Check{objectArguments(func(i int) *Refusal {
		return invalid("input", nil, "json: cannot unmarshal string into Go struct field Item.input.arguments of type map[string]interface {}")
	})}, Want: Expectation{Refused: 1, Sends: []string{`"arguments":\{`}}},
	{ID: "refusal-of-messages-missing", Vendor: "a FastAPI server", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#missing", Does: "checks messages of the model as answers, which say what was refused", Lax: true, Checks: []Check{func(c *Call) *Refusal {
		for i, m := range objects(c.Body["messages"]) {
			if _, has := m["refusal"]; m["role"] == "assistant" && !has {
				return fastAPI("missing", list{"body", "messages", i, "refusal"}, "Field required", "x")
			}
		}
		return nil
	}}, Want: Expectation{Refused: 1, Sends: []string{`"refusal":null`}}},
}
