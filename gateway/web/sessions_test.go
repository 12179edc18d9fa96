package web_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/gateway/api"
	"parley/policy"
	"parley/sessions"
)

// has fails the test unless an answer has all of these parts, and none of those that begin with "no ".
func has(t *testing.T, w *httptest.ResponseRecorder, status int, parts ...string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("answered with %d, want %d: %.300s", w.Code, status, w.Body)
	}
	for _, p := range parts {
		if not, ok := strings.CutPrefix(p, "no "); strings.Contains(w.Body.String(), not) == ok {
			t.Errorf("want %q in\n%s", p, w.Body)
		}
	}
}

// The list: what a row says, filters as the API has them, pages, and what is said when nothing is there.
func TestSessionsView(t *testing.T) {
	t.Parallel()
	w := newTalks(t)
	has(t, w.ask("GET", "/sessions", "", ""), 200, "No sessions yet", `aria-current="page"`, "<!doctype html>")
	family(w)
	has(t, w.ask("GET", "/sessions", "", ""), 200, `<a id="row-s2" href="/sessions/agent:main:telegram:group:-1001"><bdi>Garden club</bdi></a>`, "at work", `data-tone="bad">deny`, "184k", "41 min ago", ">stopped<", "huts with room")
	has(t, w.ask("GET", "/sessions?search=nobody&kind=group&active=60&archived=yes&agent=main&spawnedBy=x", "rows", ""), 200, "No matches", "no <!doctype", "no No sessions yet")
	if want := (api.SessionsQuery{Search: "nobody", Kind: "group", Agent: "main", SpawnedBy: "x", Minutes: 60, Archived: true, Limit: 51}); w.listed != want {
		t.Errorf("asked for %+v, want %+v", w.listed, want)
	}
	w.rows[0].SendPolicy, w.rows[0].Verdict = policy.Inherit, policy.Verdict{Action: policy.Deny, Rule: "session.sendPolicy.rules[0]"}
	has(t, w.ask("GET", "/sessions", "rows", ""), 200, "by session.sendPolicy.rules[0]")
	for i := range 120 {
		w.rows = append(w.rows, api.Session{Key: sessions.Key(fmt.Sprint("agent:main:x:", i)), ID: sessions.ID(fmt.Sprint("x", i)), Updated: time.Now()})
	}
	has(t, w.ask("GET", "/sessions?kind=group&offset=50", "rows", ""), 200, "51–100", `href="/sessions?kind=group">Newer`, `href="/sessions?kind=group&amp;offset=100">Older`, `hx-get="/sessions?kind=group&amp;offset=50"`)
	has(t, w.ask("GET", "/sessions?offset=100", "rows", ""), 200, "101–125", "no Older")
}

// A transcript says who said what, with tools folded and what became of each answer; pages go backwards.
func TestSessionView(t *testing.T) {
	t.Parallel()
	w := newTalks(t)
	family(w)
	has(t, w.ask("GET", "/sessions/"+club, "", ""), 200, "<bdi>Cleo</bdi>", "<bdi>telegram</bdi>", "<strong>Saturday at ten</strong>", "sessions_send", "&#34;reply&#34;:&#34;Cleo took it", `data-tone="warn">withheld`,
		"decided by <code>session override</code>", `<a href="/sessions/agent:main:main" title="agent:main:main">Anna</a>`, "The conversation begins here.", "Answers are withheld", "send the answer to telegram (Garden club) as well", "?transcript=earlier", "Delete permanently", "agent:main:telegram:group:-1001 and stops its current work")
	has(t, w.ask("GET", "/sessions/"+club+"?transcript=earlier", "", ""), 200, "Hello, garden!", "earlier conversation", `no id="composer"`)
	has(t, w.ask("GET", "/sessions/s2", "panel", ""), 200, "no <!doctype") // its id names it as well
	has(t, w.ask("GET", "/sessions/nobody", "", ""), 404, "Not found", "session nobody", "<!doctype html>")
	has(t, w.ask("GET", "/sessions/nobody", "log", ""), 404, `"code":"not_found"`)

	for i := range 100 {
		w.said["s1"] = append(w.said["s1"], sessions.Message{ID: fmt.Sprint("n", i), Seq: int64(i + 1), Role: sessions.User, Time: w.now, Content: sessions.TextContent(fmt.Sprint("word ", i))})
	}
	has(t, w.ask("GET", "/sessions/agent:main:main", "log", ""), 200, `id="m-n99"`, `id="m-n40"`, "no m-n39", "before=41")
	has(t, w.ask("GET", "/sessions/agent:main:main?before=41", "older", ""), 200, `id="m-n39"`, `id="m-n0"`, "no m-n40", "The conversation begins here.")
}

// Settings change through the API, one at a time; what it refuses is said in its words.
func TestSessionChanges(t *testing.T) {
	t.Parallel()
	w := newTalks(t)
	family(w)
	at := "/sessions/" + club
	got := w.ask("POST", at+"/settings", "panel", "sendPolicy=")
	has(t, got, 200, "Answers are sent", "session.sendPolicy.default", "no <!doctype")
	if !strings.Contains(got.Header().Get("HX-Trigger"), "Saved.") || !w.patched.SendPolicy.Null || w.patched.Model.Set || w.patched.Label.Set {
		t.Errorf("%v, patched %+v", got.Header(), w.patched)
	}
	has(t, w.ask("POST", at+"/settings", "panel", "sendPolicy=deny"), 200, "Answers are withheld", "session override")
	w.ask("POST", at+"/settings", "panel", "thinking=high")
	if w.patched.Thinking.Value != "high" || w.patched.SendPolicy.Set {
		t.Errorf("patched %+v", w.patched)
	}
	has(t, w.ask("POST", at+"/settings", "panel", "queue=steer"), 200, `<option value="steer" selected>`, `value="steer debounce:1s cap:20 drop:old"`)
	if w.patched.Queue.Value != "steer" || w.patched.Label.Set {
		t.Errorf("patched %+v", w.patched)
	}
	w.ask("POST", at+"/settings", "panel", "queue=")
	if !w.patched.Queue.Null {
		t.Errorf("patched %+v", w.patched)
	}
	if w.ask("POST", at+"/compact", "compact", "instructions=the+key"); w.compacted.Instructions != "the key" {
		t.Errorf("summed up with %+v", w.compacted)
	}
	has(t, w.ask("POST", at+"/settings", "", "sendPolicy=allow"), 403, "make this change on the page itself")
	has(t, w.ask("POST", at+"/delete", "delete", ""), 409, "is at work")
	if got := w.ask("POST", at+"/archive", "archive", ""); got.Code != 204 || got.Header().Get("HX-Redirect") != "/sessions" {
		t.Errorf("after archiving %d %v", got.Code, got.Header())
	}
	w.scope = api.Read
	has(t, w.ask("GET", at, "", ""), 200, "fieldset class=\"choices\" aria-label=\"Send policy\" disabled", "no Delete permanently")
	w.called = nil
	has(t, w.ask("POST", at+"/settings", "panel", "sendPolicy=allow"), 403, "needs the scope admin")
	if slices.Contains(w.called, "sessions.patch") {
		t.Error("a reader changed a session")
	}
}

// What is found is marked, never markup, and leads to its place in its own conversation.
func TestSearchView(t *testing.T) {
	t.Parallel()
	w := newTalks(t)
	family(w)
	has(t, w.ask("GET", "/search", "", ""), 200, "What are you looking for?")
	has(t, w.ask("GET", "/search?q=nothing", "hits", ""), 200, "No matches", "no <!doctype")
	has(t, w.ask("GET", "/search?q=Cleo", "hits", ""), 200, "<mark>Cleo</mark> took it", "&lt;b&gt;<mark>Cleo</mark>&lt;/b&gt; &amp; the garden", `href="/sessions/agent:main:telegram:group:-1001?transcript=earlier#m-e1"`)
	has(t, w.ask("GET", "/search?q=took+%5B(", "hits", ""), 200, "No matches") // no pattern of the words gets through
}

// What the host put into a chat is not drawn as a turn's words: it says where they come from, as far as that is known.
func TestPostsSayWhoseTheyAre(t *testing.T) {
	t.Parallel()
	w := newTalks(t)
	family(w)
	post := func(id string, p *sessions.Provenance) sessions.Message {
		return sessions.Message{ID: id, Role: sessions.Assistant, Model: "parley/post", Content: sessions.TextContent("The bins go out."), Time: time.Now(), Provenance: p}
	}
	w.said["s1"] = []sessions.Message{post("p1", nil), post("p2", &sessions.Provenance{Kind: sessions.InternalSystem, Tool: "send"}),
		post("p3", &sessions.Provenance{Kind: sessions.InterSession, Source: "agent:main:cron:bins", Tool: "cron"})}
	has(t, w.ask("GET", "/sessions/agent:main:main", "", ""), 200, "the host", "posted through the API", `href="/sessions/agent:main:cron:bins"`, "posted from the job&#39;s session", `class="said host"`, `no class="said agent`)
}

// Who may only read has no box to write in.
func TestNoControlsForReaders(t *testing.T) {
	t.Parallel()
	w := newTalks(t)
	family(w)
	w.scope = api.Read
	has(t, w.ask("GET", "/sessions/"+club, "", ""), 200, "no id=\"composer\"", `data-scope="read"`, "no Delete permanently")
	w.scope = api.Write
	has(t, w.ask("GET", "/sessions/"+club, "", ""), 200, `id="composer"`)
	w.scope = api.Admin
	has(t, w.ask("GET", "/sessions/agent:main:main", "", ""), 200, `placeholder="Message `, "no Message Main session")
}
