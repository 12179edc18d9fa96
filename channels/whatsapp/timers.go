package whatsapp

import (
	"cmp"
	"context"
	"database/sql"
	"log/slog"
	"slices"
	"sync"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/proto/waHistorySync"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"parley/channels"
)

// In a chat with disappearing messages every message carries the chat's timer. One without it stays on the phones of the people, with a
// note that it will not disappear.

// timer is for how long a chat keeps messages.
type timer struct {
	seconds uint32
	since   int64 // when it was set, as a Unix time in seconds; 0 = not known
}

const mostTimers = 4096

// timers are those of an account's chats. They are kept beside the keys: a chat may say nothing of its timer for a long time.
type timers struct {
	db  *sql.DB
	log *slog.Logger

	mu    sync.Mutex
	known map[channels.ChatID]timer
}

// loadTimers reads them. Without a database they last as long as the process.
func loadTimers(ctx context.Context, db *sql.DB, log *slog.Logger) *timers {
	t := &timers{db: db, log: log, known: map[channels.ChatID]timer{}}
	if db == nil {
		return t
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS parley_timer (chat TEXT PRIMARY KEY, seconds INTEGER NOT NULL, since INTEGER NOT NULL)"); err != nil {
		t.failed(ctx, err)
		return t
	}
	rows, err := db.QueryContext(ctx, "SELECT chat, seconds, since FROM parley_timer LIMIT ?", mostTimers)
	if err != nil {
		t.failed(ctx, err)
		return t
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var chat string
		var one timer
		if err := rows.Scan(&chat, &one.seconds, &one.since); err != nil {
			t.failed(ctx, err)
			break
		}
		t.known[channels.ChatID(chat)] = one
	}
	if err := rows.Err(); err != nil {
		t.failed(ctx, err)
	}
	return t
}

func (t *timers) failed(ctx context.Context, err error) {
	t.log.WarnContext(ctx, "timers of chats not kept", "err", err)
}

func (t *timers) of(chat channels.ChatID) (timer, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.known[chat]
	return one, ok
}

// learn takes over what a chat's timer is now. An older setting than the known one changes nothing.
func (t *timers) learn(ctx context.Context, chat channels.ChatID, one timer) {
	t.mu.Lock()
	had, known := t.known[chat]
	if known && (had == one || one.since != 0 && one.since < had.since) {
		t.mu.Unlock()
		return
	}
	var gone []channels.ChatID
	if !known && len(t.known) >= mostTimers {
		gone = t.oldest(mostTimers / 4)
	}
	t.known[chat] = one
	t.mu.Unlock()
	if had.seconds == one.seconds && (known || one.seconds == 0) { // most chats have none
		return
	}
	t.store(ctx, chat, one, gone)
}

// oldest forgets the timers that were set first. It is called under the lock.
func (t *timers) oldest(n int) []channels.ChatID {
	list := make([]channels.ChatID, 0, len(t.known))
	for chat := range t.known {
		list = append(list, chat)
	}
	slices.SortFunc(list, func(a, b channels.ChatID) int { return cmp.Compare(t.known[a].since, t.known[b].since) })
	for _, chat := range list[:n] {
		delete(t.known, chat)
	}
	return list[:n]
}

func (t *timers) store(ctx context.Context, chat channels.ChatID, one timer, gone []channels.ChatID) {
	if t.db == nil {
		return
	}
	if one.seconds == 0 {
		gone = append(gone, chat)
	} else if _, err := t.db.ExecContext(ctx, "INSERT OR REPLACE INTO parley_timer (chat, seconds, since) VALUES (?, ?, ?)", string(chat), one.seconds, one.since); err != nil {
		t.failed(ctx, err)
	}
	for _, chat := range gone {
		if _, err := t.db.ExecContext(ctx, "DELETE FROM parley_timer WHERE chat = ?", string(chat)); err != nil {
			t.failed(ctx, err)
			return
		}
	}
}

// move has a chat's timer follow it to its new address.
func (t *timers) move(ctx context.Context, from, to channels.ChatID) {
	one, ok := t.of(from)
	if _, there := t.of(to); ok && !there {
		t.learn(ctx, to, one)
	}
}

// timerOf reads the timer that a message carries.
func timerOf(c *waE2E.ContextInfo) *timer {
	if c == nil || c.Expiration == nil {
		return nil
	}
	return &timer{seconds: c.GetExpiration(), since: c.GetEphemeralSettingTimestamp()}
}

// learnFrom takes over the timer that a message told of. In a group only admins may set it, which the group's own notices say; what a
// member's message carries counts while nothing else is known.
func (l *link) learnFrom(to channels.Address, one *timer) {
	if one == nil {
		return
	}
	if _, known := l.timers.of(to.Chat); known && to.Type != channels.Direct {
		return
	}
	l.timers.learn(l.offering, to.Chat, *one)
}

func (l *link) learnGroup(ctx context.Context, group types.JID, e types.GroupEphemeral) {
	one := timer{}
	if e.IsEphemeral {
		one.seconds = e.DisappearingTimer
	}
	l.timers.learn(ctx, channels.ChatID(group.String()), one)
}

// learnHistory takes over the timers of the chats that the phone tells of after linking.
func (l *link) learnHistory(h *waHistorySync.HistorySync) {
	d := &decoder{account: l.c.account, me: l.me, names: known{ctx: l.offering, device: l.keys.device, groups: l.groups}}
	for _, conv := range h.GetConversations() {
		jid, err := types.ParseJID(conv.GetID())
		if err != nil || jid.User == "" || conv.EphemeralExpiration == nil {
			continue
		}
		to := d.direct(d.canonical(jid, types.EmptyJID))
		if jid.Server == types.GroupServer {
			to = d.group(jid)
		}
		l.learnFrom(to, &timer{seconds: conv.GetEphemeralExpiration(), since: conv.GetEphemeralSettingTimestamp()})
	}
}

// expiring puts a chat's timer into what a message says of itself. Reactions and deletions have none: they last as long as the message
// that they are about.
func (l *link) expiring(ctx context.Context, to channels.Address, jid types.JID, c *waE2E.ContextInfo) *waE2E.ContextInfo {
	one, known := l.timers.of(to.Chat)
	if !known && jid.Server == types.GroupServer {
		_ = l.groups.of(ctx, jid)
		one, _ = l.timers.of(to.Chat)
	}
	if one.seconds == 0 {
		return c
	}
	if c == nil {
		c = &waE2E.ContextInfo{}
	}
	c.Expiration = proto.Uint32(one.seconds)
	if one.since != 0 {
		c.EphemeralSettingTimestamp = proto.Int64(one.since)
	}
	return c
}
