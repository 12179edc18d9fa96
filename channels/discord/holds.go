package discord

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"parley/channels"
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

// holds remembers until when the platform wants no call, by route: the next process does not know the names of buckets. A limit is noted
// for each route that is known to share it, and looked for at each.
type holds struct {
	kept *channels.BotHolds

	mu      sync.Mutex
	buckets map[[2]string]string // verb and path → the name that the platform gives the bucket, which several routes may share
}

func newHolds(kept *channels.BotHolds) *holds {
	return &holds{kept: kept, buckets: map[[2]string]string{}}
}

// wait says how long a call has to wait; 0 = it may be made.
func (h *holds) wait(r route) time.Duration {
	left := h.kept.Left(everything)
	for _, key := range h.sharing(r, "") {
		left = max(left, h.kept.Left(key))
	}
	return left
}

// note keeps what an answer says about its limits.
func (h *holds) note(r route, status int, header http.Header, body []byte) {
	if status == 0 {
		return
	}
	keys := h.sharing(r, header.Get("X-RateLimit-Bucket"))
	switch {
	case status == http.StatusTooManyRequests && isGlobal(header, body):
		h.kept.Set(retryAfter(header, body), everything)
	case status == http.StatusTooManyRequests:
		h.kept.Set(retryAfter(header, body), keys...)
	case header.Get("X-RateLimit-Remaining") == "0":
		h.kept.Set(seconds(header.Get("X-RateLimit-Reset-After")), keys...)
	}
}

// sharing gives the keys of all routes that are known to share a route's bucket, its own among them. bucket is its name, where an
// answer says it.
func (h *holds) sharing(r route, bucket string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := [2]string{r.verb, r.path}
	if bucket != "" && len(bucket) <= 100 {
		h.buckets[own] = bucket
	}
	keys := []string{r.key()}
	for at, name := range h.buckets {
		if name == h.buckets[own] && at != own {
			keys = append(keys, route{verb: at[0], path: at[1], major: r.major}.key())
		}
	}
	return keys
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
