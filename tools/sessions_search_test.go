package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/sessions"
)

// said makes a hit in each of these sessions, newest first.
func (w *world) said(text string, keys ...sessions.Key) {
	for _, k := range keys {
		s, _ := w.Get(nil, k) //nolint:staticcheck // the fake takes no context
		w.hits = append(w.hits, sessions.Hit{Key: k, Session: s.ID, Message: fmt.Sprint("m", len(w.hits)), Role: sessions.User, Time: noon, Snippet: text})
	}
}

func hitKeys(r searchResult) []string {
	out := []string{}
	for _, h := range r.Hits {
		out = append(out, h.SessionKey)
	}
	return out
}

// everywhere has the word tea in each session of a family with archived ones.
func everywhere() *world {
	w := family()
	w.add("agent:main:subagent:2", spawnedBy("agent:main:main"), func(s *sessions.Session) { s.Archived = true })
	w.add("agent:work:subagent:3", spawnedBy("agent:main:main"))
	w.add("agent:main:subagent:4", spawnedBy("agent:main:subagent:1"))
	for _, s := range w.sessions {
		w.said("tea", s.Key)
	}
	return w
}

// proves: V1, V2, V3, V4, K4, K6
func TestSessionsSearchKeepsToWhatTheCallerSees(t *testing.T) {
	t.Parallel()
	ofMain := []string{"main", "agent:main:telegram:group:-1001", "cron:daily", "hook:abc", "node-kitchen", "agent:main:subagent:1", "agent:main:discord:channel:9",
		"agent:main:telegram:direct:7", "agent:main:subagent:2", "agent:main:subagent:4"}
	andSpawned := slices.Insert(slices.Clone(ofMain), 9, "agent:work:subagent:3")
	everything := slices.Concat(ofMain[:7], []string{"agent:work:main"}, ofMain[7:9], []string{"agent:work:subagent:3"}, ofMain[9:])
	for _, c := range []struct {
		name      string
		rules     sessions.Rules
		sandboxed bool
		want      []string
		keys      []sessions.Key // that the store is asked for
		agents    []sessions.AgentID
	}{
		{"self", sessions.Rules{Mode: "self"}, false, ofMain[:1], []sessions.Key{"agent:main:main"}, nil},
		{"tree", sessions.Rules{}, false, []string{"main", "agent:main:subagent:1", "agent:main:subagent:2", "agent:work:subagent:3", "agent:main:subagent:4"},
			[]sessions.Key{"agent:main:main", "agent:main:subagent:1", "agent:work:subagent:3", "agent:main:subagent:2", "agent:main:subagent:4"}, nil},
		{"agent", sessions.Rules{Mode: "agent"}, false, andSpawned, nil, []sessions.AgentID{"main"}},
		{"all without a2a", sessions.Rules{Mode: "all"}, false, andSpawned, nil, []sessions.AgentID{"main"}},
		{"all, one agent allowed", sessions.Rules{Mode: "all", A2AEnabled: true, A2AAllow: []string{"main", "coder"}}, false, andSpawned, nil, []sessions.AgentID{"main", "coder"}},
		{"all", sessions.Rules{Mode: "all", A2AEnabled: true}, false, everything, nil, nil},
		{"sandboxed", sessions.Rules{Mode: "all", A2AEnabled: true}, true, []string{"main", "agent:main:subagent:1", "agent:main:subagent:2", "agent:work:subagent:3", "agent:main:subagent:4"},
			[]sessions.Key{"agent:main:main", "agent:main:subagent:1", "agent:work:subagent:3", "agent:main:subagent:2", "agent:main:subagent:4"}, nil},
	} {
		w := everywhere()
		w.rules, w.caller.Sandboxed = c.rules, c.sandboxed
		r := call[searchResult](t, w, SessionsSearch(w.deps()), `{"query":"tea","limit":25}`)
		if got := hitKeys(r); !slices.Equal(got, c.want) || r.Count != len(c.want) || r.HasMore {
			t.Errorf("%s: %v\nwant %v", c.name, got, c.want)
		}
		if q := w.searches[0]; !slices.Equal(q.Keys, c.keys) || !slices.Equal(q.Agents, c.agents) {
			t.Errorf("%s: the store was asked for keys %v, agents %v", c.name, q.Keys, q.Agents)
		}
		if r.Visibility.Mode == "" {
			t.Errorf("%s: visibility says %+v", c.name, r.Visibility)
		}
	}
}

// Whatever the store finds, the rule has the last word, and what it hides takes nobody's place in the limit.
//
// proves: V4
func TestSessionsSearchAsksTheRuleAboutEveryHit(t *testing.T) {
	t.Parallel()
	w := family()
	w.agents = w.agents[1:] // agent work is configured no more
	w.rules = sessions.Rules{Mode: "all", A2AEnabled: true, A2AAllow: []string{"main", "coder"}}
	w.said("tea", slices.Repeat([]sessions.Key{"agent:work:main"}, 250)...)
	w.said("tea", "unknown", "agent:gone:main", "agent:main:main", "agent:main:cron:daily", "agent:main:hook:abc")
	r := call[searchResult](t, w, SessionsSearch(w.deps()), `{"query":"tea","limit":2}`)
	if got := hitKeys(r); !slices.Equal(got, []string{"main", "cron:daily"}) || !r.HasMore || r.NextOffset != 2 || r.Truncated {
		t.Errorf("%+v", r)
	}
	r = call[searchResult](t, w, SessionsSearch(w.deps()), `{"query":"tea","limit":2,"offset":2}`)
	if got := hitKeys(r); !slices.Equal(got, []string{"hook:abc"}) || r.HasMore {
		t.Errorf("the next page: %+v", r)
	}
	w.hits = nil
	w.said("tea", slices.Repeat([]sessions.Key{"agent:work:main"}, searchScan+searchPage)...)
	w.said("tea", "agent:main:main")
	if r := call[searchResult](t, w, SessionsSearch(w.deps()), `{"query":"tea"}`); r.Count != 1 || r.Truncated || r.HasMore {
		t.Errorf("hits of others: %+v", r)
	}
	w.said("tea", slices.Repeat([]sessions.Key{"agent:main:main"}, searchScan+searchPage)...)
	if r := call[searchResult](t, w, SessionsSearch(w.deps()), `{"query":"tea","offset":5000}`); r.Count != 0 || !r.Truncated || r.HasMore {
		t.Errorf("too much to look at: %+v", r)
	}
}

// With more sub-agents than are looked at, the result says that it is not all.
func TestSessionsSearchSaysWhenItLookedAtAPart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{maxTree - 1: false, maxTree: true} {
		w := newWorld()
		w.rules = sessions.Rules{Mode: "tree"}
		for i := range n {
			w.add(sessions.SubagentKey("main", fmt.Sprint(i)), spawnedBy("agent:main:main"))
		}
		if r := call[searchResult](t, w, SessionsSearch(w.deps()), `{"query":"tea"}`); r.Truncated != want {
			t.Errorf("%d sub-agents: truncated %v", n, r.Truncated)
		}
	}
}

// proves: V1, V2, V3, V4
func TestSessionsSearchShowsWhatTheRuleShows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld()
		agents := []string{"main", "work", "coder"}
		for i := range rapid.IntRange(0, 12).Draw(rt, "sessions") {
			key := sessions.SubagentKey(sessions.AgentID(rapid.SampledFrom(agents).Draw(rt, "agent")), fmt.Sprint(i))
			parent := w.sessions[rapid.IntRange(0, len(w.sessions)-1).Draw(rt, "parent")].Key
			w.add(key, spawnedBy(parent), func(s *sessions.Session) { s.Archived = rapid.Bool().Draw(rt, "archived") })
		}
		for _, s := range w.sessions {
			w.said("tea", s.Key)
		}
		w.rules = sessions.Rules{Mode: rapid.SampledFrom([]string{"", "self", "tree", "agent", "all"}).Draw(rt, "mode"), A2AEnabled: rapid.Bool().Draw(rt, "a2a"),
			A2AAllow: rapid.SliceOfN(rapid.SampledFrom(append(agents, "*", "w*")), 0, 2).Draw(rt, "allow"), Clamp: rapid.SampledFrom([]string{"", "all"}).Draw(rt, "clamp")}
		w.caller.Sandboxed = rapid.Bool().Draw(rt, "sandboxed")
		w.caller.Session = w.sessions[rapid.IntRange(0, len(w.sessions)-1).Draw(rt, "caller")]
		want := []string{}
		mode := w.rules.Effective(sessions.Viewer{Key: w.caller.Session.Key, Agent: w.caller.Session.Agent, Sandboxed: w.caller.Sandboxed})
		for _, s := range w.sessions {
			ok, _ := w.rules.See(sessions.Viewer{Key: w.caller.Session.Key, Agent: w.caller.Session.Agent, Sandboxed: w.caller.Sandboxed}, s)
			for at := s; !ok && mode != sessions.SeeSelf && at.SpawnedBy != ""; at, _ = w.Get(t.Context(), at.SpawnedBy) {
				ok = at.SpawnedBy == w.caller.Session.Key
			}
			if ok {
				want = append(want, s.Key.Display(w.caller.Session.Agent, ""))
			}
		}
		out, err := SessionsSearch(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: json.RawMessage(`{"query":"tea","limit":25}`)})
		var r searchResult
		if err != nil || json.Unmarshal([]byte(out.Text), &r) != nil || !slices.Equal(hitKeys(r), want) {
			rt.Fatalf("%s sees %v, want %v", w.caller.Session.Key, hitKeys(r), want)
		}
	})
}

// proves: K9, V4
func TestSessionsSearchInOneSession(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ ref, want, says string }{
		{"main", "", ""},
		{"current", "", ""},
		{string(id(5)), "", ""},
		{"agent:main:subagent:1", "", ""},
		{"cron:daily", "forbidden", "tools.sessions.visibility"},
		{string(id(2)), "error", "Session not found"},
		{"agent:main:subagent:9", "forbidden", "Session not found, or search not permitted: agent:main:subagent:9"},
		{"nonsense", "error", "neither a session key nor a session id"},
	} {
		w := everywhere()
		w.rules = sessions.Rules{}
		out, err := SessionsSearch(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: encode(map[string]string{"query": "tea", "sessionKey": c.ref})})
		if err != nil {
			t.Fatal(err)
		}
		var p problem
		var r searchResult
		_, _ = json.Unmarshal([]byte(out.Text), &p), json.Unmarshal([]byte(out.Text), &r)
		if p.Status != c.want || !strings.Contains(p.Error, c.says) || out.IsError != (c.want != "") {
			t.Errorf("%s: %s", c.ref, out.Text)
		}
		if c.want == "" && r.Count != 1 || c.want != "" && len(w.searches) > 0 {
			t.Errorf("%s: %d hits, searched %d times", c.ref, r.Count, len(w.searches))
		}
	}
}

func TestSessionsSearchBounds(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.said("tea", slices.Repeat([]sessions.Key{"agent:main:main"}, 60)...)
	for args, want := range map[string]int{`{"query":"tea"}`: 10, `{"query":"tea","limit":0}`: 10, `{"query":"tea","limit":1e9}`: 25, `{"query":"tea","limit":25,"offset":50}`: 10, `{"query":"tea","offset":99}`: 0} {
		r := call[searchResult](t, w, SessionsSearch(w.deps()), args)
		if r.Count != want || r.HasMore != !strings.Contains(args, "offset") {
			t.Errorf("%s: %d hits, hasMore %v, want %d", args, r.Count, r.HasMore, want)
		}
	}
	for args, says := range map[string]string{`{"query":" "}`: "query is required", `{}`: "query is required", `{"query":"` + strings.Repeat("é", 4097) + `"}`: "4097 characters; 4096 are allowed"} {
		if r := call[problem](t, w, SessionsSearch(w.deps()), args); r.Status != "error" || !strings.Contains(r.Error, says) {
			t.Errorf("%.40s: %+v", args, r)
		}
	}
	if r := call[searchResult](t, w, SessionsSearch(w.deps()), `{"query":"`+strings.Repeat("é", 4096)+`"}`); r.Count != 0 || r.Hits == nil {
		t.Errorf("the longest query: %+v", r)
	}
	// The widest snippets: not all fit, and paging gets to each of them.
	w.hits = nil
	w.said(strings.Repeat("\x01", 300)+"tea", slices.Repeat([]sessions.Key{"agent:main:main"}, 60)...)
	seen := map[string]bool{}
	for offset, cut := 0, false; ; {
		out, err := SessionsSearch(w.deps()).Call(t.Context(), Call{Caller: w.caller, Args: encode(map[string]any{"query": "tea", "limit": 25, "offset": offset})})
		var r searchResult
		if err != nil || len(out.Text) > searchBytes || json.Unmarshal([]byte(out.Text), &r) != nil {
			t.Fatalf("%d bytes, %v", len(out.Text), err)
		}
		for _, h := range r.Hits {
			seen[h.MessageID] = true
		}
		cut = cut || r.Truncated && r.Count < 25
		if !r.HasMore {
			if len(seen) != 60 || !cut {
				t.Errorf("paging showed %d of 60 hits, cut %v", len(seen), cut)
			}
			return
		}
		offset = r.NextOffset
	}
}

// proves: H5
func TestSessionsSearchHidesSecrets(t *testing.T) {
	t.Parallel()
	for snippet, want := range map[string]string{
		"the tea key is hunter2secret, ok":         "the tea key is [secret], ok",
		"…er2secret and then tea":                  "… and then tea",
		"tea and then hunter2se…":                  "tea and then …",
		"…茶は美味しい tea key=hunter2se…":               "…茶は美味しい tea …",
		"…r2secretteahunter2se…":                   "……",
		"tea … and more":                           "tea … and more",
		"…\nwords of tea hunter2secret and words…": "…\nwords of tea [secret] and …",
	} {
		w := newWorld()
		w.said(snippet, "agent:main:main")
		w.redact = func(s string) string { return strings.ReplaceAll(s, "hunter2secret", "[secret]") }
		r := call[searchResult](t, w, SessionsSearch(w.deps()), `{"query":"tea"}`)
		if r.Count != 1 || r.Hits[0].Snippet != want {
			t.Errorf("%q: %+v, want %q", snippet, r.Hits, want)
		}
	}
	w := newWorld()
	w.said("…words of tea and words…", "agent:main:main") // no secrets: nothing is taken off
	out, err := SessionsSearch(w.deps()).Call(t.Context(), Call{Caller: Caller{Session: w.caller.Session}, Args: json.RawMessage(`{"query":"tea"}`)})
	want := `{"sessionKey":"main","sessionId":"00000000-0000-4000-8000-000000000000","messageId":"m0","role":"user","timestamp":1772366400000,"snippet":"…words of tea and words…"}`
	if err != nil || !strings.Contains(out.Text, want) {
		t.Errorf("%s, %v; want %s", out.Text, err, want)
	}
}
