package discord

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"parley/channels"
)

const (
	identifyGap   = 5 * time.Second // one identify in five seconds: a bot's max_concurrency is 1
	identifyTotal = 1000            // identifies in a day, https://discord.com/developers/docs/events/gateway#session-start-limit-object
	day           = 24 * time.Hour
)

// budget counts identifies: Discord resets the token of a bot that makes too many.
type budget struct {
	mu   sync.Mutex
	made []time.Time // within a day, oldest first
}

// startLimit is what the platform says about identifies.
type startLimit struct {
	Total      int   `json:"total"`
	Remaining  int   `json:"remaining"`
	ResetAfter int64 `json:"reset_after"` // milliseconds
}

// wait says how long the next identify has to wait. The last quarter of a budget is spread over the time until it is renewed.
func (b *budget) wait(said *startLimit, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.made) > 0 && now.Sub(b.made[0]) >= day {
		b.made = b.made[1:]
	}
	if len(b.made) == 0 {
		if said != nil && said.Remaining <= 0 {
			return reset(said)
		}
		return 0
	}
	last := b.made[len(b.made)-1]
	due := last.Add(identifyGap)
	spread := func(total, remaining int, over time.Duration) {
		switch {
		case remaining <= 0:
			due = later(due, now.Add(over))
		case remaining*4 < total:
			due = later(due, last.Add(over/time.Duration(remaining)))
		}
	}
	spread(identifyTotal, identifyTotal-len(b.made), b.made[0].Add(day).Sub(now))
	if said != nil {
		spread(said.Total, said.Remaining, reset(said))
	}
	return max(0, due.Sub(now))
}

// reset is when the platform renews the budget; a platform that does not say so renews it within a day.
func reset(said *startLimit) time.Duration {
	after := time.Duration(said.ResetAfter) * time.Millisecond
	if after <= 0 || after > day {
		return day
	}
	return after
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// spend counts one identify.
func (b *budget) spend(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.made = append(b.made, now); len(b.made) > 2*identifyTotal {
		b.made = b.made[1:]
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// findGateway asks where the gateway is and how many identifies are left; a server without that question is asked the plain one.
func (r restClient) findGateway(ctx context.Context) (string, *startLimit, error) {
	var said struct {
		URL   string      `json:"url"`
		Limit *startLimit `json:"session_start_limit"`
	}
	err := r.get(ctx, "/gateway/bot", route{path: "gateway/bot", verb: http.MethodGet}, &said)
	if lacks(err) {
		err = r.get(ctx, "/gateway", route{path: "gateway", verb: http.MethodGet}, &said)
	}
	if err != nil {
		return "", nil, err
	}
	if u, bad := url.Parse(r.base); bad == nil && u.Scheme == "https" {
		if to, bad := url.Parse(said.URL); bad == nil && to.Scheme == "ws" && !loopback(to.Hostname()) { // the token would go in the clear
			return "", nil, &channels.Error{Class: channels.Transient, Err: &apiError{Call: "GET gateway", Text: "refuse an unencrypted gateway address (ws:) from an https: API"}}
		}
	}
	return said.URL, said.Limit, nil
}
