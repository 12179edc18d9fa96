package delivery

import (
	"context"
	"sync"
	"time"
)

// lifetime is that of the host, and counts the goroutines that end with it. Its mutex is a leaf.
type lifetime struct {
	mu  sync.Mutex
	ctx context.Context // of all goroutines; nil before the start
	wg  sync.WaitGroup
}

func (l *lifetime) start(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx = ctx
}

// context gives the host's context, nil before the start.
func (l *lifetime) context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ctx
}

// isRunning reports whether the host was started and has not been stopped.
func (l *lifetime) isRunning() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ctx != nil && l.ctx.Err() == nil
}

// begin calls f in a goroutine while the host is running; else not at all.
func (l *lifetime) begin(f func(context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx != nil && l.ctx.Err() == nil {
		l.wg.Go(func() { f(l.ctx) })
	}
}

// run calls f in a goroutine, with a context that end ends before the host does.
func (l *lifetime) run(f func(context.Context)) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runUnder(l.ctx, f)
}

func (l *lifetime) runUnder(ctx context.Context, f func(context.Context)) (end func()) {
	ctx, end = context.WithCancel(ctx)
	l.wg.Go(func() {
		defer end()
		f(ctx)
	})
	return end
}

// afterStop calls cut when a time has passed since the host was stopped. The result withdraws that.
func (l *lifetime) afterStop(grace time.Duration, cut func()) (withdraw func() bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return context.AfterFunc(l.ctx, func() { time.AfterFunc(grace, cut) })
}

func (l *lifetime) wait() { l.wg.Wait() }
