package hooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/router/inbound"
	"parley/sessions"
)

// host notes what hooks ask of it.
type host struct {
	reports []inbound.Report
	woke    []bool
	first   string // what a repeat said the first time
	err     error
	wrong   int
}

func (h *host) SubmitHook(_ context.Context, x inbound.Report) (inbound.Submitted, error) {
	h.reports = append(h.reports, x)
	run := sessions.Run{ID: "r1", Key: "k"}
	if h.first != "" {
		run.Input = sessions.Message{ID: "m1", Content: sessions.TextContent(h.first)}
	}
	return inbound.Submitted{Run: run, Duplicate: h.first != ""}, h.err
}

func (h *host) Wake(ctx context.Context, x inbound.Report, now bool) (inbound.Submitted, error) {
	h.woke = append(h.woke, now)
	if h.first != "" {
		return h.SubmitHook(ctx, x)
	}
	h.reports = append(h.reports, x)
	return inbound.Submitted{}, h.err
}

func (h *host) ChatOf(_ context.Context, agent sessions.AgentID, text string) (channels.Address, error) {
	if text == "stranger" {
		return channels.Address{}, fmt.Errorf("%w: never wrote", sessions.ErrBadRequest)
	}
	return channels.Address{Chat: channels.ChatID(text)}, nil
}

func (h *host) try(_ netip.Addr, right func() bool) (bool, time.Duration) {
	if h.wrong >= 10 {
		return false, 5 * time.Second
	}
	ok := right()
	if !ok {
		h.wrong++
	}
	return ok, 0
}

func serving(c Config) (*host, *Handler) {
	h := &host{}
	if c.Path == "" {
		c.Path = "/hooks"
	}
	c.Enabled, c.Token = true, channels.NewSecret("secret")
	return h, New(Deps{Path: c.Path, Config: func() *Config { return &c }, Receiver: h, ChatOf: h.ChatOf, Try: h.try, From: func(context.Context) netip.Addr { return netip.Addr{} }, Log: slog.New(slog.DiscardHandler),
		Agents: func() ([]sessions.AgentID, sessions.AgentID) { return []sessions.AgentID{"main", "ops"}, "main" }})
}

// post sends a request with the token; headers are name, value, …
func post(h http.Handler, path, body string, headers ...string) (int, string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer secret")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestRefused(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 200) + strings.Repeat("]", 200)
	for name, x := range map[string]struct {
		path, body string
		headers    []string
		code       int
		says       string
	}{
		"no token":        {"/hooks/wake", `{"text":"x"}`, []string{"Authorization", ""}, 401, "need a token"},
		"wrong token":     {"/hooks/wake", `{"text":"x"}`, []string{"Authorization", "Bearer other"}, 401, "wrong"},
		"no bearer":       {"/hooks/wake", `{"text":"x"}`, []string{"Authorization", "Basic secret"}, 401, "need a token"},
		"in the address":  {"/hooks/wake?token=secret", `{"text":"x"}`, nil, 401, "Do not put a token into the URL"},
		"unknown, no key": {"/hooks/nope", `{}`, []string{"Authorization", ""}, 401, "need a token"},
		"unknown":         {"/hooks/nope", `{}`, nil, 404, "unknown hook"},
		"no hook at all":  {"/hooks/", `{}`, nil, 404, "unknown hook"},
		"too long":        {"/hooks/wake", strings.Repeat(" ", maxBody+1), nil, 413, "payload too large"},
		"no JSON":         {"/hooks/wake", `{`, nil, 400, "must be JSON"},
		"two":             {"/hooks/wake", `{"text":"x"} {}`, nil, 400, "more data follows"},
		"a list":          {"/hooks/wake", `[]`, nil, 400, "one JSON object"},
		"deep":            {"/hooks/m", deep, nil, 400, "nested"},
		"a form":          {"/hooks/wake", `text=x`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "send JSON"},
		"no text":         {"/hooks/wake", `{"text":" "}`, nil, 400, "text required"},
		"a bad mode":      {"/hooks/wake", `{"text":"x","mode":"later"}`, nil, 400, "use now or next"},
		"unknown field":   {"/hooks/wake", `{"text":"x","foo":1}`, nil, 400, `unknown field "foo": the fields are text, mode, name, agentId`},
		"a bad type":      {"/hooks/agent", `{"message":1}`, nil, 400, "message: unexpected type number"},
		"no message":      {"/hooks/agent", `{}`, nil, 400, "message required"},
		"a bad channel":   {"/hooks/agent", `{"message":"x","channel":"telegram"}`, nil, 400, "channel must be last"},
		"a bad timeout":   {"/hooks/agent", `{"message":"x","timeoutSeconds":-1}`, nil, 400, "timeoutSeconds"},
		"bad thinking":    {"/hooks/agent", `{"message":"x","thinking":"much"}`, nil, 400, "thinking"},
		"a session":       {"/hooks/agent", `{"message":"x","sessionKey":"hook:x"}`, nil, 400, "allowRequestSessionKey"},
		"another agent":   {"/hooks/agent", `{"message":"x","agentId":"ops"}`, nil, 403, "allowedAgents"},
		"a stranger":      {"/hooks/agent", `{"message":"x","to":"stranger"}`, nil, 400, "never wrote"},
		"a bad key":       {"/hooks/agent", `{"message":"x"}`, []string{"Idempotency-Key", "a b"}, 400, "idempotency key"},
		"a template":      {"/hooks/m", `{"n":5,"index":"x"}`, nil, 422, "hook mapping failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host, h := serving(Config{Mappings: []Mapping{{Path: "m", Message: `{{if .n}}{{slice .index 5}}{{end}}`}}})
			code, body := post(h, x.path, x.body, x.headers...)
			var fail struct{ Error, Code string }
			if err := json.Unmarshal([]byte(body), &fail); err != nil || code != x.code || !strings.Contains(fail.Error, x.says) || fail.Code == "" {
				t.Errorf("%d %s, %v", code, body, err)
			}
			if len(host.reports) > 0 {
				t.Errorf("%+v", host.reports)
			}
		})
	}
	host, h := serving(Config{})
	r := httptest.NewRequest(http.MethodGet, "/hooks/wake", nil)
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 405 || w.Header().Get("Allow") != "POST" {
		t.Errorf("GET: %d %v", w.Code, w.Header())
	}
	for range 10 {
		post(h, "/hooks/wake", `{}`, "Authorization", "Bearer x")
	}
	if code, _ := post(h, "/hooks/wake", `{"text":"x"}`); code != 429 || len(host.reports) > 0 {
		t.Errorf("after ten wrong tokens: %d", code)
	}
	host, h = serving(Config{})
	for err, want := range map[error]int{sessions.ErrBadRequest: 400, inbound.ErrQueueFull: 503, errors.New("disk"): 500} {
		host.err = err
		if code, body := post(h, "/hooks/agent", `{"message":"x"}`); code != want {
			t.Errorf("%v: %d %s", err, code, body)
		}
	}
	off := New(Deps{Config: func() *Config { return &Config{} }, Log: slog.New(slog.DiscardHandler)})
	if code, _ := post(off, "/hooks/wake", `{"text":"x"}`); code != 404 {
		t.Errorf("off: %d", code)
	}
}

func TestTaken(t *testing.T) {
	t.Parallel()
	host, h := serving(Config{AllowKey: true, KeyPrefix: []string{"hook:ci-", "agent:main:hook:x"}, Agents: []string{"*"}})
	last := func() inbound.Report { return host.reports[len(host.reports)-1] }
	if code, body := post(h, "/hooks/wake", `{"text":"disk full","mode":"next","name":"Monitor"}`, "X-Parley-Token", "secret", "Authorization", ""); code != 200 || body != `{"ok":true,"mode":"next"}`+"\n" || host.woke[0] || last().Text != "disk full" || last().Name != "Monitor" || last().Agent != "main" || last().Source != "" {
		t.Errorf("%d %s: %+v", code, body, last())
	}
	if post(h, "/hooks/wake", `{"text":"x"}`, "Idempotency-Key", "1"); !host.woke[1] || last().Source != "hook:wake:1" {
		t.Errorf("%+v", last())
	}
	code, body := post(h, "/hooks/agent", `{"message":"m","name":"CI","agentId":"ops","sessionKey":"hook:ci-5 6","to":"there","model":"p/m","thinking":"high","timeoutSeconds":9}`, "Idempotency-Key", "1")
	if want := (inbound.Report{Source: "hook:agent:1", Name: "CI", Agent: "ops", Session: "agent:ops:hook:ci-5%206", Text: "m", To: channels.Address{Chat: "there"}, Model: "p/m", Thinking: "high", Timeout: 9 * time.Second}); code != 202 || last() != want || !strings.Contains(body, `"runId":"r1"`) {
		t.Errorf("%d %s: %+v", code, body, last())
	}
	for body, to := range map[string]channels.ChatID{`{"message":"m"}`: "", `{"message":"m","deliver":true}`: "last", `{"message":"m","channel":"last"}`: "last", `{"message":"m","to":"a","deliver":false}`: ""} {
		if code, answer := post(h, "/hooks/agent", body); code != 202 || last().To.Chat != to || last().Session != "" {
			t.Errorf("%s: %d %s, %+v", body, code, answer, last())
		}
	}
	n := len(host.reports)
	for _, key := range []string{"hook:other", "agent:main:main", "agent:main:hook:other", "agent:ops:hook:x", "cron:ci-1", "global", "hook:", "x"} {
		if code, body := post(h, "/hooks/agent", `{"message":"m","sessionKey":"`+key+`"}`); code != 400 || len(host.reports) != n {
			t.Errorf("%s: %d %s", key, code, body)
		}
	}
	if code, _ := post(h, "/hooks/agent", `{"message":"m","sessionKey":"agent:main:hook:xyz"}`); code != 202 || last().Session != "agent:main:hook:xyz" {
		t.Errorf("%d, %+v", code, last())
	}
}

// A repeat is the first one's run. One that says something else is refused: it would be lost without a word.
func TestRepeated(t *testing.T) {
	t.Parallel()
	for path, body := range map[string]string{"/hooks/wake": `{"text":"%s"}`, "/hooks/agent": `{"message":"%s"}`} {
		host, h := serving(Config{})
		host.first = "Hook: disk full"
		if code, answer := post(h, path, fmt.Sprintf(body, " disk full "), "Idempotency-Key", "1"); code/100 != 2 || !strings.Contains(answer, `"repeat":true`) {
			t.Errorf("%s again: %d %s", path, code, answer)
		}
		if code, answer := post(h, path, fmt.Sprintf(body, "disk on fire"), "Idempotency-Key", "1"); code != 422 || !strings.Contains(answer, `"code":"mismatch"`) {
			t.Errorf("%s with another text: %d %s", path, code, answer)
		}
	}
}

// Nothing that a stranger wrote is in the log: a hook is named in the words of the configuration.
func TestRefusedIsLoggedInOurWords(t *testing.T) {
	t.Parallel()
	_, h := serving(Config{Mappings: []Mapping{{Path: "push", Message: "x"}}})
	var out bytes.Buffer
	h.deps.Log = slog.New(slog.NewTextHandler(&out, nil))
	for path, want := range map[string]string{"/hooks/wake": "hook=wake ", "/hooks/push/": "hook=push ", "/hooks/forged": `hook="unknown path" `, "/hooks/a%0Aforged": `hook="unknown path" `, "/hooks/": `hook="unknown path" `} {
		for _, method := range []string{"POST", "FORGED"} {
			out.Reset()
			r := httptest.NewRequest(method, path, strings.NewReader("forged"))
			for _, name := range []string{"User-Agent", "X-Forwarded-For", "Content-Type", "Idempotency-Key", "X-Parley-Token"} {
				r.Header.Set(name, "forged")
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			if got := out.String(); !strings.Contains(got, want) || strings.Contains(strings.ToLower(got), "forged") || strings.Count(got, "\n") != 1 {
				t.Errorf("%s %s: %s", method, path, got)
			}
		}
	}
}

func TestMapped(t *testing.T) {
	t.Parallel()
	host, h := serving(Config{Mappings: []Mapping{
		{Path: "github", Match: Match{Field: "action", Equals: []string{"opened", "reopened"}}, Name: "GitHub {{.repository.full_name}}", Session: "hook:pr-{{.number}}", To: "{{.chat}}", IDHeader: "X-GitHub-Delivery", Agent: "ops",
			Message: `PR {{.number}}: {{.pull_request.title | upper}}{{range .labels}} [{{.name}}]{{end}} by {{.sender.login}}{{with .pull_request.base.ref}} into {{.}}{{end}}`},
		{Path: "github", Match: Match{Field: "zen"}, Action: "wake", Mode: "next", Message: "{{.zen}}"},
		{Path: "ci/main", Message: "{{if .failed}}it failed{{end}}"},
	}})
	code, body := post(h, "/hooks/github", `{"action":"opened","number":5,"pull_request":{"title":"fix"},"labels":[{"name":"a"},{"name":"b"}],"chat":"there"}`, "X-GitHub-Delivery", "d1")
	if want := (inbound.Report{Source: "hook:github:d1", Name: "GitHub", Agent: "ops", Session: "agent:ops:hook:pr-5", Text: "PR 5: FIX [a] [b] by", To: channels.Address{Chat: "there"}}); code != 202 || host.reports[0] != want {
		t.Fatalf("%d %s: %+v", code, body, host.reports)
	}
	if code, _ := post(h, "/hooks/github", `{"zen":"be calm"}`); code != 200 || host.woke[0] || host.reports[1].Text != "be calm" || host.reports[1].Name != "github" {
		t.Errorf("%d %+v", code, host.reports[1])
	}
	for path, body := range map[string]string{"/hooks/github": `{"action":"closed"}`, "/hooks/ci/main": `{"failed":false}`} {
		if code, answer := post(h, path, body); code != 204 || answer != "" || len(host.reports) != 2 {
			t.Errorf("%s: %d %s", path, code, answer)
		}
	}
	if code, _ := post(h, "/hooks/ci/main", `{"failed":true}`); code != 202 || host.reports[2].Text != "it failed" {
		t.Errorf("%d", code)
	}
	if code, body := post(h, "/hooks/github", `{"action":"opened","number":"1:2"}`); code != 202 || host.reports[3].Session != "agent:ops:hook:pr-1%3A2" {
		t.Errorf("a hostile id: %d %s %+v", code, body, host.reports[3])
	}
}

// TestSigned: a signature stands for the token, at its own mappings only.
func TestSigned(t *testing.T) {
	t.Parallel()
	sign := func(secret, body string) string {
		m := hmac.New(sha256.New, []byte(secret))
		m.Write([]byte(body))
		return hex.EncodeToString(m.Sum(nil))
	}
	signature := func(secret string) Signature {
		return Signature{Header: "X-Hub-Signature-256", Secret: channels.NewSecret(secret)}
	}
	host, h := serving(Config{Mappings: []Mapping{
		{Path: "a", Message: "of the first", Signature: signature("s1")}, {Path: "a", Message: "of the second", Signature: signature("s2")}, {Path: "b", Message: "x"},
	}})
	const body = `{"n":1}`
	for sig, want := range map[string]int{"sha256=" + sign("s2", body): 202, sign("s1", body): 202, "sha256=" + sign("s3", body): 401, "sha256=" + sign("s1", body+" "): 401, "nonsense": 401} {
		n := len(host.reports)
		code, answer := post(h, "/hooks/a", body, "Authorization", "", "X-Hub-Signature-256", sig)
		if code != want || (len(host.reports) > n) != (want == 202) {
			t.Errorf("%s: %d %s", sig, code, answer)
		}
		if code == 202 && strings.Contains(sig, "=") != (host.reports[n].Text == "of the second") {
			t.Errorf("%s: %+v", sig, host.reports[n])
		}
	}
	if code, _ := post(h, "/hooks/b", body, "Authorization", "", "X-Hub-Signature-256", sign("s1", body)); code != 401 {
		t.Errorf("at another mapping: %d", code)
	}
	if code, _ := post(h, "/hooks/wake", `{"text":"x"}`, "Authorization", "", "X-Hub-Signature-256", sign("s1", `{"text":"x"}`)); code != 401 {
		t.Errorf("at wake: %d", code)
	}
	if code, _ := post(h, "/hooks/a", body); code != 202 {
		t.Errorf("with the token: %d", code)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	token := channels.NewSecret("x")
	for want, c := range map[string]Config{
		"token is missing":                                             {Enabled: true, Path: "/hooks"},
		"path must be a slash and one word":                            {Path: "/", Token: token},
		"path is a path of the host itself":                            {Path: "/api"},
		"mappings[0].path is one of parley's":                          {Path: "/hooks", Mappings: []Mapping{{Path: "wake", Message: "x"}}},
		"mappings[0].path is not a path":                               {Path: "/hooks", Mappings: []Mapping{{Path: "../x", Message: "x"}}},
		"mappings[1].message is not a valid template: message:1":       {Path: "/hooks", Mappings: []Mapping{{Path: "x", Message: "x"}, {Path: "y", Message: "{{.x"}}},
		"mappings[0].name is not a valid template: name:1":             {Path: "/hooks", Mappings: []Mapping{{Path: "x", Message: "x", Name: "{{nope .x}}"}}},
		"mappings[0].sessionKey is not a valid template: sessionKey:1": {Path: "/hooks", Mappings: []Mapping{{Path: "x", Message: "x", Session: "{{index .a 0}}"}}},
		"mappings[0].match.field is missing":                           {Path: "/hooks", Mappings: []Mapping{{Path: "x", Message: "x", Match: Match{Equals: []string{"a"}}}}},
		"mappings[0].signature needs":                                  {Path: "/hooks", Mappings: []Mapping{{Path: "x", Message: "x", Signature: Signature{Header: "X-Sig"}}}},
		"mappings[0].action wake uses":                                 {Path: "/hooks", Mappings: []Mapping{{Path: "x", Message: "x", Action: "wake", To: "last"}}},
	} {
		ps := c.Check()
		if len(ps) != 1 || !strings.HasPrefix(ps[0].Path+" "+ps[0].Text, want) {
			t.Errorf("%s: %+v", want, ps)
		}
	}
	if ps := (Config{Enabled: true, Path: "/hooks", Token: token, Mappings: []Mapping{{Path: "a/b", Message: "{{.a.b}}"}}}).Check(); len(ps) > 0 {
		t.Errorf("%+v", ps)
	}
}
