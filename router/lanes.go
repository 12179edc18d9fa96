package router

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"parley/agent"
	"parley/sessions"
)

// lanes runs each session's work in a goroutine of its own, one run after the other. A lane exists while its session has work.
// Slots bound how many lanes are at work; a lane that waits for another lane gives its slot back.
type lanes struct {
	work    func(ctx context.Context, key sessions.Key) (more bool)
	changed func(busy bool) // called when the first session has work and when none has any more, with mu held: must not block; may be nil

	mu    sync.Mutex
	life  context.Context // of all lanes, from start
	m     map[sessions.Key]*lane
	main  *slots
	child *slots
	wg    sync.WaitGroup

	closing bool // no further run is begun
	closed  chan struct{}
}

type lane struct {
	again bool                    // woken while at work
	by    time.Time               // when it goes on without a slot: the deadline of an interrupted run; zero = never
	busy  bool                    // a run is at work
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

func newLanes(work func(context.Context, sessions.Key) bool, d agent.Defaults) *lanes {
	l := &lanes{work: work, m: make(map[sessions.Key]*lane), main: &slots{}, child: &slots{}, closed: make(chan struct{})}
	l.resize(d)
	return l
}

func (l *lanes) resize(d agent.Defaults) {
	l.main.resize(orDefault(d.MaxConcurrent, 32))
	l.child.resize(orDefault(d.Subagents.MaxConcurrent, 8))
}

func orDefault(n, def int) int {
	if n > 0 {
		return n
	}
	return def
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
func (l *lanes) wake(key sessions.Key) { l.begin(key, lane{}) }

// wakeBy is wake for a session that had work when the last process ended. The deadline of a run that was begun may come while
// others have the slots: it is ended in time all the same (contract N9).
func (l *lanes) wakeBy(key sessions.Key, deadline time.Time) {
	l.begin(key, lane{by: deadline, since: time.Now()})
}

func (l *lanes) begin(key sessions.Key, new lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life == nil || l.life.Err() != nil || l.closing {
		return // start finds the run in the store
	}
	if x := l.m[key]; x != nil {
		x.again = true
		return
	}
	x := &new
	x.began = time.Now()
	if len(l.m) == 0 && l.changed != nil {
		l.changed(true)
	}
	l.m[key] = x
	pool := l.main
	if isSubagent(key) {
		pool = l.child
	}
	turn := pool.enter() // here, so that who is woken first comes first
	l.wg.Go(func() { l.run(l.life, key, x, pool, turn) })
}

func (l *lanes) run(ctx context.Context, key sessions.Key, x *lane, pool *slots, turn <-chan struct{}) {
	for ; ; turn = pool.enter() {
		if pool.acquireBy(ctx, turn, x.by) {
			l.drain(ctx, key, x, pool)
		}
		x.by = time.Time{}
		l.mu.Lock()
		if !x.again || ctx.Err() != nil || l.closing {
			delete(l.m, key)
			if len(l.m) == 0 && l.changed != nil {
				l.changed(false)
			}
			l.mu.Unlock()
			return
		}
		x.again = false
		l.mu.Unlock()
	}
}

// drain does the session's runs until there is none left.
func (l *lanes) drain(ctx context.Context, key sessions.Key, x *lane, pool *slots) {
	defer pool.release()
	for more := true; more && ctx.Err() == nil && !l.isClosing(); {
		run, abort := context.WithCancelCause(ctx)
		run = context.WithValue(run, slotKey{}, &slot{pool: pool, over: run.Done()})
		l.set(x, abort)
		more = l.work(run, key)
		l.set(x, nil)
		abort(nil)
	}
}

func (l *lanes) set(x *lane, abort context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	x.abort, x.busy, x.run, x.ended = abort, abort != nil, "", nil
}

// at says which run a session's lane is at.
func (l *lanes) at(key sessions.Key, id sessions.RunID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil {
		x.last = id
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
		switch x := l.m[s.Key]; {
		case x == nil || x.abort == nil:
		case x.run == s.ID:
			x.abort(why)
		case x.run == "" && x.ended[s.ID] == nil:
			if x.ended == nil {
				x.ended = make(map[sessions.RunID]error)
			}
			x.ended[s.ID] = why
		}
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

// rested says when a session's last run has ended; zero when it was idle.
func (l *lanes) rested(key sessions.Key) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if x := l.m[key]; x != nil {
		return x.since
	}
	return time.Time{}
}

// isAt reports whether a session's lane is at a run.
func (l *lanes) isAt(key sessions.Key, id sessions.RunID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.m[key]
	return x != nil && x.run == id
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
	return l.m[key] != nil
}

// doze waits; false when no further run is to begin.
func (l *lanes) doze(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
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

// close lets the runs at work go on and begins no other.
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

// slots is a counting semaphore that can be resized, first come first served.
type slots struct {
	mu    sync.Mutex
	size  int
	used  int
	queue []chan struct{}
}

func (s *slots) resize(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size = n
	s.grant()
}

// grant hands free slots to those who wait; s.mu is held.
func (s *slots) grant() {
	for s.used < s.size && len(s.queue) > 0 {
		close(s.queue[0])
		s.queue = s.queue[1:]
		s.used++
	}
}

// enter takes a place among those who wait for a slot: the channel is closed when it has one. acquire waits for that.
func (s *slots) enter() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	turn := make(chan struct{})
	s.queue = append(s.queue, turn)
	s.grant()
	return turn
}

// acquire waits at a place for its slot; false when it was over first.
func (s *slots) acquire(turn <-chan struct{}, over <-chan struct{}) bool {
	select {
	case <-turn:
		return true
	case <-over:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.queue {
		if c == turn {
			s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
			return false
		}
	}
	return true // it was granted at the same time
}

// acquireBy is acquire that takes a slot at a time even when all are in use; false when ctx ended first.
func (s *slots) acquireBy(ctx context.Context, turn <-chan struct{}, at time.Time) bool {
	if at.IsZero() {
		return s.acquire(turn, ctx.Done())
	}
	wait, cancel := context.WithDeadline(ctx, at)
	defer cancel()
	if s.acquire(turn, wait.Done()) {
		return true
	}
	if ctx.Err() == nil {
		s.take()
	}
	return ctx.Err() == nil
}

// take takes a slot even when all are in use.
func (s *slots) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used++
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	s.grant()
}

// slot is what a lane at work holds; it travels in the context so that a waiting tool can give it back.
type slot struct {
	pool *slots
	over <-chan struct{} // closed when the run is over: aborted, out of time, or the host stops
}

type slotKey struct{}

// timed tells the slot in a run's context that the run is over when ctx ends.
func timed(ctx context.Context) context.Context {
	if s, ok := ctx.Value(slotKey{}).(*slot); ok {
		return context.WithValue(ctx, slotKey{}, &slot{pool: s.pool, over: ctx.Done()})
	}
	return ctx
}

// unslotted runs wait without the lane's slot. The slot is taken again before it returns, whether or not ctx has ended. A run that
// is over does not wait for others to give theirs back: it only has to end (contract N9).
func unslotted(ctx context.Context, wait func()) {
	s, ok := ctx.Value(slotKey{}).(*slot)
	if !ok {
		wait()
		return
	}
	s.pool.release()
	wait()
	if !s.pool.acquire(s.pool.enter(), s.over) {
		s.pool.take()
	}
}

// isSubagent reports whether a session is a sub-agent's (contract K5).
func isSubagent(key sessions.Key) bool {
	p, err := key.Parse()
	return err == nil && p.Form == sessions.FormSubagent
}
