package access

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	maxWrongPerMinute = 10   // wrong secrets that one address may try in a row, and then per minute
	maxOffenders      = 1024 // addresses remembered
)

// Failures counts wrong secrets by address, and slows down who guesses. The zero value is ready.
type Failures struct {
	mu sync.Mutex
	by map[netip.Addr]*rate.Limiter
}

// Try asks whether a secret is right. Who has it is not made to wait for what others at the same address do (a proxy, a network behind
// one address, this machine). To who was wrong too often wait says for how long no answer is given but that.
func (f *Failures) Try(from netip.Addr, right func() bool) (ok bool, wait time.Duration) {
	if right() {
		return true, 0
	}
	wait = f.Wait(from)
	f.blame(machine(from))
	return false, wait
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

// Wait says for how long an address that was wrong too often has to wait; 0 = it has not been.
func (f *Failures) Wait(from netip.Addr) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.by[machine(from)]
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
		l = rate.NewLimiter(rate.Every(time.Minute/maxWrongPerMinute), maxWrongPerMinute)
		f.by[from] = l
	}
	l.Allow()
}
