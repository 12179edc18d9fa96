package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/policy"
	"parley/sessions"
)

func keys(r listResult) []string {
	out := []string{}
	for _, s := range r.Sessions {
		out = append(out, s.Key)
	}
	return out
}

func family() *world {
	w := newWorld()
	w.add("agent:main:telegram:group:-1001", at("telegram", "-1001", "group"), func(s *sessions.Session) { s.Title = "Family" })
	w.add("agent:main:cron:daily")
	w.add("agent:main:hook:abc")
	w.add("agent:main:node-kitchen")
	w.add("agent:main:subagent:1", spawnedBy("agent:main:main"), func(s *sessions.Session) { s.Label = "sheep" })
	w.add("agent:main:discord:channel:9", func(s *sessions.Session) { s.Updated = noon.Add(-3 * time.Hour) })
	w.add("agent:work:main")
	w.add("global")
	w.add("unknown")
	w.add("agent:main:telegram:direct:7", at("telegram", "7", "direct"), func(s *sessions.Session) { s.Archived = true })
	return w
}

// proves: L1, L5, L6, L7, K1, K4, K6, V1, V2, V4
func TestSessionsListFinds(t *testing.T) {
	t.Parallel()
	everyone := sessions.Rules{Mode: sessions.SeeAll, A2AEnabled: true}
	ofMain := []string{"main", "agent:main:telegram:group:-1001", "cron:daily", "hook:abc", "node-kitchen", "agent:main:subagent:1", "agent:main:discord:channel:9"}
	for _, c := range []struct {
		name  string
		rules sessions.Rules
		args  string
		want  []string
	}{
		{"all of the agent", sessions.Rules{Mode: "agent"}, `{}`, ofMain},
		{"arguments may be absent", sessions.Rules{Mode: "agent"}, ``, ofMain},
		{"own and spawned by default", sessions.Rules{}, `{}`, []string{"main", "agent:main:subagent:1"}},
		{"self", sessions.Rules{Mode: "self"}, `{}`, []string{"main"}},
		{"all without a2a", sessions.Rules{Mode: "all"}, `{}`, ofMain},
		{"all, where other agents are let in", sessions.Rules{Mode: "all", A2AEnabled: true, A2AAllow: []string{"main", "coder"}}, `{}`, ofMain},
		{"all", everyone, `{}`, slices.Insert(slices.Clone(ofMain), 6, "agent:work:main")},
		{"another agent's main needs its key", everyone, `{"agentId":"work"}`, []string{"agent:work:main"}},
		{"another agent hidden", sessions.Rules{Mode: "agent"}, `{"agentId":"work"}`, []string{}},
		{"kinds", sessions.Rules{Mode: "agent"}, `{"kinds":["cron","Group"]}`, []string{"agent:main:telegram:group:-1001", "cron:daily", "agent:main:discord:channel:9"}},
		{"sub-agents are other", sessions.Rules{Mode: "agent"}, `{"kinds":["other"]}`, []string{"agent:main:subagent:1"}},
		{"recent", sessions.Rules{Mode: "agent"}, `{"activeMinutes":2}`, ofMain[:3]},
		{"search", sessions.Rules{Mode: "agent"}, `{"search":"fAmily"}`, []string{"agent:main:telegram:group:-1001"}},
		{"label", sessions.Rules{Mode: "agent"}, `{"label":"sheep"}`, []string{"agent:main:subagent:1"}},
		{"archived", sessions.Rules{Mode: "agent"}, `{"archived":true}`, []string{"agent:main:telegram:direct:7"}},
		{"page", sessions.Rules{Mode: "agent"}, `{"limit":2,"offset":1}`, ofMain[1:3]},
	} {
		w := family()
		w.rules = c.rules
		r := call[listResult](t, w, SessionsList(w.deps()), c.args)
		if got := keys(r); !slices.Equal(got, c.want) || r.Count != len(c.want) {
			t.Errorf("%s: %v (count %d), want %v", c.name, got, r.Count, c.want)
		}
		if want := map[string]string{"": "tree"}[c.rules.Mode]; r.Visibility.Mode != c.rules.Mode+want {
			t.Errorf("%s: visibility says %+v", c.name, r.Visibility)
		}
		if limited := c.rules.Mode != "all" || !c.rules.A2AEnabled || len(c.rules.A2AAllow) > 0; limited != (r.Visibility.Note != "") {
			t.Errorf("%s: the result says %q about what is shown", c.name, r.Visibility.Note)
		}
		if !strings.Contains(c.args, "offset") && r.HasMore || strings.Contains(c.args, "offset") && (!r.HasMore || r.NextOffset != 3) {
			t.Errorf("%s: hasMore %v nextOffset %d", c.name, r.HasMore, r.NextOffset)
		}
	}
}

// proves: V1
func TestSessionsListAsksTheStoreOnlyForWhatTheModeShows(t *testing.T) {
	t.Parallel()
	w := family()
	w.rules = sessions.Rules{Mode: "tree"}
	call[listResult](t, w, SessionsList(w.deps()), `{}`)
	for _, q := range w.queries {
		if len(q.Keys) == 0 && q.SpawnedBy == "" {
			t.Errorf("the store was asked for all sessions: %+v", q)
		}
	}
}

// proves: V3
func TestSandboxedCallerIsClampedToTree(t *testing.T) {
	t.Parallel()
	w := family()
	w.rules, w.caller.Sandboxed = sessions.Rules{Mode: "all", A2AEnabled: true}, true
	r := call[listResult](t, w, SessionsList(w.deps()), `{}`)
	if got := keys(r); !slices.Equal(got, []string{"main", "agent:main:subagent:1"}) || r.Visibility.Mode != "tree" {
		t.Errorf("clamped: %v, mode %s", got, r.Visibility.Mode)
	}
	w.rules.Clamp = sessions.ClampAll
	if r := call[listResult](t, w, SessionsList(w.deps()), `{}`); r.Count != 8 {
		t.Errorf("clamp lifted: %v", keys(r))
	}
}

// proves: K6
func TestGlobalScopeShowsMain(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.sessions = nil
	w.scope = sessions.Global
	w.caller.Session = w.add("global", func(s *sessions.Session) { s.Agent = "main" })
	r := call[listResult](t, w, SessionsList(w.deps()), `{}`)
	if got := keys(r); !slices.Equal(got, []string{"main"}) || r.Sessions[0].Kind != "main" {
		t.Errorf("rows: %+v", r.Sessions)
	}
	if h := call[historyResult](t, w, SessionsHistory(w.deps()), `{"sessionKey":"main"}`); h.SessionKey != "main" {
		t.Errorf("history of %q", h.SessionKey)
	}
}

// proves: L3, L4
func TestSessionsListRow(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.add("agent:main:telegram:group:-1001:topic:7", func(s *sessions.Session) {
		at("telegram", "-1001", "group")(s)
		s.Last.Thread, s.Title, s.Context, s.Usage, s.Aborted = "7", "Family", 900, sessions.Usage{Input: 1000, Output: 20}, true
		s.Settings = sessions.Settings{SendPolicy: policy.Deny, Model: "mock/mock-1", Thinking: "low", Verbose: "on"}
	})
	r, err := SessionsList(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: json.RawMessage(`{"kinds":["group"]}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"key":"agent:main:telegram:group:-1001:topic:7","kind":"group","channel":"telegram","displayName":"Family","updatedAt":1772366340000,` +
		`"sessionId":"00000000-0000-4000-8000-000000000001","model":"mock/mock-1","contextTokens":900,"totalTokens":1020,"thinkingLevel":"low","verboseLevel":"on",` +
		`"systemSent":true,"abortedLastRun":true,"sendPolicy":"deny","lastChannel":"telegram","lastTo":"-1001",` +
		`"deliveryContext":{"channel":"telegram","to":"-1001","accountId":"default","threadId":"7"},` +
		`"transcriptPath":"/state/main/00000000-0000-4000-8000-000000000001.jsonl"}`
	if !strings.Contains(r.Text, want) {
		t.Errorf("got  %s\nwant %s", r.Text, want)
	}
	r, err = SessionsList(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: json.RawMessage(`{"kinds":["main"]}`)})
	bare := `[{"key":"main","kind":"main","channel":"unknown","updatedAt":1772366400000,"sessionId":"00000000-0000-4000-8000-000000000000",` +
		`"contextTokens":0,"totalTokens":0,"systemSent":false,"abortedLastRun":false,"transcriptPath":"/state/main/00000000-0000-4000-8000-000000000000.jsonl"}]`
	if err != nil || !strings.Contains(r.Text, bare) {
		t.Errorf("got  %s, %v\nwant %s", r.Text, err, bare)
	}
	channelsOf := map[string]string{}
	for _, s := range call[listResult](t, family(), SessionsList(family().deps()), `{}`).Sessions {
		channelsOf[s.Key] = s.Channel
	}
	if channelsOf["main"] != "unknown" {
		t.Errorf("channel of main = %q", channelsOf["main"])
	}
	w = family()
	for _, s := range call[listResult](t, w, SessionsList(w.deps()), `{}`).Sessions {
		want := map[string]string{"cron:daily": "internal", "hook:abc": "internal", "node-kitchen": "internal", "agent:main:discord:channel:9": "discord", "agent:main:telegram:group:-1001": "telegram"}[s.Key]
		if want != "" && s.Channel != want {
			t.Errorf("channel of %s = %q, want %q", s.Key, s.Channel, want)
		}
		if strings.HasPrefix(s.Key, "cron:") && s.DeliveryContext != nil {
			t.Errorf("deliveryContext of %s = %+v, want none", s.Key, s.DeliveryContext)
		}
	}
}

// proves: L2
func TestSessionsListMessages(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.messages[id(0)] = []sessions.Message{text("user", "one"), toolCall("a"), toolResult("a", "noise"), text("assistant", "two")}
	r := call[listResult](t, w, SessionsList(w.deps()), `{"messageLimit":2}`)
	if m := r.Sessions[0].Messages; len(m) != 2 || m[0].ToolCalls() == nil || m[1].Text() != "two" {
		t.Errorf("messages: %+v", m)
	}
	for args, want := range map[string]bool{`{}`: false, `{"messageLimit":0}`: false, `{"messageLimit":1}`: true, `{"messageLimit":999}`: true} {
		raw, _ := SessionsList(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: json.RawMessage(args)})
		if got := strings.Contains(raw.Text, `"messages"`); got != want {
			t.Errorf("%s: has messages = %v, want %v", args, got, want)
		}
	}
	w.messages[id(0)] = slices.Repeat([]sessions.Message{text("user", "x")}, 100)
	if m := call[listResult](t, w, SessionsList(w.deps()), `{"messageLimit":999}`).Sessions[0].Messages; len(m) != 20 {
		t.Errorf("%d messages, want at most 20", len(m))
	}
}

// proves: L1
func TestSessionsListLimits(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for i := range 300 {
		w.add(sessions.Key(fmt.Sprint("agent:main:cron:", i)))
	}
	d := w.deps()
	d.TranscriptPath = nil // so that 200 rows fit
	for args, want := range map[string]int{`{}`: 50, `{"limit":0}`: 50, `{"limit":1000}`: 200, `{"limit":7.9}`: 7, `{"limit":1e300}`: 200} {
		r := call[listResult](t, w, SessionsList(d), args)
		if r.Count != want || !r.HasMore || r.NextOffset != want || r.Truncated != "" {
			t.Errorf("%s: %d rows, hasMore %v, nextOffset %d, truncated %q, want %d", args, r.Count, r.HasMore, r.NextOffset, r.Truncated, want)
		}
	}
	if r := call[problem](t, w, SessionsList(w.deps()), `{"kinds":["cats"]}`); r.Status != "error" || !strings.Contains(r.Error, "cron") {
		t.Errorf("unknown kind: %+v", r)
	}
}

// proves: L7
func TestSessionsListStaysInsideItsBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld()
		for range rapid.IntRange(0, 80).Draw(rt, "sessions") {
			s := w.add(sessions.SubagentKey("main", string(id(len(w.sessions)))), func(s *sessions.Session) {
				s.Title = strings.Repeat("é", rapid.IntRange(0, 3000).Draw(rt, "title"))
			})
			for range rapid.IntRange(0, 3).Draw(rt, "messages") {
				w.messages[s.ID] = append(w.messages[s.ID], text("user", strings.Repeat("\x01<", rapid.IntRange(0, 3000).Draw(rt, "size"))))
			}
		}
		seen := 0
		for offset := 0; ; {
			r, err := SessionsList(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: encode(map[string]int{"limit": 200, "messageLimit": 20, "offset": offset})})
			if err != nil || len(r.Text) > 64<<10 {
				rt.Fatalf("%d bytes, %v", len(r.Text), err)
			}
			var v listResult
			if err := json.Unmarshal([]byte(r.Text), &v); err != nil {
				rt.Fatal(err)
			}
			seen += v.Count
			if !v.HasMore {
				break
			}
			if v.Truncated == "" || v.NextOffset <= offset {
				rt.Fatalf("no way on: %q next %d after %d", v.Truncated, v.NextOffset, offset)
			}
			offset = v.NextOffset
		}
		if seen != len(w.sessions) {
			rt.Fatalf("paging showed %d of %d sessions", seen, len(w.sessions))
		}
	})
}

// A search that no name is long enough for is refused, before the store sees it; a person's is cut.
//
// proves: L1
func TestSessionsListBoundsWhatItLooksFor(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("é", n) }
	for args, want := range map[string]string{
		`{"search":"` + long(maxFound) + `"}`: "", `{"search":" ` + long(maxFound) + ` "}`: "", `{"search":"` + long(maxFound+1) + `"}`: "search has more than 200 characters",
		`{"label":"` + long(maxLabel) + `"}`: "", `{"label":"` + long(maxLabel+1) + `"}`: "label has more than 64 characters",
	} {
		w := family()
		r, err := SessionsList(w.deps()).Call(t.Context(), Call{Args: json.RawMessage(args), Caller: w.caller})
		if err != nil || r.IsError != (want != "") || !strings.Contains(r.Text, want) || r.IsError && len(w.queries) > 0 {
			t.Errorf("%.30s: %s, %v; asked %d times", args, r.Text, err, len(w.queries))
		}
	}
	w := family()
	if _, _, _, err := w.deps().Sessions(t.Context(), w.caller, long(60_000), 5); err != nil || !slices.ContainsFunc(w.queries, func(q sessions.Query) bool { return q.Search == long(maxFound) }) {
		t.Errorf("%v, the store was asked for %+.300v", err, w.queries)
	}
}
