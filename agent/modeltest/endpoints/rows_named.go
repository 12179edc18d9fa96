package endpoints

import "strings"

// noStreamOptions is a row whose server does not know stream_options.
func noStreamOptions(id, vendor, source, does string, no *Refusal) Row {
	return Row{ID: id, Vendor: vendor, Source: source, Does: does, Checks: []Check{refuseParam("stream_options", no), streams}, Want: Expectation{Refused: 1, Sends: []string{`"stream":true`}}}
}

// streams refuses a whole answer: streaming was not what was refused.
func streams(c *Call) *Refusal {
	if c.Body["stream"] != true {
		return message(500, "this row's server was asked for a whole answer")
	}
	return nil
}

// asks is what a parameter costs that an endpoint wants: one request.
func asks(parameter string) Expectation {
	return Expectation{Refused: 1, Sends: []string{parameter}}
}

// wantsWords refuses reasoning of white space in messages with calls.
func wantsWords(no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		return assistants(c, func(i int, m obj) *Refusal {
			if len(objects(m["tool_calls"])) > 0 && strings.TrimSpace(str(m["reasoning_content"])) == "" {
				return no(i)
			}
			return nil
		})
	}
}

// wantsWithTools refuses a request that has tools and not a parameter.
func wantsWithTools(path string, no *Refusal) Check {
	wanted := wants(path, no)
	return func(c *Call) *Refusal {
		if _, there := c.Body["tools"]; !there {
			return nil
		}
		return wanted(c)
	}
}

// strictTrue refuses tools that are not strict.
func strictTrue(c *Call) *Refusal {
	for _, tool := range objects(c.Body["tools"]) {
		if tool["strict"] != true {
			return invalid("tools[0].strict", nil, "tools[0].strict must be true")
		}
	}
	return nil
}

// namedFields are endpoints that name a parameter, beside words for other parts of a request.
var namedFields = []Row{
	noStreamOptions("stream-options-prohibited", "a gateway in PHP", "https://laravel.com/docs/validation#rule-prohibited", "speaks of the stream options field", raw(422, `{"message":"The stream options field is prohibited.","errors":{"stream_options":["The stream options field is prohibited."]}}`)),
	noStreamOptions("stream-options-of-a-dropped-stream", "OpenAI behind LiteLLM", "BerriAI/litellm#5803", "says that stream_options are for streams only", invalid("stream_options", nil, "The 'stream_options' parameter is only allowed when 'stream' is enabled.")),
	noStreamOptions("stream-options-in-words", "any", "https://platform.openai.com/docs/api-reference/chat/create", "writes the name in two words", plain(400, "Stream Options are not supported")),
	noStreamOptions("usage-in-streams", "any", "https://platform.openai.com/docs/api-reference/chat/create", "speaks of the counts of tokens alone", openAI(400, "invalid_request_error", nil, nil, "Usage statistics are not available while streaming")),
	noStreamOptions("stream-options-strict-object", "a gateway with valibot", "https://valibot.dev/api/StrictObjectIssue/", "calls each issue one of a schema", raw(400, `{"issues":[{"kind":"schema","type":"strict_object","input":"stream_options","expected":"never","received":"\"stream_options\"","message":"Invalid key: Expected never but received \"stream_options\""}]}`)),
	noStreamOptions("stream-options-schema-path", "a gateway with ajv", "https://ajv.js.org/api.html#error-objects", "speaks of the schema of requests", raw(400, `{"error":"Schema validation failed","details":[{"path":"/stream_options","message":"unexpected property"}]}`)),

	{ID: "responses-wants-tool-choice", API: Responses, Vendor: "any", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "wants tool_choice where there are tools", Checks: []Check{wantsWithTools("tool_choice", openAI(400, "invalid_request_error", nil, nil, "tool_choice is required when tools are present"))}, Want: asks(`"tool_choice":"auto"`)},
	{ID: "messages-wants-tool-choice", API: Messages, Vendor: "any", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#missing", Does: "wants tool_choice where there are tools", Checks: []Check{wantsWithTools("tool_choice", claude(400, "invalid_request_error", "tool_choice: Field required"))}, Want: asks(`"tool_choice":\{"type":"auto"\}`)},
	{ID: "responses-wants-longest-answer", API: Responses, Vendor: "any", Source: "https://platform.openai.com/docs/guides/error-codes", Does: "wants the longest answer to be named", Checks: []Check{wants("max_output_tokens", invalid("max_output_tokens", "missing_required_parameter", "Missing required parameter: 'max_output_tokens'."))}, Want: asks(`"max_output_tokens":8192`)},
	{ID: "wants-longest-answer-in-words", Vendor: "any", Source: "https://docs.cloud.google.com/vertex-ai/generative-ai/docs/maas", Does: "wants the longest answer to be named, and says so in words", Checks: []Check{wants("max_tokens", message(400, "Please specify the maximum number of tokens to generate"))}, Want: asks(`"max_tokens":8192`)},
	{ID: "wants-temperature", Vendor: "any", Source: "https://docs.pydantic.dev/latest/errors/validation_errors/#missing", Does: "wants a temperature", Checks: []Check{wants("temperature", message(422, "temperature: Field required"))}, Want: asks(`"temperature":1\b`)},
	{ID: "responses-wants-strict-tools", API: Responses, Vendor: "any", Source: "https://platform.openai.com/docs/guides/function-calling#strict-mode", Does: "takes strict tools only", Checks: []Check{strictTrue}, Want: asks(`"strict":true`)},

	{ID: "reasoning-of-a-space-is-missing", Vendor: "any", Source: "HKUDS/nanobot#946", Model: "deepseek-v4-pro", Does: "takes a space for no reasoning", Wire: thinksApart, Mind: plainly, Checks: []Check{wantsWords(func(i int) *Refusal {
		return invalid(nil, nil, "thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", i)
	})}, Want: Expectation{Refused: 2, Sends: []string{`"reasoning_content":"\(no reasoning\)"`}}},
	{ID: "null-content-fails-in-javascript", Vendor: "a gateway in JavaScript", Source: "https://developer.mozilla.org/en-US/docs/Web/JavaScript/Reference/Errors/Cant_access_property", Does: "fails with a text that is null beside calls", Checks: []Check{nullContent(message(500, "Cannot read properties of null (reading 'length')"))}, Want: Expectation{Refused: 2, Sends: []string{`"role":"tool"`}}},
}
