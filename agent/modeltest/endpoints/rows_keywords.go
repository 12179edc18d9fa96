package endpoints

import "strings"

// valuedTool has an argument with values, and others with what schemas of MCP servers say of numbers, texts and lists.
var valuedTool = []ToolSpec{{"odd", `{"type":"object","properties":{"mode":{"type":"string","enum":["fast","slow"],"default":"fast"},"n":{"type":"integer","minimum":1,"maximum":9},"name":{"type":"string","pattern":"^a","format":"uri"},"tags":{"type":"array","items":{"type":"string"},"minItems":1,"uniqueItems":true}}}`}, {"bare", `{"type":"object"}`}}

// keyword refuses schemas with one of several keywords, in words in which @ stands for it.
func keyword(words string, no func(said string) *Refusal, say string) Check {
	return keywords(words, func(_ int, _, word string, _ []string) *Refusal {
		return no(strings.ReplaceAll(say, "@", word))
	})
}

// byItsName is a refusal in OpenAI's shape.
func byItsName(said string) *Refusal { return invalid(nil, nil, "%s", said) }

// withoutIt is what people see of an endpoint that names a keyword: it costs one request, and no tool.
var (
	withoutIt = allTools(1)
	valueless = allTools(1, `One of: fast, slow`)
)

const keywordIssue = "anomalyco/opencode#43371"

// withoutSignature refuses histories with a signature of thinking, and says no more than its name.
func withoutSignature(c *Call) *Refusal {
	for _, m := range objects(c.Body["messages"]) {
		for _, b := range objects(m["content"]) {
			if str(b["signature"]) != "" {
				return claude(400, "invalid_request_error", "no signature please")
			}
		}
	}
	return nil
}

// namedKeywords are endpoints that name a keyword of a tool's schema, or a field of the history, by its name alone.
var namedKeywords = []Row{
	{ID: "enum-by-its-name", Vendor: "a gateway", Source: keywordIssue, Does: "does not know the keyword for values, and says no more than its name", Tools: valuedTool, Checks: []Check{keyword("enum", byItsName, "no @ please")}, Want: valueless},
	{ID: "enum-by-its-name-at-responses", API: Responses, Vendor: "a gateway", Source: keywordIssue, Does: "does not know the keyword for values, and says no more than its name", Tools: valuedTool, Checks: []Check{keyword("enum", byItsName, "@ found in request")}, Want: valueless},
	{ID: "minimum-by-its-name", Vendor: "a gateway", Source: "pydantic/pydantic-ai#6506", Does: "takes no bounds of numbers, and says no more than the name of the keyword", Tools: valuedTool, Checks: []Check{keyword("minimum", byItsName, "we do not like @")}, Want: withoutIt},
	{ID: "min-items-as-a-response-format", Vendor: "Cerebras", Source: "musistudio/claude-code-router#708", Does: "names a keyword of a tool's schema, and response_format as its place", Tools: valuedTool, Checks: []Check{keyword("minItems", func(said string) *Refusal {
		return raw(400, encode(obj{"message": said, "type": "invalid_request_error", "param": "response_format", "code": "wrong_api_format"}))
	}, "Unsupported JSON schema fields: {'@', 'items'}")}, Want: withoutIt},
	{ID: "format-by-its-name-at-responses", API: Responses, Vendor: "a gateway", Source: "pizza-bot-app/pizza-bot#62", Does: "takes no formats of texts, and says no more than the name of the keyword", Tools: valuedTool, Checks: []Check{keyword("format", byItsName, "@: nope")}, Want: withoutIt},
	{ID: "signature-by-its-name", API: Messages, Vendor: "a relay", Source: "NousResearch/hermes-agent#21048", Does: "signs thinking, takes no signature back, and says no more than the name of the field", Thinking: "medium", Lax: true, Checks: []Check{withoutSignature}, Want: Expectation{Refused: 1, Sends: []string{`"type":"tool_result"`}, Lacks: []string{`I called the tool`}}},
}

// spoiledCalls are endpoints that refuse a call that their model made, and name the tool, which is right.
var spoiledCalls = []Row{
	{ID: "call-of-no-tool", Vendor: "Groq", Source: "mastra-ai/mastra#9688", Does: "says of its model's call that the tool was not offered, twice and without a code", Fails: []Failure{upTo(2, useTool, openAI(400, "invalid_request_error", nil, nil, "attempted to call tool 'sessions_list' which was not in request.tools"))}, Want: allTools(2)},
	{ID: "unavailable-tool-at-messages", API: Messages, Vendor: "a gateway with the AI SDK", Source: "vercel/ai#1922", Does: "says of its model's call that the tool is unavailable, twice", Fails: []Failure{upTo(2, useTool, claude(400, "invalid_request_error", "Model tried to call unavailable tool 'sessions_list'. Available tools: sessions_send, cron."))}, Want: allTools(2)},
	{ID: "arguments-at-responses", API: Responses, Vendor: "a gateway with the AI SDK", Source: "anthropics/claude-code#95212", Does: "says of its model's call that the arguments are invalid, twice", Fails: []Failure{upTo(2, useTool, invalid(nil, nil, "Invalid arguments for tool sessions_list: [{\"code\":\"invalid_type\",\"path\":[\"limit\"],\"message\":\"Invalid input: expected number, received string\"}]"))}, Want: allTools(2)},
}
