package lane

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

// Executor runs each session's work in a goroutine of its own, one run after the other. A lane exists while its session has work.
// Slots bound how many lanes are running; a lane that waits for another lane gives its slot back.
type Executor struct {
	work    func(ctx context.Context, key sessions.Key, claimed *sessions.Run) (more bool) // claimed: by the commit that queued it; nil = whatever is next
	Changed func(busy bool)                                                                // called when the first session has work and when none has any more, with mu held: must not block; may be nil

	mu    sync.Mutex
	life  context.Context // of all lanes, from start
	m     map[sessions.Key]*lane
	taken map[sessions.RunID]sessions.Key // of a run at work in another session's lane, whose queue it is in: their chats became one
	away  map[sessions.Key]int            // running runs in other sessions' lanes that write to the session's transcript
	main  *slots
	child *slots
	wg    sync.WaitGroup

	closing bool // no further run is begun, but for what a commit under way has claimed
	closed  chan struct{}
}

type lane struct {
	again        bool                    // woken while at work
	needsRecheck bool                    // the store may have a run at work that no lane has
	parts        bool                    // had a message that was forwarded or may be cut: a plain one may belong to it
	wake         chan struct{}           // ends a Sleep
	try          turnTry                 // of the current run
	deadline     time.Time               // when it continues without a slot; zero = never
	who          string                  // the person who wants its next run, as far as known
	share        *slotShare              // its place among the slots
	busy         bool                    // a run is running
	left         chan struct{}           // closed when it is not any more
	home         sessions.Key            // of the current run, if that writes to the transcript of another session; "" = its own
	abort        context.CancelCauseFunc // ends the current run; nil when there is none
	run          sessions.RunID          // at work; "" while the next one is being claimed
	began        time.Time
	last         sessions.RunID           // the run that it was at last; "" = it has had none
	since        time.Time                // the end of its last run, or when the process began; zero = it was idle
	ended        map[sessions.RunID]error // runs that were aborted while the next one was being claimed, and why: it may be one of them
}

// The causes of a run's end that comes from outside.
var (
	ErrStopped     = errors.New("stopped by a person")
	ErrReset       = fmt.Errorf("%w, who started the session over", ErrStopped)
	ErrInterrupted = errors.New("interrupted by a newer message")
)

// EndedBy says why a run at work was ended from outside; nil when it was not.
func EndedBy(ctx context.Context) error {
	if why := context.Cause(ctx); errors.Is(why, ErrStopped) || errors.Is(why, ErrInterrupted) {
		return why
	}
	return nil
}

// New returns a set whose lanes call work for each run.
func New(work func(context.Context, sessions.Key, *sessions.Run) bool, d agent.Defaults) *Executor {
	l := &Executor{work: work, m: make(map[sessions.Key]*lane), taken: make(map[sessions.RunID]sessions.Key), away: make(map[sessions.Key]int), main: &slots{}, child: &slots{}, closed: make(chan struct{})}
	l.Resize(d)
	return l
}

// Resize replaces the number of slots.
func (l *Executor) Resize(d agent.Defaults) {
	l.main.resize(settings.OrDefault(d.MaxConcurrent, 32))
	l.child.resize(settings.OrDefault(d.Subagents.MaxConcurrent, 8))
}

// Start lets lanes begin until ctx ends.
func (l *Executor) Start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.life = ctx
}

// Host gives the context of all lanes, which ends with the host; before the start it is ctx.
func (l *Executor) Host(ctx context.Context) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life == nil {
		return ctx
	}
	return l.life
}

// Wake starts the session's lane for its queued runs, if it has none.
func (l *Executor) Wake(key sessions.Key, who string) { l.begin(key, lane{who: who}) }

// WakeFor is Wake for a run that has just been queued.
func (l *Executor) WakeFor(run *sessions.Run, who string) {
	l.begin(run.Key, lane{who: who, parts: hasParts(run)})
}

// Recheck is Wake for a session with a running run in the store that no lane runs.
func (l *Executor) Recheck(key sessions.Key, who string) {
	l.begin(key, lane{who: who, needsRecheck: true})
}

// NeedsRecheck reports whether that was said of a session, and forgets it.
func (l *Executor) NeedsRecheck(key sessions.Key) (was bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil {
		was, x.needsRecheck = x.needsRecheck, false
	}
	return was
}

// WakeWithDeadline is Wake for a session that had work when the last process ended. The deadline of a run that was begun may come while
// others have the slots: it is ended in time all the same (contract N9).
func (l *Executor) WakeWithDeadline(key sessions.Key, who string, deadline time.Time) {
	l.begin(key, lane{who: who, deadline: deadline, since: time.Now(), parts: true})
}

func (l *Executor) begin(key sessions.Key, new lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beginLocked(key, new)
}

// beginLocked is begin; l.mu is held.
func (l *Executor) beginLocked(key sessions.Key, new lane) {
	if l.isOver() {
		return // start finds the run in the store
	}
	if x := l.m[key]; x != nil {
		if !x.again || new.who == settings.OfOwners {
			x.who = new.who
		}
		x.share.moveUp(new.who)
		x.again, x.needsRecheck, x.parts = true, x.needsRecheck || new.needsRecheck, x.parts || new.parts
		select {
		case x.wake <- struct{}{}:
		default:
		}
		return
	}
	new.share = l.pool(key, new.who)
	x := l.add(key, new)
	turn := x.share.enter() // here, so that the lane that is woken first comes first
	l.wg.Go(func() { l.run(l.life, key, x, turn) })
}

// isOver reports whether no lane begins any more; l.mu is held.
func (l *Executor) isOver() bool { return l.life == nil || l.life.Err() != nil || l.closing }

// add and remove say that a session has work, and that it has none any more; l.mu is held.
func (l *Executor) add(key sessions.Key, x lane) *lane {
	x.began, x.wake = time.Now(), make(chan struct{}, 1)
	if len(l.m) == 0 && l.Changed != nil {
		l.Changed(true)
	}
	l.m[key] = &x
	return &x
}

func (l *Executor) remove(key sessions.Key) {
	delete(l.m, key)
	if len(l.m) == 0 && l.Changed != nil {
		l.Changed(false)
	}
}

// pool gives the share of the slots that a session's runs need one of.
func (l *Executor) pool(key sessions.Key, who string) *slotShare {
	if sessions.IsSubagent(key) {
		return &slotShare{l.child, who}
	}
	return &slotShare{l.main, who}
}

// run has a lane do its session's work, of which the first needs a slot, until there is none.
func (l *Executor) run(ctx context.Context, key sessions.Key, x *lane, turn <-chan struct{}) {
	for turn != nil {
		if x.share.acquireBy(ctx, turn, x.deadline) {
			l.drain(ctx, key, x, true)
		}
		x.deadline = time.Time{}
		turn = l.continueOrEnd(key, x)
	}
}

// continueOrEnd has a lane wait for a slot again if it was woken meanwhile; otherwise it is none any more, and the result is nil.
func (l *Executor) continueOrEnd(key sessions.Key, x *lane) (turn <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !x.again || l.isOver() {
		l.remove(key)
		return nil
	}
	x.again = false
	return x.share.enterAs(x.who)
}

// drain does the session's runs until there is none left, and gives the slot back.
func (l *Executor) drain(ctx context.Context, key sessions.Key, x *lane, more bool) {
	defer x.share.release()
	for more && ctx.Err() == nil && !l.IsClosing() {
		l.mu.Lock()
		turn := l.enter(ctx, x)
		l.mu.Unlock()
		more = l.work(turn, key, nil)
		l.leave(x)
	}
}

// enter begins a turn of a lane, whose context ends when the host does, when the run is ended from outside, and with leave; l.mu is held.
func (l *Executor) enter(ctx context.Context, x *lane) context.Context {
	turn, abort := context.WithCancelCause(ctx)
	x.abort, x.busy, x.run, x.ended, x.left = abort, true, "", nil, make(chan struct{})
	return context.WithValue(turn, slotKey{}, &slot{pool: x.share, over: turn.Done()})
}

// leave ends a turn that enter began.
func (l *Executor) leave(x *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(x.left)
	if x.home != "" {
		l.away[x.home]--
		l.beginLocked(x.home, lane{who: x.who})
		x.home = ""
	}
	if by, moved := l.taken[x.run]; moved {
		delete(l.taken, x.run)
		l.beginLocked(by, lane{who: x.who})
	}
	x.abort(nil)
	x.abort, x.busy, x.run, x.ended, x.try = nil, false, "", nil, turnTry{}
}

// SetRunning says which run a session's lane is at, and who asked for it: the slot counts for that person from now on.
func (l *Executor) SetRunning(key sessions.Key, id sessions.RunID, who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil {
		x.share.handTo(who)
		x.last, x.try = id, turnTry{open: true}
		if x.run = id; x.abort != nil && x.ended[id] != nil {
			x.abort(x.ended[id])
		}
		x.ended = nil
	}
}

// Abort ends those of the runs that are running: the next one of a session may be at work already.
func (l *Executor) Abort(stopped []sessions.StoppedRun, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range stopped {
		l.m[s.Key].end(s.ID, why)
		l.m[s.Home].end(s.ID, why)
	}
}

// end ends a run if the lane is at it, or may be claiming it.
func (x *lane) end(id sessions.RunID, why error) {
	switch {
	case x == nil || x.abort == nil:
	case x.run == id:
		x.abort(why)
	case x.run == "" && x.ended[id] == nil:
		if x.ended == nil {
			x.ended = make(map[sessions.RunID]error)
		}
		x.ended[id] = why
	}
}

// MoveRun says that a run of one session's lane is in another session's queue: that one's lane waits for its end.
func (l *Executor) MoveRun(of sessions.Key, id sessions.RunID, by sessions.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[of]; x != nil && x.busy && (x.run == id || x.run == "") {
		l.taken[id] = by
	}
}

// MarkIdle says that a session's run has ended: what is queued from now on was not sent while it was running.
func (l *Executor) MarkIdle(key sessions.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil {
		x.since = time.Now().Truncate(time.Millisecond) // as the store has times
	}
}

// LastFinished says when a session's last run has ended, zero when it was idle, and whether plain messages may belong to one that it has had.
func (l *Executor) LastFinished(key sessions.Key) (since time.Time, parts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil {
		return x.since, x.parts
	}
	return since, false
}

// IsAway reports whether a run writes to a session's transcript in another session's lane: its own lane begins no other one then, and is
// woken behind it.
func (l *Executor) IsAway(key sessions.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.away[key] > 0
}

// EnterHome has a lane be the only one that writes to the transcript of the run that it is at, behind what that session's own lane is at.
func (l *Executor) EnterHome(ctx context.Context, key sessions.Key, home sessions.Key) {
	l.mu.Lock()
	x, other := l.m[key], l.m[home]
	if home == "" || home == key || x == nil {
		l.mu.Unlock()
		return
	}
	x.home = home
	l.away[home]++
	var left chan struct{}
	if other != nil && other.busy && other.home != key { // which waits for this one
		left = other.left
	}
	l.mu.Unlock()
	if left != nil {
		WithoutSlot(ctx, func() {
			select {
			case <-left:
			case <-ctx.Done():
			}
		})
	}
}

// IsAt reports whether a lane is at a run of a session: the session's own, or the one that it took the run from.
func (l *Executor) IsAt(key sessions.Key, id sessions.RunID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, taken := l.m[key], l.taken[id]
	return x != nil && x.run == id || taken != ""
}

// TurnToken names what a session is at, or was at last: it is another one from each turn to the next.
func (l *Executor) TurnToken(key sessions.Key) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch x := l.m[key]; {
	case x == nil: // it has just ended
		return time.Now().String()
	case x.last == "":
		return x.began.String()
	default:
		return string(x.last)
	}
}

// Busy reports whether a session has work.
func (l *Executor) Busy(key sessions.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.m[key] != nil {
		return true
	}
	for _, by := range l.taken {
		if by == key {
			return true
		}
	}
	return false
}

// Sleep waits, until more is queued at the latest; false when no further run is to begin.
func (l *Executor) Sleep(ctx context.Context, key sessions.Key, d time.Duration) bool {
	l.mu.Lock()
	var wake chan struct{} // nil blocks for ever
	if x := l.m[key]; x != nil {
		wake = x.wake
	}
	l.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-wake:
		return true
	case <-l.closed:
	case <-ctx.Done():
	}
	return false
}

// Working lists the sessions at work, and counts those that wait for a slot.
func (l *Executor) Working() (keys []sessions.Key, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, x := range l.m {
		if x.busy {
			keys = append(keys, k)
		} else {
			waiting++
		}
	}
	return keys, waiting
}

// Close lets the current runs go on, and what a commit under way has claimed, and begins no other.
func (l *Executor) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing {
		close(l.closed)
	}
	l.closing = true
}

// IsClosing reports whether Close was called.
func (l *Executor) IsClosing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}

// Stop waits until the lanes at work have ended. It comes after close: none may begin meanwhile.
func (l *Executor) Stop() { l.wg.Wait() }
