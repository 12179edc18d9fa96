package delivery

import (
	"context"
	"sync"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// refusals remembers which emoji a chat has refused, so that it is asked, and people are told, once. Its mutex is a leaf.
type refusals struct {
	mu sync.Mutex
	m  map[channels.Address]string // by the address without its thread
}

// maxRefusals bounds it; beyond that everything is asked once more.
const maxRefusals = 1000

// known reports whether the chat has refused the emoji; "" stands for removing one: a chat that refused one has none.
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

// react sets or removes the bot's reaction below a message. Best effort, under the same policy as a delivery.
func (r *reactions) react(ctx context.Context, key sessions.Key, to channels.Address, id channels.MessageID, emoji string) {
	can := r.accounts.caps(to).Reactor
	chat := to
	chat.Thread = ""
	if can == nil || r.refusals.known(chat, emoji) {
		return
	}
	r.hints.call(ctx, key, to, func(ctx context.Context) error {
		err := can.React(ctx, to, id, emoji)
		if err != nil && channels.Classify(err).Class == channels.Unsupported && r.refusals.note(chat, emoji) {
			r.log.Warn("platform refused the reaction", "hint", "set messages.ackReaction to a reaction of the platform", keyAddress, to.String(), "emoji", emoji, keyErr, err)
		}
		return err
	})
}

// sendReceipt gives the platform's own receipt of a message that was accepted. Best effort, under the same policy as a delivery.
func (r *reactions) sendReceipt(ctx context.Context, key sessions.Key, to channels.Address, id channels.MessageID) {
	if can := r.accounts.caps(to).Acknowledger; can != nil {
		if r.hints.call(ctx, key, to, func(ctx context.Context) error { return can.Acknowledge(ctx, to, id) }) {
			r.hints.removeIndicatorLater(ctx, key, to, id)
		}
	}
}
