package router

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"parley/channels"
)

// pacer holds one account's speed limits: for the account, each chat, each group. A limit of N per period is a token bucket of
// N/4 tokens refilled with the other three quarters, so that no window of one period ever sees more than N.
type pacer struct {
	mu      sync.Mutex
	limits  channels.Pacing
	account *rate.Limiter
	chats   map[channels.ChatID]*chatPace
}

type chatPace struct {
	chat, group *rate.Limiter
	used        time.Time
}

// idlePace is how long a chat's limiter is kept after its last use; every limiter is full again by then.
const idlePace = 2 * time.Minute

func newPacer(p channels.Pacing) *pacer {
	return &pacer{limits: p, account: bucket(p.PerSecond, time.Second), chats: make(map[channels.ChatID]*chatPace)}
}

// bucket allows at most n in any period; nil when n is 0.
func bucket(n float64, period time.Duration) *rate.Limiter {
	if n <= 0 {
		return nil
	}
	burst := math.Max(1, math.Floor(n/4))
	refill := n - burst
	if n < 2 {
		refill = n
	}
	return rate.NewLimiter(rate.Limit(refill/period.Seconds()), int(burst))
}

// set replaces the limits when they changed.
func (p *pacer) set(l channels.Pacing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l != p.limits {
		p.limits, p.account = l, bucket(l.PerSecond, time.Second)
		clear(p.chats)
	}
}

// free reports whether the account is not paced at all.
func (p *pacer) free() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limits == channels.Pacing{}
}

// wait blocks until a message may go to the chat, or ctx ends. The account's token is taken last, so that a slow chat never
// holds one while it waits.
func (p *pacer) wait(ctx context.Context, to channels.Address) error {
	for _, l := range p.limiters(to) {
		if l == nil {
			continue
		}
		if err := l.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p *pacer) limiters(to channels.Address) [3]*rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limits.PerChatPerSecond <= 0 && (p.limits.PerGroupPerMinute <= 0 || !to.Type.Several()) {
		return [3]*rate.Limiter{p.account}
	}
	now := time.Now()
	c := p.chats[to.Chat]
	if c == nil {
		if len(p.chats) >= 1000 {
			for id, x := range p.chats {
				if now.Sub(x.used) > idlePace {
					delete(p.chats, id)
				}
			}
		}
		c = &chatPace{chat: bucket(p.limits.PerChatPerSecond, time.Second)}
		if to.Type.Several() {
			c.group = bucket(p.limits.PerGroupPerMinute, time.Minute)
		}
		p.chats[to.Chat] = c
	}
	c.used = now
	return [3]*rate.Limiter{c.chat, c.group, p.account}
}
