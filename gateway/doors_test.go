package gateway_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"parley/gateway/api"
	"parley/gateway/openai"
	"parley/gateway/web"
)

const hooksToken = "token-of-the-hooks-0001"

// keeper says what checks who comes in.
type keeper string

const (
	byToken  keeper = ""         // a token of the gateway, its cookie, or the socket
	byHooks  keeper = "hooks"    // the token of the hooks, and no other
	platform keeper = "platform" // the adapter
	nobody   keeper = "nobody"
)

// door is a route that is no operation of the API, with a request that it understands.
type door struct {
	told bool // it says more to those who show a token, and refuses a wrong one
	keeper
	pattern, method, path string // pattern: METHOD /path, also what is asked for; {…} in it is put in
	need                  api.Scope
	body                  string
	form                  bool
	most                  int    // bytes of a body; 0 = bodies are not read
	repeat                string // what the answers to a request and to its repeat have in common, as a regular expression
}

const (
	talked  = `{"model": "parley", "messages": [{"role": "user", "content": "hello"}]}`
	listing = `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`
)

// changes are the scopes and forms of the page's changes.
var changes = map[string]struct {
	need api.Scope
	form string
}{
	"POST /parts/markdown": {api.Read, "text=x"}, "POST /sessions/{key}/settings": {api.Admin, "label=x"}, "POST /sessions/{key}/compact": {api.Admin, ""}, "POST /sessions/{key}/reset": {api.Admin, ""},
	"POST /sessions/{key}/archive": {api.Admin, ""}, "POST /sessions/{key}/delete": {api.Admin, ""}, "POST /runs/{run}/cancel": {api.Write, ""},
	"POST /deliveries/{delivery}/retry": {api.Write, ""}, "POST /deliveries/{delivery}/drop": {api.Write, ""}, "POST /deliveries/list/{delivery}/retry": {api.Write, ""}, "POST /deliveries/list/{delivery}/drop": {api.Write, ""},
	"POST /sign-out": {api.Admin, ""}, "POST /pairing/approve": {api.Admin, "channel=fake&code=x"}, "POST /pairing/reject": {api.Admin, "channel=fake&code=x"}, "POST /pairing/remove": {api.Admin, "channel=fake&account=default&user=x"},
	"POST /cron": {api.Admin, "name=n&message=m&way=every&when=1h"}, "POST /cron/{job}/now": {api.Admin, ""}, "POST /cron/{job}": {api.Admin, "name=n&message=other&way=every&when=1h"},
	"POST /cron/{job}/run": {api.Admin, ""}, "POST /cron/{job}/switch": {api.Admin, "off=1"}, "POST /cron/{job}/remove": {api.Admin, ""},
}

// programs are what others' programs call.
var programs = map[string]door{
	"GET /v1/models":                     {need: api.Read},
	"GET /v1/models/{model...}":          {need: api.Read, path: "/v1/models/parley"},
	"POST /v1/chat/completions":          {need: api.Write, body: talked, most: 20 << 20, repeat: `"id":"[^"]+"`},
	"POST /v1/responses":                 {need: api.Write, body: `{"model": "parley", "input": "hello"}`, most: 20 << 20, repeat: `"id":"[^"]+"`},
	"GET /v1/responses/{id}":             {need: api.Read},
	"GET /v1/responses/{id}/input_items": {need: api.Read},
	"POST /v1/responses/{id}/cancel":     {need: api.Write},
}

// mounted are the other mounts. The API's operations are rows of TestEveryOperation and TestReplay.
var mounted = map[string][]door{
	"/api/": nil,
	"/v1/":  nil, // programs has its rows
	"/mcp":  {{pattern: "POST /mcp", need: api.Write, body: listing, most: 1 << 20}, {pattern: "GET /mcp", need: api.Write}, {pattern: "DELETE /mcp", need: api.Write}},
	"/hooks/": {
		{keeper: byHooks, pattern: "POST /hooks/wake", body: `{"text": "x", "mode": "next"}`, most: 256 << 10, repeat: `"ok":true`},
		{keeper: byHooks, pattern: "POST /hooks/agent", body: `{"message": "x"}`, most: 256 << 10, repeat: `"runId":"[^"]+"`},
		{keeper: byHooks, pattern: "POST /hooks/push", body: `{"text": "x"}`, most: 256 << 10, repeat: `"runId":"[^"]+"`},
	},
	"POST /channels/{kind}/{account}/hook": {{keeper: platform, pattern: "POST /channels/fake/default/hook", body: "x", most: 1 << 20}},
	"GET /healthz":                         {{keeper: nobody, told: true, pattern: "GET /healthz"}},
	"GET /readyz":                          {{keeper: nobody, told: true, pattern: "GET /readyz"}},
	"GET /metrics":                         {{keeper: nobody, pattern: "GET /metrics"}}, // on loopback, without a proxy
	"/":                                    {{keeper: nobody, pattern: "GET /static/x"}, {keeper: nobody, pattern: "POST /login", body: "token=" + handToken, form: true, most: 8 << 10}, {keeper: nobody, pattern: "POST /logout"}},
}

// doors gives every route but the API's, from the program's own tables: what has no row here is an error.
func (h *host) doors(session, job string) (all []door) {
	h.T.Helper()
	for _, p := range h.Gateway.Patterns() {
		rows, ok := mounted[p]
		if !ok {
			h.T.Errorf("%s is served, and no test says who may use it", p)
		}
		all = append(all, rows...)
	}
	for _, p := range openai.Routes() {
		d, ok := programs[p]
		if !ok {
			h.T.Errorf("%s is served, and no test says who may use it", p)
		}
		d.pattern = p
		all = append(all, d)
	}
	for _, p := range web.Routes() {
		d := door{pattern: p, need: api.Read}
		if !strings.HasPrefix(p, "GET ") {
			c, ok := changes[p]
			if !ok {
				h.T.Errorf("%s is served, and no test says who may use it", p)
			}
			d.need, d.body, d.form, d.most = c.need, c.form, true, 1<<20
		}
		all = append(all, d)
	}
	in := strings.NewReplacer("{$}", "", "{key}", session, "{job}", job)
	for i, d := range all {
		var path string
		all[i].method, path, _ = strings.Cut(in.Replace(d.pattern), " ")
		if d.path == "" {
			all[i].path = placeholder.ReplaceAllString(path, "nobody")
		}
	}
	return all
}

// knock sends a request to a handler, as it would come from the network.
func (d door) knock(handler http.Handler, body string, head map[string]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(d.method, d.path, strings.NewReader(body))
	n := asked.Add(1) // each comes from an address of its own: wrong tokens slow down nobody else
	r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 19, byte(n >> 8), byte(n)}), 1).String()
	r.Host = "127.0.0.1:18790"
	r.Header.Set("Content-Type", "application/json")
	if d.form {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("HX-Request", "true")
	}
	if strings.HasSuffix(d.path, "/mcp") {
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	for name, value := range head {
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// everything switches all doors on, with these tokens.
func (h *host) everything(tokens string) {
	h.T.Helper()
	text := "state: .\ngateway: {listen: \"127.0.0.1:0\", token: a-token-of-the-test, openai: {enabled: true}, mcp: {enabled: true}, tokens: [" + tokens + "]}\nagents: {defaults: {model: offline/offline}}\n" +
		"hooks: {enabled: true, token: " + hooksToken + ", mappings: [{path: push, message: \"{{.text}}\"}]}\n"
	if err := os.WriteFile(filepath.Join(h.State, "config.yaml"), []byte(text), 0o600); err != nil {
		h.T.Fatal(err)
	}
	if err := h.Gateway.Reload(h.T.Context()); err != nil {
		h.T.Fatal(err)
	}
}

const threeTokens = "{name: eye, token: " + eyeToken + ", scope: read}, {name: bot, token: " + botToken + ", scope: write}, {name: hand, token: " + handToken + ", scope: admin}"

// opened is a host with all doors open, a session and a job.
func opened(t *testing.T, model *script) (h *host, doors []door, job string) {
	t.Helper()
	h = newHostOf(t, model)
	h.everything(threeTokens)
	if status, body := h.Get("POST", "/api/chat/messages", `{"id": "1", "text": "hello"}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	_, body := h.Get("POST", "/api/cron", `{"message": "m", "every": "1h"}`)
	id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(body)
	if id == nil {
		t.Fatal(body)
	}
	return h, h.doors("main", id[1]), id[1]
}

// signedIn gives the cookie of a token.
func signedIn(network http.Handler, token string) string {
	w := door{method: "POST", path: "/login", form: true}.knock(network, "token="+token, nil)
	c, _, _ := strings.Cut(w.Header().Get("Set-Cookie"), ";")
	return c
}

// Every route that is no operation lets in whom it is for, and nobody else: by token, by cookie, by the socket; not from other sites, nor
// by another scheme, nor under other names. Who may not changes nothing.
func TestEveryDoor(t *testing.T) {
	t.Parallel()
	model := &script{}
	h, doors, _ := opened(t, model)
	network, socket := h.Gateway.Handlers()
	h.everything(threeTokens + ", {name: former, token: " + formerToken + ", scope: admin}")
	former := signedIn(network, formerToken)
	h.everything(threeTokens)
	bearer := func(token string) map[string]string { return map[string]string{"Authorization": "Bearer " + token} }
	with := func(token, name, value string) map[string]string {
		return map[string]string{"Authorization": "Bearer " + token, name: value}
	}
	columns := []struct {
		name  string
		head  map[string]string
		scope api.Scope // at the gateway
		hooks bool      // it is the hooks' token
		never int       // what nobody gets past
	}{
		{"no token", nil, "", false, 0},
		{"an empty token", bearer(""), "", false, 0},
		{"a wrong token", bearer("token-that-nobody-ever-had"), "", false, 0},
		{"a removed token", bearer(formerToken), "", false, 0},
		{"the hooks' token", bearer(hooksToken), "", true, 0},
		{"read", bearer(eyeToken), api.Read, false, 0},
		{"write", bearer(botToken), api.Write, false, 0},
		{"no cookie of ours", map[string]string{"Cookie": "parley_18790=owner.99999999999.00"}, "", false, 0},
		{"a removed cookie", map[string]string{"Cookie": former}, "", false, 0},
		{"a cookie of read", map[string]string{"Cookie": signedIn(network, eyeToken)}, api.Read, false, 0},
		{"a cookie of write", map[string]string{"Cookie": signedIn(network, botToken)}, api.Write, false, 0},
		{"another site", with(handToken, "Origin", "https://evil.example"), "", false, http.StatusForbidden},
		{"no site", with(handToken, "Origin", "null"), "", false, http.StatusForbidden},
		{"another scheme", with(handToken, "Origin", "https://127.0.0.1:18790"), "", false, http.StatusForbidden},
		{"another port", with(handToken, "Sec-Fetch-Site", "same-site"), "", false, http.StatusForbidden},
		{"another site by its cookie", map[string]string{"Cookie": signedIn(network, handToken), "Sec-Fetch-Site": "cross-site"}, "", false, http.StatusForbidden},
		{"another name", with(handToken, "Host", "evil.example"), "", false, http.StatusMisdirectedRequest},
		{"admin", with(handToken, "Origin", "http://127.0.0.1:18790"), api.Admin, false, 0},
	}
	before, most := model.Count(), 1+2*2+2 // the first words, two endpoints by write and its cookie, two hooks
	for _, c := range columns {
		if c.scope == api.Admin { // nothing was done so far but what may be
			if n := model.Count() - before; n > most {
				t.Errorf("the model was asked %d times by who may not", n)
			}
			if _, body := h.Get("GET", "/api/cron", ""); strings.Count(body, `"id"`) != 1 || !strings.Contains(body, `"message":"m"`) {
				t.Errorf("jobs were changed by who may not: %s", body)
			}
		}
		for _, d := range doors {
			want := 0
			switch {
			case c.never != 0:
				want = c.never
			case d.told && c.scope == "" && c.head["Authorization"] != "", d.keeper == byToken && c.scope == "", d.keeper == byHooks && !c.hooks:
				want = http.StatusUnauthorized
			case d.keeper == byToken && !c.scope.Allows(d.need):
				want = http.StatusForbidden
			}
			d.expect(t, c.name, d.knock(network, d.body, c.head), want)
		}
	}
	for _, d := range doors {
		want := 0
		if d.keeper == byHooks {
			want = http.StatusUnauthorized
		}
		if d.path != "/login" && d.path != "/logout" { // nobody signs in there
			d.expect(t, "the socket", d.knock(socket, d.body, map[string]string{"Host": "anything"}), want)
		}
	}
}

// expect checks an answer: want is its status, 0 = the request was let in.
func (d door) expect(t *testing.T, as string, w *httptest.ResponseRecorder, want int) {
	t.Helper()
	let := w.Code != http.StatusUnauthorized && w.Code != http.StatusForbidden && w.Code != http.StatusMisdirectedRequest && (d.keeper == nobody || w.Code < http.StatusInternalServerError)
	if want == 0 && !let || want != 0 && w.Code != want {
		t.Errorf("%s as %s: %d %.200s, want %d", d.pattern, as, w.Code, w.Body, want)
	}
	if w.Header().Get("Access-Control-Allow-Origin") != "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s as %s: headers %v", d.pattern, as, w.Header())
	}
}

// holder is the head of a request of who may do everything at a door.
func (d door) holder(more ...string) map[string]string {
	head := map[string]string{"Authorization": "Bearer " + handToken}
	if d.keeper == byHooks {
		head["Authorization"] = "Bearer " + hooksToken
	}
	for i := 0; i+1 < len(more); i += 2 {
		head[more[i]] = more[i+1]
	}
	return head
}

// A repeat with its key is answered as the first time, but for a page that says that what it removed is not there any more, and a body that is too long is refused in words, whatever the route.
func TestEveryDoorTwiceAndTooLarge(t *testing.T) {
	t.Parallel()
	h, doors, job := opened(t, &script{})
	network, _ := h.Gateway.Handlers()
	for _, d := range doors {
		if d.most == 0 {
			continue
		}
		if d.path != "/login" {
			var one, two *httptest.ResponseRecorder
			for try := 0; try == 0 || one.Code == http.StatusConflict && d.path == "/cron/"+job+"/run"; try++ { // the turn that another door began goes on
				head := d.holder("Idempotency-Key", fmt.Sprintf("key-%d-of-%s", try, strings.ReplaceAll(d.pattern, " ", "-")))
				one, two = d.knock(network, d.body, head), d.knock(network, d.body, head)
			}
			same := regexp.MustCompile(d.repeat)
			if a, b := same.FindString(one.Body.String()), same.FindString(two.Body.String()); one.Code != two.Code && !(d.path == "/cron/"+job+"/remove" && two.Code == http.StatusNotFound) || a != b || d.repeat != "" && a == "" {
				t.Errorf("%s: %d %s, and then %d %s", d.pattern, one.Code, one.Body, two.Code, two.Body)
			}
		}
		large := d.knock(network, d.body+strings.Repeat(" ", d.most+1), d.holder())
		if text := large.Body.String(); large.Code != http.StatusRequestEntityTooLarge || !strings.Contains(text, fmt.Sprint(d.most)+" bytes") && d.keeper != platform {
			t.Errorf("%s with a large body: %d %.200s", d.pattern, large.Code, text)
		}
		if d.keeper == byToken {
			if w := d.knock(network, d.body+strings.Repeat(" ", d.most+1), nil); w.Code != http.StatusUnauthorized {
				t.Errorf("%s: a stranger's large body: %d", d.pattern, w.Code)
			}
		}
	}
	if _, body := h.Get("GET", "/api/cron", ""); strings.Count(body, `"name":"n"`) > 1 {
		t.Errorf("a form that came twice made two jobs: %s", body)
	}
}
