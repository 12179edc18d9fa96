package anthropic

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/agent"
)

// asText gives JSON as a JSON text.
func asText(s string) string { return fmt.Sprintf("%q", s) }

// TestOddAnswers: answers that say hello in a way that no document has.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	const (
		text     = `{"type":"text","text":"hello"}`
		thinking = `{"type":"thinking","thinking":"hm","signature":"SIG"}`
	)
	hi, hiEnd := textPiece(0, "hello"), sse(msgStart, textPiece(0, "hello"), msgEnd, msgStop)
	whole := func(content string) string {
		return `{"id":"msg_1","type":"message","role":"assistant","content":` + content + `,"stop_reason":"end_turn"}`
	}
	begun := func(fields string) string {
		return `{"type":"message_start","message":{"role":"assistant",` + fields + `,"usage":{"input_tokens":3}}}`
	}
	for name, c := range map[string]struct{ body, want string }{
		// source: langchain-ai/langchain#34408
		"content in message_start":           {body: sse(begun(`"content":[`+text+`]`), msgEnd, msgStop)},
		"all of it in message_start":         {body: sse(begun(`"content":[`+text+`],"stop_reason":"end_turn"`), msgStop)},
		"content in message_start and later": {body: sse(begun(`"content":[`+text+`]`), hi, msgEnd, msgStop)},
		"content in message_stop":            {body: sse(msgStart, `{"type":"message_stop","message":`+whole("["+text+"]")+`}`)},
		"a delta as a text":                  {body: sse(msgStart, piece(0, asText(`{"type":"text_delta","text":"hello"}`)), msgEnd, msgStop)},
		"a block as a text":                  {body: sse(msgStart, start(0, asText(text)), msgEnd, msgStop)},
		"thinking as a text":                 {sse(msgStart, start(0, asText(thinking)), textPiece(1, "hello"), msgEnd, msgStop), `thinking hm {"signature":"SIG"} | text hello`},
		"content as a text":                  {whole(asText("[" + thinking + "," + text + "]")), `thinking hm {"signature":"SIG"} | text hello`},
		"blocks as texts":                    {body: whole("[" + asText(text) + "]")},
		"a message as a text":                {body: sse(`{"type":"message_start","message":`+asText(`{"content":[],"usage":{"input_tokens":3}}`)+`}`, hi, msgEnd, msgStop)},
		"reasoning":                          {whole(`[{"type":"reasoning","text":"hm"},` + text + `]`), `thinking hm {"unsigned":true} | text hello`},
		"output_text":                        {body: whole(`[{"type":"output_text","text":"hello"}]`)},
		"TEXT":                               {body: whole(`[{"type":"TEXT","text":"hello"}]`)},
		"a text twice":                       {body: sse(msgStart, piece(0, `{"type":"text_delta","text":"hello","text":""}`), msgEnd, msgStop)},
		"content twice":                      {body: `{"type":"message","content":[` + text + `],"content":[],"stop_reason":"end_turn"}`},
		"a message twice":                    {body: sse(whole("["+text+"]"), whole("["+text+"]"))},
		"events as texts":                    {body: sse(asText(msgStart), asText(hi), asText(msgEnd), asText(msgStop))},
		"all of it as a text":                {body: asText(whole("[" + text + "]"))},
		"Python":                             {body: sse(`{'type': 'message_start', 'message': {'content': [], 'stop_reason': None}}`, `{'type': 'content_block_delta', 'index': 0, 'delta': {'type': 'text_delta', 'text': 'hello'}}`, `{'type': 'message_stop'}`)},
		"only a mark":                        {body: sse(msgStart, hi, "[DONE]")},
		"[done]":                             {body: sse(msgStart, hi, "[done]")},
		"DATA":                               {body: strings.ReplaceAll(hiEnd, "data:", "DATA:")},
		"a list of events in one":            {body: sse("[" + strings.Join([]string{msgStart, hi, msgEnd, msgStop}, ",") + "]")},
		"two values in an event":             {body: sse(msgStart+hi, msgEnd+"data: "+msgStop)},
		"an event without data":              {body: "event: content_block_delta\ndata: {\"delta\":{\"text\":\"hello\"}}\n\nevent: message_stop\n\n"},
		"an envelope":                        {body: `{"code":0,"msg":"ok","data":` + whole("["+text+"]") + `}`},
		"events in envelopes":                {body: "data: {\"data\":" + hi + "}\n\ndata: {\"data\":" + msgStop + "}\n\n"},
	} {
		e := &endpoint{answer: always(reply{body: c.body})}
		if c.want == "" {
			c.want = "text hello"
		}
		if h := listen(t, e.at(elsewhere), agent.Prompt{}); h.err != nil || h.text != "hello" || shape(h.answer.Content) != c.want || h.answer.Stop != agent.StopEnd {
			t.Errorf("%s: %+v", name, h)
		}
	}
	for _, usage := range []string{`{"type":"message_delta","delta":{"stop_reason":"end_turn","usage":{"output_tokens":7}}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":` + asText(`{"output_tokens":7}`) + `}`} {
		e := &endpoint{answer: always(reply{body: sse(msgStart, hi, usage, msgStop)})}
		if h := listen(t, e.at(elsewhere), agent.Prompt{}); h.err != nil || h.answer.Usage.Output != 7 {
			t.Errorf("%s: %+v", usage, h)
		}
	}
	e := &endpoint{answer: always(reply{body: sse(msgStart, hi, `{"type":"message_delta","delta":{"stop_reason":"null"}}`)})}
	if h := listen(t, e.at(elsewhere), agent.Prompt{}); h.err == nil {
		t.Errorf("null as a word, and no end: %+v", h)
	}
}

// TestOtherAPIs: a stream of another API ends in an error that names it.
func TestOtherAPIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, hint string }{
		{sse(`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"hello"},"finish_reason":null}]}`, "[DONE]"), "openai-completions"},
		{sse(`{"type":"response.created","response":{"status":"in_progress","output":[]}}`, `{"type":"response.output_text.delta","delta":"hello"}`, `{"type":"response.completed","response":{"status":"completed"}}`), "openai-responses"},
		{sse(`{"candidates":[{"content":{"parts":[{"text":"hel"}],"role":"model"}}]}`), "baseUrl"},
	} {
		e := &endpoint{answer: always(reply{body: c.body})}
		h := listen(t, e.at(elsewhere), agent.Prompt{Tries: 3})
		if m, ok := errors.AsType[*agent.ModelError](h.err); !ok || m.Class != agent.BadAddress || !strings.Contains(m.Hint, c.hint) || e.count() != 1 {
			t.Errorf("%s: %v, %d requests", c.body, h.err, e.count())
		}
	}
}
