package endpoints

// userOnly takes messages of the user alone, and says so about the first of another role.
func userOnly(refuse func(at int) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, m := range c.Messages {
			if m.Role != "user" {
				return refuse(i)
			}
		}
		return nil
	}
}

// userOnlies are servers whose messages are the user's alone.
var userOnlies = []Row{
	{ID: "responses-no-role-assistant", API: Responses, Vendor: "a server made from an API description", Source: "openai/openai-python#3722", Does: "takes input messages with the roles user, system and developer alone", Lax: true,
		Checks: []Check{userOnly(func(int) *Refusal {
			return raw(400, `{"error":{"message":"input[1]: role 'assistant' is not allowed in input messages","type":"invalid_request_error"}}`)
		})}, Want: Expectation{Refused: 1, Sends: []string{`you answered; what stands behind`}}},
	{ID: "chat-no-role-assistant", Vendor: "a FastAPI server", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#literal_error", Does: "takes messages of the user alone, and lists the roles that there may be", Lax: true,
		Checks: []Check{userOnly(func(i int) *Refusal {
			return raw(422, encode(obj{"detail": list{obj{"type": "literal_error", "loc": list{"body", "messages", i + 1, "role"}, "msg": "Input should be 'user' or 'system'", "input": "assistant"}}}))
		})}, Want: Expectation{Refused: 1}},
	{ID: "messages-no-role-assistant", API: Messages, Vendor: "a relay", Source: "poe-platform/poe-protocol#34", Does: "takes messages of the user alone", Lax: true,
		Checks: []Check{userOnly(func(int) *Refusal { return claude(400, "invalid_request_error", `"assistant" is not an allowed role`) })}, Want: Expectation{Refused: 1, Image: None}},
}
