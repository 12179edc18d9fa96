package sqlstore

import (
	"context"
	"errors"
	"fmt"

	"parley/sessions"
)

// digest is what a summary's row holds in its body.
type digest struct {
	Text     string               `json:"text"`
	Messages int                  `json:"messages,omitempty"`
	Before   int                  `json:"before,omitempty"`
	Context  int                  `json:"context,omitempty"`
	Run      sessions.RunID       `json:"run,omitempty"`
	Judged   []sessions.Judgement `json:"judged,omitempty"`
}

// Compact keeps a summary of the older part of a transcript.
func (s *Store) Compact(ctx context.Context, x sessions.Summary) error {
	body, err := encodeSummary(x)
	if err != nil {
		return err
	}
	return s.write(ctx, "Compact", func(t *tx) error { return t.compact(x, body) })
}

func encodeSummary(x sessions.Summary) (string, error) {
	if x.ID == "" {
		return "", errors.New("a summary needs its id")
	}
	body, err := marshal(digest{Text: x.Text, Messages: x.Messages, Before: x.Before, Context: x.Context, Run: x.Run, Judged: x.Judged})
	if err != nil {
		return "", fmt.Errorf("summary %s: %w", x.ID, err)
	}
	return body, nil
}

func (t *tx) compact(x sessions.Summary, body string) error {
	known, err := t.one("SELECT 1 FROM summaries WHERE id = ?", []any{x.ID}, func(row) error { return nil })
	if err != nil || known {
		return err
	}
	num, err := t.conn.number(t.ctx, "SELECT num FROM transcripts WHERE id = ? AND gone = 0", string(x.Session))
	if err != nil {
		return err
	}
	if num == 0 {
		return missing("session", x.Session)
	}
	number, upto := int64(0), int64(0)
	if _, err := t.one("SELECT number, upto FROM summaries WHERE transcript = ? ORDER BY number DESC LIMIT 1", []any{num}, func(r row) error {
		number, upto = r.int(0), r.int(1)
		return nil
	}); err != nil {
		return err
	}
	if x.Upto <= upto {
		return wrong("session %s is summed up to message %d already", x.Session, upto)
	}
	at := x.Time
	if at.IsZero() {
		at = t.now
	}
	t.n.summary++
	if _, err := t.exec("INSERT INTO summaries (num, id, transcript, number, upto, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)", t.n.summary, x.ID, num, number+1, x.Upto, ms(at), body); err != nil {
		return err
	}
	_, err = t.exec("UPDATE sessions SET context = ? WHERE id = ?", x.Context, string(x.Session))
	return err
}

// Summary gives a transcript's newest summary.
func (s *Store) Summary(ctx context.Context, id sessions.ID) (x sessions.Summary, ok bool, err error) {
	err = s.read(ctx, func(c *conn) (err error) {
		ok, err = c.one(ctx, "SELECT s.id, s.number, s.upto, s.at, s.body FROM transcripts t JOIN summaries s ON s.transcript = t.num WHERE t.id = ? AND t.gone = 0 ORDER BY s.number DESC LIMIT 1", []any{string(id)}, func(r row) error {
			var d digest
			if err := decode(r.str(4), &d); err != nil {
				return fmt.Errorf("summary %s: %w", r.str(0), err)
			}
			x = sessions.Summary{ID: r.str(0), Session: id, Number: int(r.int(1)), Upto: r.int(2), Time: r.time(3), Text: d.Text, Messages: d.Messages, Before: d.Before, Context: d.Context, Run: d.Run, Judged: d.Judged}
			return nil
		})
		return err
	})
	return x, ok, err
}
