package whatsapp

import (
	"context"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"

	"parley/channels"
)

const (
	typingFor = 12 * time.Second // after the last call
	awayAfter = time.Minute      // after the last typing; while the account is there its phone shows no notifications
)

// typing shows "typing…" and ends it by itself.
type typing struct {
	l *link

	mu    sync.Mutex
	chats map[types.JID]*time.Timer
	away  *time.Timer // nil = the account is away
	ended bool
}

func newTyping(l *link) *typing { return &typing{l: l, chats: map[types.JID]*time.Timer{}} }

// Typing implements channels.Typer. People see it only of an account that is there.
func (c *Channel) Typing(ctx context.Context, to channels.Address) error {
	l, jid, err := c.reach(to)
	if err != nil {
		return err
	}
	if err := l.typing.show(ctx, jid); err != nil {
		return failure(channels.Transient, "typing: %w", err)
	}
	return nil
}

func (t *typing) show(ctx context.Context, chat types.JID) error {
	if t.come() {
		if err := t.l.cli.SendPresence(ctx, types.PresenceAvailable); err != nil {
			return err
		}
	}
	if err := t.l.cli.SendChatPresence(ctx, t.l.address(ctx, chat), types.ChatPresenceComposing, types.ChatPresenceMediaText); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if timer, there := t.chats[chat]; there {
		timer.Reset(typingFor)
	} else if !t.ended {
		t.chats[chat] = time.AfterFunc(typingFor, func() { t.pause(chat) })
	}
	return nil
}

// come reports whether the account was away.
func (t *typing) come() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	if t.away != nil {
		t.away.Reset(awayAfter)
		return false
	}
	t.away = time.AfterFunc(awayAfter, t.leave)
	return true
}

func (t *typing) leave() {
	t.mu.Lock()
	t.away = nil
	t.mu.Unlock()
	_ = t.l.cli.SendPresence(t.l.offering, types.PresenceUnavailable) // best effort
}

func (t *typing) pause(chat types.JID) {
	if t.forget(chat) {
		ctx := t.l.offering
		_ = t.l.cli.SendChatPresence(ctx, t.l.address(ctx, chat), types.ChatPresencePaused, types.ChatPresenceMediaText) // best effort
	}
}

// forget is for a message that goes out: it ends the typing that people see.
func (t *typing) forget(chat types.JID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	timer, there := t.chats[chat]
	if there {
		timer.Stop()
		delete(t.chats, chat)
	}
	return there
}

func (t *typing) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	for chat, timer := range t.chats {
		timer.Stop()
		delete(t.chats, chat)
	}
	if t.away != nil {
		t.away.Stop()
	}
}

// address is what the server calls a chat now: LIDs, where they are known.
func (l *link) address(ctx context.Context, chat types.JID) types.JID {
	if chat.Server == types.DefaultUserServer {
		if lid, err := l.keys.device.LIDs.GetLIDForPN(ctx, chat); err == nil && !lid.IsEmpty() {
			return lid
		}
	}
	return chat
}
