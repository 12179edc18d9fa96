package lane

import (
	"context"
	"errors"
	"slices"
	"testing"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

func TestReserve(t *testing.T) {
	run := func(id sessions.RunID) sessions.Accepted { return sessions.Accepted{Claimed: &sessions.Run{ID: id}} }
	stop := func(id sessions.RunID) func(*Executor) {
		return func(l *Executor) { l.Abort([]sessions.StoppedRun{{Key: keyA, ID: id}}, ErrStopped) }
	}
	full := errors.New("the disk is full")
	for name, c := range map[string]struct {
		meanwhile func(*Executor)
		acc       sessions.Accepted
		err       error
		want      []string // what the lane was at; "next" = what it finds in the store
	}{
		"claimed":                     {acc: run("r"), want: []string{"r"}},
		"claimed and woken":           {meanwhile: func(l *Executor) { l.Wake(keyA, "") }, acc: run("r"), want: []string{"r", "next"}},
		"stopped before it has begun": {meanwhile: stop("r"), acc: run("r"), want: []string{"r stopped"}},
		"another one is stopped":      {meanwhile: stop("q"), acc: run("r"), want: []string{"r"}},
		"closed meanwhile":            {meanwhile: (*Executor).Close, acc: run("r"), want: []string{"r"}},
		"nothing to claim":            {},
		"nothing to claim, woken":     {meanwhile: func(l *Executor) { l.Wake(keyA, "") }, want: []string{"next"}},
		"the commit failed":           {acc: run("r"), err: full},
		"the commit failed, in doubt": {meanwhile: func(l *Executor) { l.Recheck(keyA, "") }, acc: run("r"), err: full, want: []string{"next, in doubt"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var l *Executor
				var was []string
				l = New(func(ctx context.Context, key sessions.Key, claimed *sessions.Run) bool {
					at := "next"
					if claimed != nil {
						l.SetRunning(key, claimed.ID, settings.OfOwners)
						at = string(claimed.ID)
					}
					if errors.Is(context.Cause(ctx), ErrStopped) {
						at += " stopped"
					}
					if l.NeedsRecheck(key) {
						at += ", in doubt"
					}
					was = append(was, at) // one at a time
					return false
				}, agent.Defaults{MaxConcurrent: 1})
				busy := 0
				l.Changed = func(on bool) {
					if busy++; on != (busy == 1) {
						t.Errorf("busy: %v", on)
					}
				}
				l.Start(t.Context())
				e := &sessions.Change{Run: &sessions.Enqueue{Run: sessions.Run{Key: keyA}}}
				v := l.Reserve(e, nil)
				if v == nil || !e.Run.Claim || !l.Busy(keyA) {
					t.Fatal("the lane of a session without work is not reserved")
				}
				for _, key := range []sessions.Key{keyA, keyB} { // it has work now; no slot is free
					e := &sessions.Change{Run: &sessions.Enqueue{Run: sessions.Run{Key: key}}}
					if l.Reserve(e, nil) != nil || e.Run.Claim {
						t.Errorf("the lane of %s is reserved", key)
					}
				}
				if c.meanwhile != nil {
					c.meanwhile(l)
				}
				v.End(c.acc, c.err)
				l.Stop()
				if !slices.Equal(was, c.want) || busy != 2 || l.main.used != 0 || l.Busy(keyA) {
					t.Errorf("it was at %q, want %q; busy %d times, %d slots in use", was, c.want, busy, l.main.used)
				}
			})
		})
	}
	l := New(nil, agent.Defaults{})
	if l.Reserve(nil, nil) != nil || l.Reserve(&sessions.Change{}, nil) != nil || l.Reserve(&sessions.Change{Run: &sessions.Enqueue{Run: sessions.Run{Key: keyA}}}, nil) != nil {
		t.Error("a lane is reserved for no run, or before the start")
	}
}
