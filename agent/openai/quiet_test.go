package openai

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/sessions"
)

// TestNeverCloses: an answer is complete a moment after it said so, also where the server neither closes the connection nor sends its mark;
// a server that names a reason with every piece is waited for as usual.
//
// source: openclaw/openclaw#87712 (proxies that keep connections alive)
func TestNeverCloses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string // one each second
		pause  time.Duration
		within time.Duration
	}{
		"silent":            {[]string{`{"choices":[{"index":0,"delta":{"content":"answer"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`}, time.Second, 10 * time.Second},
		"in the last piece": {[]string{`{"choices":[{"index":0,"delta":{"content":"ans"}}]}`, `{"choices":[{"index":0,"delta":{"content":"wer"},"finish_reason":"stop"}]}`}, time.Second, 10 * time.Second},
		"a late usage":      {[]string{`{"choices":[{"index":0,"delta":{"content":"answer"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}`}, 2 * time.Second, 10 * time.Second},
		"always a stop":     {[]string{`{"choices":[{"index":0,"delta":{"content":"ans"},"finish_reason":"stop"}]}`, `{"choices":[{"index":0,"delta":{"content":"wer"},"finish_reason":"stop"}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`}, 20 * time.Second, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := New(Config{Name: "p", BaseURL: "http://x/v1", HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				out, in := io.Pipe()
				context.AfterFunc(r.Context(), func() { _ = in.CloseWithError(context.Canceled) })
				go func() {
					for i := 0; r.Context().Err() == nil; i++ {
						event := ": ping\n\n"
						if i < len(c.pieces) {
							event = "data: " + c.pieces[i] + "\n\n"
						}
						if _, err := fmt.Fprint(in, event); err != nil {
							return
						}
						time.Sleep(c.pause) // virtual time
					}
				}()
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: out, Request: r}, nil
			})}})
			begun := time.Now()
			a, err := answer(t, m, agent.Prompt{Model: "m"})
			took := time.Since(begun)
			if err != nil || (sessions.Message{Content: a.Content}).Text() != "answer" || took > c.within || name == "a late usage" && a.Usage.Input != 3 {
				t.Errorf("%s: %+v, %v after %s", name, a, err, took)
			}
			time.Sleep(2 * c.pause) // virtual time: the server ends
		})
	}
}
