package main

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"parley/channels"
)

// When memory is given back.
const (
	slimStart = time.Second     // after the process began
	slimAfter = 3 * time.Second // after the last work of a burst
	slimEvery = time.Minute     // at most
	slimLeast = 8               // garbage collections that make a burst: a chat that is answered now and then keeps what it has in memory
)

// growth is by how many percent the heap may grow behind a garbage collection until the next one; the runtime's own is 100. A host has
// little that lives, so that collecting twice as often costs it nearly nothing.
const growth = 50

// growLess has garbage collected at growth, unless the environment (GOGC) says when.
func growLess(environment string) {
	if environment == "" {
		debug.SetGCPercent(growth)
	}
}

// workload says whether sessions have work, and tells when none has any more.
type workload struct {
	busy  atomic.Bool
	quiet chan struct{}
}

func newWorkload() *workload { return &workload{quiet: make(chan struct{}, 1)} }

func (l *workload) set(busy bool) {
	if l.busy.Store(busy); busy {
		return
	}
	select {
	case l.quiet <- struct{}{}:
	default: // it is known
	}
}

// slim keeps the footprint small of a host that has nothing to do: free gives back what is not needed, once the start is over and then
// after each burst of work. collected counts garbage collections. Nothing wakes a host that is idle.
func slim(ctx context.Context, l *workload, collected func() uint64, free func()) {
	if !channels.Sleep(ctx, slimStart) {
		return
	}
	free()
	counted, last := collected(), time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.quiet:
		}
		if collected()-counted < slimLeast {
			continue
		}
		if !channels.Sleep(ctx, max(slimAfter, time.Until(last.Add(slimEvery)))) {
			return
		}
		if l.busy.Load() || len(l.quiet) > 0 { // it goes on, or did until just now
			continue
		}
		free()
		counted, last = collected(), time.Now()
	}
}

// collections counts the garbage collections since the process began.
func collections() uint64 {
	s := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
