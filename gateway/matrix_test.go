package gateway_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"parley/gateway/api"
)

const (
	eyeToken    = "token-of-who-only-reads"
	botToken    = "token-of-who-also-writes"
	handToken   = "token-of-who-administers"
	formerToken = "token-that-is-taken-out"
)

// asked counts requests.
var asked atomic.Int64

// call is one request of the matrix.
type call struct {
	method, path, body string
	head               map[string]string
}

func (h *host) do(c call) (int, http.Header, string) {
	h.T.Helper()
	req, err := http.NewRequestWithContext(h.T.Context(), c.method, h.URL+c.path, strings.NewReader(c.body))
	if err != nil {
		h.T.Fatal(err)
	}
	for name, value := range c.head {
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	if c.body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	// Each comes from an address of its own where the host trusts this one as a proxy: wrong tokens slow down nobody else.
	n := asked.Add(1)
	req.Header.Set("X-Forwarded-For", netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}).String())
	// Its own connections: the door closes those of strangers when there are many.
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		h.T.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp.StatusCode, resp.Header, ""
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.T.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

// tokens puts more tokens in force, by reading the configuration again.
func (h *host) tokens(list string) {
	h.T.Helper()
	text := "state: .\ngateway: {listen: \"127.0.0.1:0\", token: a-token-of-the-test, trustedProxies: [127.0.0.1], tokens: [" + list + "]}\nagents: {defaults: {model: offline/offline}}\n"
	if err := os.WriteFile(filepath.Join(h.State, "config.yaml"), []byte(text), 0o600); err != nil {
		h.T.Fatal(err)
	}
	if err := h.Gateway.Reload(h.T.Context()); err != nil {
		h.T.Fatal(err)
	}
}

func (h *host) cookie(token string) string {
	h.T.Helper()
	status, head, _ := h.do(call{method: "POST", path: "/login", body: "token=" + token, head: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}})
	if status != http.StatusSeeOther {
		h.T.Fatalf("signing in: %d", status)
	}
	c, _, _ := strings.Cut(head.Get("Set-Cookie"), ";")
	return c
}

// operation is one of the document, and so of the table.
type operation struct {
	id, method, path string
	scope            api.Scope
}

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

func (h *host) operations() (ops []operation) {
	h.T.Helper()
	_, text := h.Get("GET", "/api/openapi.json", "")
	var doc struct {
		Paths map[string]map[string]struct {
			ID    string    `json:"operationId"`
			Scope api.Scope `json:"x-parley-scope"`
		} `json:"paths"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		h.T.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for m, op := range methods {
			ops = append(ops, operation{op.ID, strings.ToUpper(m), placeholder.ReplaceAllString(path, "nobody"), op.Scope})
		}
	}
	return ops
}

// strange is a request of an operation with something in it that it does not know: whoever may use the operation is told so, and
// nothing is done.
func (o operation) strange() call {
	c := call{method: o.method, path: o.path + "?nonsense=1"}
	if o.method != http.MethodGet {
		c = call{method: o.method, path: o.path, body: `{"nonsense": 1}`}
	}
	return c
}

const (
	allow = -1 // as far as the parameters are looked at
	gone  = http.StatusUnauthorized
)

// Every operation that there is lets in whom its scope says, and nobody else; by token and by cookie; not from other sites, nor under
// other names; and takes no parameter that it does not know.
func TestEveryOperation(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	const three = "{name: eye, token: " + eyeToken + ", scope: read}, {name: bot, token: " + botToken + ", scope: write}, {name: hand, token: " + handToken + ", scope: admin}"
	h.tokens(three + ", {name: former, token: " + formerToken + ", scope: admin}")
	goneCookie := h.cookie(formerToken)
	h.tokens(three)
	bearer := func(token string) map[string]string { return map[string]string{"Authorization": "Bearer " + token} }
	who := []struct {
		name  string
		head  map[string]string
		scope api.Scope // "" = nobody
		want  int       // where it is not the scope that decides
	}{
		{"no token", nil, "", gone},
		{"empty token", bearer(""), "", gone},
		{"wrong token", bearer("a-token-of-the-tesu"), "", gone},
		{"removed token", bearer(formerToken), "", gone},
		{"read", bearer(eyeToken), api.Read, 0},
		{"write", bearer(botToken), api.Write, 0},
		{"admin", bearer(handToken), api.Admin, 0},
		{"owner", bearer("a-token-of-the-test"), api.Admin, 0},
		{"cookie of read", map[string]string{"Cookie": h.cookie(eyeToken)}, api.Read, 0},
		{"cookie of write", map[string]string{"Cookie": h.cookie(botToken)}, api.Write, 0},
		{"cookie of admin", map[string]string{"Cookie": h.cookie(handToken)}, api.Admin, 0},
		{"removed cookie", map[string]string{"Cookie": goneCookie}, "", gone},
		{"other site", map[string]string{"Authorization": "Bearer " + handToken, "Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, "", http.StatusForbidden},
		{"other port", map[string]string{"Cookie": h.cookie(handToken), "Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, "", http.StatusForbidden},
		{"other name", map[string]string{"Authorization": "Bearer " + handToken, "Host": "evil.example"}, "", http.StatusMisdirectedRequest},
	}
	ops := h.operations()
	if len(ops) < 20 {
		t.Fatalf("%d operations", len(ops))
	}
	for _, op := range ops {
		for _, w := range who {
			c := op.strange()
			c.head = w.head
			want := w.want
			if want == 0 {
				want = allow
				if !w.scope.Allows(op.scope) {
					want = http.StatusForbidden
				}
			}
			status, head, body := h.do(c)
			switch ok := status == want; {
			case want == allow && (status != http.StatusBadRequest || !strings.Contains(body, "nonsense")):
				t.Errorf("%s as %s: %d %s, want an unknown parameter", op.id, w.name, status, body)
			case want != allow && (!ok || !strings.Contains(body, `"error"`) || strings.Contains(body, "nonsense")):
				t.Errorf("%s as %s: %d %s, want %d", op.id, w.name, status, body, want)
			case head.Get("X-Content-Type-Options") != "nosniff" || head.Get("Access-Control-Allow-Origin") != "":
				t.Errorf("%s as %s: headers %v", op.id, w.name, head)
			}
		}
	}
}

// A write that is repeated with its key has the same answer; the key of one principal says nothing about another's, and belongs to one
// request.
func TestReplay(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.tokens("{name: hand, token: " + handToken + ", scope: admin}")
	head := func(token, key string) map[string]string {
		return map[string]string{"Authorization": "Bearer " + token, "Idempotency-Key": key}
	}
	for _, op := range h.operations() {
		if op.method == http.MethodGet || strings.HasPrefix(op.id, "page.") || op.id == "host.stop" { // which answers once
			continue
		}
		c := call{method: op.method, path: op.path, body: "{}", head: head(handToken, "key-of-"+op.id)}
		first, _, one := h.do(c)
		again, _, two := h.do(c)
		if first != again || one != two {
			t.Errorf("%s: %d %s, and then %d %s", op.id, first, one, again, two)
		}
		if first >= 500 && first != http.StatusBadGateway && first != http.StatusServiceUnavailable {
			t.Errorf("%s with nothing: %d %s", op.id, first, one)
		}
		if long, _, _ := h.do(call{method: op.method, path: op.path, body: "{}", head: head(handToken, strings.Repeat("k", 201))}); long != http.StatusBadRequest {
			t.Errorf("%s: a long key: %d", op.id, long)
		}
		if big, _, _ := h.do(call{method: op.method, path: op.path, body: `{"x": "` + strings.Repeat("x", 1<<20) + `"}`, head: head(handToken, "k")}); big != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: a large body: %d", op.id, big)
		}
	}
	write := func(token, key, label string) (int, string) {
		status, _, body := h.do(call{"PATCH", "/api/sessions/main", `{"label": "` + label + `"}`, head(token, key)})
		return status, body
	}
	if status, body := h.Get("POST", "/api/chat/messages", `{"id": "1", "text": "hello"}`); status != 200 { // the session is there then
		t.Fatalf("%d %s", status, body)
	}
	if status, body := write(handToken, "one", "a"); status != 200 || !strings.Contains(body, `"a"`) {
		t.Fatalf("%d %s", status, body)
	}
	if status, body := write("a-token-of-the-test", "one", "b"); status != 200 || !strings.Contains(body, `"b"`) {
		t.Errorf("the same key of somebody else: %d %s", status, body)
	}
	if status, body := write(handToken, "one", "a"); status != 200 || !strings.Contains(body, `"label":"a"`) {
		t.Errorf("again: %d %s", status, body)
	}
	if status, body := h.Get("GET", "/api/sessions/main", ""); status == 200 && !strings.Contains(body, `"label":"b"`) {
		t.Errorf("the repeated write was done twice: %s", body)
	}
	if status, body := write(handToken, "one", "c"); status != http.StatusUnprocessableEntity {
		t.Errorf("the key with another request: %d %s", status, body)
	}
}

// What is not in the table is behind the same door, but for what says so itself: health and the hooks of platforms.
func TestEveryMount(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	cookie := h.cookie(h.Token)
	for _, x := range []struct {
		method, path string
		open         int // what who has no token gets
	}{
		{"GET", "/", gone}, {"GET", "/channels", gone}, {"GET", "/sessions", gone}, {"GET", "/nothing", gone}, {"POST", "/", gone},
		{"GET", "/v1/models", gone}, {"POST", "/v1/chat/completions", gone}, {"POST", "/v1/responses", gone}, {"POST", "/mcp", gone}, {"GET", "/mcp", gone},
		{"GET", "/api/", gone}, {"GET", "/api/nothing", gone}, {"TRACE", "/api/status", gone}, {"GET", "/metrics/x", gone}, {"GET", "/healthz/x", gone},
		{"GET", "/channels/fake/default/hook", gone}, {"POST", "/channels/fake/default/hook", 200}, {"POST", "/channels/x/y/hook", 404},
		{"GET", "/healthz", 200}, {"GET", "/readyz", 0}, {"GET", "/metrics", 200}, {"GET", "/static/x.js", 404}, {"GET", "/login", gone},
	} {
		c := call{method: x.method, path: x.path, head: map[string]string{}}
		if status, _, body := h.do(c); status != x.open && x.open != 0 {
			t.Errorf("%s %s without a token: %d %s, want %d", x.method, x.path, status, body, x.open)
		}
		c.head = map[string]string{"Cookie": cookie, "Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
		if status, _, body := h.do(c); status != http.StatusForbidden {
			t.Errorf("%s %s from another site: %d %s", x.method, x.path, status, body)
		}
		c.head = map[string]string{"Cookie": cookie, "Host": "evil.example"}
		if status, _, body := h.do(c); status != http.StatusMisdirectedRequest {
			t.Errorf("%s %s under another name: %d %s", x.method, x.path, status, body)
		}
	}
}
