package endpoints

// wantsState refuses calls of the model that came without the state of its reasoning.
func wantsState(c *Call) *Refusal {
	return assistants(c, func(i int, m obj) *Refusal {
		if _, ours := c.memory.owner(str(m["reasoning_state"])); len(objects(m["tool_calls"])) > 0 && !ours && str(m["inner_thoughts"]) != "" {
			return invalid(nil, nil, "messages[%d].reasoning_state: Field required", i)
		}
		return nil
	})
}

// otherThoughts are whole answers with reasoning under rare names.
var otherThoughts = []Row{
	{ID: "reasoning-under-a-rare-name-in-a-whole-answer", Vendor: "any", Source: "https://docs.litellm.ai/docs/reasoning_content", Does: "gives reasoning and its state under names of its own in an answer that is no stream, and wants both back",
		Wire: ChatWire{Reasoning: "inner_thoughts", Whole: true, Answer: func(c *Call, whole obj) {
			for _, o := range objects(whole["choices"]) {
				if m, ok := o["message"].(obj); ok && m["tool_calls"] != nil {
					m["reasoning_state"] = c.memory.opaque("state")
				}
			}
		}}.Wire(), Checks: []Check{wantsState}, Want: Expectation{Sends: []string{`"inner_thoughts":"` + Musing, `"reasoning_state":"` + OpaqueMark}}},
}
