package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Answers over HTTP are what they are, whatever type they say to have, and a server that refuses a message which wants no answer is spoken to.
//
// source: modelcontextprotocol/java-sdk#748 (text/plain), helidon-io/helidon-mcp#97 (no type), outline/outline#12572 (500 to
// notifications/initialized), hyperdxio/hyperdx#2686 (400 to it and to GET)
func TestOddHTTP(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, form string // of answers to requests
		note, get  int    // status of answers to notifications, and to GET
	}{
		{"application/json", "%s", 400, 405}, {"application/json", "%s", 500, 400}, {"application/json", "%s", 204, 500}, {"application/json", "%s", 200, 200},
		{"text/plain; charset=utf-8", "%s", 202, 405}, {"", "\n%s", 202, 405}, {"application/json-rpc", "%s", 202, 405}, {"text/html", "%s", 202, 405},
		{"text/plain", "event: message\ndata: %s\n\n", 202, 405}, {"", "data: %s\n\n", 202, 405},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct {
					ID     json.RawMessage
					Method string
				}
				_ = json.NewDecoder(r.Body).Decode(&m) // GET has none
				switch {
				case r.Method != http.MethodPost:
					w.WriteHeader(c.get)
					return
				case m.ID == nil:
					w.WriteHeader(c.note)
					return
				}
				result, _ := listing(plainTool)(nil, m.ID, m.Method, nil)
				if m.Method == "tools/call" {
					result = `{"content":[{"type":"text","text":"done"}]}`
				}
				w.Header()["Content-Type"] = []string{c.kind}
				if c.kind == "" {
					w.Header()["Content-Type"] = nil
				}
				_, _ = fmt.Fprintf(w, c.form, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`) // the client says what is missing
			}))
			t.Cleanup(s.Close)
			r := newRig(t, one(remote(s.URL)))
			r.running()
			if got := r.call("x_t", "{}"); got.Text != "done" || got.IsError {
				t.Errorf("%+v", got)
			}
			r.stop()
		})
	}
}
