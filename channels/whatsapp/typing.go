package whatsapp

import (
	"context"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"

	"parley/channels"
)

// awayAfter is counted from the last typing. While the account is there its phone shows no notifications.
const awayAfter = time.Minute

// typing shows "typing…". The apps take the sign away after some 25 s, or when a message comes: nothing has to be sent for that, which
// nobody would ask the send policy about.
type typing struct {
	l *link

	mu    sync.Mutex
	away  *time.Timer // nil = the account is away
	ended bool
}

func newTyping(l *link) *typing { return &typing{l: l} }

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
	return t.l.cli.SendChatPresence(ctx, t.l.address(ctx, chat), types.ChatPresenceComposing, types.ChatPresenceMediaText)
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

// leave tells the server that nobody looks at the screen. It names no chat.
func (t *typing) leave() {
	t.mu.Lock()
	t.away = nil
	t.mu.Unlock()
	_ = t.l.cli.SendPresence(t.l.offering, types.PresenceUnavailable) // best effort
}

func (t *typing) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
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
