package telegramtest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"sort"
	"strconv"
	"time"
)

type update struct {
	id  int64
	raw json.RawMessage
}

// poller is one getUpdates under way; a newer one ends it, as the real server does.
type poller struct {
	kicked chan struct{}
	fault  *Fault // what it ends with; nil = a conflict
}

func (s *Server) getUpdates(ctx context.Context, p url.Values) reply {
	offset, _ := strconv.ParseInt(p.Get("offset"), 10, 64)
	limit, _ := strconv.Atoi(p.Get("limit"))
	if limit <= 0 || limit > 100 {
		limit = 100
	}
	seconds, _ := strconv.Atoi(p.Get("timeout"))
	timeout := time.NewTimer(time.Duration(max(0, min(seconds, 50))) * time.Second)
	defer timeout.Stop()

	s.allow(p)
	s.mu.Lock()
	if s.impatient {
		timeout.Reset(0)
	}
	if s.hook.url != "" {
		s.mu.Unlock()
		return failure(http.StatusConflict, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")
	}
	s.kick(nil)
	me := &poller{kicked: make(chan struct{})}
	s.poll = me
	s.confirm(offset)
	s.notify()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.poll == me {
			s.poll = nil
		}
	}()
	var answer json.RawMessage // when its time is over
	for {
		s.mu.Lock()
		arrived, kicked := s.arrived, s.poll != me
		body := s.batch(limit)
		if body == nil {
			body = answer
		}
		if body != nil && !kicked {
			s.poll = nil // it cannot be ended any more
		}
		s.mu.Unlock()
		switch {
		case kicked && me.fault != nil:
			return me.fault.apply(ctx)
		case kicked:
			return failure(http.StatusConflict, conflictText)
		case body != nil:
			return ok(body)
		}
		select {
		case <-arrived:
		case <-timeout.C:
			answer = json.RawMessage("[]")
		case <-me.kicked:
		case <-ctx.Done():
			return reply{cut: true}
		}
	}
}

// kick ends the poll that is under way and reports whether there was one. The caller holds s.mu.
func (s *Server) kick(f *Fault) bool {
	if s.poll == nil {
		return false
	}
	s.poll.fault = f
	close(s.poll.kicked)
	s.poll = nil
	return true
}

// EndPoll has the getUpdates that is under way end with a fault; where there is none, the next one.
func (s *Server) EndPoll(f Fault) {
	s.mu.Lock()
	ended := s.kick(&f)
	s.mu.Unlock()
	if !ended {
		f.Method = "getUpdates"
		s.Inject(f)
	}
}

// confirm forgets the updates below offset; a negative offset keeps that many of the newest. The caller holds s.mu.
func (s *Server) confirm(offset int64) {
	drop := 0
	if offset < 0 {
		drop = max(0, len(s.updates)+int(offset))
	} else {
		drop = sort.Search(len(s.updates), func(i int) bool { return s.updates[i].id >= offset })
	}
	if drop > 0 {
		s.confirmed = s.updates[drop-1].id
		s.updates = s.updates[drop:]
		s.notify()
	}
}

// batch gives the updates from offset on as a JSON array, or nil when there are none. The caller holds s.mu.
func (s *Server) batch(limit int) json.RawMessage {
	if len(s.updates) == 0 {
		return nil
	}
	n := min(limit, len(s.updates))
	size := 2
	for _, u := range s.updates[:n] {
		size += len(u.raw) + 1
	}
	body := append(make([]byte, 0, size), '[')
	for i, u := range s.updates[:n] {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, u.raw...)
	}
	return append(body, ']')
}

// Confirmed is the highest update id that the bot has confirmed.
func (s *Server) Confirmed() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.confirmed
}

// Polling reports whether a getUpdates is under way.
func (s *Server) Polling() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.poll != nil
}

// Pending is how many updates are not confirmed.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.updates)
}

// WaitConfirmed waits until the bot has confirmed the update.
func (s *Server) WaitConfirmed(ctx context.Context, id int64) error {
	return s.Wait(ctx, func() bool { return s.Confirmed() >= id })
}
