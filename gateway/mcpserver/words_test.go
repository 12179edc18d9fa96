package mcpserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"parley/gateway/gatewaytest"
)

// What is wrong with a message or with the arguments of a tool is said in words that name the place, without those of the libraries.
func TestMCPWords(t *testing.T) {
	t.Parallel()
	o := openHost(t, t.TempDir(), gatewaytest.OutsideOn)
	s, err := o.MCP(gatewaytest.AnnsToken, "")
	if err != nil {
		t.Fatal(err)
	}
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":` + params + `}`
	}
	for body, want := range map[string]string{
		call(`{"name":"sessions_send","arguments":{"sessionKey":{"a":5},"message":"x"}}`): `fit its schema: sessionKey: type: map[a:5] has type \\\"object\\\", want \\\"string\\\". Nothing was done.`,
		call(`{"name":"sessions_send","arguments":{}}`):                                   `fit its schema: required: missing properties: [`,
		call(`{"name":"sessions_list","arguments":{"kinds":["cats"]}}`):                   `fit its schema: kinds[]: enum: cats`,
		call(`{"name":"sessions_send","arguments":[1]}`):                                  `the arguments are not a JSON object`,
		call(`{"name":5}`): `"code":-32602,"message":"name of tools/call must be a text"`,
		call(`{}`):         `"message":"name of tools/call is missing: tools/list shows the names of tools"`,
		call(`[]`):         `"message":"params of tools/call must be an object"`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`:                           `"id":5`,
		`{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":5}}`:     `"message":"cursor of tools/list must be a text"`,
		`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"clientInfo":5}}`: `"message":"clientInfo of initialize must be an object"`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                `"id":null`,
		`{"jsonrpc":"2.0","id":5,"method":7}`:                                      `"message":"method must be a text"`,
		`{"jsonrpc":"1.0","id":5,"method":"ping"}`:                                 `jsonrpc must be \"2.0\"`,
		`7`:     `"code":-32600`,
		`words`: `"code":-32700,"message":"the body is not JSON"`,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.URL+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Session-Id", s.ID())
		resp, err := (&http.Client{Transport: gatewaytest.WithToken(gatewaytest.AnnsToken)}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		got := string(b)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s, %v, want %s", body, got, err, want)
		}
		for _, lead := range []string{"validating", "unmarshal", "mcp.", "json: ", "Go value", "handling '", "jsonrpc2"} {
			if strings.Contains(got, lead) {
				t.Errorf("%s: %q is the library's: %s", body, lead, got)
			}
		}
	}
}
