package openai

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// asText gives JSON as a JSON text.
func asText(s string) string { return fmt.Sprintf("%q", s) }

// listen gives what an answer with this body becomes, and what of it goes back.
func listen(t *testing.T, body string) (got told, opaque string, usage sessions.Usage, failed *agent.ModelError) {
	t.Helper()
	m := against(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(body)) // the client says what is missing
	}, Config{})
	p := agent.Prompt{Model: "m", Tools: specs, Tries: 1, Messages: []sessions.Message{user(textBlock("hi"))}}
	shown := ""
	for d, err := range m.Stream(t.Context(), p) {
		if err != nil {
			failed, _ = errors.AsType[*agent.ModelError](err)
			return got, "", usage, failed
		}
		if shown += d.Text; d.Restart {
			shown = d.Text
		}
		if d.Final != nil {
			got, usage = toldOf(d.Final), d.Final.Usage
			for _, b := range d.Final.Content {
				if b.Opaque != nil {
					opaque += string(b.Opaque.Data)
				}
			}
		}
	}
	if strings.TrimSpace(shown) != got.text {
		t.Errorf("shown %q, stored %q: %s", shown, got.text, body)
	}
	return got, opaque, usage, nil
}

// TestOddAnswers: answers that say hello in a way that no document has.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	const stop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	delta := func(fields string) string { return `{"choices":[{"index":0,"delta":{` + fields + `}}]}` }
	message := func(fields string) string {
		return `{"choices":[{"index":0,"message":{"role":"assistant",` + fields + `},"finish_reason":"stop"}]}`
	}
	hi, whole := delta(`"content":"hello"`), message(`"content":"hello"`)
	at := func(index string, lines ...string) string {
		return strings.ReplaceAll(events(lines...), `"index":0`, `"index":`+index)
	}
	pretty := "{\n  \"choices\": [\n    {\"index\": 0,\n     \"delta\": {\"content\": \"hello\"}}\n  ]\n}"
	for name, body := range map[string]string{
		// source: huggingface/text-generation-inference#1648
		"a choice 5": at("5", hi, stop), "a choice -1": at("-1", hi, stop), "a choice 5 as text": at(`"5"`, hi, stop), "a choice 1, whole": strings.ReplaceAll(whole, `"index":0`, `"index":1`),
		"an index that counts pieces":      events(`{"choices":[{"index":1,"delta":{"content":"hel"}}]}`, `{"choices":[{"index":2,"delta":{"content":"lo"}}]}`, `{"choices":[{"index":3,"delta":{},"finish_reason":"stop"}]}`),
		"an index that counts from 0":      events(`{"choices":[{"index":0,"delta":{"role":"assistant"}}]}`, `{"choices":[{"index":1,"delta":{"content":"hel"}}]}`, `{"choices":[{"index":2,"delta":{"content":"lo"}}]}`, `{"choices":[{"index":3,"delta":{},"finish_reason":"stop"}]}`),
		"the role in another choice":       events(delta(`"role":"assistant"`), strings.ReplaceAll(hi, `"index":0`, `"index":5`), stop),
		"two choices, piece by piece":      events(delta(`"role":"assistant"`), `{"choices":[{"index":1,"delta":{"role":"assistant"}}]}`, delta(`"content":"hel"`), `{"choices":[{"index":1,"delta":{"content":"other"}}]}`, delta(`"content":"lo"`), stop),
		"two choices, one after the other": events(hi, stop, `{"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"stop"}]}`),
		// source: cline/cline#1786, mistralai/mistral-vibe#793
		"[done]": events(hi, "[done]"), "a quoted mark": events(hi, `"[DONE]"`), "DONE": events(hi, "DONE"), "a mark with spaces": events(hi, "[ DONE ] "), "a mark in a list": events(hi, `["DONE"]`),
		"a mark without data": "data: " + hi + "\n\n[DONE]\n", "an event done": "data: " + hi + "\n\nevent: done\ndata: {}\n\n", "an event end without data": "data: " + hi + "\n\nevent: end\n\n", "done: true": events(hi, `{"done": true}`),
		"DATA": strings.ReplaceAll(events(hi, stop), "data:", "DATA:"), "Data and Event": "Event: x\n" + strings.ReplaceAll(events(hi, stop), "data:", "Data :"), "data behind spaces": strings.ReplaceAll(events(hi, stop), "data:", "  data:"),
		"byte order marks": strings.ReplaceAll(events(hi, stop), "data: ", "\ufeffdata: \ufeff"), "padding": "\x00\x00" + strings.ReplaceAll(events(hi, stop), "\n\n", "\n\n\x00"), "carriage returns": strings.ReplaceAll(events(hi, stop), "\n", "\r"),
		// source: apache/servicecomb-java-chassis#5125
		"chunks as texts": events(asText(hi), asText(stop)), "chunks as texts twice": events(asText(asText(hi)), asText(asText(stop))), "all of it as a text": asText(whole), "lines of texts": asText(hi) + "\n" + asText(stop) + "\n", "a list of texts": "[" + asText(hi) + "," + asText(stop) + "]",
		// source: sysid/sse-starlette#21
		"Python": events(`{'choices': [{'index': 0, 'delta': {'content': "hel", 'refusal': None}, 'ok': True}]}`, `{'choices': [{'index': 0, 'delta': {'content': '\x6co'}, 'finish_reason': 'stop'}], 'usage': None}`), "commas at the end": events(`{"choices":[{"index":0,"delta":{"content":"hello",},},],}`, stop),
		"several lines": "data: " + pretty + "\n\ndata: " + stop + "\n\n", "one in two events": "data: {\"choices\":[{\"index\":0,\"delta\":{\"con\n\ndata: tent\":\"hello\"}}]}\n\ndata: " + stop + "\n\n", "half an event in front": "data: {\"choices\":[{\"ind\n\n" + events(hi, stop),
		// source: openai/openai-python#2507
		"spoken": events(delta(`"content":null,"audio":{"id":"a","transcript":"hel"}`), delta(`"audio":{"transcript":"lo"}`), delta(`"audio":{"data":"AAAA"}`), stop), "spoken, whole": message(`"content":null,"audio":{"data":"AAA","transcript":"hello","expires_at":5}`),
		"spoken and written": events(hi, delta(`"audio":{"transcript":"hello"}`), stop), "audio of other types": events(delta(`"content":"hello","audio":"AAAA"`), delta(`"audio":7`), stop), "a spoken part": events(delta(`"content":[{"type":"audio","audio":{"data":"AAAA","transcript":"hello"}}]`), stop),
		"a list as a text": message(`"content":` + asText(`[{"type":"text","text":"hello"}]`)), "a list as a text of Python": message(`"content":` + asText(`[{'type': 'text', 'text': "hello"}]`)),
		"a delta as a text": events(`{"choices":[{"index":0,"delta":`+asText(`{"role":"assistant","content":"hello"}`)+`}]}`, stop), "a message as a text": `{"choices":[{"index":0,"message":` + asText(`{"role":"assistant","content":"hello"}`) + `,"finish_reason":"stop"}]}`,
		"choices as a text": `{"choices":` + asText(`[{"index":0,"message":{"content":"hello"},"finish_reason":"stop"}]`) + `}`, "a choice as a text": `{"choices":[` + asText(`{"index":0,"message":{"content":"hello"},"finish_reason":"stop"}`) + `]}`,
		"content beside the delta": events(`{"choices":[{"index":0,"content":"hello"}]}`, stop), "text in the delta": events(delta(`"text":"hello"`), stop), "an end in the delta": events(hi, delta(`"finish_reason":"stop"`)), "finishReason": events(hi, `{"choices":[{"index":0,"delta":{},"finishReason":"stop"}]}`),
		"content twice": events(delta(`"content":"hello","content":""`), stop), "choices twice": events(`{"choices":[{"index":0,"delta":{"content":"hello"}}],"choices":[]}`, stop), "a message twice": events(whole, whole), "a whole answer twice": whole + whole,
		// source: PowerShell/AIShell#350
		"null as a word":          events(`{"choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":"null"}]}`, `{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"None"}]}`, stop),
		"parts that are no words": events(delta(`"content":[{"type":"citation","title":"T","summary":"S"},{"type":"tool_result","content":"RAW"},{"type":"encrypted","content":"SIG"},null,{"type":"text","text":"hello"}]`), stop),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, _, _, failed := listen(t, body); failed != nil || got != (told{text: "hello", stop: agent.StopEnd}) {
				t.Errorf("%+v, %v", got, failed)
			}
		})
	}
	for name, body := range map[string]string{
		"a line break in a text":  "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\nb\"}}]}\n\ndata: " + stop + "\n\n",
		"JSON that was asked for": events(delta(`"content":`+asText(`[{"name":"x"}]`)), stop),
		"a mark in a text":        events(delta(`"content":"[DONE]"`), stop),
	} {
		if got, _, _, failed := listen(t, body); failed != nil || got.text != "a\nb" && got.text != `[{"name":"x"}]` && got.text != "[DONE]" {
			t.Errorf("%s: %+v, %v", name, got, failed)
		}
	}
	if got, _, _, failed := listen(t, events(`{"choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":"null"}]}`)); failed == nil || failed.Class != agent.Broken {
		t.Errorf("null as a word, and no end: %+v", got)
	}
}

// TestOddUsage: what an answer cost counts wherever it stands.
func TestOddUsage(t *testing.T) {
	t.Parallel()
	const usage = `{"prompt_tokens":3,"completion_tokens":2}`
	for _, body := range []string{
		events(`{"choices":[{"index":0,"delta":{"content":"x"}}]}`, `{"choices":[{"index":0,"delta":{"usage":`+usage+`},"finish_reason":"stop"}]}`),
		`{"choices":[{"index":0,"message":{"content":"x","usage":` + usage + `},"finish_reason":"stop"}]}`,
		`{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}],"meta":{"usage":[` + usage + `]}}`,
		`{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}],"usage":[` + usage + `]}`,
		`{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"}],"usage":` + asText(usage) + `}`,
	} {
		if _, _, u, failed := listen(t, body); failed != nil || u != (sessions.Usage{Input: 3, Output: 2}) {
			t.Errorf("%s: %+v, %v", body, u, failed)
		}
	}
}

// TestReasoningAsText: what goes back goes back as it came, also where it is a text.
func TestReasoningAsText(t *testing.T) {
	t.Parallel()
	const stop = `{"choices":[{"index":0,"delta":{"content":"hello"},"finish_reason":"stop"}]}`
	delta := func(fields string) string { return `{"choices":[{"index":0,"delta":{` + fields + `}}]}` }
	details := func(s string) string { return delta(`"reasoning_details":` + s) }
	for _, c := range []struct{ body, thinking, kept string }{
		{events(details(asText(`[{"type":"reasoning.encrypted","data":"SIG"}]`)), stop), "", `{"reasoning_details":` + asText(`[{"type":"reasoning.encrypted","data":"SIG"}]`) + `}`},
		{events(details(asText(`[ {"type":"reasoning.text", "text":"hm", "signature":"SIG"} ]`)), stop), "hm", `{"reasoning_details":` + asText(`[ {"type":"reasoning.text", "text":"hm", "signature":"SIG"} ]`) + `}`},
		{events(details(asText(`[{"type":"reasoning.text","text":"h","index":0}]`)), details(asText(`[{"type":"reasoning.text","text":"m","index":0}]`)), stop), "hm", `{"reasoning_details":` + asText(`[{"index":0,"text":"hm","type":"reasoning.text"}]`) + `}`},
		{events(details(`"h"`), details(`"m"`), stop), "hm", `{"reasoning_details":"hm"}`},
		{events(details(`[`+asText(`{"type":"reasoning.text","text":"hm","signature":"S"}`)+`]`), stop), "hm", `{"reasoning_details":[` + asText(`{"type":"reasoning.text","text":"hm","signature":"S"}`) + `]}`},
		{events(delta(`"thinking_blocks":`+asText(`[{"type":"thinking","thinking":"hm","signature":"SIG"}]`)), stop), "hm", `{"thinking_blocks":` + asText(`[{"type":"thinking","thinking":"hm","signature":"SIG"}]`) + `}`},
		{events(delta(`"extra_content":`+asText(`{"google":{"thought_signature":"SIG"}}`)), stop), "", `{"extra_content":` + asText(`{"google":{"thought_signature":"SIG"}}`) + `}`},
		{events(delta(`"content":`+asText(`[{"type":"thinking","thinking":"hm"}]`)), stop), "hm", `{"field":"content.parts"}`},
	} {
		if got, kept, _, failed := listen(t, c.body); failed != nil || got.text != "hello" || got.thinking != c.thinking || kept != c.kept {
			t.Errorf("%s: %+v, %s, %v\nwant %s", c.body, got, kept, failed, c.kept)
		}
	}
}

// TestReasoningTextReturned: the next request has the text.
func TestReasoningTextReturned(t *testing.T) {
	t.Parallel()
	var bodies []string
	const details = `"[{\"type\":\"reasoning.encrypted\",\"data\":\"SIG\"}]"`
	m := signedServer(t, &bodies, events(`{"choices":[{"index":0,"delta":{"reasoning_details":`+details+`,"content":"hello"},"finish_reason":"stop"}]}`))
	first := signedAsk(t, m, user(textBlock("hi")))
	signedAsk(t, m, user(textBlock("hi")), sessions.Message{Role: sessions.Assistant, Model: "mock/m", Content: first.Content}, user(textBlock("and?")))
	if last := bodies[len(bodies)-1]; !strings.Contains(last, `"reasoning_details":`+details) {
		t.Error(last)
	}
}

// TestOtherAPIs: a stream of another API ends in an error that names it.
func TestOtherAPIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, hint string }{
		// source: mxyhi/token_proxy#238
		{events(`{"type":"response.created","response":{"object":"response","status":"in_progress","output":[],"error":null}}`, `{"type":"response.output_text.delta","delta":"hello"}`, `{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":3,"output_tokens":2}}}`), "openai-responses"},
		{events(`{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":3,"output_tokens":2}}`), "openai-responses"},
		{"event: message_start\n" + events(`{"type":"message_start","message":{"role":"assistant","content":[],"usage":{"input_tokens":3}}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`), "anthropic"},
		{events(`{"candidates":[{"content":{"parts":[{"text":"hel"}],"role":"model"}}]}`), "baseUrl"},
		{events(`{"response":"hel"}`, `{"response":"lo"}`, "[DONE]"), "baseUrl"},
	} {
		if got, _, _, failed := listen(t, c.body); failed == nil || failed.Class != agent.BadAddress || !strings.Contains(failed.Hint, c.hint) {
			t.Errorf("%s: %+v, %+v", c.body, got, failed)
		}
	}
}
