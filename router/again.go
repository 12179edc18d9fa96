package router

import (
	"context"
	"errors"
	"fmt"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

// errAgain ends a try of a turn that begins again: what it answers has changed, or more belongs to it.
var errAgain = errors.New("the turn begins again")

// maxAgain bounds how often one turn begins again.
const maxAgain = 8

// try is how far a lane's turn is. As long as it is open, its run has recorded no step and said nothing: it may begin again. lanes.mu is held
// for all of it.
type try struct {
	open    bool
	end     context.CancelCauseFunc // of the try at work; nil between two
	revised bool                    // the run was changed in the store since it was read
	held    chan struct{}           // somebody changes the run in the store: the turn waits for that; nil = nobody does
}

// hold keeps a run at work from recording and ending until done is called, which says whether the run was revised; ok is false when the
// run is not open.
func (l *lanes) hold(key sessions.Key, id sessions.RunID) (done func(revised bool), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.m[key]
	if x == nil || x.run != id || !x.try.open || x.try.held != nil {
		return nil, false
	}
	held := make(chan struct{})
	x.try.held = held
	return func(revised bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		defer close(held)
		if x.try.held != held {
			return
		}
		if x.try.held = nil; revised {
			x.try.revised = true
			x.try.stop()
		}
	}, true
}

// again has the run at work begin again if it is open and has read what waits already.
func (l *lanes) again(key sessions.Key, id sessions.RunID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil && x.run == id && x.try.open {
		x.try.stop()
	}
}

func (t *try) stop() {
	if t.end != nil {
		t.end(errAgain)
	}
}

// beginTry says that a try of a lane's run is at work. revised reports that the run was changed in the store since it was read.
func (l *lanes) beginTry(key sessions.Key, id sessions.RunID, end context.CancelCauseFunc) (revised bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil && x.run == id && x.try.open {
		revised, x.try.revised, x.try.end = x.try.revised, false, end
	}
	return revised
}

// fix says that a run is about to record or to end: it does not begin again any more. It is false when the run has to begin again before.
func (l *lanes) fix(ctx context.Context, key sessions.Key, id sessions.RunID) bool {
	for {
		l.mu.Lock()
		x := l.m[key]
		if x == nil || x.run != id || !x.try.open {
			l.mu.Unlock()
			return true
		}
		held := x.try.held
		if held == nil {
			again := errors.Is(context.Cause(ctx), errAgain)
			x.try.open, x.try.end = again, nil
			l.mu.Unlock()
			return !again
		}
		l.mu.Unlock()
		<-held // a commit, which has a deadline
	}
}

// thinkUntil runs a turn's loop, again when what it answers has changed or more belongs to it before it has said or done anything.
func (r *Router) thinkUntil(ctx context.Context, set *settings.Snapshot, run *sessions.Run) (out agent.Outcome, err error) {
	for n := 0; ; n++ {
		try, end := context.WithCancelCause(ctx)
		if revised := r.lanes.beginTry(run.Key, run.ID, end); revised || n > 0 {
			if err := r.reread(ctx, run, revised); err != nil {
				end(nil)
				return out, err
			}
		}
		if n == maxAgain {
			if r.lanes.fix(ctx, run.Key, run.ID); try.Err() != nil { // something came in a moment before
				end(nil)
				if try, end = context.WithCancelCause(ctx); r.reread(ctx, run, true) != nil {
					end(nil)
					return out, fmt.Errorf("reading the run: %w", context.Cause(try))
				}
			}
		}
		out, err = r.think(try, set, run, n > 0)
		open := !r.lanes.fix(try, run.Key, run.ID)
		end(nil)
		if !open {
			return out, err
		}
		if err == nil {
			r.unkept(ctx, *run, out.Final) // paid for, and nobody reads it
		}
		r.log.Debug("a turn begins again", keyRun, run.ID, keySession, run.Key)
	}
}

// reread brings a run at work up to date with the store, and tells of its words when they were revised.
func (r *Router) reread(ctx context.Context, run *sessions.Run, revised bool) error {
	now, err := r.store.GetRun(ctx, run.ID)
	if err != nil {
		return fmt.Errorf("reading the run: %w", err)
	}
	*run = now
	r.histories.drop(run.Session)
	if revised {
		r.watchers.Messages(*run, run.Input)
	}
	return nil
}
