package delivery

import (
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"parley/channels"
)

// How long a chat gets no hint of a kind after one failed. The waits double and have jitter.
const (
	failedHintWait  = 10 * time.Second // the platform was away
	refusedHintWait = 4 * time.Minute  // the platform said no
	maxHintWait     = 30 * time.Minute
	maxFailedHints  = 4096 // remembered
)

// hintPlace is a kind of hint in a chat.
type hintPlace struct {
	kind string
	to   channels.Address
}

// hintBackoff remembers where hints failed. Its mutex is a leaf.
type hintBackoff struct {
	mu     sync.Mutex
	failed map[hintPlace]*failedHint
}

type failedHint struct {
	waits *backoff.ExponentialBackOff
	until time.Time
}

// rests reports whether a place gets no hint now.
func (b *hintBackoff) rests(p hintPlace) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.failed[p]
	return f != nil && time.Now().Before(f.until)
}

// note keeps how a hint ended.
func (b *hintBackoff) note(p hintPlace, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		delete(b.failed, p)
		return
	}
	e, f := channels.Classify(err), b.failed[p]
	if f == nil {
		first := failedHintWait
		if e.Class == channels.Rejected || e.Class == channels.Unsupported {
			first = refusedHintWait
		}
		f = &failedHint{waits: channels.NewBackoff(first, maxHintWait)}
		if len(b.failed) >= maxFailedHints || b.failed == nil {
			b.failed = make(map[hintPlace]*failedHint)
		}
		b.failed[p] = f
	}
	f.until = time.Now().Add(max(e.RetryAfter, f.waits.NextBackOff()))
}
