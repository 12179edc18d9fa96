package pace

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"parley/channels"
)

// Pacer holds one account's speed limits: for the account, each chat, each group. Its mutex is a leaf. A limit of N per period is a token bucket of
// N/4 tokens refilled with the other three quarters, so that no window of one period ever sees more than N.
type Pacer struct {
	mu      sync.Mutex
	limits  channels.Pacing
	account *rate.Limiter
	chats   map[channels.ChatID]*chatPace
}

type chatPace struct {
	chat, group *rate.Limiter
	used        time.Time
}

// idlePaceTimeout is how long a chat's limiter is kept after its last use; every limiter is full again by then.
const idlePaceTimeout = 2 * time.Minute

// New returns a pacer whose buckets are full.
func New(p channels.Pacing) *Pacer {
	return &Pacer{limits: p, account: bucket(p.PerSecond, time.Second), chats: make(map[channels.ChatID]*chatPace)}
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

// Set replaces the limits when they changed.
func (p *Pacer) Set(l channels.Pacing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l != p.limits {
		p.limits, p.account = l, bucket(l.PerSecond, time.Second)
		clear(p.chats)
	}
}

// Free reports whether the account is not paced at all.
func (p *Pacer) Free() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limits == channels.Pacing{}
}

// Wait blocks until a message may go to the chat, or ctx ends. A slow chat holds no token of the account while it waits, and its own
// token is taken when the message goes: behind a busy account two messages of a chat must not move together.
func (p *Pacer) Wait(ctx context.Context, to channels.Address) error {
	own := p.limiters(to)
	for {
		for _, l := range own[:2] {
			if !channels.Sleep(ctx, tokenDelay(l)) {
				return ctx.Err()
			}
		}
		if own[2] != nil {
			if err := own[2].Wait(ctx); err != nil {
				return err
			}
		}
		if takeToken(own[0]) && takeToken(own[1]) { // else another message went there meanwhile
			return ctx.Err()
		}
	}
}

// takeToken takes a token if there is one.
func takeToken(l *rate.Limiter) bool { return l == nil || l.Allow() }

// tokenDelay is how long it takes until a limiter has a token.
func tokenDelay(l *rate.Limiter) time.Duration {
	if l == nil {
		return 0
	}
	now := time.Now()
	r := l.ReserveN(now, 1)
	defer r.CancelAt(now)
	return r.DelayFrom(now)
}

// Try takes a token for what can be left out; false when it would make a message wait: the last token of a larger bucket is for those.
func (p *Pacer) Try(to channels.Address) bool { return p.Room(to, 0) && p.Take(to) }

// Room reports whether Try would take a token, besides the tokens that others of the account have reserved.
func (p *Pacer) Room(to channels.Address, others int) bool {
	all := p.limiters(to)
	for i, l := range all {
		if l == nil {
			continue
		}
		least := min(2, float64(l.Burst()))
		if i == len(all)-1 {
			least += float64(others)
		}
		if l.Tokens() < least {
			return false
		}
	}
	return true
}

// Take takes a token; false when there is none.
func (p *Pacer) Take(to channels.Address) bool {
	all := p.limiters(to)
	for _, l := range all { // one limit's is not spent where another has none
		if l != nil && l.Tokens() < 1 {
			return false
		}
	}
	for _, l := range all {
		if !takeToken(l) {
			return false
		}
	}
	return true
}

func (p *Pacer) limiters(to channels.Address) [3]*rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limits.PerChatPerSecond <= 0 && (p.limits.PerGroupPerMinute <= 0 || !to.Type.Several()) {
		return [3]*rate.Limiter{nil, nil, p.account}
	}
	now := time.Now()
	c := p.chats[to.Chat]
	if c == nil {
		if len(p.chats) >= 1000 {
			for id, x := range p.chats {
				if now.Sub(x.used) > idlePaceTimeout {
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
