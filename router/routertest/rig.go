package routertest

import (
	"context"
	"errors"
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
	"parley/router"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools"
)

// TwoChats makes the sessions a and b and then has what may happen between them be scripted.
func TwoChats(t *testing.T, answer func(context.Context, agent.Prompt) (agent.Answer, error), fs ...func(*settings.Snapshot)) *Rig {
	t.Helper()
	g := New(t, channeltest.Options{}, fs...)
	g.Say(Group("a"), Guest, "hello")
	g.Say(Group("b"), Guest, "hello")
	g.Shown(2)
	g.Idle(2)
	g.Model.Set(answer)
	return g
}

// Folder makes a folder for a store, in memory where that can be: what a killed process leaves does not depend on the disk, and
// its commits need not wait for one.
func Folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "parley-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// ChatA is a thread of a group.
var ChatA = Thread(Group("a"), "7")

// Thread is a thread of a chat.
func Thread(a channels.Address, id string) channels.Address {
	a.Thread = channels.ThreadID(id)
	return a
}

// The channel of the rig, an owner, and a guest.
const (
	Kind  = channels.Kind("fake")
	Owner = "1001"
	Guest = "2002"
)

// Account is the account of the fake channel.
var Account = settings.AccountRef{Channel: Kind, Account: channels.DefaultAccount}

// Rig is a router between a fake channel and a scripted model, on a real store.
type Rig struct {
	T        *testing.T
	Dir      string
	Ref      settings.AccountRef // of the fake channel; empty = account
	Login    channels.UserID     // who it is there; "" = it does not say
	Settings *settings.Snapshot
	Store    *sqlstore.Store
	Fake     *channeltest.Fake
	Model    *Script
	Router   *router.Router
	End      context.CancelFunc
	wg       sync.WaitGroup
	Trace    atomic.Pointer[func(op, phase string)] // of the commits; nil = nobody looks
	more     atomic.Pointer[func(context.Context, bool) []tools.Tool]
	// models finds a model instead of the script; nil = the script answers for all
	Models func(name string) (agent.Candidate, error)
	Wrap   func(sessions.Store) sessions.Store // puts something between router and store
	Clock  func() time.Time                    // of the scheduler; nil = that of the bubble
	Wall   func() time.Time                    // by which ages are told; nil = that of the bubble

	Deps func(*router.Deps) // changes what a router is made of, before each start; nil = as it is

	commits atomic.Int64
}

// SettingsFor gives the settings of most tests, changed by some funcs.
func SettingsFor(tests ...func(*settings.Snapshot)) *settings.Snapshot {
	s := &settings.Snapshot{
		Session: sessions.Config{Scope: sessions.PerSender, DMScope: sessions.OwnerMain, AgentToAgent: sessions.AgentToAgent{MaxPingPongTurns: 5}},
		Model:   "mock/m",
		Owners:  policy.Owners{"fake:" + Owner},
		Tools:   tools.Config{Sessions: tools.Sessions{Visibility: tools.VisibleAgent}},
		Accounts: map[settings.AccountRef]settings.Account{Account: {Access: policy.Access{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"},
			GroupPolicy: policy.GroupOpen}}},
	}
	for _, f := range tests {
		f(s)
	}
	return s
}

// EachAlone gives every message a turn of its own.
func EachAlone(s *settings.Snapshot) {
	s.Messages.Queue.Queue = sessions.Queue{Mode: sessions.Followup, Cap: 1000}
}

// Mount has a func give the tools of MCP servers from now on, over restarts too.
func (g *Rig) Mount(more func(context.Context, bool) []tools.Tool) { g.more.Store(&more) }

// Look has a func see the store's commits from now on.
func (g *Rig) Look(f func(op, phase string)) { g.Trace.Store(&f) }

// New starts a router. Call it inside a synctest bubble.
func New(t *testing.T, o channeltest.Options, tests ...func(*settings.Snapshot)) *Rig {
	t.Helper()
	return With(t, nil, o, tests...)
}

// With is New for a router that is made of something else.
func With(t *testing.T, deps func(*router.Deps), o channeltest.Options, tests ...func(*settings.Snapshot)) *Rig {
	t.Helper()
	g := &Rig{Deps: deps, T: t, Dir: Folder(t), Settings: SettingsFor(tests...), Fake: channeltest.NewFake(o), Model: &Script{}}
	g.Start()
	return g
}

// Start opens the store and the router; after stop it is the next process.
func (g *Rig) Start() {
	g.T.Helper()
	if g.Ref.Channel == "" {
		g.Ref = Account
	}
	ctx, cancel := context.WithCancel(g.T.Context())
	g.End = cancel
	Seed(g.T, g.Dir)
	store, err := sqlstore.Open(ctx, sqlstore.Config{Dir: g.Dir, Logger: slog.New(slog.DiscardHandler), Trace: func(op, phase string) {
		g.commits.Add(1)
		if look := g.Trace.Load(); look != nil {
			(*look)(op, phase)
		}
	}})
	if err != nil {
		g.T.Fatal(err)
	}
	g.Store = store
	var between sessions.Store = store
	if g.Wrap != nil {
		between = g.Wrap(store)
	}
	deps := router.Deps{Store: between, Settings: g.Settings, Log: slog.New(slog.DiscardHandler), Version: "test",
		Model: func(name string) (agent.Candidate, error) {
			if !strings.HasPrefix(name, "mock/") {
				return agent.Candidate{}, errors.New("unknown model " + name)
			}
			if g.Models != nil {
				return g.Models(name)
			}
			return agent.Candidate{Model: g.Model, Name: "m", Label: name}, nil
		},
		Tools: tools.All,
		MoreTools: func(ctx context.Context, sandboxed bool) []tools.Tool {
			if more := g.more.Load(); more != nil {
				return (*more)(ctx, sandboxed)
			}
			return nil
		},
		TranscriptPath: store.TranscriptPath, Outbox: filepath.Join(g.Dir, "outbox"), Media: filepath.Join(g.Dir, "media"),
		Workspace: func(sessions.AgentID) string { return filepath.Join(g.Dir, "workspace") }, Now: g.Wall, JobsNow: g.Clock}
	if g.Deps != nil {
		g.Deps(&deps)
	}
	g.Router = router.New(deps)
	if err := g.Router.Start(ctx); err != nil {
		g.T.Fatal(err)
	}
	g.Router.Attach(g.Ref, g.Fake.Full())
	if g.Login != "" {
		var names []channels.AccountID
		for ref := range g.Settings.Accounts {
			names = append(names, ref.Account)
		}
		if err := g.Router.Identified(ctx, g.Ref, g.Login, names); err != nil {
			g.T.Fatal(err)
		}
	}
	g.wg.Go(func() { _ = g.Fake.Run(ctx, g.Router.Receiver.Accept) })
	g.T.Cleanup(g.Stop)
}

// Stop ends the process softly; nothing that is under way is waited for.
func (g *Rig) Stop() {
	if g.End == nil {
		return
	}
	g.End()
	g.End = nil
	g.Router.Stop()
	g.wg.Wait()
	if err := g.Store.Close(); err != nil {
		g.T.Error(err)
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

// Seed puts an empty database into a folder that has none.
func Seed(t *testing.T, dir string) {
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

// Bubble runs a test on virtual time.
func Bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

// NewWith is newRig with something between router and store.
func NewWith(t *testing.T, o channeltest.Options, trace func(op, phase string), wrap func(sessions.Store) sessions.Store, fs ...func(*settings.Snapshot)) *Rig {
	g := &Rig{T: t, Dir: Folder(t), Settings: SettingsFor(fs...), Fake: channeltest.NewFake(o), Model: &Script{}, Wrap: wrap}
	if trace != nil {
		g.Look(trace)
	}
	g.Start()
	return g
}

// Image copies the rig's folder as a kill at this moment would leave it.
func (g *Rig) Image() (dir string) {
	dir = Folder(g.T)
	Check(g.T, os.CopyFS(dir, os.DirFS(g.Dir)))
	Check(g.T, os.RemoveAll(filepath.Join(dir, "parley.db-shm"))) // memory
	return dir
}
