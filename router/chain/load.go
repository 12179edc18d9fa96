package chain

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// load fills in what Advance has to know of a run at its end. It reports false when the store could not be asked before the host stopped.
func (a *Advancer) load(ctx context.Context, set *settings.Snapshot, f *Facts, o *sessions.Outcome) bool {
	run, c := f.Run, *f.Run.Chain
	a2a := set.Session.AgentToAgent
	f.Status, f.Error, f.Usage = o.Status, o.Error, o.Usage
	f.MaxTurns, f.MaxTurnsPerHour = a2a.MaxPingPongTurns, settings.OrDefault(a2a.MaxTurnsPerHour, 120)
	f.ToRequester = set.Agents.Defaults.Subagents.Announce == "requester"
	f.Refused = slices.ContainsFunc(o.Messages, sessions.Message.IsRefusal)
	if n := len(o.Messages); n > 0 {
		f.Last = o.Messages[n-1].ID
	}
	if a.transcriptPath != nil {
		f.Transcript = a.transcriptPath(run.Agent, run.Session)
	}
	r := &reader{a: a, ctx: ctx, ok: true}
	speaks := spoke(f.Said) || o.Status != sessions.Done
	switch at := endOf(run); {
	case f.Expired:
	case at == fromAnnounce, at == fromAsk && o.Status != sessions.Done:
		if !c.Back.IsZero() {
			r.asker(f, c)
		}
	case at == fromAsk, at == fromReply:
		if c.Requester != "" && spoke(f.Said) && o.Status == sessions.Done && c.Turn < f.MaxTurns {
			r.exchange(f, c)
		}
	case at == fromChild:
		r.child(f, c)
	case at == fromReport:
		if f.Other = r.find(c.Requester); f.Other != nil {
			f.Speaking = r.speakingSession(*f.Other, c.Origin)
		}
	case (at == fromResult || at == fromFollowUp) && c.Requester.Kind() == sessions.KindCron:
		f.Speaking = r.speakingSession(sessions.Session{Key: c.Requester, Agent: run.Agent}, c.Origin)
	case at == fromJob && speaks:
		f.Speaking = r.jobSession(run, c)
	case at == fromRelay && speaks:
		r.relay(f, c)
	}
	if c.Kind == Spawn && c.Cleanup == "delete" && run.Kind != sessions.PostRun {
		if child := r.find(c.Target); child != nil {
			f.ChildAborted = child.Aborted
		}
		r.do("list runs", func(ctx context.Context) (err error) {
			f.BusyBelow, err = a.busyBelow(ctx, c.Target, 0)
			return err
		})
	}
	return r.ok
}

// reader reads the store, again and again until that works. Once it cannot before the host stops, it reads nothing more.
type reader struct {
	a   *Advancer
	ctx context.Context
	ok  bool
}

func (r *reader) do(what string, f func(ctx context.Context) error) {
	r.ok = r.ok && r.a.retry.Do(r.ctx, what, f)
}

// find reads a session; nil when there is none.
func (r *reader) find(key sessions.Key) (found *sessions.Session) {
	r.do("get", func(ctx context.Context) error {
		s, err := r.a.store.Get(ctx, key)
		if errors.Is(err, sessions.ErrNotFound) {
			return nil
		}
		if err == nil {
			found = &s
		}
		return err
	})
	return found
}

// exchange reads what the next reply depends on.
func (r *reader) exchange(f *Facts, c sessions.Chain) {
	to, _ := speakers(c)
	f.Other = r.find(to)
	if f.Other == nil || isExternal(to) {
		return
	}
	r.do("count turns", func(ctx context.Context) (err error) {
		f.ByAgents, err = r.a.ByAgents(ctx, to, f.MaxTurnsPerHour)
		return err
	})
	if c.Waited && c.Turn == 0 {
		r.call(f)
	}
}

// call reads what became of the tool call that began an exchange.
func (r *reader) call(f *Facts) {
	r.do("look for the result of the call", func(ctx context.Context) (err error) {
		return r.a.called(ctx, f.Run.Source, f)
	})
}

// asker reads whether people must be told of the end of an exchange by a follow-up.
func (r *reader) asker(f *Facts, c sessions.Chain) {
	if f.Asker = r.find(c.Requester); f.Asker == nil {
		return
	}
	if r.call(f); f.CallTold || f.AskerStopped {
		return
	}
	r.do("count turns", func(ctx context.Context) (err error) {
		f.AskerTurns, err = r.a.ByAgents(ctx, c.Requester, f.MaxTurnsPerHour)
		return err
	})
}

// child reads what the report of a sub-agent depends on.
func (r *reader) child(f *Facts, c sessions.Chain) {
	began := f.Run.Started
	if f.Run.Attempt > 1 { // a restart began it again
		began = f.Run.Created
	}
	f.StartedMs, f.EndedMs = began.UnixMilli(), began.Add(r.a.clock.Age(began)).UnixMilli()
	f.Other = r.find(c.Requester)
	if c.Parent == nil || f.Other == nil {
		return
	}
	if f.Other.Aborted { // it may have begun something new since it was stopped
		r.do("list runs", func(ctx context.Context) error {
			open, err := sessions.OpenRuns(ctx, r.a.store, sessions.RunQuery{Key: c.Requester, Limit: 50})
			f.ParentStopped = !slices.ContainsFunc(open, func(x sessions.Run) bool { return x.Kind == sessions.ChildRun })
			return err
		})
	}
	r.do("get run", func(ctx context.Context) (err error) {
		if f.Parent, err = r.a.store.GetRun(ctx, c.Parent.Root); errors.Is(err, sessions.ErrNotFound) {
			return nil
		}
		return err
	})
	if !c.Parent.Until.IsZero() {
		f.Left = max(r.a.LeftAbove(*c.Parent), time.Millisecond)
	}
}

// relay reads in whose name an answer goes into the chat that its words named: of the session that the turn is in when that may not post there.
func (r *reader) relay(f *Facts, c sessions.Chain) {
	f.Other = r.find(c.Requester)
	own := r.find(f.Run.Key)
	if own == nil {
		own = &sessions.Session{}
	}
	f.Speaking = *own
	if f.Other != nil && r.a.settings().SendPolicyTo(c.Origin)(*own).Allowed() {
		r.do("known", func(ctx context.Context) (err error) {
			f.Speaking, err = r.a.MostRestrictive(ctx, *f.Other, c.Origin)
			return err
		})
	}
}

// speakingSession returns what SpeakingSession of the advancer does, and keeps whether the store answered.
func (r *reader) speakingSession(s sessions.Session, to channels.Address) sessions.Session {
	if r.ok {
		s, r.ok = r.a.SpeakingSession(r.ctx, s, to)
	}
	return s
}

// jobSession returns the session in whose name a job's turn speaks, and whose send policy decides: the session that made the job, or the
// session of the chat that a person named. It is zero when that session was deleted.
func (r *reader) jobSession(run sessions.Run, c sessions.Chain) (s sessions.Session) {
	if c.Requester == "" {
		return r.speakingSession(sessions.Session{Key: run.Key, Agent: run.Agent}, c.Origin)
	}
	if found := r.find(c.Requester); found != nil {
		s = *found
	}
	return s
}

// called finds out whether the tool call that began a chain is over, so that what comes now is too late to be its result, and what it said.
func (a *Advancer) called(ctx context.Context, source string, f *Facts) error {
	asker, call, _ := strings.Cut(strings.TrimPrefix(source, "tool:"), ":")
	run, err := a.store.GetRun(ctx, sessions.RunID(asker))
	if errors.Is(err, sessions.ErrNotFound) {
		f.CallEnded = true
		return nil
	}
	if err != nil {
		return err
	}
	f.AskerStopped = f.AskerStopped || run.Status == sessions.Stopped && run.MergedInto == "" // a newer message is no stop
	steps, err := a.store.Steps(ctx, run.ID)
	f.CallEnded = run.Status.Final() || slices.ContainsFunc(steps, func(m sessions.Message) bool { return m.Role == sessions.ToolResult && m.ToolCallID == call })
	f.CallTold = tools.ToldInline(steps, call)
	return err
}

// ByAgents counts the turns of a session that other agents caused within the last hour, up to most. Turns of a time that the clock did not
// show within the hour do not count, nor those of one that is still to come.
func (a *Advancer) ByAgents(ctx context.Context, key sessions.Key, most int) (n int, err error) {
	for _, x := range a.clock.Intervals(time.Hour) {
		later, err := a.store.CountByAgents(ctx, key, x.To, math.MaxInt32)
		if err != nil {
			return 0, err
		}
		all, err := a.store.CountByAgents(ctx, key, x.From, later+most)
		if err != nil {
			return 0, err
		}
		n += all - later
	}
	return min(n, most), nil
}

// deepest bounds how far down sub-agents are followed.
const deepest = 16

// busyBelow reports whether a sub-agent below a session is running.
func (a *Advancer) busyBelow(ctx context.Context, key sessions.Key, depth int) (bool, error) {
	if open, err := sessions.OpenChildren(ctx, a.store, key, 1); err != nil || len(open) > 0 || depth == deepest {
		return len(open) > 0, err
	}
	for _, archived := range []bool{false, true} {
		below, err := a.store.List(ctx, sessions.Query{SpawnedBy: key, Archived: archived, Limit: 1000})
		if err != nil {
			return false, err
		}
		for _, s := range below {
			if busy, err := a.busyBelow(ctx, s.Key, depth+1); err != nil || busy {
				return busy, err
			}
		}
	}
	return false, nil
}
