package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// raw sends a request line and headers as they are, which no client library would.
func (h *host) raw(target string, head ...string) (status int, header http.Header, body string) {
	h.T.Helper()
	c, err := (&net.Dialer{}).DialContext(h.T.Context(), "tcp", strings.TrimPrefix(h.URL, "http://"))
	if err != nil {
		h.T.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	method, path, _ := strings.Cut(target, " ")
	_, _ = fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\n%s\r\n", method, path, h.Token, strings.Join(append(head, ""), "\r\n"))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		h.T.Fatalf("%q: %v", target, err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b)
}

// exchange sends bytes as they are, closes its side when the answer begins, and gives all that comes back.
func (h *host) exchange(text string) string {
	h.T.Helper()
	c, err := (&net.Dialer{}).DialContext(h.T.Context(), "tcp", strings.TrimPrefix(h.URL, "http://"))
	if err != nil {
		h.T.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, text)
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	first := make([]byte, 1)
	if _, err := io.ReadFull(c, first); err != nil {
		return ""
	}
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.CloseWrite() // not before: it ends the request's context
	}
	b, _ := io.ReadAll(c) // what is closed in the middle ends there
	return string(first) + string(b)
}

// A request has one beginning and one end, whoever reads it: what could be read in two ways is refused, or nothing after it is read. And
// each is for this host, by HTTP/1.1, and not for another protocol or another server.
func TestSmuggledRequests(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	const local = "Host: localhost\r\n"
	auth := "Authorization: Bearer " + h.Token + "\r\nContent-Type: application/json\r\n"
	inner := "GET /healthz HTTP/1.1\r\n" + local + "\r\n"
	for name, x := range map[string]struct{ text, want string }{
		"length and chunks":    {"POST /api/link HTTP/1.1\r\n" + local + auth + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n" + inner, "200"},
		"two lengths":          {"POST /api/link HTTP/1.1\r\n" + local + auth + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" + inner, "400"},
		"a signed length":      {"POST /api/link HTTP/1.1\r\n" + local + auth + "Content-Length: +2\r\n\r\n{}" + inner, "400"},
		"another encoding":     {"POST /api/link HTTP/1.1\r\n" + local + auth + "Transfer-Encoding: xchunked\r\n\r\n{}" + inner, "501"},
		"two encodings":        {"POST /api/link HTTP/1.1\r\n" + local + auth + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + inner, "501"},
		"two hosts":            {"GET /healthz HTTP/1.1\r\n" + local + "Host: evil.example\r\n\r\n", "400"},
		"no host":              {"GET /healthz HTTP/1.0\r\n\r\n", "421"},
		"another server":       {"GET http://evil.example/healthz HTTP/1.1\r\n" + local + "Connection: close\r\n\r\n", "421"},
		"a tunnel":             {"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nConnection: close\r\n\r\n", "421"},
		"about everything":     {"OPTIONS * HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "421"},
		"about everything, us": {"OPTIONS * HTTP/1.1\r\n" + local + "Connection: close\r\n\r\n", "401"},
		"HTTP/2 in the clear":  {"GET /api/status HTTP/1.1\r\n" + local + "Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", "401"},
		"HTTP/2 at once":       {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "421"},
		"a websocket":          {"GET /api/status HTTP/1.1\r\n" + local + auth + "Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n\r\n", "200"},
		"a long header":        {"GET /healthz HTTP/1.1\r\n" + local + "X: " + strings.Repeat("a", 100<<10) + "\r\n\r\n", "431"},
		"HTTP/0.9":             {"GET /healthz\r\n\r\n", "400"},
		"HTTP/9.9":             {"GET /healthz HTTP/9.9\r\n" + local + "\r\n", "505"},
	} {
		got := h.exchange(x.text)
		if n := strings.Count(got, "HTTP/1."); n != 1 || !strings.HasPrefix(got[min(len(got), len("HTTP/1.1 ")):], x.want) || strings.Contains(got, "Upgrade:") {
			t.Errorf("%s: %d answers, %.300q, want %s", name, n, got, x.want)
		}
	}
	for _, name := range []string{"localhost.", "evil.localhost", "127.0.0.1.nip.io", "2130706433", "0x7f.1", "127.1", "localhost.evil.example", "[::1].evil.example"} {
		if got := h.exchange("GET /healthz HTTP/1.1\r\nHost: " + name + "\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 42") && !strings.HasPrefix(got, "HTTP/1.1 40") {
			t.Errorf("Host %s: %.60q", name, got)
		}
	}
	for _, name := range []string{"[::1]:1", "[fe80::1%25eth0]", "[::ffff:127.0.0.1]", "LOCALHOST:1"} {
		if got := h.exchange("GET /healthz HTTP/1.1\r\nHost: " + name + "\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 200") {
			t.Errorf("Host %s: %.60q", name, got)
		}
	}
}

// What needs no token is no way around the door: paths that begin like it and lead elsewhere, and forms and texts that a page can have
// a browser send without asking, do nothing.
func TestAroundTheDoor(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for _, target := range []string{
		"GET /static/../sessions", "GET /static/..%2fsessions", "GET /static/%2e%2e/api/status", "GET /static/..%5c..%5csessions", "GET /static//../api/status", "CONNECT /hooks/../api/status",
		"POST /hooks/../api/link", "POST /hooks/..%2fapi/link", "POST /channels/../../hook", "POST /channels/../api/hook", "GET /healthz/../api/status", "GET /healthz%2f..%2fapi/status", "GET /login/../api/status", "GET /LOGIN/..;/api/status",
	} {
		got := h.exchange(target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
		if status, _, _ := strings.Cut(strings.TrimPrefix(got, "HTTP/1.1 "), " "); status != "307" && status != "301" && (len(status) != 3 || status[0] != '4') || strings.Contains(got, "login?code") {
			t.Errorf("%s: %.200q", target, got)
		}
	}
	cookie := h.cookie(h.Token)
	for what, head := range map[string]map[string]string{
		"a form":                     {"Content-Type": "application/x-www-form-urlencoded"},
		"a form with a file":         {"Content-Type": "multipart/form-data; boundary=x"},
		"a text":                     {"Content-Type": "text/plain"},
		"a text that says JSON":      {"Content-Type": "text/plain; x=application/json"},
		"JSON without an origin":     {"Origin": "null"},
		"JSON from another port":     {"Origin": "http://127.0.0.1:3000"},
		"JSON from another port, it": {"Sec-Fetch-Site": "same-site", "Origin": "http://127.0.0.1:3000"},
	} {
		for _, op := range h.operations() {
			if op.method == http.MethodGet {
				continue
			}
			head["Cookie"] = cookie
			if status, _, body := h.do(call{method: op.method, path: op.path, body: "{}", head: head}); status != http.StatusForbidden && status != http.StatusUnsupportedMediaType {
				t.Errorf("%s to %s: %d %s", what, op.id, status, body)
			}
		}
	}
	for what, head := range map[string]map[string]string{
		"of another site": {"Cookie": cookie, "Origin": "https://evil.example"}, "of another port": {"Cookie": cookie, "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, "asked before": {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"},
	} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
			if status, got, _ := h.do(call{method: method, path: "/api/events", head: head}); status != http.StatusForbidden || got.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s, a stream %s: %d %v", method, what, status, got)
			}
		}
	}
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
		if status == 200 || status >= 500 || strings.Contains(body, "root:") || strings.Contains(body, h.Token) {
			t.Errorf("%s: %d %s", target, status, body)
		}
	}
	for name, head := range map[string]string{"a bare CR": "X: a\rb", "a null": "X: a\x00b", "a line without a name": ": a", "a name with a space": "X Y: a"} {
		if status, _, _ := h.raw("GET /api/status", head); status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, status)
		}
	}
	h.Stop()
	for line := range strings.Lines(h.Log.String()) {
		if !strings.HasPrefix(line, "time=20") || strings.HasPrefix(line, "time=2001") || strings.Contains(line, h.Token) {
			t.Errorf("a line of the log: %s", line)
		}
	}
}

// Who asks for the host's health and closes their side of the connection gets the store's health, not their own.
func TestHealthOfOneWhoLeft(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	network, _ := h.Gateway.Handlers()
	got := httptest.NewRecorder()
	network.ServeHTTP(got, httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/healthz", http.NoBody))
	if got.Code != http.StatusOK {
		t.Fatalf("%d %s", got.Code, got.Body)
	}
}
