package responses

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// asText gives JSON as a JSON text.
func asText(s string) string { return fmt.Sprintf("%q", s) }

// TestOddAnswers: answers that say hello in a way that no document has.
func TestOddAnswers(t *testing.T) {
	t.Parallel()
	const created = `{"type":"response.created","response":{"status":"in_progress","model":"m-1","output":[],"error":null,"usage":null}}`
	const added = `{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}`
	const whole = `{"object":"response","status":"completed","output":[` + hello + `]}`
	end, hi := completed(), delta(`"item_id":"msg_1","output_index":0,"content_index":0,"delta":"hello"`)
	part := func(n int, part string) string {
		return fmt.Sprintf(`{"type":"response.content_part.done","item_id":"msg_1","output_index":0,"content_index":%d,"part":%s}`, n, part)
	}
	words := func(n int, kind, text string) string {
		field := map[string]string{"delta": "delta", "done": "text"}[kind]
		return fmt.Sprintf(`{"type":"response.output_text.%s","item_id":"msg_1","output_index":0,"content_index":%d,%q:%q}`, kind, n, field, text)
	}
	last := func(fields string) string {
		return events(created, `{"type":"response.completed","response":{"status":"completed",`+fields+`}}`)
	}
	item := func(content string) string { return last(`"output":[{"type":"message","content":` + content + `}]`) }
	for name, body := range map[string]string{
		"whole parts only": events(created, added, part(0, `{"type":"output_text","text":"hello"}`), end), "two whole parts": events(created, added, part(0, `{"type":"output_text","text":"hel"}`), part(1, `{"type":"output_text","text":"lo"}`), end),
		"pieces of two parts":        events(created, added, words(0, "delta", "hel"), words(0, "done", "hel"), part(0, `{"type":"output_text","text":"hel"}`), words(1, "delta", "lo"), words(1, "done", "lo"), part(1, `{"type":"output_text","text":"lo"}`), end),
		"two texts, whole":           events(created, added, words(0, "done", "hel"), words(1, "done", "lo"), end),
		"a part as a text":           events(created, part(0, asText(`{"type":"output_text","text":"hello"}`)), end),
		"output as an object":        last(`"output":` + hello),
		"output as words":            last(`"output":"hello"`),
		"output as a text":           last(`"output":` + asText("["+hello+"]")),
		"items as texts":             last(`"output":[` + asText(hello) + `]`),
		"output as a list of words":  last(`"output":["hello"]`),
		"a list in a list":           last(`"output":[[` + hello + `]]`),
		"parts for items":            last(`"output":[{"type":"output_text","text":"hello"}]`),
		"items without a type":       last(`"output":[{"role":"assistant","content":[{"text":"hello"}]}]`),
		"output twice":               last(`"output":[` + hello + `],"output":[]`),
		"a response as a text":       events(created, `{"type":"response.completed","response":`+asText(`{"status":"completed","output":[`+hello+`]}`)+`}`),
		"an item as a text":          events(created, `{"type":"response.output_item.done","output_index":0,"item":`+asText(hello)+`}`, end),
		"the answer is the event":    "event: response.created\n" + events(created) + "event: response.completed\n" + events(whole), // source: pjq/sap-ai-core-llm-proxy#35
		"content as a text":          item(asText(`[{"type":"output_text","text":"hello"}]`)),
		"content as a Python text":   item(asText(`[{'type': 'output_text', 'text': 'hello'}]`)),
		"parts that are no words":    item(`[{"type":"citation","text":"X"},{"type":"tool_result","text":"RAW"},{"type":"encrypted","text":"SIG"},{"type":"output_image","image_url":"data:"},null,{"type":"output_text","text":"hello"}]`),
		"a spoken part":              item(`[{"type":"output_audio","data":"AAA","transcript":"hello"}]`),
		"a spoken answer":            events(created, `{"type":"response.output_audio_transcript.delta","item_id":"msg_1","output_index":0,"delta":"hello"}`, `{"type":"response.output_audio.delta","delta":"AAAA"}`, end),
		"a piece in the field text":  events(created, `{"type":"response.output_text.delta","text":"hello"}`, end),
		"a piece twice":              events(created, `{"type":"response.output_text.delta","delta":"hello","delta":""}`, end),
		"a status in capitals":       `{"object":"response","status":"COMPLETED","output":[` + hello + `]}`,
		"all of it as a text":        asText(whole),
		"events as texts":            events(asText(created), asText(hi), asText(end)),
		"Python":                     events(`{'type': 'response.output_text.delta', 'delta': 'hello', 'item_id': None}`, `{'type': 'response.completed', 'response': {'status': 'completed', 'output': [], 'store': False}}`),
		"events that are no JSON":    events(created, "ping", "{broken", "null", "7", `"ok"`, hi, end),
		"half an event":              events(created, `{"type":"response.output_text.delta","delta":"he`, hi, completed(hello)),
		"[done]":                     events(created, hi, "[done]"),
		"DATA":                       strings.ReplaceAll(events(created, hi, end), "data:", "DATA:"),
		"events in a field data":     events(`{"data":`+hi+`}`, `{"data":`+end+`}`),
		"names in the JSON":          events(`{"event":"response.output_text.delta","data":{"delta":"hello"}}`, `{"event":"response.completed","data":{"response":{"status":"completed","output":[]}}}`),
		"an envelope":                `{"code":0,"msg":"ok","data":` + whole + `}`,
		"two values in an event":     "data: " + hi + "{}data: " + end + "\n\n",
		"a whole answer with a name": "event: message\n" + events(whole),
		"an envelope of Cloudflare":  `{"result":` + whole + `,"success":true,"errors":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := against(t, Config{}, reply{body: body})
			g := ask(t, m, agent.Prompt{})
			if g.err != nil || g.text != "hello" || len(g.answer.Content) != 1 || g.answer.Content[0].Text != "hello" || g.answer.Stop != agent.StopEnd {
				t.Errorf("%+v", g)
			}
		})
	}
	for name, body := range map[string]string{
		"beside the response": events(hi, `{"type":"response.completed","response":{"status":"completed","output":[]},"usage":{"input_tokens":3,"output_tokens":2}}`),
		"as a text":           events(hi, `{"type":"response.completed","response":{"status":"completed","output":[],"usage":`+asText(`{"input_tokens":3,"output_tokens":2}`)+`}}`),
		"in a list":           events(hi, `{"type":"response.completed","response":{"status":"completed","output":[],"usage":[{"input_tokens":3,"output_tokens":2}]}}`),
	} {
		m, _ := against(t, Config{}, reply{body: body})
		if g := ask(t, m, agent.Prompt{}); g.err != nil || g.answer.Usage != (sessions.Usage{Input: 3, Output: 2}) {
			t.Errorf("what it cost, %s: %+v", name, g)
		}
	}
}

// TestOddThoughts: reasoning whose fields are texts is read, and goes back as it came.
func TestOddThoughts(t *testing.T) {
	t.Parallel()
	for summary, thoughts := range map[string]string{asText(`[{"type":"summary_text","text":"hm"}]`): "hm", `"hm"`: "hm", `[]`: "", `null`: ""} {
		raw := `{"id":"rs_1","type":"reasoning","summary":` + summary + `,"encrypted_content":"SIG"}`
		m, _ := against(t, Config{}, reply{body: events(completed(raw, hello))})
		g := ask(t, m, agent.Prompt{})
		if g.err != nil || g.thoughts != thoughts || g.text != "hello" || summary != "null" && string(g.answer.Content[0].Opaque.Data) != raw {
			t.Errorf("%s: %+v", summary, g)
		}
	}
	m, _ := against(t, Config{}, reply{body: events(`{"type":"response.reasoning_summary_part.done","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"hm"}}`, delta(`"item_id":"msg_1","output_index":1,"delta":"hello"`), completed())})
	if g := ask(t, m, agent.Prompt{}); g.thoughts != "hm" || g.text != "hello" {
		t.Errorf("%+v", g)
	}
}

// TestOtherAPIs: a stream of another API ends in an error that names it.
func TestOtherAPIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, hint string }{
		// source: praxis-proxy/ai#36
		{events(`{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"hello"},"finish_reason":null}]}`, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, "[DONE]"), "openai-completions"},
		{events(`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`), "openai-completions"},
		{events(`{"type":"message_start","message":{"role":"assistant","content":[]}}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`, `{"type":"message_stop"}`), "anthropic"},
	} {
		m, s := against(t, Config{}, reply{body: c.body})
		g := ask(t, m, agent.Prompt{Tries: 3})
		if e, ok := errors.AsType[*agent.ModelError](g.err); !ok || e.Class != agent.BadAddress || !strings.Contains(e.Hint, c.hint) || len(s.raw) != 1 {
			t.Errorf("%s: %+v, %d requests", c.body, g.err, len(s.raw))
		}
	}
}
