package sqlstore

import (
	"context"
	"strings"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/move"
	"parley/sessions/sqlstore/row"
)

// The events of seen rows that stand for no event of a platform: for a Source, and for what a stranger wrote who was told a code.
const (
	submitEvent = row.SubmitEvent
	pairEvent   = "pair"
)

// The bounds of what is kept of unreadable events: how many for people to look at, how many bytes of each.
const (
	maxListed = 1000
	maxRaw    = 4096
)

// skippedRetention is how long events are listed that could not be read or taken: what was quarantined has people's words.
const skippedRetention = 30 * 24 * time.Hour

// inbox keeps which events were seen, which could not be read, and how far each account has come.
type inbox struct {
	repository

	seen, skips *engine.Sequence
}

// dedupeKey is a seen row: one event or source, and what came of it.
type dedupeKey struct{ msg, address, before, event, thread, skip, digest string }

// says keeps what a message says since it was changed, of which the agent is told. An edit that counts for nothing leaves what the agent knows.
func (s *inbox) says(t *tx, in channels.Inbound, digest string) error {
	if in.Event != channels.Edited || digest == "" {
		return nil
	}
	_, err := t.Exec("UPDATE seen SET digest = ? WHERE msg = ? AND address IN (?, "+move.Before+") AND event = ?", digest, column.Key(string(in.Target)), column.Key(column.Chat(in.Address).String()), move.BeforeOf(in.Address), string(channels.Message))
	return err
}

// recordSeen remembers an event or a source, and what it made in this commit.
func (s *inbox) recordSeen(t *tx, at dedupeKey, run sessions.RunID, made []sessions.Delivery) error {
	first := int64(0)
	if len(made) > 0 {
		first = made[0].Seq
	}
	_, err := t.Exec("INSERT INTO seen (num, msg, address, event, thread, at, skip, run, delivery, delivered, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		s.seen.Next(), at.msg, at.address, at.event, at.thread, engine.Ms(t.Now), at.skip, string(run), first, len(made), at.digest)
	return err
}

// list keeps an unreadable event for people, and lets the oldest go. Those that were quarantined are whole, and let go only for others of their kind.
func (s *inbox) list(t *tx, in channels.Inbound, reason string) error {
	raw, like := string(in.Raw), "NOT LIKE"
	if strings.HasPrefix(reason, sessions.QuarantineReason) {
		like = "LIKE"
	} else if len(raw) > maxRaw {
		raw = strings.ToValidUTF8(raw[:maxRaw], "")
	}
	if _, err := t.Exec("INSERT INTO skipped (num, at, address, msg, reason, raw) VALUES (?, ?, ?, ?, ?, ?)",
		s.skips.Next(), engine.Ms(t.Now), in.Address.String(), string(in.ID), reason, raw); err != nil {
		return err
	}
	kind := sessions.QuarantineReason + "%"
	_, err := t.Exec("DELETE FROM skipped WHERE reason "+like+" ? AND num <= (SELECT num FROM skipped WHERE reason "+like+" ? ORDER BY num DESC LIMIT 1 OFFSET ?)", kind, kind, maxListed)
	return err
}

// Said gives the digest of what a message says.
func (s *inbox) Said(ctx context.Context, chat channels.Address, id channels.MessageID) (digest string, err error) {
	_, err = engine.ReadOne(ctx, s.db, "SELECT digest FROM seen WHERE msg = ? AND address IN (?, "+move.Before+") AND event = ?", []any{column.Key(string(id)), column.Key(column.Chat(chat).String()), move.BeforeOf(chat), string(channels.Message)},
		func(r engine.Row) error { digest = r.Str(0); return nil })
	return digest, err
}

// Cursor gives the cursor that was committed last for an account.
func (s *inbox) Cursor(ctx context.Context, kind channels.Kind, id channels.AccountID) (cursor string, err error) {
	_, err = engine.ReadOne(ctx, s.db, "SELECT position FROM cursors WHERE account = ?", []any{column.Account(kind, id)}, func(r engine.Row) error { cursor = r.Str(0); return nil })
	return cursor, err
}

// Skipped lists the newest unreadable events. The newest 1,000 are kept, and the newest 1,000 that were quarantined, for 30 days.
func (s *inbox) Skipped(ctx context.Context, limit int) ([]sessions.SkippedEvent, error) {
	return engine.ReadList(ctx, s.db, "SELECT at, address, msg, reason, raw FROM skipped ORDER BY num DESC LIMIT ?", []any{engine.Limit(limit, 50)}, func(r engine.Row) (sessions.SkippedEvent, error) {
		return sessions.SkippedEvent{Time: r.Time(0), Address: column.Address(r.Str(1)), ID: channels.MessageID(r.Str(2)), Reason: r.Str(3), Raw: r.Str(4)}, nil
	})
}

// CountQuarantined counts the events that were quarantined since a time.
func (s *inbox) CountQuarantined(ctx context.Context, since time.Time) (int, error) {
	n, err := engine.ReadNumber(ctx, s.db, "SELECT count(*) FROM skipped WHERE reason LIKE ? AND at >= ?", sessions.QuarantineReason+"%", engine.Ms(since))
	return int(n), err
}
