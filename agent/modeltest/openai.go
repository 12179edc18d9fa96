package modeltest

import "fmt"

// chunk is one chat.completion.chunk event; finish and usage are JSON or empty.
func (a *answer) chunk(delta []byte, finish, usage string) []byte {
	b := append([]byte(nil), `data: {"object":"chat.completion.chunk","created":1,"id":"`...)
	b = append(append(b, a.id...), `","model":`...)
	b = append(quote(b, a.req.Model), `,"choices":[`...)
	if delta != nil {
		b = append(append(b, `{"index":0,"delta":`...), delta...)
		if finish == "" {
			finish = "null"
		}
		b = append(append(append(b, `,"finish_reason":`...), finish...), '}')
	}
	b = append(b, ']')
	if usage != "" {
		b = append(append(b, `,"usage":`...), usage...)
	}
	return append(b, "}\n\n"...)
}

func (a *answer) openAIEvents() [][]byte {
	usage := ""
	if a.reply.EarlyUsage {
		usage, a.saying = a.openAIUsage(), a.said()
	}
	out := [][]byte{a.chunk([]byte(`{"role":"assistant","content":""}`), "", usage)}
	if a.reply.Thinking != "" {
		out = append(out, a.chunk(append(quote([]byte(`{"reasoning_content":`), a.reply.Thinking), '}'), "", ""))
	}
	for _, t := range a.reply.Text {
		out = append(out, a.chunk(append(quote([]byte(`{"content":`), t), '}'), "", ""))
	}
	for i, c := range a.reply.ToolCalls {
		first, rest := halves(c.Arguments)
		b := fmt.Appendf(nil, `{"tool_calls":[{"index":%d,"id":`, i)
		b = append(quote(b, c.ID), `,"type":"function","function":{"name":`...)
		b = append(quote(b, c.Name), `,"arguments":`...)
		out = append(out, a.chunk(append(quote(b, first), "}}]}"...), "", ""))
		if a.reply.Fault == HalfCall && i == len(a.reply.ToolCalls)-1 {
			break
		}
		b = fmt.Appendf(nil, `{"tool_calls":[{"index":%d,"function":{"arguments":`, i)
		out = append(out, a.chunk(append(quote(b, rest), "}}]}"...), "", ""))
	}
	return out
}

func (a *answer) openAIStop() string {
	switch {
	case a.reply.Stop != "":
		return a.reply.Stop
	case len(a.reply.ToolCalls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (a *answer) openAIUsage() string {
	u := a.reply.Usage
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`,
		u.Input, u.Output, u.Input+u.Output, u.CacheRead)
}

// said is what the protocol has a place for.
func (a *answer) said() Usage {
	u := a.reply.Usage
	u.CacheWrite = 0
	return u
}

func (a *answer) openAIEnd() []byte {
	b := a.chunk([]byte("{}"), `"`+a.openAIStop()+`"`, "")
	if !a.reply.NoUsage {
		a.saying = a.said()
		b = append(b, a.chunk(nil, "", a.openAIUsage())...)
	}
	return append(b, "data: [DONE]\n\n"...)
}

// whole is the reply for a client that did not ask for a stream.
func (a *answer) whole() []byte {
	if a.req.Protocol == Anthropic {
		return a.anthropicWhole()
	}
	if a.req.Protocol == Responses {
		return a.responsesWhole()
	}
	text := ""
	for _, t := range a.reply.Text {
		text += t
	}
	b := append([]byte(nil), `{"object":"chat.completion","created":1,"id":"`...)
	b = append(append(b, a.id...), `","model":`...)
	b = append(quote(b, a.req.Model), `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	b = quote(b, text)
	for i, c := range a.reply.ToolCalls {
		sep := `,"tool_calls":[`
		if i > 0 {
			sep = ","
		}
		b = append(b, sep+`{"type":"function","id":`...)
		b = append(quote(b, c.ID), `,"function":{"name":`...)
		b = append(quote(b, c.Name), `,"arguments":`...)
		b = append(quote(b, c.Arguments), "}}"...)
		if i == len(a.reply.ToolCalls)-1 {
			b = append(b, ']')
		}
	}
	return fmt.Appendf(b, `},"finish_reason":%q}],"usage":%s}`, a.openAIStop(), a.openAIUsage())
}
