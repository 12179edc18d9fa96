package delivery

import (
	"context"
	"sync"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// Refusals remembers which emoji a chat has refused, so that it is asked, and people are told, once.
type refusals struct {
	mu sync.Mutex
	m  map[channels.Address]string // by the address without its thread
}

// MaxRefusals bounds it; beyond that everything is asked once more.
const maxRefusals = 1000

// known reports whether the chat has refused the emoji; "" stands for taking one away: of a chat that refused one there is none.
func (f *refusals) known(chat channels.Address, emoji string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	had, refused := f.m[chat]
	return refused && (emoji == had || emoji == "")
}

// note keeps a refusal; first says that no chat of the account has refused the emoji before.
func (f *refusals) note(chat channels.Address, emoji string) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.m == nil || len(f.m) >= maxRefusals {
		f.m = make(map[channels.Address]string)
	}
	first = true
	for c, e := range f.m {
		first = first && (settings.Ref(c) != settings.Ref(chat) || e != emoji)
	}
	f.m[chat] = emoji
	return first
}

// react sets or takes away the bot's reaction below a message. Best effort, under the same policy as a delivery.
func (g *Dispatcher) react(ctx context.Context, key sessions.Key, to channels.Address, id channels.MessageID, emoji string) {
	can := g.caps(to).Reactor
	chat := to
	chat.Thread = ""
	if can == nil || g.refusals.known(chat, emoji) {
		return
	}
	g.hint(ctx, key, to, func(ctx context.Context) error {
		err := can.React(ctx, to, id, emoji)
		if err != nil && channels.Classify(err).Class == channels.Unsupported && g.refusals.note(chat, emoji) {
			g.log.Warn("the platform refuses this reaction; set messages.ackReaction to one that it has", keyAddress, to.String(), "emoji", emoji, keyErr, err)
		}
		return err
	})
}

// sendReceipt gives the platform's own sign that a message was taken. Best effort, under the same policy as a delivery.
func (g *Dispatcher) sendReceipt(ctx context.Context, key sessions.Key, to channels.Address, id channels.MessageID) {
	if can := g.caps(to).Acknowledger; can != nil {
		if g.hint(ctx, key, to, func(ctx context.Context) error { return can.Acknowledge(ctx, to, id) }) {
			g.fadeLater(ctx, key, to, id)
		}
	}
}
