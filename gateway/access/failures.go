package access

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	wrongPerMin  = 10   // wrong secrets that one address may try in a row, and then per minute
	maxOffenders = 1024 // addresses remembered
)

// Failures slows down who guesses, by address, and nobody else. The zero value is ready.
type Failures struct {
	mu sync.Mutex
	by map[netip.Addr]*rate.Limiter
}

// Try asks whether a secret is right, unless its sender was wrong too often: then wait says for how long it is not asked at all.
func (f *Failures) Try(from netip.Addr, right func() bool) (ok bool, wait time.Duration) {
	from = machine(from)
	if wait := f.wait(from); wait > 0 {
		return false, wait
	}
	if right() {
		return true, 0
	}
	f.blame(from)
	return false, 0
}

// machine is what guesses are counted by: a whole /64 for IPv6, because one machine owns that many. Without an address (a socket) all
// share one count.
func machine(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if p, err := a.Prefix(64); err == nil && a.Is6() {
		return p.Addr()
	}
	return a
}

func (f *Failures) wait(from netip.Addr) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.by[from]
	if l == nil || l.Tokens() >= 1 {
		return 0
	}
	return time.Duration((1 - l.Tokens()) / float64(l.Limit()) * float64(time.Second))
}

func (f *Failures) blame(from netip.Addr) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.by[from]
	if l == nil {
		if f.by == nil || len(f.by) >= maxOffenders {
			f.by = map[netip.Addr]*rate.Limiter{}
		}
		l = rate.NewLimiter(rate.Every(time.Minute/wrongPerMin), wrongPerMin)
		f.by[from] = l
	}
	l.Allow()
}
