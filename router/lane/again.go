package lane

import (
	"context"
	"errors"

	"parley/sessions"
)

// ErrRestartTry ends a try of a turn that starts again: its messages have changed, or there are more.
var ErrRestartTry = errors.New("the turn starts again")

// MaxRestarts bounds how often one turn begins again.
const MaxRestarts = 8

// turnTry is how far a lane's turn is. As long as it is open, its run has recorded no step and said nothing: it may begin again. Executor.mu guards
// all of it.
type turnTry struct {
	open    bool
	end     context.CancelCauseFunc // of the current try; nil between two
	revised bool                    // the run was changed in the store since it was read
	paused  chan struct{}           // the run is being changed in the store, and the turn waits; nil = it is not
}

// PauseRun keeps a run at work from recording and ending until done is called, which says whether the run was revised; ok is false when the
// run is not open.
func (l *Executor) PauseRun(key sessions.Key, id sessions.RunID) (done func(revised bool), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.m[key]
	if x == nil || x.run != id || !x.try.open || x.try.paused != nil {
		return nil, false
	}
	held := make(chan struct{})
	x.try.paused = held
	return func(revised bool) {
		l.mu.Lock()
		defer l.mu.Unlock()
		defer close(held)
		if x.try.paused != held {
			return
		}
		if x.try.paused = nil; revised {
			x.try.revised = true
			x.try.stop()
		}
	}, true
}

// RestartTry has the current run begin again if it is open and has read what waits already.
func (l *Executor) RestartTry(key sessions.Key, id sessions.RunID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil && x.run == id && x.try.open {
		x.try.stop()
	}
}

func (t *turnTry) stop() {
	if t.end != nil {
		t.end(ErrRestartTry)
	}
}

// BeginTry says that a try of a lane's run is running. revised reports that the run was changed in the store since it was read.
func (l *Executor) BeginTry(key sessions.Key, id sessions.RunID, end context.CancelCauseFunc) (revised bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil && x.run == id && x.try.open {
		revised, x.try.revised, x.try.end = x.try.revised, false, end
	}
	return revised
}

// FixInput says that a run is about to record or to end: it does not begin again any more. It is false when the run has to begin again before.
func (l *Executor) FixInput(ctx context.Context, key sessions.Key, id sessions.RunID) bool {
	for {
		l.mu.Lock()
		x := l.m[key]
		if x == nil || x.run != id || !x.try.open {
			l.mu.Unlock()
			return true
		}
		held := x.try.paused
		if held == nil {
			again := errors.Is(context.Cause(ctx), ErrRestartTry)
			x.try.open, x.try.end = again, nil
			l.mu.Unlock()
			return !again
		}
		l.mu.Unlock()
		<-held // a commit, which has a deadline
	}
}
