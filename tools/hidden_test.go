package tools

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

// An answer is the same, byte for byte, whether there are rows that the caller may not see or not; here at the bounds, which take more of
// them than a whole host makes in a test. source: CWE-203
//
// proves: V4, L6
func TestHiddenRowsChangeNoAnswer(t *testing.T) {
	t.Parallel()
	const hidden = sessions.Key("agent:priv:fake:direct:5005")
	tree, agent, all := sessions.Rules{Mode: "tree"}, sessions.Rules{Mode: "agent"}, sessions.Rules{Mode: "all"}
	some := sessions.Rules{Mode: "all", A2AEnabled: true, A2AAllow: []string{"main", "coder"}}
	many := func(n int, with ...func(*sessions.Session)) func(*world) {
		return func(w *world) {
			for i := range n {
				s := w.add(sessions.SubagentKey("priv", fmt.Sprint(i)), with...)
				w.sessions[len(w.sessions)-1].Updated = noon.Add(time.Hour)
				w.list = append(w.list, sessions.Run{ID: sessions.RunID(fmt.Sprint("hidden-", i)), Key: s.Key, Kind: sessions.ChildRun, Status: sessions.Running})
			}
		}
	}
	notes := func(n int, key sessions.Key, text string) func(*world) {
		return func(w *world) {
			for range n {
				w.notes = append(w.notes, sessions.Note{ID: int64(1000 + len(w.notes)), Key: key, Text: text, Time: noon})
			}
		}
	}
	divorce := func(w *world) { w.add(hidden, func(s *sessions.Session) { s.Label = "divorce" }) }
	busy := func(w *world) { // other sessions talked in between
		for _, list := range w.messages {
			for i := range list {
				list[i].Seq *= 7
			}
		}
	}
	jobs := func(w *world) {
		for i := range maxJobs {
			w.jobs = append(w.jobs, sessions.Job{ID: fmt.Sprint("hidden-", i), Agent: "main", From: "agent:main:fake:direct:3003"})
		}
	}
	coming := func(w *world) { // their results come to agents, as the caller's own do not
		many(2, spawnedBy("agent:priv:main"))(w)
		for i := range w.list {
			if w.list[i].Key.Agent() == "priv" {
				w.list[i].Chain = &sessions.Chain{}
			}
		}
	}
	waiting := func(w *world) {
		w.list = append(w.list, sessions.Run{ID: "hidden-result", Key: "agent:priv:main", Kind: sessions.ResultRun, Status: sessions.Queued})
	}
	below := func(w *world) {
		w.add("agent:priv:subagent:h", spawnedBy("agent:priv:main"))
		w.alsoStopped = []sessions.StoppedRun{{Key: "agent:priv:subagent:h", ID: "h"}}
	}
	diary := func(w *world) {
		if err := os.WriteFile(filepath.Join(w.workspace, "diary.md"), []byte("dear"), 0o600); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		name  string
		rules sessions.Rules
		hide  func(*world)
		tool  func(Deps) Tool
		args  string
	}{
		{"recall: partial", tree, notes(1, "agent:main:fake:direct:3003", "the safe code is 4711 tango"), Recall, `{"query":"zzqx tan"}`},
		{"recall: the bound of what is looked at", tree, notes(recallScan+1, "agent:main:fake:direct:3003", "tea with bread"), Recall, `{"query":"tea cake"}`},
		{"recall: cut", tree, notes(50, "agent:main:fake:direct:3003", "tea"), Recall, `{"limit":2}`},
		{"sessions_list: a part of a key", all, divorce, SessionsList, `{"search":"agent:priv:fake:direct:5"}`},
		{"sessions_list: a label", all, divorce, SessionsList, `{"label":"divorce"}`},
		{"sessions_list: the bound of what is looked at", some, many(listScan + 1), SessionsList, `{"kinds":["hook"]}`},
		{"sessions_list: pages", some, many(300), SessionsList, `{"limit":2,"offset":1}`},
		{"sessions_list: numbers of messages", tree, busy, SessionsList, `{"messageLimit":5}`},
		{"sessions_history: numbers", tree, busy, SessionsHistory, `{"sessionKey":"main"}`},
		{"sessions_history: an id", all, divorce, SessionsHistory, `{"sessionKey":"` + string(id(3)) + `"}`},
		{"sessions_search: the bound of what is looked at", some, func(w *world) {
			w.add(hidden)
			hits := w.hits
			w.hits = nil
			w.said("tea", slices.Repeat([]sessions.Key{hidden}, searchScan+searchPage)...)
			w.hits = append(w.hits, hits...)
		}, SessionsSearch, `{"query":"tea"}`},
		{"sessions_search: the bound of sub-agents", tree, many(maxTree, spawnedBy("agent:priv:main")), SessionsSearch, `{"query":"tea"}`},
		{"session_status: at work", agent, many(3, spawnedBy("agent:main:hook:abc")), SessionStatus, `{"sessionKey":"agent:main:hook:abc"}`},
		{"subagents: the bound of sub-agents", tree, many(maxTree, spawnedBy("agent:priv:main")), SubagentsTool, `{"action":"list"}`},
		{"subagents: log", tree, busy, SubagentsTool, `{"action":"log","id":"1"}`},
		{"subagents: what was stopped", agent, below, SubagentsTool, `{"action":"cancel","id":"1"}`},
		{"subagents: a run id", agent, many(2, spawnedBy("agent:priv:main")), SubagentsTool, `{"action":"cancel","id":"hidden"}`},
		{"sessions_yield: sub-agents at work", agent, coming, SessionsYield, `{}`},
		{"sessions_yield: results that wait", agent, waiting, SessionsYield, `{}`},
		{"message: an address", agent, func(w *world) {
			divorce(w)
			w.heard = map[channels.Address][]sessions.Key{{Channel: "fake", Account: "default", Chat: "5005", Type: channels.Direct}: {hidden}}
		}, Message, `{"to":"fake/default/direct/5005","text":"hi"}`},
		{"cron: the bound of jobs", tree, jobs, Cron, `{"action":"add","message":"tea","every":"24h"}`},
		{"cron: list", tree, jobs, Cron, `{"action":"list"}`},
		{"cron: remove", tree, jobs, Cron, `{"action":"remove","id":"hidden-1"}`},
		{"files: list", tree, diary, FilesTool, `{"action":"list"}`},
		{"files: read", tree, diary, FilesTool, `{"action":"read","path":"diary.md"}`},
		{"files: write", tree, diary, FilesTool, `{"action":"write","path":"diary.md","content":"mine"}`},
	} {
		answer := func(t *testing.T, hide func(*world)) string {
			t.Helper()
			w := newWorld()
			w.rules, w.caller.Owner, w.workspace = c.rules, false, t.TempDir()
			child := w.add("agent:main:subagent:1", spawnedBy("agent:main:main"))
			w.add("agent:main:hook:abc")
			for i, s := range []sessions.Session{w.caller.Session, child} {
				for j := range 3 {
					m := text("user", "tea")
					m.ID, m.Seq, m.Number = fmt.Sprint("m", i, j), int64(1+i*3+j), int32(j+1)
					w.messages[s.ID] = append(w.messages[s.ID], m)
				}
				w.notes = append(w.notes, sessions.Note{ID: int64(i + 1), Key: s.Key, Text: "tea and sugar", Time: noon})
			}
			w.said("tea", child.Key, w.caller.Session.Key)
			w.list = append(w.list, sessions.Run{ID: "run-1", Key: child.Key, Kind: sessions.ChildRun, Status: sessions.Running})
			hide(w)
			r, err := c.tool(w.deps()).Call(t.Context(), Call{ID: "call", Args: json.RawMessage(c.args), Caller: w.caller})
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(r.Text, r.IsError, r.Yield)
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if with, without := answer(t, c.hide), answer(t, func(*world) {}); with != without {
				t.Errorf("with hidden rows %.600s\nwithout %.600s", with, without)
			}
		})
	}
}
