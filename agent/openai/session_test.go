package openai

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"parley/agent"
)

// noting keeps the header of the last request.
type noting struct{ header http.Header }

func (n *noting) RoundTrip(r *http.Request) (*http.Response, error) {
	n.header = r.Header
	const body = `{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// TestSessionHeader: OpenCode's gateway takes no request that does not name its conversation, and no other server is told.
// source: genspark-ai/genoffice#331
func TestSessionHeader(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]bool{"https://opencode.ai/zen/go/v1": true, "https://notopencode.ai/v1": false, "https://api.deepseek.com/v1": false} {
		n := &noting{}
		if _, err := answer(t, New(Config{Name: "mock", BaseURL: base, HTTPClient: &http.Client{Transport: n}}), agent.Prompt{Model: "m", Session: "agent:main:one"}); err != nil {
			t.Fatal(err)
		}
		if got := n.header.Get("X-Opencode-Session"); (got != "") != want || strings.Contains(got, "main") {
			t.Errorf("%s: %q", base, got)
		}
	}
}
