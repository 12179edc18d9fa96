package mcp

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// An error that is not exactly one of JSON-RPC, and an id that comes back as a text, end the call at once, with the server's words.
// source: https://www.jsonrpc.org/specification#error_object (code is an integer, message a string, the id the same as the request's)
func TestOddErrorsEndTheCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, want string }{
		"text":           {`"id":ID,"error":"boom"`, "boom"},
		"code as text":   {`"id":ID,"error":{"code":"E1","message":"boom"}`, "E1: boom"},
		"code in quotes": {`"id":ID,"error":{"code":"-32000","message":"boom"}`, "boom"},
		"object":         {`"id":ID,"error":{"code":"E1","message":{"x":1}}`, `{"x":1}`},
		"list":           {`"id":ID,"error":["boom"]`, "boom"},
		"id as text":     {`"id":"ID","result":{"content":[{"type":"text","text":"done"}]}`, "done"},
		"both":           {`"id":"ID","error":"boom"`, "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := listing(plainTool)
			in(t, func(p *peer, id json.RawMessage, method string, params json.RawMessage) (string, bool) {
				if method != "tools/call" {
					return good(p, id, method, params)
				}
				p.write(`{"jsonrpc":"2.0",` + strings.ReplaceAll(c.answer, "ID", string(id)) + `}`)
				return "", false
			}, func(t *testing.T, r *rig) {
				r.running()
				began := time.Now()
				got := r.call("x_t", `{}`)
				if took := time.Since(began); !strings.Contains(got.Text, c.want) || took > time.Second {
					t.Errorf("after %v: %+v", took, got)
				}
			})
		})
	}
}

// A text that is null is empty: the model does not read the word.
// source: https://modelcontextprotocol.io/specification/2025-11-25/server/tools#text-content (text is a string)
func TestNullTextIsEmpty(t *testing.T) {
	t.Parallel()
	for _, block := range []string{`{"type":"text","text":null}`, `null`, `{"type":"resource","resource":{"uri":"x:y","text":null}}`} {
		got := usual([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[` + block + `]}}`))
		if strings.Contains(string(got), "null") {
			t.Errorf("%s: %s", block, got)
		}
	}
}
