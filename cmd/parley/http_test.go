package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"parley/agent/modeltest"
	"parley/gateway/api"
	"parley/sessions"
)

// browser speaks plain HTTP to a host, as programs of others do, and holds every answer to the document that the host gives of itself.
type browser struct {
	t     *testing.T
	url   string
	token string
	doc   map[string]any
	ids   map[string][2]string // operation: method, path
	c     *jsonschema.Compiler
}

func newBrowser(t *testing.T, w *world, p *process) *browser {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(w.dir, "state", "token"))
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, url: p.url, token: strings.TrimSpace(string(token)), ids: map[string][2]string{}}
	status, text := b.raw("GET", "/api/openapi.json", nil, "")
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d %s, %v", status, text, err)
	}
	b.doc, _ = doc.(map[string]any)
	b.c = jsonschema.NewCompiler()
	b.c.AssertFormat()
	if err := b.c.AddResource("doc.json", doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range b.doc["paths"].(map[string]any) {
		for method, op := range methods.(map[string]any) {
			b.ids[op.(map[string]any)["operationId"].(string)] = [2]string{method, path}
		}
	}
	return b
}

func (b *browser) raw(method, path string, body []byte, key string) (int, []byte) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, text
}

// asking is one use of an operation.
type asking struct {
	op   string
	path []string // the values of its path
	q    url.Values
	body map[string]any
	key  string
	want int // status; 0 = the one of the document
}

// do asks, checks status and answer against the document, and reads it.
func do[T any](b *browser, r asking) (v T) {
	b.t.Helper()
	at, ok := b.ids[r.op]
	if !ok {
		b.t.Fatalf("the document has no operation %s", r.op)
	}
	path := at[1]
	for _, value := range r.path {
		open, rest, _ := strings.Cut(path, "{")
		_, rest, _ = strings.Cut(rest, "}")
		path = open + url.PathEscape(value) + rest
	}
	if r.q != nil {
		path += "?" + r.q.Encode()
	}
	var body []byte
	if r.body != nil {
		body, _ = json.Marshal(r.body)
	}
	status, text := b.raw(strings.ToUpper(at[0]), path, body, r.key)
	op := b.doc["paths"].(map[string]any)[at[1]].(map[string]any)[at[0]].(map[string]any)
	name := strconv.Itoa(status)
	if _, known := op["responses"].(map[string]any)[name]; !known {
		name = "default"
	}
	if r.want == 0 && name == "default" || r.want != 0 && r.want != status {
		b.t.Fatalf("%s %s: %d %s", r.op, path, status, text)
	}
	esc := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	schema, err := b.c.Compile("doc.json#/paths/" + esc.Replace(at[1]) + "/" + at[0] + "/responses/" + name + "/content/application~1json/schema")
	if err != nil {
		b.t.Fatalf("%s: %v", r.op, err)
	}
	answer, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = schema.Validate(answer)
	}
	if err != nil {
		b.t.Errorf("%s: the answer is not what the document says: %v\n%s", r.op, err, text)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		b.t.Fatalf("%s: %v in %s", r.op, err, text)
	}
	return v
}

// stream reads server-sent events until the host ends them; the channel gives the kinds that came.
func (b *browser) stream(path string) <-chan []string {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.url+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	resp, err := http.DefaultClient.Do(req) //nolint:bodyclose // closed where it is read
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		b.t.Fatalf("%v %v", resp, err)
	}
	kinds := make(chan []string, 1)
	go func() {
		defer func() { _ = resp.Body.Close() }()
		var all []string
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				all = append(all, kind)
			}
		}
		kinds <- all
	}()
	return kinds
}

// conversation is everything that a program does with the API, each write with its key; said again, nothing of it happens again.
func conversation(b *browser, chat string) (first api.Said) {
	b.t.Helper()
	said := do[api.Said](b, asking{op: "chat.send", path: []string{"hook:ci"}, body: map[string]any{"message": "hello there"}, key: "say"})
	stuck := do[api.Said](b, asking{op: "chat.send", path: []string{"hook:stuck"}, body: map[string]any{"message": "for ever"}, key: "stuck"})
	do[api.Said](b, asking{op: "agent", body: map[string]any{"message": "the report", "to": chat, "extraSystemPrompt": "Be brief."}, key: "agent"})
	do[api.SendAnswer](b, asking{op: "send", body: map[string]any{"to": chat, "message": "the bins"}, key: "send"})
	do[api.Session](b, asking{op: "sessions.patch", path: []string{"main"}, body: map[string]any{"sendPolicy": "deny", "label": "home"}, key: "patch"})
	do[api.Aborted](b, asking{op: "chat.abort", path: []string{"hook:stuck"}, key: "abort"})
	do[api.Aborted](b, asking{op: "runs.cancel", path: []string{string(stuck.Run)}, key: "cancel"})
	return said
}

// A whole conversation over plain HTTP with the real program; every answer is what the host's own document says. After a restart the
// same requests with the same keys have no second effect.
//
// proves: P7
func TestConversationOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		if strings.Contains(r.Messages[len(r.Messages)-1].Text, "for ever") {
			return modeltest.Reply{Fault: modeltest.Silent}
		}
		return modeltest.Echo(r)
	})
	w.config("", "")
	p := w.start()
	b := newBrowser(t, w, p)
	w.tg.Say(owner, owner, "hi")
	w.sent(owner, 1)
	w.quiet()
	rows := do[[]api.Session](b, asking{op: "sessions.list"})
	if len(rows) != 1 || rows[0].Last == "" {
		t.Fatalf("%+v", rows)
	}
	chat := rows[0].Last
	events := b.stream("/api/events?kinds=run,text,message,session,delivery")
	said := conversation(b, chat)
	waited := do[api.Waited](b, asking{op: "agent.wait", path: []string{string(said.Run)}})
	if waited.Status != "ok" || !strings.Contains(waited.Reply, "hello there") {
		t.Errorf("%+v", waited)
	}
	w.until(20*time.Second, "all that was asked for has ended", func() bool {
		return !slices.ContainsFunc(do[[]api.Run](b, asking{op: "runs.list"}), func(r api.Run) bool { return !r.Status.Final() })
	})
	w.quiet()
	h := do[api.History](b, asking{op: "sessions.history", path: []string{"hook:ci"}})
	if len(h.Messages) != 2 || h.More || h.Messages[0].Text() != "hello there" {
		t.Errorf("%+v", h)
	}
	if page := do[api.History](b, asking{op: "sessions.history", path: []string{"hook:ci"}, q: url.Values{"limit": {"1"}}}); len(page.Messages) != 1 || !page.More || page.Messages[0].Role != sessions.Assistant {
		t.Errorf("%+v", page)
	}
	if x := do[api.Explanation](b, asking{op: "policy.explain", q: url.Values{"session": {"main"}}}); x.Verdict.Allowed() || x.Verdict.Rule != "session override" {
		t.Errorf("%+v", x)
	}
	if hits := do[[]api.Hit](b, asking{op: "sessions.search", q: url.Values{"q": {"hello there"}}}); len(hits) != 2 || hits[0].Key != said.Key {
		t.Errorf("%+v", hits)
	}
	run := do[sessions.Run](b, asking{op: "runs.show", path: []string{string(said.Run)}})
	if p := run.Input.Provenance; !p.Owner || p.Sender != api.Owner || p.Tool != "api" {
		t.Errorf("%+v", p)
	}
	for _, op := range []string{"status", "health", "agents.list", "models.list", "usage", "runs.list", "deliveries.list", "skipped.list", "pairing.list", "cron.list"} {
		do[any](b, asking{op: op})
	}
	do[api.SessionDetail](b, asking{op: "sessions.get", path: []string{"home"}, want: http.StatusNotFound})
	if d := do[api.SessionDetail](b, asking{op: "sessions.get", path: []string{"main"}}); d.Label != "home" || d.SendPolicy != "deny" || d.Verdict.Allowed() || d.ModelUsed != "mock/mock-1" || d.Waiting != 0 {
		t.Errorf("%+v", d)
	}
	do[api.SendAnswer](b, asking{op: "send", body: map[string]any{"to": "telegram/default/direct/999", "message": "x"}, want: http.StatusBadRequest})
	do[api.SendAnswer](b, asking{op: "send", body: map[string]any{"to": chat, "message": "not now"}, want: http.StatusForbidden})
	do[api.Waited](b, asking{op: "agent.wait", path: []string{"nobody"}, want: http.StatusNotFound})
	do[api.Said](b, asking{op: "chat.send", path: []string{"hook:ci"}, body: map[string]any{"message": "another"}, key: "say", want: http.StatusUnprocessableEntity})
	do[api.Deleted](b, asking{op: "sessions.delete", path: []string{"hook:ci"}, key: "delete"})
	do[api.SessionDetail](b, asking{op: "sessions.get", path: []string{"hook:ci"}, want: http.StatusNotFound})
	do[api.Session](b, asking{op: "sessions.patch", path: []string{"main"}, body: map[string]any{"sendPolicy": nil}})

	shown, asked, runs := len(w.tg.SentTo(owner)), w.model.Count(), len(do[[]api.Run](b, asking{op: "runs.list"}))
	if took := p.stop(); took > 10*time.Second {
		t.Errorf("the host took %s to stop", took)
	}
	kinds := <-events
	for _, want := range []string{"run", "text", "message", "session", "delivery"} {
		if !slices.Contains(kinds, want) {
			t.Errorf("no event %s: %v", want, kinds)
		}
	}
	p = w.start()
	b = newBrowser(t, w, p)
	again := conversation(b, chat)
	do[api.Deleted](b, asking{op: "sessions.delete", path: []string{"hook:ci"}, key: "delete"})
	w.quiet()
	if again.Run != said.Run || !again.Repeat {
		t.Errorf("%+v, before the restart %+v", again, said)
	}
	if n, m, k := len(w.tg.SentTo(owner)), w.model.Count(), len(do[[]api.Run](b, asking{op: "runs.list"})); n != shown || m != asked || k != runs {
		t.Errorf("%d messages, %d model calls, %d runs; before %d, %d, %d", n, m, k, shown, asked, runs)
	}
	do[api.SessionDetail](b, asking{op: "sessions.get", path: []string{"hook:ci"}, want: http.StatusNotFound})
	if d := do[api.SessionDetail](b, asking{op: "sessions.get", path: []string{"main"}}); d.SendPolicy != "" {
		t.Errorf("the repeat set the policy again: %+v", d)
	}
}
