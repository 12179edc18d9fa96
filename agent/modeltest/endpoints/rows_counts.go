package endpoints

// toolsOver refuses tools that are larger than so many bytes together.
func toolsOver(most int, no func(size int) *Refusal) Check {
	return countedToolsOver(most, func(size, _ int) *Refusal { return no(size) })
}

// countedToolsOver is toolsOver with a refusal that has the number of tools as well.
func countedToolsOver(most int, no func(size, n int) *Refusal) Check {
	return func(c *Call) *Refusal {
		tools, ok := c.Body["tools"]
		if size := len(encode(tools)); ok && size > most {
			return no(size, len(objects(tools)))
		}
		return nil
	}
}

// messagesOver refuses a list of messages or items that is longer than so many.
func messagesOver(most int, no func(n int) *Refusal) Check {
	return func(c *Call) *Refusal {
		n := len(objects(c.Body["messages"])) + len(objects(c.Body["input"]))
		if n > most {
			return no(n)
		}
		return nil
	}
}

// fewer is what people see of an endpoint that takes few messages: the older ones are summed up, or left out.
var fewer = Expectation{Refused: Any, Again: Any, Plain: `echo: hello`, Follow: `echo: and now`, Restart: `echo: are you there`, Back: `echo: and here`, Log: `max-messages[\s\S]*summarized the older part of a session`, Lacks: []string{`provider refused the request`}}

// counted are endpoints that bound the number of messages, or the size of tools.
var counted = []Row{
	{ID: "tools-of-8000-bytes", Vendor: "a gateway", Source: "dwgx/WindsurfAPI#70", Does: "answers 413 to tools of more than 8,000 bytes", Checks: []Check{toolsOver(8000, func(size int) *Refusal {
		return raw(413, encode(obj{"error": "tools definition size " + encode(size) + " exceeds the limit of 8000 bytes"}))
	})}, Want: Expectation{Refused: 2, Log: `max-tools`, Sends: []string{`"name":"find_tool"`, `"name":"call_tool"`}}},
	{ID: "tools-of-8-kilobytes", API: Messages, Vendor: "a relay", Source: "dwgx/WindsurfAPI#70", Does: "answers 400 to tools of more than 8 KB, and names both sizes", Checks: []Check{toolsOver(8<<10, func(size int) *Refusal {
		return claude(400, "invalid_request_error", "Tool definitions are too large (%dKB > 8KB). Reduce the number of tools or shorten parameter schemas.", size>>10)
	})}, Want: Expectation{Refused: 2, Sends: []string{`"name":"find_tool"`}}},
	{ID: "total-size-of-tools", API: Responses, Vendor: "a gateway", Source: "dwgx/WindsurfAPI#70", Does: "answers 400 to large tools, and names the largest size only", Checks: []Check{toolsOver(6000, func(int) *Refusal {
		return invalid("tools", "invalid_value", "total size of tools exceeds 6000 bytes")
	})}, Want: Expectation{Refused: 2, Sends: []string{`"name":"find_tool"`}}},
	{ID: "size-and-number-of-tools", Vendor: "a gateway", Source: "dwgx/WindsurfAPI#70", Does: "answers 400 to large tools, and names their number beside the largest size", Checks: []Check{countedToolsOver(6000, func(_, n int) *Refusal {
		return invalid("tools", "invalid_value", "total size of %d tools exceeds 6000 bytes", n)
	})}, Want: Expectation{Refused: 2, Log: `max-tools`, Sends: []string{`"name":"find_tool"`}}},
	{ID: "at-most-8-messages", Vendor: "a gateway", Source: "openai-php/client#269", Does: "takes 8 messages", Checks: []Check{messagesOver(8, func(n int) *Refusal {
		return openAI(400, "invalid_request_error", "messages", nil, "messages array too long: expected at most 8 messages, got %d", n)
	})}, Want: fewer},
	{ID: "at-most-6-messages-by-pydantic", Vendor: "a gateway", Source: "openai-php/client#269", Does: "takes 6 messages, and says so as a bound of a list", Checks: []Check{messagesOver(6, func(n int) *Refusal {
		return fastAPI("too_long", list{"body", "messages"}, "List should have at most 6 items after validation, not "+encode(n), "…")
	})}, Want: fewer},
	{ID: "maximum-of-10-items", API: Responses, Vendor: "a gateway", Source: "openai-php/client#269", Does: "takes 10 items of a conversation", Checks: []Check{messagesOver(10, func(n int) *Refusal {
		return invalid("input", "array_above_max_length", "Invalid 'input': array too long. Expected an array with maximum length 10, but got an array with length %d instead.", n)
	})}, Want: fewer},
	{ID: "messages-maximum-of-6", API: Messages, Vendor: "a relay", Source: "openai-php/client#269", Does: "takes 6 messages", Checks: []Check{messagesOver(6, func(int) *Refusal {
		return claude(400, "invalid_request_error", "maximum number of messages is 6")
	})}, Want: fewer},
	{ID: "at-most-8-messages-in-1-request", Vendor: "a gateway", Source: "openai-php/client#269", Does: "takes 8 messages in a request, and names another number behind that", Checks: []Check{messagesOver(8, func(int) *Refusal {
		return openAI(400, "invalid_request_error", nil, nil, "at most 8 messages are allowed in 1 request")
	})}, Want: fewer},
	{ID: "message-quota", Vendor: "a gateway", Source: "https://openrouter.ai/docs/api-reference/limits", Does: "answers 400 when an account has sent many messages in a time", Fails: []Failure{upTo(2, hello, openAI(400, "invalid_request_error", nil, nil, "You have reached your limit of 20 messages, try again in 0.1 seconds."))}, Want: Expectation{Lacks: []string{`summary of the older part`}}},
	{ID: "messages-in-a-queue", API: Messages, Vendor: "a relay", Source: "https://docs.anthropic.com/en/api/errors", Does: "answers 503 while many messages wait", Fails: []Failure{upTo(2, hello, claude(503, "api_error", "too many messages in the queue"))}},
}
