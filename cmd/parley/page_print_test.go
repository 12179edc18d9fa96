package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/gateway/config"
	"parley/policy"
	"parley/sessions"
)

// evil is a name that would clear the screen, set the clipboard, turn the text around and add a row.
const evil = "Eve\x1b[2J\x1b]52;c;ZXZpbA==\x07\u009b31m\u202e\nagent:main:fake\tx"

// What people, agents and platforms call themselves moves no cursor and makes no rows, whichever way it is printed.
func TestPrintedTextIsTame(t *testing.T) {
	t.Parallel()
	now := time.Now()
	runs := []api.Run{{ID: "r", Kind: sessions.ChildRun, Key: "agent:main:subagent:x", Requester: "agent:main:main", Status: sessions.Failed, Error: evil, Label: evil}}
	for name, print := range map[string]func(p *page){
		"sessions": func(p *page) { printSessions(p, []api.Session{{Key: "agent:main:main", Title: evil}}, "") },
		"session": func(p *page) {
			printSession(p, api.SessionDetail{Session: api.Session{Key: "k", Title: evil, Label: evil}})
		},
		"history": func(p *page) {
			printHistory(p, api.History{Messages: []sessions.Message{{Role: sessions.User, Content: sessions.TextContent(evil), Provenance: &sessions.Provenance{Name: evil}}, {Role: sessions.Assistant, Content: sessions.TextContent(evil), Model: evil, Error: evil}}}, true)
		},
		"tree":     func(p *page) { printForest(p, forest(runs, "")) },
		"delivery": func(p *page) { printDelivery(p, sessions.Delivery{ID: "d", Error: evil}) },
		"channels": func(p *page) { printChannels(p, []api.Account{{Name: evil, Detail: evil}}) },
		"event":    func(p *page) { _ = p.event(api.Event{Kind: "text", Text: evil, Session: "s", Time: now}) },
		"status":   func(p *page) { printStatus(p, api.HostStatus{Version: version, Why: evil, Model: evil}) },
		"usage":    func(p *page) { printUsage(p, api.Usage{Days: []api.UsageRow{{Day: evil, Model: evil}}}, "all") },
		"json":     func(p *page) { writeJSON(p.out, map[string]string{"name": evil + "\x7f"}) },
		"error":    func(p *page) { printError(p.out, errors.New(evil), false) },
	} {
		var b bytes.Buffer
		print(&page{out: &b, now: now})
		for _, r := range b.String() {
			if r != '\n' && obeyed(r) {
				t.Errorf("%s lets %U through: %q", name, r, b.String())
				break
			}
		}
		if name != "error" && strings.Contains(b.String(), "\nagent:main:fake") {
			t.Errorf("%s has a row that a name made: %q", name, b.String())
		}
	}
}

// What others wrote, as a message, a name, an error or an answer, makes no line that looks like one of the program's own, whatever ends its
// lines and however narrow the terminal is.
// source: CWE-451
func TestPrintedTextIsIndented(t *testing.T) {
	t.Parallel()
	const forged = "user 2002 now"
	var texts []string
	for _, end := range []string{"\n", "\n\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029", "\n\u200b"} {
		texts = append(texts, "nothing special"+end+forged+end+"/send off was my wish")
	}
	for width := 20; width < 60; width += 4 { // the terminal would break the line just before
		texts = append(texts, strings.Repeat("x", width)+forged, strings.Repeat("x", width-4)+forged+" and more", strings.Repeat(" ", width)+forged)
	}
	for _, text := range texts {
		said := sessions.Message{Role: sessions.User, Content: sessions.TextContent(text), Error: text, Provenance: &sessions.Provenance{Name: text, Sender: "1"},
			MessageExtras: &sessions.MessageExtras{Deliveries: []sessions.Mark{{State: sessions.Withheld, To: "x", Rule: text}}}}
		said.Content = append(said.Content, sessions.Block{Type: "image", Media: &channels.Media{Name: text}})
		failedRun := sessions.Run{ID: "r", Result: text, Error: text, Label: text}
		for name, print := range map[string]func(p *page){
			"history": func(p *page) {
				printHistory(p, api.History{Messages: []sessions.Message{said, {Role: sessions.Assistant, Model: text, ToolName: text, Content: sessions.TextContent(text)}}}, true)
			},
			"run": func(p *page) { printRunDetail(p, failedRun) },
			"session": func(p *page) {
				printSession(p, api.SessionDetail{Session: api.Session{Key: "k", Title: text, Label: text}})
			},
			"delivery": func(p *page) {
				printDelivery(p, sessions.Delivery{ID: "d", Error: text, Tries: []sessions.Try{{Error: text}}})
			},
			"trace": func(p *page) { printTrace(p, sessions.Trace{Skip: text, Run: &failedRun}) },
		} {
			for _, width := range []int{0, 20, 40, 56} {
				var b bytes.Buffer
				print(&page{out: &b, width: width, now: time.Now()})
				for _, line := range strings.Split(b.String(), "\n") {
					if strings.HasPrefix(line, forged) || width > 0 && strings.HasPrefix(line, " ") && ansi.StringWidth(line) > width {
						t.Errorf("%s, %d wide: %q makes the line %q", name, width, text, line)
					}
				}
			}
		}
	}
}

// A table fits the terminal: rows are cut, not broken; the columns marked for it first.
func TestTableFits(t *testing.T) {
	t.Parallel()
	for width := 12; width < 100; width += 7 {
		var b bytes.Buffer
		g := (&page{out: &b, width: width, colour: true}).grid("KEY", "STATE", "~NAME", "EMPTY")
		g.row("agent:main:telegram:group:-100500", "sent", strings.Repeat("世界 ", 20), "")
		g.row("agent:main:main", "failed", "x", "")
		g.print("")
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != 3 {
			t.Fatalf("width %d: %d lines:\n%s", width, len(lines), b.String())
		}
		for _, l := range lines {
			if ansi.StringWidth(l) > width {
				t.Errorf("width %d: %q is %d wide", width, l, ansi.StringWidth(l))
			}
		}
		if strings.Contains(lines[0], "EMPTY") {
			t.Errorf("a column that has nothing is shown: %q", lines[0])
		}
		if width >= 60 && !strings.Contains(lines[1], "agent:main:telegram:group:-100500") {
			t.Errorf("width %d: the key is cut before the name: %q", width, lines[1])
		}
		if !strings.Contains(b.String(), "…") || !strings.Contains(b.String(), "\x1b[1m") {
			t.Errorf("width %d: no sign of a cut, or no colour:\n%q", width, b.String())
		}
	}
	var b bytes.Buffer
	p := &page{out: &b, quiet: true}
	p.grid("A").print("Nothing there.")
	p.note("words")
	if b.Len() != 0 {
		t.Errorf("--quiet says %q", b.String())
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	p := &page{now: now}
	for want, d := range map[string]time.Duration{"now": 200 * time.Millisecond, "90s ago": 90 * time.Second, "5m ago": 5 * time.Minute, "26h ago": 26 * time.Hour, "9d ago": 9 * 24 * time.Hour, "in 3h": -3 * time.Hour,
		"in 24h": -24*time.Hour + 300*time.Millisecond, "in 3m": -3*time.Minute + 20*time.Second, "2h ago": 2*time.Hour + 40*time.Second - time.Minute, "2d ago": 48*time.Hour - time.Second} {
		if got := p.ago(now.Add(-d)); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	p.utc = true
	if got := p.ago(now); got != "2026-07-01T12:00:00Z" {
		t.Errorf("--utc: %q", got)
	}
	if got := p.ago(time.Time{}); got != "–" {
		t.Errorf("no time: %q", got)
	}
}

// Every way to fail has one exit code, and one code for programs.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {errors.New("x"), 1}, {misuse("x"), 2}, {notRunning(&config.Config{}, ""), 3}, {fmt.Errorf("x: %w", chatclient.ErrNoHost), 3}, {chatclient.ErrToken, 5},
		{failed(exitMissing, "not_found", "x"), 4}, {context.DeadlineExceeded, 6}, {fmt.Errorf("x: %w", context.Canceled), 130}, {interrupted("x"), 130},
		{fmt.Errorf("around: %w", failed(exitRefused, "forbidden", "x")), 5},
	} {
		if got := printError(io.Discard, c.err, false); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
	for status, want := range map[int]int{400: 2, 401: 5, 403: 5, 404: 4, 409: 1, 422: 2, 429: 1, 500: 1, 502: 1, 504: 6} {
		rec := httptest.NewRecorder()
		api.WriteError(rec, api.Refuse(status, "no"))
		if got, _ := exitOf(refusal(rec.Result())); got != want {
			t.Errorf("status %d: exit code %d, want %d", status, got, want)
		}
	}
	for _, row := range manExits { // the manual page and docs/cli.md say the same
		doc, err := os.ReadFile("../../docs/cli.md")
		if err != nil {
			t.Fatal(err)
		}
		if row := "| " + row[0] + " | " + strings.TrimSuffix(row[1], "."); !strings.Contains(string(doc), row) {
			t.Errorf("docs/cli.md has no %q", row)
		}
	}
}

// A request carries what the tags of the API's types say, and nothing that was not set.
func TestParts(t *testing.T) {
	t.Parallel()
	c := parts("POST /api/sessions/{session}/messages", api.SayCall{Session: "agent:main:telegram:x/y", Message: "hi"})
	if c.path != "/api/sessions/agent:main:telegram:x%2Fy/messages" || cmp.Diff(c.body, map[string]any{"message": "hi"}) != "" || len(c.query) != 0 {
		t.Errorf("%+v", c)
	}
	p := parts("PATCH /api/sessions/{session}", api.SessionPatch{Session: "main", Model: setting("none", "none"), Label: setting("x", "none")})
	if b, err := json.Marshal(p.body); err != nil || string(b) != `{"label":"x","model":null}` {
		t.Errorf("%s %v", b, err)
	}
	if q := parts("GET /api/runs", api.RunsQuery{Session: "main", Limit: 5}).query.Encode(); q != "limit=5&session=main" {
		t.Errorf("%s", q)
	}
}

// fakeHost is a host that has these sessions and is of another version.
func fakeHost(t *testing.T, list []api.Session) *env {
	t.Helper()
	table := api.Table{
		api.Op("status", "GET /api/status", api.Read, "x", func(context.Context, api.None) (api.HostStatus, error) { return api.HostStatus{Version: "0.9"}, nil }),
		api.Op("sessions.get", "GET /api/sessions/{session}", api.Read, "x", func(_ context.Context, q api.SessionCall) (api.SessionDetail, error) {
			for _, s := range list {
				if string(s.Key) == q.Session {
					return api.SessionDetail{Session: s}, nil
				}
			}
			return api.SessionDetail{}, api.Refuse(http.StatusNotFound, "no such session")
		}),
		api.Op("sessions.list", "GET /api/sessions", api.Read, "x", func(_ context.Context, q api.SessionsQuery) (out []api.Session, _ error) {
			for _, s := range list {
				if strings.Contains(strings.ToLower(string(s.Key)+s.Title+s.Label), strings.ToLower(q.Search)) {
					out = append(out, s)
				}
			}
			return out, nil
		}),
	}
	h := table.Handler()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(api.With(r.Context(), api.Principal{Name: api.Owner, Scope: api.Admin})))
	}))
	t.Cleanup(srv.Close)
	return &env{ctx: t.Context(), found: &host{base: srv.URL, client: srv.Client()}}
}

// People name sessions by what they remember of them; what fits several is asked back with what there is.
func TestPick(t *testing.T) {
	t.Parallel()
	e := fakeHost(t, []api.Session{{Key: "agent:main:main"}, {Key: "agent:main:telegram:group:-1", Title: "Garden club"}, {Key: "agent:main:telegram:group:-2", Title: "Garden"}, {Key: "agent:main:telegram:group:-3", Label: "roses"}})
	for name, want := range map[string]string{
		"agent:main:main": "agent:main:main", "garden": "agent:main:telegram:group:-2", "club": "agent:main:telegram:group:-1", "ROSES": "agent:main:telegram:group:-3", "group:-3": "agent:main:telegram:group:-3", "main": "main", "hook:new": "hook:new",
	} {
		if got, err := pick(e, name, true); got != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	_, err := pick(e, "gard", false)
	if exit, code := exitOf(err); exit != exitUsage || code != "ambiguous" || !strings.Contains(err.Error(), `-1  "Garden club"`) || !strings.Contains(err.Error(), `-2  "Garden"`) {
		t.Errorf("two that fit: %v", err)
	}
	if _, err = pick(e, "rozes", false); !strings.Contains(fmt.Sprint(err), "did you mean\n  agent:main:telegram:group:-3") {
		t.Errorf("a slip: %v", err)
	}
	_, err = pick(e, "hook:new", false)
	if exit, _ := exitOf(err); exit != exitMissing {
		t.Errorf("none: %v", err)
	}
	if _, err = request[api.None](e, "GET /api/new-in-this-version", api.None{}); !strings.Contains(fmt.Sprint(err), "The host runs parley 0.9, and this program is dev") {
		t.Errorf("another version: %v", err)
	}
}

// A run is below the session that began it, once, also where agents of two sessions ask each other.
func TestForest(t *testing.T) {
	t.Parallel()
	child := func(id, by, key string) api.Run {
		return api.Run{ID: sessions.RunID(id), Kind: sessions.ChildRun, Requester: sessions.Key(by), Key: sessions.Key(key)}
	}
	list := []api.Run{child("4", "b", "a"), child("3", "b", "c"), child("2", "a", "b"), child("1", "main", "a"), {ID: "0", Kind: sessions.TurnRun, Key: "main"}}
	var shape func(nodes []treeNode) string
	shape = func(nodes []treeNode) (s string) {
		for _, n := range nodes {
			s += string(n.ID) + "(" + shape(n.Children) + ")"
		}
		return s
	}
	if f := forest(list, ""); len(f) != 1 || f[0].Key != "main" || shape(f[0].Runs) != "1(2(3()4()))" {
		t.Errorf("%+v", f)
	}
	if f := forest(list, "b"); len(f) != 1 || shape(f[0].Runs) != "3()4(2())" {
		t.Errorf("below b: %s", shape(f[0].Runs))
	}
}

func TestSummed(t *testing.T) {
	t.Parallel()
	row := func(day, agentID, model string, in int) api.UsageRow {
		return api.UsageRow{Day: day, Agent: sessions.AgentID(agentID), Model: model, UsageSum: api.UsageSum{Calls: 1, Input: in, Cost: int64(in)}}
	}
	rows := []api.UsageRow{row("2", "a", "x", 1), row("2", "b", "x", 2), row("1", "a", "y", 4)}
	for by, want := range map[string]string{"day": "2:3 1:4", "agent": "a:5 b:2", "model": "x:3 y:4", "all": "2ax:1 2bx:2 1ay:4"} {
		var got []string
		for _, r := range summed(rows, by) {
			got = append(got, fmt.Sprintf("%s%s%s:%d", r.Day, r.Agent, r.Model, r.Input))
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("by %s: %q, want %q", by, s, want)
		}
	}
	if bar(0, 10, 8) != "" || bar(10, 10, 8) != "████████" || bar(1, 1000, 8) != "▏" || bar(5, 10, 1) != "▌" {
		t.Errorf("%q %q %q %q", bar(0, 10, 8), bar(10, 10, 8), bar(1, 1000, 8), bar(5, 10, 1))
	}
}

// Events are read from the stream however it is cut up; keep-alives are none.
func TestReadEvents(t *testing.T) {
	t.Parallel()
	var got []string
	alive := 0
	err := readEvents(strings.NewReader(": ping\n\nretry: 1\n\nid: 1\nevent: run\ndata: {\"kind\":\"run\",\"status\":\"done\"}\n\ndata: {}\n\ndata: {\"kind\":\"text\",\"text\":\"a\"}\n\n"), func() { alive++ }, func(e api.Event) error {
		got = append(got, e.Kind)
		return nil
	})
	if err != nil || strings.Join(got, " ") != "run text" || alive == 0 {
		t.Errorf("%v %v %d", got, err, alive)
	}
	if err := readEvents(strings.NewReader("data: {\n\n"), func() {}, nil); err == nil {
		t.Error("a broken event is no error")
	}
}

// Completion knows the commands below a command, flags, the values of both, and what only the host knows.
func TestCompletions(t *testing.T) {
	t.Parallel()
	app := grammar(&cli{}).Model
	ask := func(what string) []option { return []option{{word: what + "-1"}, {word: what + "-2"}} }
	for line, want := range map[string]string{
		"parley runs ":                               "list show cancel wait tree",
		"parley comp":                                "completion", // complete is hidden
		"parley sess":                                "sessions",
		"parley deliveries list --state s":           "sending sent stopped",
		"parley sessions show ":                      "session-1 session-2",
		"parley sessions show x ":                    "",
		"parley say main hello --w":                  "--wait",
		"parley sessions list --agent ":              "agent-1 agent-2",
		"parley sessions list --agent=x --sea":       "--search",
		"parley runs list --session 'a b' --kin":     "--kind",
		"parley --config /x/y.yaml completion ":      "bash zsh fish",
		"parley --config ":                           "config-1 config-2",
		"parley completion b":                        "bash",
		"parley":                                     "",
		"parley runs wait run-2":                     "run-2",
		"parley sessions history main --limit 5 --t": "--tools",
	} {
		var got []string
		for _, o := range completions(app, splitLine(line), ask) {
			got = append(got, o.word)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %q, want %q", line, s, want)
		}
	}
}

// What is waited for shows on a terminal how long and how far.
func TestProgress(t *testing.T) {
	t.Parallel()
	if got := progress(0, "waiting", nil, 0, 3*time.Second); got != "⠋ waiting 3s" {
		t.Errorf("%q", got)
	}
	if got := progress(0, "messages", func() int { return 50 }, 100, time.Second); !strings.HasPrefix(got, "███████████████ ") || !strings.HasSuffix(got, " 50/100 messages 1s") {
		t.Errorf("%q", got)
	}
	var b bytes.Buffer
	spin(&b, "x", nil, 0, time.Hour)()
	if b.Len() != 0 {
		t.Errorf("a short wait shows %q", b.String())
	}
}

// The list of sessions says what holds for each: its own setting, or the rule that keeps it back.
func TestPolicyOf(t *testing.T) {
	t.Parallel()
	denied := policy.Verdict{Action: policy.Deny, Rule: "session.sendPolicy.rules[0]"}
	for want, s := range map[string]api.Session{
		"allow (its own)": {SendPolicy: policy.Allow, Verdict: policy.Verdict{Action: policy.Allow, Rule: "session override"}},
		"deny (rules[0])": {Verdict: denied},
		"allow":           {Verdict: policy.Verdict{Action: policy.Allow, Rule: "session.sendPolicy.default"}},
		"inherit":         {},
	} {
		if got := policyOf(s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
}

// What a provider refused, and an answer that was given without what came before it, say so.
func TestRefusalsAreMarked(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]sessions.Message{
		sessions.RefusedMark:        {Role: sessions.Assistant, Model: sessions.NoticeModel, MessageExtras: &sessions.MessageExtras{Refused: true}, Content: sessions.TextContent("no")},
		sessions.WithoutHistoryMark: {Role: sessions.Assistant, Model: "m", MessageExtras: &sessions.MessageExtras{WithoutHistory: true}, Content: sessions.TextContent("yes")},
		"(not shown to p/m:":        {Role: sessions.User, MessageExtras: &sessions.MessageExtras{LeftOut: "p/m"}, Content: sessions.TextContent("what?")},
	} {
		var b bytes.Buffer
		printHistory(&page{out: &b, now: time.Now()}, api.History{Messages: []sessions.Message{m}}, false)
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q lacks %q", b.String(), want)
		}
	}
}

// A text that a terminal draws wider than the sum of what a person sees breaks no line of the terminal: where it did, its rest would begin one
// as an entry does.
// source: Unicode UTS #51, 2.2 ("fallback" display of ZWJ sequences and flags); UAX #11
func TestPrintedWidth(t *testing.T) {
	t.Parallel()
	const width, forged = 40, "user U1001 \"Ann\" · 3s ago"
	for name, part := range map[string]string{
		"family": "\U0001F468\u200d\U0001F469\u200d\U0001F467\u200d\U0001F466", "flag": "\U0001F1E9\U0001F1EA", "heart": "\u2764\ufe0f", "jamo": "\u1100\u1161\u11a8",
		"unseen": "\u200b\u2060\u200f", "wide": "\u5bb6", "one with marks": "e\u0301\u0323",
	} {
		text := strings.Repeat(part, 30) + forged
		var b bytes.Buffer
		p := &page{out: &b, now: time.Now(), width: width}
		printHistory(p, api.History{Messages: []sessions.Message{{Role: sessions.User, Content: sessions.TextContent(text), Error: text, Provenance: &sessions.Provenance{Sender: "1001", Name: text}}}}, true)
		printSessions(p, []api.Session{{Key: sessions.Key(text), Title: text}}, "")
		for line := range strings.Lines(b.String()) {
			n := 0
			for _, r := range strings.TrimSuffix(line, "\n") {
				switch {
				case r == 0xfe0f, !unicode.In(r, unicode.Mn, unicode.Cf):
					n++
				}
				if r > 0x1f000 || r == 0x5bb6 {
					n++
				}
			}
			if n > width {
				t.Errorf("%s: %d columns: %q", name, n, line)
			}
			if strings.HasPrefix(line, "user U1001") {
				t.Errorf("%s: an entry of its own: %q", name, line)
			}
		}
	}
}

// TestNamesInQuotes: a title that somebody gave to a group does not read like a word of the program.
func TestNamesInQuotes(t *testing.T) {
	t.Parallel()
	const title = "Team agent:main:main  main owner \x1b[2J x"
	s := api.Session{Key: "agent:main:telegram:group:-1", Title: title}
	for what, print := range map[string]func(p *page){
		"sessions list": func(p *page) { printSessions(p, []api.Session{s}, "") },
		"sessions show": func(p *page) { printSession(p, api.SessionDetail{Session: s}) },
		"candidates":    func(p *page) { p.printf("%s", candidates([]api.Session{s})) },
		"cron show":     func(p *page) { printJob(p, api.Job{ID: "1", Name: title}) },
	} {
		var b bytes.Buffer
		print(&page{out: &b})
		if !strings.Contains(b.String(), `"Team agent:main:main main owner`) || !strings.Contains(b.String(), ` x"`) {
			t.Errorf("%s:\n%s", what, b.String())
		}
	}
}
