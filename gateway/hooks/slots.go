package hooks

import (
	"net/netip"
	"sync"
	"time"

	"parley/gateway/api"
)

// slots bound how many requests are read at the same time: those of senders who are known, and apart from them those of strangers, who may
// have signed what has not come yet. Strangers take nothing from others, and one address of theirs not everything.
type slots struct {
	mu        sync.Mutex
	known     int
	strangers int
	by        map[netip.Addr]int // strangers
}

// enter takes a slot for a sender who is known.
func (s *slots) enter() (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known >= maxKnownSenders {
		return nil, tooMany()
	}
	s.known++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.known--
	}, nil
}

// enterStranger takes a slot for a sender at an address.
func (s *slots) enterStranger(from netip.Addr) (leave func(), err error) {
	if from = from.Unmap().WithZone(""); from.Is6() {
		from = netip.PrefixFrom(from, 64).Masked().Addr() // one machine has all of them
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.strangers >= maxStrangers || s.by[from] >= strangersEach {
		return nil, tooMany()
	}
	if s.by == nil {
		s.by = map[netip.Addr]int{}
	}
	s.strangers++
	s.by[from]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.strangers--
		if s.by[from]--; s.by[from] == 0 {
			delete(s.by, from)
		}
	}, nil
}

func tooMany() error {
	return &api.Error{Status: 503, Code: "unavailable", Message: "too many requests to hooks: try again", After: time.Second}
}
