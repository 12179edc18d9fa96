package discord

import (
	"encoding/json"
	"math/rand/v2"
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
	pages   map[string]int       // by what they hold: how many pages in a row came from what stands before the platform
}

// A page of what stands before the platform, such as Cloudflare, holds its route or, with 429, everything: it says nothing of when it will
// be gone, so the wait grows until the platform itself answers. Cloudflare blocks an address for an hour when it meets 10,000 refused calls
// in ten minutes.
const (
	firstPage    = 15 * time.Second
	maxPageHold  = 10 * time.Minute // with 429
	maxOtherHold = time.Minute      // with another status
	maxPages     = 1000             // remembered
)

func newHolds(kept *channels.BotHolds) *holds {
	return &holds{kept: kept, buckets: map[[2]string]string{}, pages: map[string]int{}}
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
	if _, own := spoken(body); !own && status >= http.StatusBadRequest && status < http.StatusInternalServerError && limitIn(body) == (limited{}) {
		if status == http.StatusTooManyRequests {
			keys = []string{everything}
		}
		h.kept.Set(max(h.page(keys[0]), retryAfter(header, body)), keys...)
		return
	}
	if status < http.StatusInternalServerError {
		h.answered(r.key())
	}
	switch {
	case status == http.StatusTooManyRequests && isGlobal(header, body):
		h.kept.Set(max(retryAfter(header, body), time.Second), everything)
	case status == http.StatusTooManyRequests:
		h.kept.Set(max(retryAfter(header, body), time.Second), keys...)
	case header.Get("X-RateLimit-Remaining") == "0":
		h.kept.Set(seconds(header.Get("X-RateLimit-Reset-After")), keys...)
	}
}

// page counts a page that holds a route, or everything, and gives how long.
func (h *holds) page(key string) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.pages) >= maxPages {
		clear(h.pages)
	}
	longest := maxOtherHold
	if key == everything {
		longest = maxPageHold
	}
	wait := min(firstPage<<min(h.pages[key], 10), longest)
	h.pages[key]++
	return wait + rand.N(wait/4)
}

// answered notes that the platform itself has answered.
func (h *holds) answered(key string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.pages, key)
	delete(h.pages, everything)
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

func limitIn(body []byte) (said limited) {
	if json.Unmarshal(body, &said) != nil {
		return limited{}
	}
	return said
}

// isGlobal reports whether a 429 of the platform is about all calls.
func isGlobal(header http.Header, body []byte) bool {
	return limitIn(body).Global || header.Get("X-RateLimit-Global") == "true" || header.Get("X-RateLimit-Scope") == "global"
}

// retryAfter is how long a 429 asks to wait: by its body, which has fractions, else by the header; 0 = it does not say.
func retryAfter(header http.Header, body []byte) time.Duration {
	for _, wait := range []time.Duration{channels.AskedSeconds(limitIn(body).RetryAfter), seconds(header.Get("Retry-After")), untilDate(header.Get("Retry-After")), seconds(header.Get("X-RateLimit-Reset-After"))} {
		if wait > 0 {
			return wait
		}
	}
	return 0
}

// untilDate is how long it is to a date as HTTP writes it: a proxy may say so when to come again.
func untilDate(text string) time.Duration {
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return channels.AskedSeconds(time.Until(at).Seconds())
}

func seconds(text string) time.Duration {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return channels.AskedSeconds(f)
}
