package endpoints

// plainLimits are limits in words that name no field.
var plainLimits = []Row{
	{ID: "answer-tokens-in-german", Vendor: "a gateway in Germany", Source: "charmbracelet/crush#946", Config: "maxTokens: 32000, contextWindow: 200000", Does: "bounds the tokens of an answer, and says so in German", Checks: []Check{func(c *Call) *Refusal {
		if n, _ := c.Body["max_tokens"].(float64); n > 8192 {
			return invalid(nil, nil, "Die maximale Ausgabelänge beträgt 8192 Token")
		}
		return nil
	}}, Want: Expectation{Refused: 1, Sends: []string{`"max_tokens":8192`}}},
	{ID: "list-of-no-tools", Vendor: "a FastAPI server", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#too_long", Does: "takes a list of at most 0 tools", Checks: []Check{toolless(raw(422, `{"detail":[{"type":"too_long","loc":["body","tools"],"msg":"List should have at most 0 items after validation, not 20","ctx":{"field_type":"List","max_length":0,"actual_length":20}}]}`))}, Want: noTools(1)},
}
