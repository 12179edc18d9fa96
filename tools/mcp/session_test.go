package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// A call whose session the server has forgotten is made again in a new one: nothing was done.
// source: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management (404: the client must begin a new session)
func TestForgottenSession(t *testing.T) {
	t.Parallel()
	for status, page := range map[int]string{
		http.StatusNotFound:   `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`,
		http.StatusBadRequest: `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var session, calls atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var m struct {
					ID     json.RawMessage
					Method string
				}
				_ = json.NewDecoder(r.Body).Decode(&m) // GET has none
				if m.Method == "initialize" {
					w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", session.Add(1)))
				} else if r.Header.Get("Mcp-Session-Id") != fmt.Sprint("s", session.Load()) {
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(status)
					_, _ = w.Write([]byte(page)) // the client says what is missing
					return
				}
				switch {
				case r.Method != http.MethodPost:
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				case m.ID == nil:
					w.WriteHeader(http.StatusAccepted)
					return
				}
				result, _ := listing(plainTool)(nil, m.ID, m.Method, nil)
				if m.Method == "tools/call" {
					calls.Add(1)
					result = `{"content":[{"type":"text","text":"done"}]}`
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result) // the client says what is missing
			}))
			t.Cleanup(s.Close)
			r := newRig(t, one(remote(s.URL)))
			r.running()
			session.Add(10) // it was started anew
			if got := r.call("x_t", "{}"); got.Text != "done" || got.IsError || calls.Load() != 1 {
				t.Errorf("%+v after %d calls", got, calls.Load())
			}
			r.stop()
		})
	}
}

// What a server says of an error besides its message reaches the model: it says what is wrong with the arguments, or which address a person has to open.
// source: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
func TestDetailsOfErrors(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"code":-32602,"message":"Invalid params","data":{"detail":"when must be a date"}}`: "when must be a date",
		`{"code":-32042,"message":"This request requires more information.","data":{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://mcp.example.com/connect?id=1","message":"Authorization is required."}]}}`: "open this address, and call the tool again after that:\nhttps://mcp.example.com/connect?id=1 Authorization is required.",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			_ = json.NewDecoder(r.Body).Decode(&m) // GET has none
			switch {
			case r.Method != http.MethodPost:
				w.WriteHeader(http.StatusMethodNotAllowed)
				return
			case m.ID == nil:
				w.WriteHeader(http.StatusAccepted)
				return
			}
			result, _ := listing(plainTool)(nil, m.ID, m.Method, nil)
			w.Header().Set("Content-Type", "application/json")
			if m.Method == "tools/call" {
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, answer) // the client says what is missing
				return
			}
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result) // the client says what is missing
		}))
		t.Cleanup(s.Close)
		r := newRig(t, one(remote(s.URL)))
		r.running()
		if got := r.call("x_t", "{}"); !got.IsError || !strings.Contains(got.Text, want) {
			t.Errorf("%s: %+v", answer, got)
		}
		r.stop()
	}
}

// A 404 for the session counts whatever the SDK makes of it, and one for a wrong address does not.
func TestExpired(t *testing.T) {
	t.Parallel()
	closed := errors.New("connection closed")
	for _, forgotten := range []bool{true, false} {
		a := &attempt{}
		a.status.Store(http.StatusNotFound)
		a.forgotten.Store(forgotten)
		if a.expired(closed) != forgotten {
			t.Errorf("forgotten %v", forgotten)
		}
	}
}
