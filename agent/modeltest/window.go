package modeltest

import (
	"fmt"
	"net/http"
	"sync/atomic"
)

// Window gives a script a window: a prompt of more tokens is refused as too long, in the protocol's own words, and counted in
// refused, which may be nil. A token is four bytes of the request's texts and tools. Where the script says no usage, it is that count.
func Window(tokens int, refused *atomic.Int64, script func(Request) Reply) func(Request) Reply {
	return func(r Request) Reply {
		n := PromptTokens(r)
		if n > tokens {
			if refused != nil {
				refused.Add(1)
			}
			return tooLong(r.Protocol, n, tokens)
		}
		reply := script(r)
		if reply.Usage == (Usage{}) {
			reply.Usage.Input = n
			for _, t := range reply.Text {
				reply.Usage.Output += len(t)
			}
			for _, c := range reply.ToolCalls {
				reply.Usage.Output += len(c.Name) + len(c.Arguments)
			}
			reply.Usage.Output = reply.Usage.Output/4 + 1
		}
		return reply
	}
}

// PromptTokens counts the prompt of a request: four bytes a token.
func PromptTokens(r Request) int {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		n += 16 + len(m.Text)
		for _, c := range m.ToolCalls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	return n/4 + 1
}

func tooLong(p Protocol, n, most int) Reply {
	if p == Anthropic {
		return Reply{Status: http.StatusBadRequest,
			Body: fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: %d tokens > %d maximum"}}`, n, most)}
	}
	if p == Responses {
		return responsesTooLong()
	}
	return Reply{Status: http.StatusBadRequest,
		Body: fmt.Sprintf(`{"error":{"message":"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, most, n)}
}
