package twoworlds

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/policy"
	"parley/router"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools"
)

const (
	slot    = 2 * time.Second // of virtual time, for each step
	outside = "agent:main:fake:direct:2002"
)

// world is a host with its store, and the session that calls the tools.
type world struct {
	t     *testing.T
	ctx   context.Context
	dir   string
	store *sqlstore.Store
	kit   map[string]tools.Tool
	n     int // steps
	calls int
	made  int // rows that others made
	log   []string
}

// in starts a host with the script's settings, runs f in it on virtual time, and stops it.
func in(t *testing.T, s *script, f func(w *world)) *world {
	t.Helper()
	w := &world{t: t, dir: memoryFolder(t), kit: map[string]tools.Tool{}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w.ctx = ctx
		quiet := slog.New(slog.DiscardHandler)
		store, err := sqlstore.Open(ctx, sqlstore.Config{Dir: w.dir, Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		w.store = store
		r := router.New(router.Deps{Store: store, Settings: s.settings(), Log: quiet, Version: "test", TranscriptPath: func(a sessions.AgentID, id sessions.ID) string { return "/" + string(a) + "/" + string(id) + ".jsonl" },
			Outbox: filepath.Join(w.dir, "outbox"), Media: filepath.Join(w.dir, "media"), Workspace: func(sessions.AgentID) string { return filepath.Join(w.dir, "workspace") },
			Model: func(name string) (agent.Candidate, error) {
				if name != "mock/m" {
					return agent.Candidate{}, errors.New("known models: mock/m")
				}
				return agent.Candidate{Model: echo{}, Name: "m", Label: name}, nil
			},
			Tools: func(d tools.Deps) []tools.Tool {
				all := tools.All(d)
				for _, tool := range all {
					w.kit[tool.Spec().Name] = tool
				}
				return all
			}})
		if err := r.Start(ctx); err != nil {
			t.Fatal(err)
		}
		f(w)
		cancel()
		r.Stop()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// empty is a database that holds nothing, made once.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "parley-test-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store, err := sqlstore.Open(context.Background(), sqlstore.Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, "parley.db"))
})

// memoryFolder makes a folder in memory, where there is such a place, with an empty database.
func memoryFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "parley-test-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	db, err := empty()
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "parley.db"), db, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// echo is a model that says what it was told last.
type echo struct{}

func (echo) Stream(_ context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		said := ""
		for _, m := range p.Messages {
			if m.Role == sessions.User {
				said = m.Text()
			}
		}
		yield(agent.Delta{Final: &agent.Answer{Content: sessions.TextContent("echo: " + said[:min(len(said), 40)]), Stop: "stop", Usage: sessions.Usage{Input: 10, Output: 5}}}, nil)
	}
}

// step waits until its place in time has come, so that what others do meanwhile moves no time of what is visible. Nothing that the host
// does by itself falls on such a time.
func (w *world) step(visible bool, f func()) {
	at := time.Date(2000, 1, 1, 0, 1, 3, 0, time.UTC).Add(time.Duration(w.n) * slot)
	if visible {
		w.n++
	} else {
		at = at.Add(-slot / 4)
	}
	time.Sleep(time.Until(at))
	f()
	synctest.Wait()
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil && !errors.Is(err, sessions.ErrConflict) && !errors.Is(err, sessions.ErrNotFound) {
		w.t.Fatal(err)
	}
}

func (w *world) submit(e sessions.Change) sessions.Accepted {
	w.t.Helper()
	acc, err := w.store.Submit(w.ctx, e)
	w.ok(err)
	return acc
}

// turn has somebody say something in a session, and the agent answer it when ends is set.
func (w *world) turn(s sessions.Session, id, said, answer string, kind sessions.RunKind, ends bool) {
	w.t.Helper()
	run := sessions.RunID("run-" + id)
	var chain *sessions.Chain
	if kind == sessions.ChildRun {
		chain = &sessions.Chain{Kind: "spawn", Root: run, Requester: s.SpawnedBy, Target: s.Key, Request: said}
	}
	acc := w.submit(sessions.Change{Session: &sessions.Target{Session: s}, Run: &sessions.Enqueue{Run: sessions.Run{ID: run, Kind: kind, Key: s.Key, Agent: s.Agent, Chain: chain, Reply: s.Last,
		Input: sessions.Message{ID: "in-" + id, Role: sessions.User, Content: sessions.TextContent(said), Time: time.Now(), Run: run,
			Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: "x", Address: s.Last}}}, Claim: true}})
	if !ends || acc.Claimed == nil {
		return
	}
	_, err := w.store.Finish(w.ctx, run, sessions.Outcome{Status: sessions.Done, Result: answer, Usage: sessions.Usage{Input: 7, Output: 3}, Context: 50,
		Messages: []sessions.Message{
			{ID: "call-" + id, Role: sessions.Assistant, Time: time.Now(), Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: "c", Name: "look", Arguments: json.RawMessage(`{}`)}}},
			{ID: "result-" + id, Role: sessions.ToolResult, ToolCallID: "c", ToolName: "look", Time: time.Now(), Content: sessions.TextContent("seen " + said)},
			{ID: "out-" + id, Role: sessions.Assistant, Content: sessions.TextContent(answer), Time: time.Now(), Run: run, Usage: &sessions.Usage{Input: 7, Output: 3}}}})
	w.ok(err)
}

// call calls a tool for the caller and notes the answer. {id:KEY} in the arguments stands for the session id of KEY.
func (w *world) call(s *script, c call) {
	w.t.Helper()
	own, err := w.store.Get(w.ctx, outside)
	if err != nil {
		w.t.Fatal(err)
	}
	args, place, id := c.args, "", "77777777-7777-4777-8777-777777777777" // which means nothing
	if _, rest, found := strings.Cut(args, "{id:"); found {
		key, _, _ := strings.Cut(rest, "}")
		if x, err := w.store.Get(w.ctx, sessions.Key(key)); err == nil {
			id = string(x.ID)
		}
		place = "{id:" + key + "}"
		args = strings.Replace(args, place, id, 1)
	}
	w.calls++
	run := sessions.Run{ID: "run-of-the-calls", Kind: sessions.TurnRun, Key: own.Key, Agent: own.Agent, Status: sessions.Running, Session: own.ID, Reply: own.Last,
		Input: sessions.Message{Role: sessions.User, Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: "2002", Address: own.Last}}}
	r, err := w.kit[c.tool].Call(w.ctx, tools.Call{ID: fmt.Sprint("call-", w.calls), Args: json.RawMessage(args), Progress: func(string) {},
		Caller: tools.Caller{Session: own, Run: run, Sandboxed: s.sandboxed}})
	if err != nil {
		w.t.Fatalf("%s %s: %v", c.tool, args, err)
	}
	w.oldFiles()
	text := r.Text
	if place != "" && r.IsError {
		text = strings.ReplaceAll(text, id, place)
	}
	w.log = append(w.log, fmt.Sprintf("%s %s = %s error %t yields %t", c.tool, c.args, text, r.IsError, r.Yield))
}

// oldFiles sets the times of all files, which do not come from the world's clock.
func (w *world) oldFiles() {
	_ = filepath.WalkDir(filepath.Join(w.dir, "workspace"), func(name string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Chtimes(name, time.Time{}, time.Unix(1e9, 0))
		}
		return err
	})
}

// file writes a file into the workspace as an owner or another session's turn does.
func (w *world) file(name, text string) {
	name = filepath.Join(w.dir, "workspace", name)
	w.ok(os.MkdirAll(filepath.Dir(name), 0o700))
	w.ok(os.WriteFile(name, []byte(text), 0o600))
	w.oldFiles()
}

func chat(id string, t channels.ChatType) channels.Address {
	return channels.Address{Channel: "fake", Account: channels.DefaultAccount, Chat: channels.ChatID(id), Type: t}
}

func (s *script) settings() *settings.Snapshot {
	return &settings.Snapshot{Model: "mock/m", Owners: policy.Owners{"fake:1001"},
		Session: sessions.Config{Scope: sessions.PerSender, DMScope: sessions.OwnerMain, AgentToAgent: sessions.AgentToAgent{MaxPingPongTurns: 1}},
		Tools: tools.Config{Sessions: tools.Sessions{Visibility: tools.Visibility(s.rules.Mode)},
			AgentToAgent: tools.AgentToAgent{Enabled: s.rules.A2AEnabled, Allow: s.rules.A2AAllow}},
		Agents: agent.Config{List: []agent.Entry{{ID: "main", Default: true}, {ID: "coder"}, {ID: "priv"}}},
		Accounts: map[settings.AccountRef]settings.Account{{Channel: "fake", Account: channels.DefaultAccount}: {Access: policy.Access{DMPolicy: policy.DMOpen,
			AllowFrom: []string{"*"}, GroupPolicy: policy.GroupOpen}}}}
}
