package discord

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// route is what Discord counts calls by: the path with all ids replaced but the first, its major parameter.
// https://discord.com/developers/docs/topics/rate-limits
type route struct {
	path  string // "POST-less" pattern: "channels/messages"
	verb  string
	major string // channel, guild or webhook id; empty = none
}

func (r route) key() string { return r.verb + " " + r.path + " " + r.major }

// everything is the hold on all calls of the bot.
const everything = "*"

// holds remembers until when the platform wants no call. Buckets that several routes share are known by the name that the platform
// gives them.
type holds struct {
	mu      sync.Mutex
	until   map[string]time.Time // by bucket and major parameter, or by route
	buckets map[string]string    // verb and path → the platform's name of the bucket
}

func newHolds() *holds {
	return &holds{until: map[string]time.Time{}, buckets: map[string]string{}}
}

// place is the key under which a route's hold is kept; h.mu is held.
func (h *holds) place(r route) string {
	if bucket := h.buckets[r.verb+" "+r.path]; bucket != "" {
		return bucket + " " + r.major
	}
	return r.key()
}

// wait says how long a call has to wait; 0 = it may be made.
func (h *holds) wait(r route, now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(0, h.until[everything].Sub(now), h.until[h.place(r)].Sub(now))
}

// note keeps what an answer says about its limits.
func (h *holds) note(r route, status int, header http.Header, body []byte, now time.Time) {
	if status == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if bucket := header.Get("X-RateLimit-Bucket"); bucket != "" && len(bucket) <= 100 {
		h.buckets[r.verb+" "+r.path] = bucket
	}
	for key, t := range h.until {
		if !t.After(now) {
			delete(h.until, key)
		}
	}
	place, wait := h.place(r), time.Duration(0)
	switch {
	case status == http.StatusTooManyRequests:
		if wait = retryAfter(header, body); isGlobal(header, body) {
			place = everything
		}
	case header.Get("X-RateLimit-Remaining") == "0":
		wait = seconds(header.Get("X-RateLimit-Reset-After"))
	}
	if until := now.Add(wait); wait > 0 && until.After(h.until[place]) {
		h.until[place] = until
	}
}

// limited is the body of a 429.
type limited struct {
	RetryAfter float64 `json:"retry_after"`
	Global     bool    `json:"global"`
}

// isGlobal reports whether a 429 is about all calls: Discord says so, and a 429 that is not in Discord's own words comes from what
// stands before it and blocks the whole address.
func isGlobal(header http.Header, body []byte) bool {
	var said limited
	if json.Unmarshal(body, &said) != nil {
		return true
	}
	return said.Global || header.Get("X-RateLimit-Global") == "true" || header.Get("X-RateLimit-Scope") == "global"
}

// retryAfter is how long a 429 asks to wait: by its body, which has fractions, else by the header.
func retryAfter(header http.Header, body []byte) time.Duration {
	var said limited
	if json.Unmarshal(body, &said) == nil && said.RetryAfter > 0 {
		return span(said.RetryAfter)
	}
	if wait := seconds(header.Get("Retry-After")); wait > 0 {
		return wait
	}
	if wait := seconds(header.Get("X-RateLimit-Reset-After")); wait > 0 {
		return wait
	}
	return time.Second
}

func seconds(text string) time.Duration {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return span(f)
}

// span turns seconds into a duration that makes sense, rounded up to milliseconds.
func span(seconds float64) time.Duration {
	const longest = 48 * time.Hour
	if math.IsNaN(seconds) || seconds <= 0 {
		return 0
	}
	if seconds >= longest.Seconds() {
		return longest
	}
	return time.Duration(math.Ceil(seconds*1000)) * time.Millisecond
}
