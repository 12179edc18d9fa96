package router

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools"
)

const (
	fakeKind = channels.Kind("fake")
	owner    = "1001"
	guest    = "2002"
)

var account = AccountRef{Channel: fakeKind, Account: channels.DefaultAccount}

// rig is a router between a fake channel and a scripted model, on a real store.
type rig struct {
	t     *testing.T
	dir   string
	ref   AccountRef      // of the fake channel; empty = account
	login channels.UserID // who it is there; "" = it does not say
	set   *Settings
	store *sqlstore.Store
	fake  *channeltest.Fake
	model *script
	r     *Router
	end   context.CancelFunc
	wg    sync.WaitGroup
	trace atomic.Pointer[func(op, phase string)] // of the commits; nil = nobody looks
	more  atomic.Pointer[func(context.Context, bool) []tools.Tool]
	// models finds a model instead of the script; nil = the script answers for all
	models func(name string) (agent.Candidate, error)
	wrap   func(sessions.Store) sessions.Store // puts something between router and store
	clock  func() time.Time                    // of the scheduler; nil = that of the bubble
	wall   func() time.Time                    // by which ages are told; nil = that of the bubble

	commits atomic.Int64
}

// script is a model that says what answer says; "" echoes.
type script struct {
	mu     sync.Mutex
	answer func(ctx context.Context, p agent.Prompt) (agent.Answer, error)
	asked  []agent.Prompt
}

func (s *script) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		s.mu.Lock()
		s.asked = append(s.asked, p)
		answer := s.answer
		s.mu.Unlock()
		a, err := text("echo: "+lastUser(p)), error(nil)
		if answer != nil {
			a, err = answer(ctx, p)
		}
		if err != nil {
			yield(agent.Delta{}, err)
			return
		}
		for _, b := range a.Content {
			if b.Type == sessions.TextBlock && !yield(agent.Delta{Text: b.Text}, nil) {
				return
			}
		}
		yield(agent.Delta{Final: &a}, nil)
	}
}

func (s *script) set(f func(context.Context, agent.Prompt) (agent.Answer, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = f
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.asked)
}

func text(s string) agent.Answer {
	return agent.Answer{Content: sessions.TextContent(s), Stop: "stop", Usage: sessions.Usage{Input: 10, Output: 5}}
}

func lastUser(p agent.Prompt) string {
	for i := len(p.Messages) - 1; i >= 0; i-- {
		if p.Messages[i].Role == sessions.User {
			return p.Messages[i].Text()
		}
	}
	return ""
}

func settingsFor(tests ...func(*Settings)) *Settings {
	s := &Settings{
		Session: sessions.Config{Scope: sessions.PerSender, DMScope: sessions.OwnerMain, AgentToAgent: sessions.AgentToAgent{MaxPingPongTurns: 5}},
		Model:   "mock/m",
		Owners:  policy.Owners{"fake:" + owner},
		Tools:   tools.Config{Sessions: tools.Sessions{Visibility: tools.VisibleAgent}},
		Accounts: map[AccountRef]AccountSettings{account: {Access: policy.Access{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"},
			GroupPolicy: policy.GroupOpen}}},
	}
	for _, f := range tests {
		f(s)
	}
	return s
}

// eachAlone gives every message a turn of its own.
func eachAlone(s *Settings) {
	s.Messages.Queue.Queue = sessions.Queue{Mode: sessions.Followup, Cap: 1000}
}

// mount has a func give the tools of MCP servers from now on, over restarts too.
func (g *rig) mount(more func(context.Context, bool) []tools.Tool) { g.more.Store(&more) }

// look has a func see the store's commits from now on.
func (g *rig) look(f func(op, phase string)) { g.trace.Store(&f) }

// newRig starts a router. Call it inside a synctest bubble.
func newRig(t *testing.T, o channeltest.Options, tests ...func(*Settings)) *rig {
	t.Helper()
	g := &rig{t: t, dir: folder(t), set: settingsFor(tests...), fake: channeltest.NewFake(o), model: &script{}}
	g.start()
	return g
}

// start opens the store and the router; after stop it is the next process.
func (g *rig) start() {
	g.t.Helper()
	if g.ref.Channel == "" {
		g.ref = account
	}
	ctx, cancel := context.WithCancel(g.t.Context())
	g.end = cancel
	seed(g.t, g.dir)
	store, err := sqlstore.Open(ctx, sqlstore.Config{Dir: g.dir, Logger: slog.New(slog.DiscardHandler), Trace: func(op, phase string) {
		g.commits.Add(1)
		if look := g.trace.Load(); look != nil {
			(*look)(op, phase)
		}
	}})
	if err != nil {
		g.t.Fatal(err)
	}
	g.store = store
	var between sessions.Store = store
	if g.wrap != nil {
		between = g.wrap(store)
	}
	g.r = New(Deps{Store: between, Settings: g.set, Log: slog.New(slog.DiscardHandler), Version: "test",
		Model: func(name string) (agent.Candidate, error) {
			if !strings.HasPrefix(name, "mock/") {
				return agent.Candidate{}, errors.New("unknown model " + name)
			}
			if g.models != nil {
				return g.models(name)
			}
			return agent.Candidate{Model: g.model, Name: "m", Label: name}, nil
		},
		Tools: tools.All,
		MoreTools: func(ctx context.Context, sandboxed bool) []tools.Tool {
			if more := g.more.Load(); more != nil {
				return (*more)(ctx, sandboxed)
			}
			return nil
		},
		TranscriptPath: store.TranscriptPath, Outbox: filepath.Join(g.dir, "outbox"), Media: filepath.Join(g.dir, "media"),
		Workspace: func(sessions.AgentID) string { return filepath.Join(g.dir, "workspace") }, Now: g.wall, JobsNow: g.clock})
	if err := g.r.Start(ctx); err != nil {
		g.t.Fatal(err)
	}
	g.r.Attach(g.ref, g.fake.Full())
	if g.login != "" {
		var names []channels.AccountID
		for ref := range g.set.Accounts {
			names = append(names, ref.Account)
		}
		if err := g.r.Identified(ctx, g.ref, g.login, names); err != nil {
			g.t.Fatal(err)
		}
	}
	g.wg.Go(func() { _ = g.fake.Run(ctx, g.r.Accept) })
	g.t.Cleanup(g.stop)
}

// stop ends the process softly; nothing that is under way is waited for.
func (g *rig) stop() {
	if g.end == nil {
		return
	}
	g.end()
	g.end = nil
	g.r.Stop()
	g.wg.Wait()
	if err := g.store.Close(); err != nil {
		g.t.Error(err)
	}
}

// empty is a database that holds nothing, made once: making one takes longer than most tests.
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

// seed puts an empty database into a folder that has none.
func seed(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "parley.db")
	if _, err := os.Stat(path); err == nil {
		return
	}
	db, err := empty()
	if err == nil {
		err = os.WriteFile(path, db, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func direct(id string) channels.Address {
	return channels.Address{Channel: fakeKind, Account: channels.DefaultAccount, Chat: channels.ChatID(id), Type: channels.Direct}
}

func groupChat(id string) channels.Address {
	a := direct(id)
	a.Type = channels.Group
	return a
}

// say has somebody write in a chat.
func (g *rig) say(to channels.Address, from, words string) channels.Inbound {
	return g.fake.Say(channels.Inbound{Address: to, Sender: channels.Sender{ID: channels.UserID(from), Name: from}, Text: words, Mentioned: to.Type.Several()})
}

// shown waits until n messages are shown in all and gives them.
func (g *rig) shown(n int) []channeltest.Call {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), 2*time.Hour)
	defer cancel()
	calls, err := g.fake.WaitShown(ctx, n)
	if err != nil {
		g.t.Fatalf("%d of %d messages shown: %v", len(calls), n, err)
	}
	return calls
}

// deliveries waits until nothing moves any more and lists what there is, oldest first.
func (g *rig) deliveries() []sessions.Delivery {
	g.t.Helper()
	synctest.Wait()
	list, err := g.store.ListDeliveries(g.t.Context(), sessions.DeliveryQuery{Limit: 1000})
	if err != nil {
		g.t.Fatal(err)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// until waits, in virtual time, for something that becomes true. It looks when something was committed or asked, and now and then.
func (g *rig) until(what string, ok func() bool) {
	g.t.Helper()
	last := int64(-1)
	for i := range 20000 {
		synctest.Wait()
		if moved := g.commits.Load() + int64(g.model.count()); moved != last || i%10 == 0 {
			if ok() {
				return
			}
			last = moved
		}
		<-time.After(10 * time.Millisecond)
	}
	g.t.Fatal("waited in vain: " + what)
}

// bubble runs a test on virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}
