package whatsapp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

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

const (
	longestTimer = 366 * 24 * 60 * 60 // seconds; WhatsApp offers 90 days at most
	timersFile   = "timers.json"
	mostTimers   = 4096
)

// timers are those of an account's chats. They are kept beside the keys: a chat may say nothing of its timer for a long time.
type timers struct {
	path   string // "" = nowhere
	saving chan struct{}
	log    *slog.Logger

	mu    sync.Mutex
	known map[channels.ChatID]timer
}

// loadTimers reads them. A file that cannot be read is as good as none: the chats tell their timers again.
func loadTimers(dir string, log *slog.Logger) (*timers, error) {
	t := &timers{path: filepath.Join(dir, timersFile), saving: make(chan struct{}, 1), log: log, known: map[channels.ChatID]timer{}}
	raw, err := os.ReadFile(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	} else if err != nil {
		return t, err
	}
	var kept map[channels.ChatID][2]int64
	if err := json.Unmarshal(raw, &kept); err != nil {
		return t, err
	}
	for chat, v := range kept {
		if v[0] > 0 && v[0] <= longestTimer && len(t.known) < mostTimers {
			t.known[chat] = timer{seconds: uint32(v[0]), since: v[1]}
		}
	}
	return t, nil
}

// save writes what is known, whole, and has it take the place of what was there.
func (t *timers) save() error {
	t.saving <- struct{}{}
	defer func() { <-t.saving }()
	kept := map[channels.ChatID][2]int64{}
	t.mu.Lock()
	for chat, one := range t.known {
		if one.seconds > 0 {
			kept[chat] = [2]int64{int64(one.seconds), one.since}
		}
	}
	t.mu.Unlock()
	raw, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	if err := os.WriteFile(t.path+".new", raw, 0o600); err != nil {
		return err
	}
	return os.Rename(t.path+".new", t.path)
}

// removeTimers forgets all of them.
func removeTimers(dir string) error {
	err := os.Remove(filepath.Join(dir, timersFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (t *timers) of(chat channels.ChatID) (timer, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	one, ok := t.known[chat]
	return one, ok
}

// learn takes over what a chat's timer is now, and reports whether that is to be saved. An older setting than the known one changes nothing,
// nor does a timer out of range; a time of setting out of range counts as not known.
func (t *timers) learn(chat channels.ChatID, one timer) bool {
	if one.seconds > longestTimer {
		return false
	}
	if one.since < 0 || one.since > time.Now().Add(24*time.Hour).Unix() {
		one.since = 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	had, known := t.known[chat]
	if known && (had == one || one.since != 0 && one.since < had.since) {
		return false
	}
	if !known && len(t.known) >= mostTimers {
		t.forgetOldest(mostTimers / 4)
	}
	t.known[chat] = one
	return had.seconds != one.seconds // most chats have none
}

// forgetOldest forgets the timers that were set first. It is called under the lock.
func (t *timers) forgetOldest(n int) {
	list := slices.SortedFunc(maps.Keys(t.known), func(a, b channels.ChatID) int { return cmp.Compare(t.known[a].since, t.known[b].since) })
	for _, chat := range list[:n] {
		delete(t.known, chat)
	}
}

// set notes a chat's timer.
func (t *timers) set(ctx context.Context, chat channels.ChatID, one timer) {
	if !t.learn(chat, one) {
		return
	}
	if err := t.save(); err != nil {
		t.log.WarnContext(ctx, "cannot store WhatsApp chat timers", "err", err)
	}
}

// move has a chat's timer follow it to its new address.
func (t *timers) move(ctx context.Context, from, to channels.ChatID) {
	one, ok := t.of(from)
	if _, there := t.of(to); ok && !there {
		t.set(ctx, to, one)
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
func (t *timers) learnFrom(ctx context.Context, to channels.Address, one *timer) {
	if one == nil {
		return
	}
	if _, known := t.of(to.Chat); known && to.Type != channels.Direct {
		return
	}
	t.set(ctx, to.Chat, *one)
}

func (t *timers) learnGroup(ctx context.Context, group types.JID, e types.GroupEphemeral) {
	one := timer{}
	if e.IsEphemeral {
		one.seconds = e.DisappearingTimer
	}
	t.set(ctx, channels.ChatID(group.String()), one)
}

// learnHistory takes over the timers of the chats that the phone tells of after linking.
func (l *link) learnHistory(h *waHistorySync.HistorySync) {
	d := &decoder{account: l.c.account, me: l.me, names: keyFileNames{ctx: l.offering, device: l.keys.device, groups: l.groups}}
	for _, conv := range h.GetConversations() {
		jid, err := types.ParseJID(conv.GetID())
		if err != nil || jid.User == "" || conv.EphemeralExpiration == nil {
			continue
		}
		to := d.direct(d.canonical(jid, types.EmptyJID))
		if jid.Server == types.GroupServer {
			to = d.group(jid)
		}
		l.timers.learnFrom(l.offering, to, &timer{seconds: conv.GetEphemeralExpiration(), since: conv.GetEphemeralSettingTimestamp()})
	}
}

// expiring puts a chat's timer into what a message says of itself. Reactions and deletions have none: they last as long as the message
// that they are about.
func (o *outbox) expiring(ctx context.Context, to channels.Address, jid types.JID, c *waE2E.ContextInfo) *waE2E.ContextInfo {
	one, known := o.timers.of(to.Chat)
	if !known && jid.Server == types.GroupServer {
		_ = o.groups.of(ctx, jid)
		one, _ = o.timers.of(to.Chat)
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
