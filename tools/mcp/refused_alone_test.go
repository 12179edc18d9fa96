package mcp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestRefusedAlone: a call that is answered with an error of HTTP is refused alone: the next one works, on the same connection. A token that lacks a right
// is said to be the reason, with the right's name.
// source: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#scope-challenge-handling
func TestRefusedAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status          int
		challenge, page string
		want            string
	}{
		"a right is missing": {403, `Bearer error="insufficient_scope", scope="files:write", error_description="Additional permission required"`, `{"error":"insufficient_scope"}`,
			"refused the call: the token that the owner of this host has set for it lacks the right for this tool (scope files:write), and only the owner can set one that has it. Nothing was done; its other tools may work."},
		"it is not named": {403, "", `{"error":"insufficient_scope"}`, "lacks the right for this tool, and only the owner"},
		"forbidden":       {403, "", "no", "answered the call with 403 Forbidden. Nothing was done"},
		"not understood":  {422, "", "no", "answered the call with 422 Unprocessable Entity. Nothing was done"},
		"failed":          {500, "", "no", "answered the call with 500 Internal Server Error. The call may have been done"},
		"with a message":  {403, "", `{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"not yours"}}`, "refused the call: not yours"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := handler(t)
			var calls atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err == nil && strings.Contains(string(body), "tools/call") && calls.Add(1) == 1 {
					if c.challenge != "" {
						w.Header().Set("WWW-Authenticate", c.challenge)
					}
					http.Error(w, c.page, c.status)
					return
				}
				r.Body = io.NopCloser(strings.NewReader(string(body)))
				h.ServeHTTP(w, r)
			}))
			defer s.Close()
			r := newRig(t, one(remote(s.URL)))
			r.running()
			if got := r.call("x_echo", `{}`); !got.IsError || !strings.Contains(got.Text, c.want) {
				t.Errorf("%+v", got)
			}
			if got := r.call("x_echo", `{}`); got.IsError || r.Status()[0].Restarts != 0 {
				t.Errorf("the next call: %+v, %+v", got, r.Status()[0])
			}
			r.stop()
		})
	}
}
