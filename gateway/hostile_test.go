package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// raw sends a request line and headers as they are, which no client library would.
func (h *host) raw(target string, head ...string) (status int, header http.Header, body string) {
	h.t.Helper()
	c, err := (&net.Dialer{}).DialContext(h.t.Context(), "tcp", strings.TrimPrefix(h.url, "http://"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	method, path, _ := strings.Cut(target, " ")
	_, _ = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\n%s\r\n", method, path, h.token, strings.Join(append(head, ""), "\r\n"))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		h.t.Fatalf("%q: %v", target, err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b)
}

// Paths lead nowhere outside, nothing that a client sends becomes a header or a line of the log of its own, and what is broken is said
// to be so.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	const forged = "time=2001-01-01T00:00:00Z level=ERROR msg=forged"
	for _, target := range []string{
		"GET /static/../../../etc/passwd", "GET /static/%2e%2e/%2e%2e/token", "GET /static/..%2f..%2ftoken", `GET /static/..\..\token`, "GET //etc/passwd", "GET /%2e%2e/token",
		"GET /api/sessions/..%2f..%2ftoken", "GET /api/sessions/%2e%2e", "GET /api/sessions/..%5c..%5ctoken/messages", "GET /api/sessions/agent:main:..%2f..%2ftoken", "PATCH /api/sessions/a%00b",
		"GET /api/trace/..%2f..%2ftoken", "GET /api/trace/x%0d%0aX-Forged:%201", "GET /api/trace/%0a" + strings.ReplaceAll(forged, " ", "%20"),
		"GET /api/runs/..%2f..%2ftoken", "GET /api/deliveries/%00", "GET /login?code=x%0d%0aX-Forged:%201", "GET /x%0d%0aX-Forged:%201/..", "GET /sessions/%0d%0aX-Forged:%201", "GET /a/%2e%2e//%0d%0aX-Forged:1",
		"GET http://evil.example/api/status", "CONNECT evil.example:80", "GET /api/status?a=%zz", "GET /api/policy/explain?to=%0a" + strings.ReplaceAll(forged, " ", "%20"),
	} {
		status, header, body := h.raw(target, "User-Agent: x\ty", "X-Forwarded-For: %0a"+forged)
		if header.Get("X-Forged") != "" || strings.ContainsAny(header.Get("Location")+header.Get("Retry-After"), "\r\n") {
			t.Errorf("%s: forged %v", target, header)
		}
		if status == 200 || status >= 500 || strings.Contains(body, "root:") || strings.Contains(body, h.token) {
			t.Errorf("%s: %d %s", target, status, body)
		}
	}
	for name, head := range map[string]string{"a bare CR": "X: a\rb", "a null": "X: a\x00b", "a line without a name": ": a", "a name with a space": "X Y: a"} {
		if status, _, _ := h.raw("GET /api/status", head); status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, status)
		}
	}
	h.stop()
	for line := range strings.Lines(h.log.String()) {
		if !strings.HasPrefix(line, "time=20") || strings.HasPrefix(line, "time=2001") || strings.Contains(line, h.token) {
			t.Errorf("a line of the log: %s", line)
		}
	}
}
