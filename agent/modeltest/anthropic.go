package modeltest

import (
	"fmt"
	"strings"
)

func anthropicEvent(kind string, data []byte) []byte {
	b := append([]byte("event: "+kind+"\ndata: "), data...)
	return append(b, "\n\n"...)
}

func anthropicStart(index int, block string) []byte {
	return anthropicEvent("content_block_start", fmt.Appendf(nil, `{"type":"content_block_start","index":%d,"content_block":%s}`, index, block))
}

func anthropicDelta(index int, kind, field, text string) []byte {
	b := fmt.Appendf(nil, `{"type":"content_block_delta","index":%d,"delta":{"type":"%s","%s":`, index, kind, field)
	return anthropicEvent("content_block_delta", append(quote(b, text), "}}"...))
}

func anthropicStop(index int) []byte {
	return anthropicEvent("content_block_stop", fmt.Appendf(nil, `{"type":"content_block_stop","index":%d}`, index))
}

func (a *answer) anthropicEvents() [][]byte {
	u := a.reply.Usage
	a.saying = Usage{Input: u.Input, Output: 1, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	head := append(quote(fmt.Appendf(nil, `{"type":"message_start","message":{"id":"%s","type":"message","role":"assistant","model":`, a.id), a.req.Model),
		fmt.Sprintf(`,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,`+
			`"cache_creation_input_tokens":%d,"output_tokens":1}}}`, u.Input-u.CacheRead-u.CacheWrite, u.CacheRead, u.CacheWrite)...)
	out := [][]byte{anthropicEvent("message_start", head), anthropicEvent("ping", []byte(`{"type": "ping"}`))}
	n := 0
	defer func() { a.blocks = n }()
	block := func(start string, deltas ...[]byte) {
		out = append(out, anthropicStart(n, start))
		out = append(append(out, deltas...), anthropicStop(n))
		n++
	}
	if r := a.reply; r.Thinking != "" {
		block(`{"type":"thinking","thinking":"","signature":""}`,
			anthropicDelta(n, "thinking_delta", "thinking", r.Thinking), anthropicDelta(n, "signature_delta", "signature", r.Signature))
	}
	if a.reply.Redacted != "" {
		block(string(append(quote([]byte(`{"type":"redacted_thinking","data":`), a.reply.Redacted), '}')))
	}
	if len(a.reply.Text) > 0 {
		var deltas [][]byte
		for _, t := range a.reply.Text {
			deltas = append(deltas, anthropicDelta(n, "text_delta", "text", t))
		}
		block(`{"type":"text","text":""}`, deltas...)
	}
	for i, c := range a.reply.ToolCalls {
		first, rest := halves(c.Arguments)
		start := append(quote(append(quote([]byte(`{"type":"tool_use","id":`), c.ID), `,"name":`...), c.Name), `,"input":{}}`...)
		deltas := [][]byte{anthropicDelta(n, "input_json_delta", "partial_json", first), anthropicDelta(n, "input_json_delta", "partial_json", rest)}
		if a.reply.Fault == HalfCall && i == len(a.reply.ToolCalls)-1 {
			return append(append(out, anthropicStart(n, string(start))), deltas[0])
		}
		block(string(start), deltas...)
	}
	return out
}

func (a *answer) anthropicReason() string {
	switch {
	case a.reply.Stop != "":
		return a.reply.Stop
	case len(a.reply.ToolCalls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (a *answer) anthropicEnd() []byte {
	a.saying = a.reply.Usage
	b := anthropicEvent("message_delta", fmt.Appendf(nil, `{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d}}`,
		a.anthropicReason(), a.reply.Usage.Output))
	return append(b, anthropicEvent("message_stop", []byte(`{"type":"message_stop"}`))...)
}

func (a *answer) anthropicWhole() []byte {
	u := a.reply.Usage
	b := quote(fmt.Appendf(nil, `{"id":"%s","type":"message","role":"assistant","model":`, a.id), a.req.Model)
	b = append(quote(append(b, `,"content":[{"type":"text","text":`...), strings.Join(a.reply.Text, "")), '}')
	for _, c := range a.reply.ToolCalls {
		b = append(quote(append(quote(append(b, `,{"type":"tool_use","id":`...), c.ID), `,"name":`...), c.Name), `,"input":`...)
		b = append(append(b, c.Arguments...), '}')
	}
	return fmt.Appendf(b, `],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":%d,"output_tokens":%d}}`,
		a.anthropicReason(), u.Input, u.Output)
}
