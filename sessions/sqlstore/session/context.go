package session

import (
	"slices"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// ContextLines keeps group talk that is shown at a session's next turn.
type ContextLines struct {
	sessions *Rows
	numbers  *engine.Sequence
}

// NewContextLines returns the lines of a database.
func NewContextLines(db *engine.DB, sessions *Rows) *ContextLines {
	return &ContextLines{sessions, db.Sequence("SELECT max(seq) FROM overheard")}
}

// Append keeps a line for the session's next turn, and lets the oldest of its session go.
func (s *ContextLines) Append(t *engine.Tx, x sessions.ContextLine) error {
	if done, err := s.replace(t, x); err != nil || done {
		return err
	}
	if err := s.insert(t, x); err != nil {
		return err
	}
	mine := " AND event NOT IN (?, ?)" // talk and what the host says are bounded apart
	if x.FromHost() {
		mine = " AND event IN (?, ?)"
	}
	host := []any{string(sessions.ExchangeStopped), string(sessions.PostedElsewhere)}
	args := slices.Concat([]any{string(x.Key)}, host, []any{string(x.Key)}, host, []any{max(x.Keep, 0)})
	_, err := t.Exec("DELETE FROM overheard WHERE key = ?"+mine+" AND seq <= (SELECT seq FROM overheard WHERE key = ?"+mine+" ORDER BY seq DESC LIMIT 1 OFFSET ?)", args...)
	return err
}

func (s *ContextLines) insert(t *engine.Tx, x sessions.ContextLine) error {
	at := x.Time
	if at.IsZero() {
		at = t.Now
	}
	event := x.Event
	if event == channels.Message {
		event = ""
	}
	_, err := t.Exec("INSERT INTO overheard (seq, key, event, sender, name, message, at, body, about) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		s.numbers.Next(), string(x.Key), string(event), x.Sender, x.Name, string(x.Message), engine.Ms(at), x.Text, x.About)
	return err
}

// PutBack puts the lines that a withdrawn message would have brought along in front of later ones.
func (s *ContextLines) PutBack(t *engine.Tx, run sessions.Run) error {
	var lines []sessions.ContextLine
	for _, b := range run.Input.Content {
		lines = append(lines, b.ContextLines()...)
	}
	if brought := run.Brought(); brought != nil {
		lines = append(lines, brought.ContextLines()...)
	}
	if len(lines) == 0 {
		return nil
	}
	if at, err := s.sessions.Get(t, run.Key); err != nil || at.ID != run.Session { // of a transcript that is over
		return err
	}
	since, err := engine.List(t.Ctx, t.Conn, overheardOf, []any{string(run.Key)}, scanOverheard(run.Key))
	if err != nil {
		return err
	}
	if _, err := t.Exec("DELETE FROM overheard WHERE key = ?", string(run.Key)); err != nil {
		return err
	}
	for _, l := range append(lines, since...) {
		l.Key = run.Key
		if err := s.insert(t, l); err != nil {
			return err
		}
	}
	return nil
}

// replace lets an event change the line that is there of its message. done: nothing is left to be said.
func (s *ContextLines) replace(t *engine.Tx, x sessions.ContextLine) (done bool, err error) {
	if x.Message == "" {
		return false, nil
	}
	n := int64(0)
	switch x.Event {
	case channels.Edited: // what was said, in whose place an edit may stand that came before it; or an edit
		by := []any{string(x.Key), string(x.Message), x.Sender}
		if n, err = t.Exec("UPDATE overheard SET body = ? WHERE key = ? AND message = ? AND sender = ? AND event IN ('', 'byhand')", append([]any{x.Text}, by...)...); err != nil {
			return false, err
		}
		if n > 0 {
			_, err = t.Exec("DELETE FROM overheard WHERE key = ? AND message = ? AND sender = ? AND event = 'edited'", by...)
		} else {
			n, err = t.Exec("UPDATE overheard SET body = ? WHERE key = ? AND message = ? AND sender = ? AND event = 'edited'", append([]any{x.Text}, by...)...)
		}
	case channels.Deleted: // by its author, or nobody knows who: what was said; of an edit it is still told that the message is gone
		by := []any{string(x.Key), string(x.Message), x.Sender}
		if n, err = t.Exec("DELETE FROM overheard WHERE key = ? AND message = ? AND event IN ('', 'byhand') AND ? IN (sender, '')", by...); err == nil && n == 0 {
			_, err = t.Exec("DELETE FROM overheard WHERE key = ? AND message = ? AND event IN ('edited', 'deleted') AND ? IN (sender, '')", by...)
		}
	case channels.Reacted: // taken away before anybody was told: nothing happened
		n, err = t.Exec("DELETE FROM overheard WHERE key = ? AND message = ? AND event = 'reacted' AND sender = ?", string(x.Key), string(x.Message), x.Sender)
		if x.Text != "" {
			n = 0
		}
	}
	return n > 0, err
}

// Consume removes the lines that a turn is shown now; last is the newest of them.
func (s *ContextLines) Consume(t *engine.Tx, key sessions.Key, last int64) error {
	_, err := t.Exec("DELETE FROM overheard WHERE key = ? AND seq <= ?", string(key), last)
	return err
}

const overheardOf = "SELECT seq, sender, name, message, at, body, event, about FROM overheard WHERE key = ? ORDER BY seq"

func scanOverheard(key sessions.Key) func(engine.Row) (sessions.ContextLine, error) {
	return func(r engine.Row) (sessions.ContextLine, error) {
		return sessions.ContextLine{Seq: r.Int(0), Key: key, Sender: r.Str(1), Name: r.Str(2), Message: channels.MessageID(r.Str(3)), Time: r.Time(4), Text: r.Str(5), Event: channels.Event(r.Str(6)), About: r.Str(7)}, nil
	}
}
