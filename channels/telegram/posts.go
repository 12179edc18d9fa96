package telegram

import (
	"context"
	"sync"
	"time"

	"parley/channels"
)

// postPatience is how long an update waits for a send to the channel that it comes from: until that ends, it may be the post itself.
const postPatience = 2 * time.Second

// posts are what this bot wrote into channels lately. The discussion group of a channel shows its posts again as messages of the channel,
// and nothing in them says that the bot wrote them. What is older the host knows, see Deps.Sent.
type posts struct {
	mu     sync.Mutex
	under  map[channels.ChatID]int // sends under way
	free   chan struct{}           // closed and replaced when one ends
	recent map[message]bool
	older  map[message]bool
}

func newPosts() *posts {
	return &posts{under: map[channels.ChatID]int{}, free: make(chan struct{}), recent: map[message]bool{}}
}

// sending notes that a message is on its way to a channel, and gives what is to be called with its number: 0 = it did not arrive.
func (p *posts) sending(to channels.Address) (done func(id int64)) {
	if to.Type != channels.Room {
		return func(int64) {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under[to.Chat]++
	return func(id int64) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.under[to.Chat]--; p.under[to.Chat] == 0 {
			delete(p.under, to.Chat)
		}
		if at, ok := placed(to.Chat, id); ok && id != 0 {
			if len(p.recent) >= mostPlaced {
				p.older, p.recent = p.recent, map[message]bool{}
			}
			p.recent[at] = true
		}
		close(p.free)
		p.free = make(chan struct{})
	}
}

// has reports whether a message of a channel is one of them. It waits for sends under way.
func (p *posts) has(ctx context.Context, chat channels.ChatID, id int64) bool {
	ctx, cancel := context.WithTimeout(ctx, postPatience)
	defer cancel()
	at, _ := placed(chat, id)
	for {
		p.mu.Lock()
		known, under, free := p.recent[at] || p.older[at], p.under[chat] > 0, p.free
		p.mu.Unlock()
		if known || !under {
			return known
		}
		select {
		case <-free:
		case <-ctx.Done():
			return false
		}
	}
}

// ownPost reports whether a post of a channel is this bot's, as an update that shows it again asks.
func (c *Channel) ownPost(ctx context.Context) func(*wireOrigin) bool {
	return func(o *wireOrigin) bool {
		chat := chatID(o.Chat.ID)
		if c.posts.has(ctx, chat, int64(o.MessageID)) {
			return true
		}
		if c.sent == nil {
			return false
		}
		own, err := c.sent(ctx, channels.Address{Channel: Kind, Account: c.account, Chat: chat, Type: channels.Room}, messageID(int64(o.MessageID)))
		return err == nil && own
	}
}
