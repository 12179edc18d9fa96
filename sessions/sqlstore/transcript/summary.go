package transcript

import (
	"context"
	"errors"
	"fmt"

	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
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
	body, err := EncodeSummary(x)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, "Compact", func(t *engine.Tx) error { return s.rows.Compact(t, x, body) })
}

// EncodeSummary writes the body of a summary.
func EncodeSummary(x sessions.Summary) (string, error) {
	if x.ID == "" {
		return "", errors.New("a summary needs its id")
	}
	body, err := column.JSON(digest{Text: x.Text, Messages: x.Messages, Before: x.Before, Context: x.Context, Run: x.Run, Judged: x.Judged})
	if err != nil {
		return "", fmt.Errorf("summary %s: %w", x.ID, err)
	}
	return body, nil
}

// Compact keeps a summary with its body, once.
func (s *Rows) Compact(t *engine.Tx, x sessions.Summary, body string) error {
	known, err := t.Exists("SELECT 1 FROM summaries WHERE id = ?", x.ID)
	if err != nil || known {
		return err
	}
	num, err := t.Conn.Number(t.Ctx, "SELECT num FROM transcripts WHERE id = ? AND gone = 0", string(x.Session))
	if err != nil {
		return err
	}
	if num == 0 {
		return engine.NotFound("session", x.Session)
	}
	number, upto := int64(0), int64(0)
	if _, err := t.One("SELECT number, upto FROM summaries WHERE transcript = ? ORDER BY number DESC LIMIT 1", []any{num}, func(r engine.Row) error {
		number, upto = r.Int(0), r.Int(1)
		return nil
	}); err != nil {
		return err
	}
	if x.Upto <= upto {
		return engine.Conflict("session %s is already summarized up to message %d", x.Session, upto)
	}
	at := x.Time
	if at.IsZero() {
		at = t.Now
	}
	if _, err := t.Exec("INSERT INTO summaries (num, id, transcript, number, upto, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)", s.summaries.Next(), x.ID, num, number+1, x.Upto, engine.Ms(at), body); err != nil {
		return err
	}
	_, err = t.Exec("UPDATE sessions SET context = ? WHERE id = ?", x.Context, string(x.Session))
	return err
}

// Summary gives a transcript's newest summary.
func (s *Store) Summary(ctx context.Context, id sessions.ID) (x sessions.Summary, ok bool, err error) {
	err = s.db.Read(ctx, func(c *engine.Conn) (err error) {
		ok, err = c.One(ctx, "SELECT s.id, s.number, s.upto, s.at, s.body FROM transcripts t JOIN summaries s ON s.transcript = t.num WHERE t.id = ? AND t.gone = 0 ORDER BY s.number DESC LIMIT 1", []any{string(id)}, func(r engine.Row) error {
			var d digest
			if err := column.Decode(r.Str(4), &d); err != nil {
				return fmt.Errorf("summary %s: %w", r.Str(0), err)
			}
			x = sessions.Summary{ID: r.Str(0), Session: id, Number: int(r.Int(1)), Upto: r.Int(2), Time: r.Time(3), Text: d.Text, Messages: d.Messages, Before: d.Before, Context: d.Context, Run: d.Run, Judged: d.Judged}
			return nil
		})
		return err
	})
	return x, ok, err
}
