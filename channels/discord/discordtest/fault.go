package discordtest

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Fault scripts what happens to calls of the REST API. The first fault that matches a call is used up by it. It may be a page of Cloudflare
// or an empty body at any status, and any status for ever.
// source: discord/discord-api-docs#7408 (520 for Create Message), discord/discord-api-docs#6473, Tyrrrz/DiscordChatExporter#940 (502)
type Fault struct {
	Method  string // empty = any
	Route   string // such as RouteMessages; empty = any
	Channel string // empty = any
	Times   int    // how many calls it covers; 0 = one, negative = all until the returned func is called
	// Arrives: the call has its effect although the answer is the fault.
	Arrives bool

	Delay      time.Duration // wait before the answer, which is the true one when nothing else is set
	Hang       bool          // no byte is sent and the connection stays open
	Cut        bool          // the connection ends without an answer
	Status     int           // HTTP status; 0 = 500
	Code       int           // of the JSON error
	Message    string
	RetryAfter time.Duration // retry_after, and Retry-After in whole seconds
	Global     bool          // the limit is the whole account's
	Body       string        // instead of the JSON error
	Empty      bool          // no body at all, as a load balancer answers
}

// TooManyRequests asks to wait with the posting of messages in a channel.
func TooManyRequests(channel string, wait time.Duration) Fault {
	return Fault{Method: http.MethodPost, Route: RouteMessages, Channel: channel, Status: http.StatusTooManyRequests, RetryAfter: wait}
}

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
func (s *Server) takeFault(c *Call) *Fault {
	for i, f := range s.faults {
		if f.Method != "" && f.Method != c.Method || f.Route != "" && f.Route != c.Route || f.Channel != "" && f.Channel != c.Channel {
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

// slow reports whether the fault is nothing but a late answer.
func (f *Fault) slow() bool {
	return f.Delay > 0 && !f.Hang && !f.Cut && f.Status == 0 && f.Body == "" && !f.Empty
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
	status := f.Status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	message := f.Message
	if message == "" {
		message = strconv.Itoa(status) + ": " + http.StatusText(status)
	}
	switch {
	case f.Cut:
		return reply{cut: true}
	case f.Empty:
		return reply{status: status}
	case f.Body != "":
		return reply{status: status, body: []byte(f.Body)}
	case status == http.StatusTooManyRequests:
		return limited(f.RetryAfter, f.Global)
	}
	return failure(status, f.Code, message)
}

// limited is the answer to one call too many.
func limited(wait time.Duration, global bool) reply {
	a := answer(http.StatusTooManyRequests, object{
		"message": "You are being rate limited.", "retry_after": wait.Seconds(), "global": global, "code": 0,
	})
	scope := "user"
	if global {
		scope = "global"
	}
	a.header = http.Header{
		"Retry-After":             {strconv.Itoa(int(math.Ceil(wait.Seconds())))},
		"X-Ratelimit-Scope":       {scope},
		"X-Ratelimit-Reset-After": {strconv.FormatFloat(wait.Seconds(), 'f', 3, 64)},
	}
	if global {
		a.header["X-Ratelimit-Global"] = []string{"true"}
	}
	return a
}

// pace is how many messages a channel takes in a window; 0 = any number.
type pace struct {
	limit  int
	window time.Duration
	posts  map[string][]time.Time
}

// Pace makes the server enforce a limit on the messages that are posted in a channel, as Discord does (5 in 5 s).
func (s *Server) Pace(limit int, window time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pace = pace{limit: limit, window: window, posts: map[string][]time.Time{}}
}

// limit counts a call and gives the headers of its bucket; the answer is a refusal when it is one too many. The caller holds s.mu.
func (s *Server) limit(q *request) (http.Header, reply) {
	limit, left, reset := 50, 49, time.Second
	over := reply{}
	if p := s.pace; p.limit > 0 && q.Method == http.MethodPost && q.Route == RouteMessages {
		now := time.Now()
		posts := slices.DeleteFunc(p.posts[q.Channel], func(t time.Time) bool { return now.Sub(t) >= p.window })
		limit, reset = p.limit, p.window
		if len(posts) > 0 {
			reset = p.window - now.Sub(posts[0])
		}
		if len(posts) >= p.limit {
			over, left = limited(reset, false), 0
		} else {
			posts = append(posts, now)
			left = p.limit - len(posts)
		}
		p.posts[q.Channel] = posts
	}
	return http.Header{
		"X-Ratelimit-Limit":       {strconv.Itoa(limit)},
		"X-Ratelimit-Remaining":   {strconv.Itoa(left)},
		"X-Ratelimit-Reset":       {strconv.FormatFloat(float64(time.Now().Add(reset).UnixMilli())/1000, 'f', 3, 64)},
		"X-Ratelimit-Reset-After": {strconv.FormatFloat(reset.Seconds(), 'f', 3, 64)},
		"X-Ratelimit-Bucket":      {bucket(q)},
	}, over
}

func bucket(q *request) string { return strconv.Itoa(len(q.Route)) + q.Method + q.Channel }
