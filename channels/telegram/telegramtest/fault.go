package telegramtest

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Fault scripts what happens to calls. The first fault that matches a call is used up by it. It may be a 401 or 404 that comes once, a page
// of a proxy or an empty body at any status, and any status for ever.
// source: tdlib/telegram-bot-api#77, tdlib/telegram-bot-api#518, Naltox/telegram-node-bot#92, mvrozanti/RAT-via-Telegram#45
type Fault struct {
	Method string // empty = any
	Chat   int64  // 0 = any
	Times  int    // how many calls it covers; 0 = one, negative = all until the returned func is called
	// Arrives: the call has its effect although the answer is the fault.
	Arrives bool

	Delay       time.Duration // wait before the answer
	Hang        bool          // no byte is sent and the connection stays open
	Cut         bool          // the connection ends without an answer
	Code        int           // error_code and HTTP status
	Description string
	RetryAfter  int   // seconds, parameters.retry_after and Retry-After
	HeaderOnly  bool  // RetryAfter only as a header
	MigrateTo   int64 // parameters.migrate_to_chat_id
	Body        string
	Empty       bool // the answer has a status and no body
}

// TooManyRequests asks to wait.
func TooManyRequests(method string, seconds int) Fault {
	return Fault{Method: method, Code: http.StatusTooManyRequests, RetryAfter: seconds, Description: "Too Many Requests: retry after " + strconv.Itoa(seconds)}
}

// Conflict is what a second poller gets.
func Conflict(times int) Fault {
	return Fault{Method: "getUpdates", Times: times, Code: http.StatusConflict, Description: conflictText}
}

const conflictText = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"

// Inject scripts a fault and gives a func that takes it back.
func (s *Server) Inject(f Fault) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &f
	s.faults = append(s.faults, p)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.faults = slices.DeleteFunc(s.faults, func(q *Fault) bool { return q == p })
	}
}

// takeFault finds the fault for a call and uses it up. The caller holds s.mu.
func (s *Server) takeFault(method string, chat int64) *Fault {
	for i, f := range s.faults {
		if f.Method != "" && f.Method != method || f.Chat != 0 && f.Chat != chat {
			continue
		}
		taken := *f
		if f.Times > 1 {
			f.Times--
		} else if f.Times >= 0 {
			s.faults = slices.Delete(s.faults, i, i+1)
		}
		return &taken
	}
	return nil
}

func (f *Fault) apply(ctx context.Context) reply {
	if f.Hang {
		<-ctx.Done()
		return reply{cut: true}
	}
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return reply{cut: true}
		}
	}
	if f.Cut {
		return reply{cut: true}
	}
	if f.Body != "" || f.Empty {
		return reply{status: max(f.Code, http.StatusOK), body: []byte(f.Body)}
	}
	var p *parameters
	if f.RetryAfter > 0 || f.MigrateTo != 0 {
		p = &parameters{RetryAfter: f.RetryAfter, MigrateToChatID: f.MigrateTo}
	}
	code := f.Code
	if code == 0 {
		code = http.StatusInternalServerError
	}
	description := f.Description
	if description == "" {
		description = http.StatusText(code)
	}
	r := failureWith(code, description, p)
	if f.HeaderOnly {
		r.body = failure(code, http.StatusText(code)).body
	}
	return r
}

// Pace makes the server enforce Telegram's limits with 429: one message a second in a chat, twenty a minute in a group, thirty a
// second in all. A twentieth of tolerance keeps a correct sender's timer jitter from being punished.
func (s *Server) Pace(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pacing = on
}

type pace struct {
	all   []time.Time
	chats map[int64][]time.Time
}

const (
	paceChat  = 950 * time.Millisecond
	paceGroup = 57 * time.Second
	paceAll   = 950 * time.Millisecond
)

// exceeded counts one message and reports the seconds to wait when it is too much. The caller holds s.mu.
func (p *pace) exceeded(chat int64, group bool, now time.Time) (seconds int) {
	if p.chats == nil {
		p.chats = map[int64][]time.Time{}
	}
	p.all = recent(p.all, now.Add(-paceAll))
	mine := recent(p.chats[chat], now.Add(-paceGroup))
	p.chats[chat] = mine
	wait := func(from time.Time, window time.Duration) int { return int(from.Add(window).Sub(now)/time.Second) + 1 }
	switch {
	case len(p.all) >= 30:
		return wait(p.all[0], paceAll)
	case len(mine) > 0 && now.Sub(mine[len(mine)-1]) < paceChat:
		return wait(mine[len(mine)-1], paceChat)
	case group && len(mine) >= 20:
		return wait(mine[len(mine)-20], paceGroup)
	}
	p.all, p.chats[chat] = append(p.all, now), append(mine, now)
	return 0
}

// recent drops what is not after since.
func recent(times []time.Time, since time.Time) []time.Time {
	i := 0
	for i < len(times) && !times[i].After(since) {
		i++
	}
	return times[i:]
}
