package endpoints

import "slices"

// noExtraFields refuses what chat completions do not document in a message.
// source: https://console.groq.com/docs/openai
func noExtraFields(c *Call) *Refusal {
	known := []string{"role", "content", "name", "tool_calls", "tool_call_id", "refusal"}
	for i, m := range objects(c.Body["messages"]) {
		for _, k := range sortedKeys(m) {
			if !slices.Contains(known, k) {
				return invalid(nil, nil, "'messages.%d' : for 'role:%s' the following must be satisfied[('messages.%d' : property '%s' is unsupported)]", i, m["role"], i, k)
			}
		}
		for n, k := range objects(m["tool_calls"]) {
			for _, key := range sortedKeys(k) {
				if !slices.Contains([]string{"id", "type", "function", "index"}, key) {
					return invalid(nil, nil, "'messages.%d.tool_calls.%d' : property '%s' is unsupported", i, n, key)
				}
			}
		}
	}
	return nil
}

// assistants gives the assistant messages of chat completions with their place in the request.
func assistants(c *Call, each func(i int, m obj) *Refusal) *Refusal {
	for i, m := range objects(c.Body["messages"]) {
		if str(m["role"]) != "assistant" {
			continue
		}
		if no := each(i, m); no != nil {
			return no
		}
	}
	return nil
}

// wantsReasoning refuses an assistant message with calls whose reasoning is missing, is empty, or is not the one that it came with.
func wantsReasoning(field string, no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		return assistants(c, func(i int, m obj) *Refusal {
			calls := objects(m["tool_calls"])
			if len(calls) == 0 {
				return nil
			}
			got, there := m[field].(string)
			if thought, ours := c.memory.thoughtOf(str(calls[0]["id"])); !there || got == "" || ours && thought != "" && got != thought {
				return no(i)
			}
			return nil
		})
	}
}
