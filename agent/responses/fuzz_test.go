package responses

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"parley/agent"
	"parley/sessions"
)

// FuzzStream: whatever comes, there is at most one answer, and its calls have ids; what it keeps can be sent back.
func FuzzStream(f *testing.F) {
	for _, body := range []string{
		events(delta(`"delta":"hello"`), completed(hello, weather)),
		events(`{"type":"response.output_item.added","output_index":0,"item":`+thinking+`}`, `{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{"}`, "[DONE]"),
		events(`{"type":"response.failed","response":{"error":{"code":429,"message":3}}}`) + ": c\n\nevent: x\ndata:{}\n\n",
		`{"object":"response","status":"incomplete","output":[` + hello + `]}`,
		"[" + completed(thinking) + "]",
		events(delta(`"delta":"<think>a</think><tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>"`), completed()),
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var sent []byte
		m := New(Config{Name: "mock", HTTPClient: &http.Client{Transport: transport(func(r *http.Request) string {
			var v json.RawMessage
			if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
				t.Fatalf("the request is no JSON: %v", err)
			}
			sent = v
			return body
		})}})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		finals := 0
		p := agent.Prompt{Model: "m", Tries: 1, Messages: []sessions.Message{user("hi")}}
		for d, err := range m.Stream(ctx, p) {
			if err != nil || d.Final == nil {
				continue
			}
			finals++
			a := sessions.Message{Role: sessions.Assistant, Content: d.Final.Content}
			for _, c := range a.ToolCalls() {
				if c.ID == "" {
					t.Fatal("a call without id")
				}
			}
			p.Messages = append(p.Messages, a, user("and?"))
		}
		if finals > 1 {
			t.Fatalf("%d answers", finals)
		}
		for _, err := range m.Stream(ctx, p) {
			if err != nil {
				break // the request is looked at above
			}
		}
		if !json.Valid(sent) {
			t.Fatalf("sent %s", sent)
		}
	})
}

// FuzzPiece: the quick way reads what the JSON decoder reads.
func FuzzPiece(f *testing.F) {
	f.Add(delta(`"sequence_number":3,"item_id":"msg_1","output_index":0,"content_index":0,"delta":" a\u00e9\n","logprobs":[],"obfuscation":"x"`))
	f.Add(delta(`"item_id":"a\\b" , "summary_index":10,"output_index":01`))
	f.Add(delta(`"delta":"a","delta":"b","Delta":"c"`))
	f.Fuzz(func(t *testing.T, data string) {
		quick := event{Index: -1, Part: -1}
		if !utf8.ValidString(data) || !quick.piece([]byte(data)) { // events are checked before
			return
		}
		slow := event{Index: -1, Part: -1}
		if err := json.Unmarshal([]byte(data), &slow); err != nil {
			t.Fatalf("%q is read, but %v", data, err)
		}
		if diff := cmp.Diff(slow, quick, cmpopts.IgnoreUnexported(event{})); diff != "" {
			t.Fatalf("%q: %s", data, diff)
		}
	})
}
