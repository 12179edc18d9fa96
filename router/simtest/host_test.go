package simtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/policy"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
	"parley/tools"
)

// host is one process of the program, from its start to its end or its crash.
type host struct {
	w     *world
	dir   string
	store *sqlstore.Store
	r     *router.Router
	ctx   context.Context
	end   context.CancelFunc
	dead  atomic.Bool
	fell  string        // the phase of the commit that it has crashed at; set before dead
	begun atomic.Int64  // in events: when a try that begins was on disk last, or may have been
	left  chan struct{} // closed when it has crashed
}

// errGone is what everything fails with in a process that has crashed: nothing that it does is seen by anybody.
var errGone = errors.New("this process has crashed")

func (h *host) isDead() bool { return h != nil && h.dead.Load() }

// boot starts a process on a folder. On an error it ends again, and a supervisor starts the next one.
func (w *world) boot(dir string) (*host, error) {
	w.t.Helper()
	h := &host{w: w, dir: dir, left: make(chan struct{})}
	h.ctx, h.end = context.WithCancel(w.t.Context())
	quiet := slog.New(slog.DiscardHandler)
	var err error
	if h.store, err = sqlstore.Open(h.ctx, sqlstore.Config{Dir: dir, Logger: quiet, Trace: h.trace, Readers: 1}); err != nil {
		w.t.Fatal(err)
	}
	h.r = router.New(router.Deps{Store: scheduled{h.store, h}, Settings: w.plan.settings(), Log: quiet, Version: "test", TranscriptPath: func(sessions.AgentID, sessions.ID) string { return "transcript.jsonl" }, Tools: tools.All,
		Jitter: jitterOf(w.seed), Turn: inLane,
		Model: func(name string) (agent.Candidate, error) {
			return agent.Candidate{Model: mind{h, sessions.AgentID(strings.TrimPrefix(name, "mock/"))}, Name: "m", Label: name}, nil
		}})
	if err := h.r.Start(h.ctx); err != nil {
		w.tally("refused starts")
		return h, err
	}
	for _, p := range w.platforms {
		h.r.Attach(p.ref, p.channel(h))
	}
	return h, nil
}

// halt waits until nothing of a process is left.
func (h *host) halt() {
	h.end()
	h.r.Stop()
	if err := h.store.Close(); err != nil {
		h.w.t.Error(err)
	}
}

// remains are the files that a crash leaves.
type remains map[string][]byte

func (h *host) files() remains {
	out := remains{}
	for _, name := range []string{"parley.db", "parley.db-wal", sqlstore.CallsFile} {
		b, err := os.ReadFile(filepath.Join(h.dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.w.t.Error(err)
		}
		if len(b) > 0 {
			out[name] = b
		}
	}
	return out
}

func (r remains) write(w *world, dir string) {
	for name, b := range r {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			w.t.Error(err)
		}
	}
}

// trace is called in the goroutine that writes, before and after each commit. Here processes crash and the store fails.
func (h *host) trace(op, phase string) {
	w := h.w
	if !w.s.wait(h, "commit "+op+" "+phase) {
		return
	}
	w.tally("commits")
	w.s.note("%s %s", phase, op)
	if phase == sqlstore.AfterCommit && (op == "BeginSend" || strings.HasPrefix(op, "Finish+begin")) {
		h.begun.Store(int64(w.clock()))
	}
	switch {
	case op == "Index" || op == "Sweep" || w.calm.Load():
	case w.crashes > 0 && w.s.chance(w.plan.crash):
		w.crashes--
		w.tally("crashes " + phase)
		w.s.note("CRASH %s %s", phase, op)
		w.left = h.files()
		h.fell = phase
		h.dead.Store(true)
		w.lets(h)
		w.s.forget(h)
		close(h.left)
	case w.s.chance(w.plan.panics):
		w.tally("store faults " + phase)
		w.s.note("PANIC %s %s", phase, op)
		w.trouble(0)
		if phase == sqlstore.AfterCommit { // those of the same commit that come behind op are not heard of
			h.begun.Store(int64(w.clock()))
		}
		panic("scripted")
	case w.s.chance(w.plan.slow):
		w.tally("slow commits")
		d := w.s.within(20 * time.Second)
		w.s.note("SLOW %s %s", d, op)
		w.trouble(d)
		<-time.After(d)
	}
}

// scheduled is the store as the router sees it: each read and write waits for its turn.
type scheduled struct {
	sessions.Store
	h *host
}

// do makes one call of the store in its turn.
func do[T any](c scheduled, op, about string, call func() (T, error)) (out T, err error) {
	if !c.h.w.s.wait(c.h, op+" "+about) {
		return out, errGone
	}
	out, err = call()
	if !c.h.w.s.wait(c.h, "after "+op+" "+about) { // one commit answers several at the same instant
		return out, errGone
	}
	return out, err
}

// change is do for what writes; the history has it.
func change[T any](c scheduled, op, about string, call func() (T, error)) (T, error) {
	out, err := do(c, op, about, func() (T, error) {
		c.h.w.s.note("%s %s", op, about)
		return call()
	})
	if err != nil && !c.h.isDead() {
		c.h.w.s.note("%s %s: %v", op, about, err)
	}
	return out, err
}

func none(err error) (struct{}, error) { return struct{}{}, err }

func (c scheduled) Accept(ctx context.Context, a sessions.Arrival) (sessions.Accepted, error) {
	if a.Change != nil {
		defer c.h.w.stopping(*a.Change)()
	}
	return change(c, "Accept", string(a.In.ID), func() (sessions.Accepted, error) { return c.Store.Accept(ctx, a) })
}

func (c scheduled) Submit(ctx context.Context, e sessions.Change) (sessions.Accepted, error) {
	about := e.IdempotencyKey
	if e.Run != nil {
		about += " " + string(e.Run.Key) + " " + e.Run.Input.Text()
	}
	defer c.h.w.stopping(e)()
	return change(c, "Submit", about, func() (sessions.Accepted, error) { return c.Store.Submit(ctx, e) })
}

func (c scheduled) Claim(ctx context.Context, key sessions.Key) (r sessions.Run, ok bool, err error) {
	r, err = change(c, "Claim", string(key), func() (r sessions.Run, err error) {
		r, ok, err = c.Store.Claim(ctx, key)
		return r, err
	})
	return r, ok, err
}

func (c scheduled) Record(ctx context.Context, run sessions.RunID, msgs ...sessions.Message) error {
	_, err := change(c, "Record", string(run), func() (struct{}, error) { return none(c.Store.Record(ctx, run, msgs...)) })
	return err
}

func (c scheduled) Steps(ctx context.Context, run sessions.RunID) ([]sessions.Message, error) {
	return do(c, "Steps", string(run), func() ([]sessions.Message, error) { return c.Store.Steps(ctx, run) })
}

func (c scheduled) MergeQueued(ctx context.Context, run sessions.RunID, q sessions.MergeQuery) ([]sessions.Message, error) {
	return change(c, "Absorb", string(run), func() ([]sessions.Message, error) { return c.Store.MergeQueued(ctx, run, q) })
}

func (c scheduled) Finish(ctx context.Context, run sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	about := fmt.Sprintf("%s %s %q %s", run, o.Status, o.Result, o.Error)
	if o.Next != nil {
		about += fmt.Sprintf(" → %s %s", o.Next.Run.Kind, o.Next.Run.Key)
	}
	var x *attempted
	acc, err := change(c, "Finish", about, func() (sessions.Accepted, error) {
		x = c.h.w.finishes(run, o)
		if o.Delete != nil {
			c.keep(ctx, run, o)
		}
		if o.Begin == nil {
			return c.Store.Finish(ctx, run, o)
		}
		var acc sessions.Accepted
		_, err := c.h.begins(o.Begin.Delivery, func() (d sessions.Delivery, err error) {
			acc, err = c.Store.Finish(ctx, run, o)
			if i := slices.IndexFunc(acc.Deliveries, func(x sessions.Delivery) bool { return x.ID == o.Begin.Delivery }); i >= 0 {
				d = acc.Deliveries[i]
			}
			return d, err
		})
		return acc, err
	})
	if x != nil {
		x.done = err == nil
		x.undone = errors.Is(err, sessions.ErrInvalid) || errors.Is(err, sessions.ErrConflict) || errors.Is(err, sessions.ErrNotFound)
	}
	return acc, err
}

// keep remembers what a commit deletes: people and the model have seen what came of it.
func (c scheduled) keep(ctx context.Context, run sessions.RunID, o sessions.Outcome) {
	at := time.Now()
	runs, err := c.Store.ListRuns(ctx, sessions.RunQuery{Key: *o.Delete, Limit: 1000})
	s, err2 := c.Store.Get(ctx, *o.Delete)
	if err != nil || err2 != nil {
		return // it is gone already
	}
	for i := range runs {
		if x := &runs[i]; x.ID == run {
			x.Status, x.Result, x.Error = o.Status, o.Result, o.Error
		}
	}
	msgs, err := c.Store.Tail(ctx, s.ID, sessions.TailQuery{Limit: 1000, IncludeTool: true})
	if err != nil {
		c.h.w.t.Error(err)
	}
	c.h.w.gone[*o.Delete] = deleted{at, runs, msgs}
}

func (c scheduled) GetRun(ctx context.Context, id sessions.RunID) (sessions.Run, error) {
	return do(c, "GetRun", string(id), func() (sessions.Run, error) { return c.Store.GetRun(ctx, id) })
}

func (c scheduled) ListRuns(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	return do(c, "ListRuns", fmt.Sprint(q.Key, q.Parent, q.Root, q.Status, q.Kind, inLaneOf(ctx)), func() ([]sessions.Run, error) { return c.Store.ListRuns(ctx, q) })
}

func (c scheduled) CountByAgents(ctx context.Context, key sessions.Key, since time.Time, most int) (int, error) {
	return do(c, "CountByAgents", string(key), func() (int, error) { return c.Store.CountByAgents(ctx, key, since, most) })
}

func (c scheduled) Get(ctx context.Context, key sessions.Key) (sessions.Session, error) {
	return do(c, "Get", string(key), func() (sessions.Session, error) { return c.Store.Get(ctx, key) })
}

func (c scheduled) Tail(ctx context.Context, id sessions.ID, q sessions.TailQuery) ([]sessions.Message, error) {
	return do(c, "Tail", string(id), func() ([]sessions.Message, error) { return c.Store.Tail(ctx, id, q) })
}

func (c scheduled) Due(ctx context.Context, limit int, after int64) ([]sessions.Delivery, error) {
	return do(c, "Due", string(inLaneOf(ctx)), func() ([]sessions.Delivery, error) { return c.Store.Due(ctx, limit, after) })
}

func (c scheduled) GetDelivery(ctx context.Context, id sessions.DeliveryID) (sessions.Delivery, error) {
	return do(c, "GetDelivery", string(id), func() (sessions.Delivery, error) { return c.Store.GetDelivery(ctx, id) })
}

func (c scheduled) BeginSend(ctx context.Context, id sessions.DeliveryID, now time.Time, check func(sessions.Session) policy.Verdict, o sessions.FirstContactQuota) (sessions.Delivery, error) {
	return change(c, "BeginSend", string(id), func() (sessions.Delivery, error) {
		return c.h.begins(id, func() (sessions.Delivery, error) { return c.Store.BeginSend(ctx, id, now, check, o) })
	})
}

func (c scheduled) PartSent(ctx context.Context, id sessions.DeliveryID, r channels.Receipt, last bool) error {
	_, err := change(c, "PartSent", string(id), func() (struct{}, error) {
		return none(c.h.ends(id, func() error { return c.Store.PartSent(ctx, id, r, last) }))
	})
	if err == nil {
		c.h.w.receives(r.ID)
	}
	return err
}

func (c scheduled) Retry(ctx context.Context, id sessions.DeliveryID, at time.Time, reason string, end sessions.TryEnd) error {
	_, err := change(c, "Retry", string(id)+" "+reason, func() (struct{}, error) {
		return none(c.h.ends(id, func() error { return c.Store.Retry(ctx, id, at, reason, end) }))
	})
	return err
}

func (c scheduled) EndDelivery(ctx context.Context, id sessions.DeliveryID, state sessions.DeliveryState, reason string) error {
	_, err := change(c, "EndDelivery", string(id)+" "+string(state), func() (struct{}, error) {
		return none(c.h.ends(id, func() error { return c.Store.EndDelivery(ctx, id, state, reason) }))
	})
	return err
}

func (c scheduled) Patch(ctx context.Context, key sessions.Key, p sessions.Patch) (sessions.Session, error) {
	return change(c, "Patch", string(key), func() (sessions.Session, error) { return c.Store.Patch(ctx, key, p) })
}

func (c scheduled) Spend(ctx context.Context, rows ...sessions.Spend) error {
	about := ""
	for _, r := range rows {
		about += string(r.Key) + " " + r.Purpose
	}
	_, err := change(c, "Spend", about, func() (struct{}, error) { return none(c.Store.Spend(ctx, rows...)) })
	return err
}
