package sqlstore

import (
	"context"

	"parley/channels"
	"parley/sessions"
)

// overhear keeps a line of group talk, and lets the oldest of its session go.
func (t *tx) overhear(x sessions.Overheard) error {
	at := x.Time
	if at.IsZero() {
		at = t.now
	}
	t.n.overheard++
	if _, err := t.exec("INSERT INTO overheard (seq, key, sender, name, message, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
		t.n.overheard, string(x.Key), x.Sender, x.Name, string(x.Message), ms(at), x.Text); err != nil {
		return err
	}
	_, err := t.exec("DELETE FROM overheard WHERE key = ? AND seq <= (SELECT seq FROM overheard WHERE key = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)", string(x.Key), string(x.Key), max(x.Keep, 0))
	return err
}

// told removes the lines that a turn is shown now; last is the newest of them.
func (t *tx) told(key sessions.Key, last int64) error {
	_, err := t.exec("DELETE FROM overheard WHERE key = ? AND seq <= ?", string(key), last)
	return err
}

// Overheard gives the group talk that the session's next turn is to be shown, oldest first.
func (s *Store) Overheard(ctx context.Context, key sessions.Key) (out []sessions.Overheard, err error) {
	err = s.read(ctx, func(c *conn) error {
		out = nil
		return c.each(ctx, "SELECT seq, sender, name, message, at, body FROM overheard WHERE key = ? ORDER BY seq", []any{string(key)}, func(r row) error {
			out = append(out, sessions.Overheard{Seq: r.int(0), Key: key, Sender: r.str(1), Name: r.str(2), Message: channels.MessageID(r.str(3)), Time: r.time(4), Text: r.str(5)})
			return nil
		})
	})
	return out, err
}
