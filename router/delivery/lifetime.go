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
	ctx := l.context()
	return ctx != nil && ctx.Err() == nil
}

// begin calls f in a goroutine while the host is running; else not at all.
func (l *lifetime) begin(f func(context.Context)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ctx := l.ctx; ctx != nil && ctx.Err() == nil {
		l.wg.Go(func() { f(ctx) })
	}
}

// afterStop calls cut when a time has passed since the host was stopped. The result withdraws that.
func (l *lifetime) afterStop(grace time.Duration, cut func()) (withdraw func() bool) {
	return context.AfterFunc(l.context(), func() { time.AfterFunc(grace, cut) })
}

func (l *lifetime) wait() { l.wg.Wait() }
