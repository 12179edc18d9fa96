package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/sessions"
)

// brood is a session with three sub-agents of its own (started in the order one, two, three), one below the first, one of another
// agent, an archived one, and one of another session.
func brood() *world {
	w := newWorld()
	started := func(minute int, parent sessions.Key, label string) func(*sessions.Session) {
		return func(s *sessions.Session) {
			s.Created, s.SpawnedBy, s.Label = noon.Add(time.Duration(minute-60)*time.Minute), parent, label
			s.Usage = sessions.Usage{Input: 100, Output: minute}
		}
	}
	w.add("agent:main:telegram:group:-1001")
	w.add("agent:main:subagent:one", started(1, "agent:main:main", "sheep"))
	w.add("agent:main:subagent:two", started(2, "agent:main:main", ""))
	w.add("agent:main:subagent:three", started(3, "agent:main:main", "goats"))
	w.add("agent:main:subagent:below", started(-1, "agent:main:subagent:one", "lamb"))
	w.add("agent:work:subagent:work", started(-2, "agent:main:main", "cows"))
	w.add("agent:main:subagent:old", started(0, "agent:main:main", "past"), func(s *sessions.Session) { s.Archived = true })
	w.add("agent:main:subagent:theirs", started(6, "agent:main:telegram:group:-1001", "theirs"))
	task := func(s string) *sessions.Chain { return &sessions.Chain{Kind: "spawn", Request: s} }
	run := func(id, key string, status sessions.RunStatus, c *sessions.Chain) sessions.Run {
		return sessions.Run{ID: sessions.RunID(id), Key: sessions.Key("agent:main:subagent:" + key), Kind: sessions.ChildRun, Status: status, Attempt: 1,
			Started: noon.Add(-30 * time.Second), Chain: c}
	}
	w.list = []sessions.Run{
		run("aa11-one", "one", sessions.Done, task("count sheep")),
		run("aa22-two", "two", sessions.Running, task(strings.Repeat("x", 300))),
		run("bb33-three", "three", sessions.Failed, task("count goats")),
		run("cc44-one", "one", sessions.Queued, task("count again")), // a follow-up
		run("dd55-below", "below", sessions.Done, task("count lambs")),
		run("ee66-theirs", "theirs", sessions.Running, task("secret")),
		run("ff77-old", "old", sessions.Done, task("long ago")),
	}
	w.list = slices.Insert(w.list, 2, run("1234-two", "two", sessions.Done, nil)) // a message that its turn took up
	w.list[2].Attempt = 0
	w.list[3].Ended, w.list[4].Started = noon.Add(-20*time.Second), time.Time{}
	w.list = append(w.list, sessions.Run{ID: "an", Key: "agent:main:subagent:three", Kind: sessions.AnnounceRun, Status: sessions.Done, Attempt: 1})
	w.list[1].Model = "mock/quick"
	return w
}

func rows(r subagentsResult) string {
	var out []string
	for _, x := range r.Children {
		_, name, _ := strings.Cut(x.ChildSessionKey, "subagent:")
		out = append(out, fmt.Sprintf("%d %s %s", x.Index, name, x.Status))
	}
	return strings.Join(out, ", ")
}

// proves: N16, N19, V1, V2, V4
func TestSubagentsLists(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules sessions.Rules
		from  sessions.Key
		want  string
	}{
		{sessions.Rules{}, "agent:main:main", "1 three failed, 2 two running, 3 one queued, 4 below done, 5 work unknown"},
		{sessions.Rules{Mode: "agent"}, "agent:main:main", "1 three failed, 2 two running, 3 one queued, 4 below done, 5 work unknown"},
		{sessions.Rules{Mode: "all", A2AEnabled: true}, "agent:main:main", "1 three failed, 2 two running, 3 one queued, 4 below done, 5 work unknown"},
		{sessions.Rules{Mode: "all"}, "agent:main:main", "1 three failed, 2 two running, 3 one queued, 4 below done, 5 work unknown"},
		{sessions.Rules{Mode: "self"}, "agent:main:main", "1 three failed, 2 two running, 3 one queued, 4 below done, 5 work unknown"},
		{sessions.Rules{}, "agent:main:subagent:one", "1 below done"},
		{sessions.Rules{Mode: "agent"}, "agent:main:telegram:group:-1001", "1 theirs running"}, // no other session's
		{sessions.Rules{Mode: "agent"}, "agent:main:subagent:two", ""},
	} {
		w := brood()
		w.rules = c.rules
		w.caller.Session, _ = w.Get(t.Context(), c.from)
		r := call[subagentsResult](t, w, SubagentsTool(w.deps()), `{"action":"list"}`)
		if got := rows(r); got != c.want || r.Count != len(r.Children) || r.HasMore || r.Visibility.Mode == "" {
			t.Errorf("%s in mode %s: %s (%+v)\nwant %s", c.from, c.rules.Mode, got, r.Visibility, c.want)
		}
	}
	w := brood()
	w.rules = sessions.Rules{Mode: "tree"}
	if call[subagentsResult](t, w, SubagentsTool(w.deps()), `{"action":"list"}`); slices.ContainsFunc(w.queries, func(q sessions.Query) bool { return q.SpawnedBy == "" }) {
		t.Errorf("the store was asked for more than what the session spawned: %+v", w.queries)
	}
	w.redact = func(s string) string {
		return strings.ReplaceAll(strings.ReplaceAll(s, "goats", "[secret]"), "sheep", "[secret]")
	}
	r, err := SubagentsTool(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(`{"action":"list","limit":2}`), Caller: w.caller})
	want := `{"count":2,"children":[{"index":1,"childSessionKey":"agent:main:subagent:three","runId":"bb33-three","label":"[secret]","task":"count [secret]","status":"failed","runtimeSeconds":10,"tokens":103},` +
		`{"index":2,"childSessionKey":"agent:main:subagent:two","runId":"aa22-two","task":"` + strings.Repeat("x", maxTask-len([]rune(cutMark))) + cutMark + `","status":"running","runtimeSeconds":30,"model":"mock/quick","tokens":102}],"hasMore":true,` +
		`"visibility":{"mode":"tree","note":"Only sessions that tools.sessions.visibility=tree lets you see."}}`
	if err != nil || r.Text != want {
		t.Errorf("%s, %v\nwant %s", r.Text, err, want)
	}
}

// Follow-ups are one row; which of its runs says how a sub-agent stands.
//
// proves: N16
func TestSubagentsStatus(t *testing.T) {
	t.Parallel()
	run := func(status sessions.RunStatus, attempt int) sessions.Run {
		return sessions.Run{Kind: sessions.ChildRun, Status: status, Attempt: attempt}
	}
	for _, c := range []struct {
		name string
		runs []sessions.Run // oldest first
		want string
		id   sessions.RunID
	}{
		{"one", []sessions.Run{run(sessions.Done, 1)}, "done", "r0"},
		{"the newest", []sessions.Run{run(sessions.Done, 1), run(sessions.Failed, 2)}, "failed", "r1"},
		{"a follow-up that was stopped in the queue", []sessions.Run{run(sessions.Done, 1), run(sessions.Stopped, 0)}, "aborted", "r1"},
		{"a follow-up that waits behind the turn at work", []sessions.Run{run(sessions.Running, 1), run(sessions.Queued, 0)}, "running", "r0"},
		{"one that the turn at work took up", []sessions.Run{run(sessions.Running, 1), run(sessions.Done, 0)}, "running", "r0"},
		{"one that a turn took up which has failed", []sessions.Run{run(sessions.Failed, 1), run(sessions.Done, 0)}, "failed", "r0"},
		{"a later step of its chain", []sessions.Run{run(sessions.TimedOut, 1), {Kind: sessions.AnnounceRun, Status: sessions.Running}}, "timeout", "r0"},
		{"none kept", nil, "unknown", ""},
	} {
		w := newWorld()
		w.add("agent:main:subagent:1", spawnedBy("agent:main:main"))
		for i, r := range c.runs {
			r.ID, r.Key = sessions.RunID(fmt.Sprint("r", i)), "agent:main:subagent:1"
			w.list = append(w.list, r)
		}
		r := call[subagentsResult](t, w, SubagentsTool(w.deps()), `{"action":"list"}`)
		if len(r.Children) != 1 || r.Children[0].Status != c.want || r.Children[0].RunID != c.id {
			t.Errorf("%s: %+v, want %s of %s", c.name, r.Children, c.want, c.id)
		}
	}
}

// proves: N16, V4
func TestSubagentsFindsOneByItsID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"1": "three", "#2": "two", "3": "one", "last": "three", " LAST ": "three", "sheep": "one", "goats": "three",
		"aa2": "two", "AA22-TWO": "two", "cc44": "one", "aa11": "one", // any of its runs
		"agent:main:subagent:two": "two", "agent:main:subagent:old": "old", // archived ones by their key alone
		"":     "a sub-agent is required: its number",
		"1234": "two", "#1234": "there is no sub-agent number 1234; there are 5", "123": "there is no sub-agent number 123; there are 5",
		"9999": "no sub-agent of this session has the label or run id `9999`",
		"4":    "below", "lamb": "below",
		"0":                               "there is no sub-agent number 0; there are 5",
		"-1":                              "there is no sub-agent number -1; there are 5",
		"aa":                              "the run id `aa` matches 2 sub-agents: 2 (run `aa22-two`), 3 (run `cc44-one`)",
		"cows":                            "work",
		"past":                            "no sub-agent of this session has the label or run id `past`",
		"ee66":                            "no sub-agent of this session has the label or run id `ee66`", // another session's
		"theirs":                          "no sub-agent of this session has the label",
		"agent:main:subagent:theirs":      "`agent:main:subagent:theirs` is not a sub-agent of this session",
		"agent:main:subagent:below":       "below",
		"agent:work:subagent:work":        "work",
		"agent:main:subagent:nobody":      "`agent:main:subagent:nobody` is not a sub-agent of this session",
		"agent:main:main":                 "no sub-agent of this session has the label or run id `agent:main:main`",
		strings.Repeat("long label ", 40): "…(truncated)…",
	} {
		w := brood()
		w.rules = sessions.Rules{Mode: "tree"}
		for _, s := range w.sessions {
			w.messages[s.ID] = []sessions.Message{text("user", "I am "+string(s.Key))}
		}
		out, err := SubagentsTool(w.deps()).Call(t.Context(), Call{Args: encode(map[string]string{"action": "log", "id": id}), Caller: w.caller})
		if err != nil {
			t.Fatal(err)
		}
		var h historyResult
		var p problem
		_, _ = json.Unmarshal([]byte(out.Text), &h), json.Unmarshal([]byte(out.Text), &p)
		switch {
		case len(want) > 6 && (p.Status != "error" || !strings.Contains(p.Error, want) || !out.IsError || len(p.Error) > 500):
			t.Errorf("%q: %s\nwant %s", id, out.Text, want)
		case len(want) <= 6 && (!strings.HasSuffix(h.SessionKey, ":subagent:"+want) || len(h.Messages) != 1):
			t.Errorf("%q: %s\nwant %s", id, out.Text, want)
		}
	}
	w := newWorld()
	if r := call[problem](t, w, SubagentsTool(w.deps()), `{"action":"log","id":"1"}`); r.Error != "this session has no sub-agents" {
		t.Errorf("without sub-agents: %+v", r)
	}
}

// proves: H1, H2, H4, H5
func TestSubagentsLog(t *testing.T) {
	t.Parallel()
	w := brood()
	w.rules = sessions.Rules{Mode: "tree"}
	s, _ := w.Get(t.Context(), "agent:main:subagent:two")
	for i := range 150 {
		w.messages[s.ID] = append(w.messages[s.ID], text("user", fmt.Sprint(i, " hunter2secret")), toolCall(fmt.Sprint("c", i)), toolResult(fmt.Sprint("c", i), "found"))
	}
	w.redact = func(s string) string { return strings.ReplaceAll(s, "hunter2secret", "[secret]") }
	for args, want := range map[string]struct {
		n     int
		tools bool
	}{
		`{"action":"log","id":"two"}`:                                {-1, false},
		`{"action":"log","id":"2"}`:                                  {20, false},
		`{"action":"log","id":"2","limit":0}`:                        {20, false},
		`{"action":"log","id":"2","limit":5000}`:                     {200, false},
		`{"action":"log","id":"2","limit":200,"includeTools":true}`:  {200, true},
		`{"action":"log","id":"2","limit":200,"includeTools":false}`: {200, false},
		`{"action":" LOG ","id":"2","limit":4}`:                      {4, false},
	} {
		out, err := SubagentsTool(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(args), Caller: w.caller})
		var r historyResult
		if err != nil || json.Unmarshal([]byte(out.Text), &r) != nil {
			t.Fatalf("%s: %s, %v", args, out.Text, err)
		}
		if want.n < 0 {
			if !out.IsError {
				t.Errorf("%s: %s", args, out.Text)
			}
			continue
		}
		hasResult := slices.ContainsFunc(r.Messages, func(m sessions.Message) bool { return m.Role == sessions.ToolResult })
		if len(r.Messages) != want.n && !r.Truncated && !want.tools || hasResult != want.tools || !r.HasMore || strings.Contains(out.Text, "hunter2") {
			t.Errorf("%s: %d messages, tools %v, hasMore %v", args, len(r.Messages), hasResult, r.HasMore)
		}
	}
}

// proves: N16, S14
func TestSubagentsCancelAndSteer(t *testing.T) {
	t.Parallel()
	w := brood()
	w.stopped = 2
	if r := call[subagentDone](t, w, SubagentsTool(w.deps()), `{"action":"cancel","id":"sheep"}`); r.Status != "canceled" || r.Stopped != 2 || r.ChildSessionKey != "agent:main:subagent:one" {
		t.Errorf("cancel: %+v", r)
	}
	w.stopped = 0
	if r := call[subagentDone](t, w, SubagentsTool(w.deps()), `{"action":"cancel","id":"goats"}`); r.Status != "idle" {
		t.Errorf("cancel of one that has ended: %+v", r)
	}
	w.list = append(w.list, sessions.Run{ID: "again", Key: "agent:main:subagent:three", Kind: sessions.ChildRun, Status: sessions.Stopped, Attempt: 1})
	if r := call[subagentDone](t, w, SubagentsTool(w.deps()), `{"action":"cancel","id":"goats"}`); r.Status != "canceled" || r.Stopped != 0 {
		t.Errorf("the cancel of one that was stopped, repeated: %+v", r)
	}
	if want := []string{"tool:run-1:call-1 agent:main:subagent:one", "tool:run-1:call-1 agent:main:subagent:three", "tool:run-1:call-1 agent:main:subagent:three"}; !slices.Equal(w.canceled, want) {
		t.Errorf("canceled %v, want %v", w.canceled, want)
	}
	r := call[subagentDone](t, w, SubagentsTool(w.deps()), `{"action":"steer","id":"aa22","message":" go on\n"}`)
	if r.Status != "accepted" || r.RunID != "steer-1" || r.ChildSessionKey != "agent:main:subagent:two" {
		t.Errorf("steer: %+v", r)
	}
	if q := w.steered[0]; q.Source != "tool:run-1:call-1" || q.From.Key != "agent:main:main" || q.Child != "agent:main:subagent:two" || q.Message != " go on\n" {
		t.Errorf("steered %+v", q)
	}
	for args, says := range map[string]string{
		`{"action":"steer","id":"1"}`:               "message is required",
		`{"action":"steer","id":"1","message":" "}`: "message is required",
		`{"action":"steer","message":"x"}`:          "a sub-agent is required",
		`{"action":"cancel"}`:                       "a sub-agent is required",
		`{"action":"burn","id":"1"}`:                "list, log, cancel, steer",
		`{"id":"1"}`:                                "list, log, cancel, steer",
		`{"action":"steer","id":"agent:main:subagent:old","message":"x"}`:                "is archived",
		`{"action":"steer","id":"agent:main:subagent:theirs","message":"x"}`:             "is not a sub-agent of this session",
		`{"action":"cancel","id":"theirs"}`:                                              "no sub-agent of this session",
		`{"action":"steer","id":"1","message":"` + strings.Repeat("x", maxText+1) + `"}`: "65536 are allowed",
	} {
		w := brood()
		if r := call[problem](t, w, SubagentsTool(w.deps()), args); r.Status != "error" || !strings.Contains(r.Error, says) || len(w.steered)+len(w.canceled) > 0 {
			t.Errorf("%.80s: %+v", args, r)
		}
	}
	w.refuse = &Refused{"what it was asked for is not known"}
	if r := call[problem](t, w, SubagentsTool(w.deps()), `{"action":"steer","id":"1","message":"x"}`); r.Status != "forbidden" || r.Error != w.refuse.Error() {
		t.Errorf("the host says no: %+v", r)
	}
}

// Nothing is reached that is not below the caller and visible to it, whatever the id.
//
// proves: V4, N16
func TestSubagentsReachOnlyTheirOwn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld()
		for i := range rapid.IntRange(1, 12).Draw(rt, "sessions") {
			key := sessions.SubagentKey(sessions.AgentID(rapid.SampledFrom([]string{"main", "work"}).Draw(rt, "agent")), fmt.Sprint("s", i))
			parent := w.sessions[rapid.IntRange(0, len(w.sessions)-1).Draw(rt, "parent")].Key
			w.add(key, spawnedBy(parent), func(s *sessions.Session) { s.Label = fmt.Sprint("label-", i) })
			w.list = append(w.list, sessions.Run{ID: sessions.RunID(fmt.Sprint("run-", i)), Key: key, Kind: sessions.ChildRun, Status: sessions.Running})
		}
		w.rules = sessions.Rules{Mode: rapid.SampledFrom([]string{"self", "tree", "agent", "all"}).Draw(rt, "mode"), A2AEnabled: rapid.Bool().Draw(rt, "a2a")}
		w.caller.Session = w.sessions[rapid.IntRange(0, len(w.sessions)-1).Draw(rt, "caller")]
		below := func(s sessions.Session) bool { // under any agent, in every mode
			for s.SpawnedBy != "" {
				if s.SpawnedBy == w.caller.Session.Key {
					return true
				}
				s, _ = w.Get(t.Context(), s.SpawnedBy)
			}
			return false
		}
		var listed []string
		for _, c := range call[subagentsResult](t, w, SubagentsTool(w.deps()), `{"action":"list"}`).Children {
			listed = append(listed, c.ChildSessionKey)
		}
		for i, s := range w.sessions[1:] {
			mine := below(s)
			if slices.Contains(listed, string(s.Key)) != mine {
				rt.Fatalf("%s of %s: listed %v, want %v", s.Key, w.caller.Session.Key, !mine, mine)
			}
			for _, id := range []string{string(s.Key), s.Label, fmt.Sprint("run-", i)} {
				w.canceled = nil
				call[problem](t, w, SubagentsTool(w.deps()), string(encode(map[string]string{"action": "cancel", "id": id})))
				reached := len(w.canceled) == 1 && strings.HasSuffix(w.canceled[0], " "+string(s.Key))
				ambiguous := id == "run-1" && len(w.sessions) > 11 // begins run-10 as well
				if reached != mine && !ambiguous || !mine && reached {
					rt.Fatalf("%s by %q: reached %v, want %v", s.Key, id, reached, mine)
				}
			}
		}
	})
}
