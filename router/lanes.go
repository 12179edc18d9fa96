package router

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

// lanes runs each session's work in a goroutine of its own, one run after the other. A lane exists while its session has work.
// Slots bound how many lanes are at work; a lane that waits for another lane gives its slot back.
type lanes struct {
	work    func(ctx context.Context, key sessions.Key, claimed *sessions.Run) (more bool) // claimed: by the commit that queued it; nil = whatever is next
	changed func(busy bool)                                                                // called when the first session has work and when none has any more, with mu held: must not block; may be nil

	mu    sync.Mutex
	life  context.Context // of all lanes, from start
	m     map[sessions.Key]*lane
	taken map[sessions.RunID]sessions.Key // of a run at work in another session's lane, whose queue it is in: their chats became one
	away  map[sessions.Key]int            // runs at work in other sessions' lanes that write to the session's transcript
	main  *slots
	child *slots
	wg    sync.WaitGroup

	closing bool // no further run is begun, but for what a commit under way has claimed
	closed  chan struct{}
}

type lane struct {
	again bool                    // woken while at work
	doubt bool                    // a run of the session may be at work in the store that the lane knows nothing of: see heal
	parts bool                    // it has had a message that was forwarded or that the platform's app may have cut: a plain one may belong to it
	poke  chan struct{}           // wakes who dozes
	try   try                     // of the run at work
	by    time.Time               // when it goes on without a slot: the deadline of an interrupted run; zero = never
	who   string                  // who wants its next run, as far as that is known
	share *slotShare              // its place among the slots
	busy  bool                    // a run is at work
	left  chan struct{}           // closed when it is not any more
	home  sessions.Key            // of the run at work, if that writes to the transcript of another session; "" = its own
	abort context.CancelCauseFunc // ends the run at work; nil when there is none
	run   sessions.RunID          // at work; "" while the next one is being claimed
	began time.Time
	last  sessions.RunID           // the run that it was at last; "" = it has had none
	since time.Time                // the end of its last run, or when the process began; zero = it was idle
	ended map[sessions.RunID]error // runs that were aborted while the next one was being claimed, and why: it may be one of them
}

// The causes of a run's end that comes from outside.
var (
	errStopped     = errors.New("stopped by a person")
	errAnew        = fmt.Errorf("%w, who started the session over", errStopped)
	errInterrupted = errors.New("interrupted by a newer message")
)

// endedBy says why a run at work was ended from outside; nil when it was not.
func endedBy(ctx context.Context) error {
	if why := context.Cause(ctx); errors.Is(why, errStopped) || errors.Is(why, errInterrupted) {
		return why
	}
	return nil
}

func newLanes(work func(context.Context, sessions.Key, *sessions.Run) bool, d agent.Defaults) *lanes {
	l := &lanes{work: work, m: make(map[sessions.Key]*lane), taken: make(map[sessions.RunID]sessions.Key), away: make(map[sessions.Key]int), main: &slots{}, child: &slots{}, closed: make(chan struct{})}
	l.resize(d)
	return l
}

func (l *lanes) resize(d agent.Defaults) {
	l.main.resize(settings.OrDefault(d.MaxConcurrent, 32))
	l.child.resize(settings.OrDefault(d.Subagents.MaxConcurrent, 8))
}

func (l *lanes) start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.life = ctx
}

// host gives the context of all lanes, which ends with the host; before the start it is ctx.
func (l *lanes) host(ctx context.Context) context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life == nil {
		return ctx
	}
	return l.life
}

// wake makes sure that the session's queued runs get done.
func (l *lanes) wake(key sessions.Key, who string) { l.begin(key, lane{who: who}) }

// wakeFor is wake for a run that has just been queued.
func (l *lanes) wakeFor(run *sessions.Run, who string) {
	l.begin(run.Key, lane{who: who, parts: hasParts(run)})
}

// doubt is wake for a session of which the store says that a run is at work, and no lane is.
func (l *lanes) doubt(key sessions.Key, who string) { l.begin(key, lane{who: who, doubt: true}) }

// doubted reports whether that was said of a session, and forgets it.
func (l *lanes) doubted(key sessions.Key) (was bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil {
		was, x.doubt = x.doubt, false
	}
	return was
}

// wakeBy is wake for a session that had work when the last process ended. The deadline of a run that was begun may come while
// others have the slots: it is ended in time all the same (contract N9).
func (l *lanes) wakeBy(key sessions.Key, who string, deadline time.Time) {
	l.begin(key, lane{who: who, by: deadline, since: time.Now(), parts: true})
}

func (l *lanes) begin(key sessions.Key, new lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beginLocked(key, new)
}

// beginLocked is begin; l.mu is held.
func (l *lanes) beginLocked(key sessions.Key, new lane) {
	if l.over() {
		return // start finds the run in the store
	}
	if x := l.m[key]; x != nil {
		if !x.again || new.who == settings.OfOwners {
			x.who = new.who
		}
		x.share.speedUp(new.who)
		x.again, x.doubt, x.parts = true, x.doubt || new.doubt, x.parts || new.parts
		select {
		case x.poke <- struct{}{}:
		default:
		}
		return
	}
	new.share = l.pool(key, new.who)
	x := l.add(key, new)
	turn := x.share.enter() // here, so that who is woken first comes first
	l.wg.Go(func() { l.run(l.life, key, x, turn) })
}

// over reports whether no lane begins any more; l.mu is held.
func (l *lanes) over() bool { return l.life == nil || l.life.Err() != nil || l.closing }

// add and remove say that a session has work, and that it has none any more; l.mu is held.
func (l *lanes) add(key sessions.Key, x lane) *lane {
	x.began, x.poke = time.Now(), make(chan struct{}, 1)
	if len(l.m) == 0 && l.changed != nil {
		l.changed(true)
	}
	l.m[key] = &x
	return &x
}

func (l *lanes) remove(key sessions.Key) {
	delete(l.m, key)
	if len(l.m) == 0 && l.changed != nil {
		l.changed(false)
	}
}

// pool gives the share of the slots that a session's runs need one of.
func (l *lanes) pool(key sessions.Key, who string) *slotShare {
	if sessions.IsSubagent(key) {
		return &slotShare{l.child, who}
	}
	return &slotShare{l.main, who}
}

// run has a lane do its session's work, of which the first needs a slot, until there is none.
func (l *lanes) run(ctx context.Context, key sessions.Key, x *lane, turn <-chan struct{}) {
	for turn != nil {
		if x.share.acquireBy(ctx, turn, x.by) {
			l.drain(ctx, key, x, true)
		}
		x.by = time.Time{}
		turn = l.goOn(key, x)
	}
}

// goOn has a lane wait for a slot again if it was woken meanwhile; otherwise it is none any more, and the result is nil.
func (l *lanes) goOn(key sessions.Key, x *lane) (turn <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !x.again || l.over() {
		l.remove(key)
		return nil
	}
	x.again = false
	return x.share.enterAs(x.who)
}

// drain does the session's runs until there is none left, and gives the slot back.
func (l *lanes) drain(ctx context.Context, key sessions.Key, x *lane, more bool) {
	defer x.share.release()
	for more && ctx.Err() == nil && !l.isClosing() {
		l.mu.Lock()
		turn := l.enter(ctx, x)
		l.mu.Unlock()
		more = l.work(turn, key, nil)
		l.leave(x)
	}
}

// enter begins a turn of a lane, whose context ends when the host does, when the run is ended from outside, and with leave; l.mu is held.
func (l *lanes) enter(ctx context.Context, x *lane) context.Context {
	turn, abort := context.WithCancelCause(ctx)
	x.abort, x.busy, x.run, x.ended, x.left = abort, true, "", nil, make(chan struct{})
	return context.WithValue(turn, slotKey{}, &slot{pool: x.share, over: turn.Done()})
}

// leave ends it.
func (l *lanes) leave(x *lane) {
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
	x.abort, x.busy, x.run, x.ended, x.try = nil, false, "", nil, try{}
}

// at says which run a session's lane is at, and who asked for it: the slot counts for that person from now on.
func (l *lanes) at(key sessions.Key, id sessions.RunID, who string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil {
		x.share.handTo(who)
		x.last, x.try = id, try{open: true}
		if x.run = id; x.abort != nil && x.ended[id] != nil {
			x.abort(x.ended[id])
		}
		x.ended = nil
	}
}

// abort ends those of the runs that are at work: the next one of a session may be at work already.
func (l *lanes) abort(stopped []sessions.StoppedRun, why error) {
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

// take says that a run of one session's lane is in another session's queue: that one's lane waits for its end.
func (l *lanes) take(of sessions.Key, id sessions.RunID, by sessions.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[of]; x != nil && x.busy && (x.run == id || x.run == "") {
		l.taken[id] = by
	}
}

// rest says that a session's run has ended: what is queued from now on was not sent while it was at work.
func (l *lanes) rest(key sessions.Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil {
		x.since = time.Now().Truncate(time.Millisecond) // as the store has times
	}
}

// rested says when a session's last run has ended, zero when it was idle, and whether plain messages may belong to one that it has had.
func (l *lanes) rested(key sessions.Key) (since time.Time, parts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil {
		return x.since, x.parts
	}
	return since, false
}

// leaves reports whether a run writes to a session's transcript in another session's lane: its own lane begins no other one then, and is
// woken behind it.
func (l *lanes) leaves(key sessions.Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.away[key] > 0
}

// enterHome has a lane be the only one that writes to the transcript of the run that it is at, behind what that session's own lane is at.
func (l *lanes) enterHome(ctx context.Context, key sessions.Key, home sessions.Key) {
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
		unslotted(ctx, func() {
			select {
			case <-left:
			case <-ctx.Done():
			}
		})
	}
}

// isAt reports whether a lane is at a run of a session: the session's own, or the one that it took the run from.
func (l *lanes) isAt(key sessions.Key, id sessions.RunID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	x, taken := l.m[key], l.taken[id]
	return x != nil && x.run == id || taken != ""
}

// turn names what a session is at, or was at last: it is another one from each turn to the next.
func (l *lanes) turn(key sessions.Key) string {
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

// busy reports whether a session has work.
func (l *lanes) busy(key sessions.Key) bool {
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

// doze waits, until more is queued at the latest; false when no further run is to begin.
func (l *lanes) doze(ctx context.Context, key sessions.Key, d time.Duration) bool {
	l.mu.Lock()
	var poke chan struct{} // nil blocks for ever
	if x := l.m[key]; x != nil {
		poke = x.poke
	}
	l.mu.Unlock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-poke:
		return true
	case <-l.closed:
	case <-ctx.Done():
	}
	return false
}

func (l *lanes) working() (keys []sessions.Key, waiting int) {
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

// close lets the runs at work go on, and what a commit under way has claimed, and begins no other.
func (l *lanes) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closing {
		close(l.closed)
	}
	l.closing = true
}

func (l *lanes) isClosing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing
}

// stop waits until the lanes at work have ended. It comes after close: none may begin meanwhile.
func (l *lanes) stop() { l.wg.Wait() }
