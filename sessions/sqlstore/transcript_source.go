package sqlstore

import (
	"context"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/transcriptfile"
)

// transcriptSource reads what the files of transcripts are made of. It implements transcriptfile.Source.
type transcriptSource struct{ db *engine.DB }

const fileColumns = "SELECT num, id, key, agent, created FROM transcripts WHERE "

func scanTranscript(r engine.Row) transcriptfile.Transcript {
	return transcriptfile.Transcript{Num: r.Int(0), ID: sessions.ID(r.Str(1)), Key: sessions.Key(r.Str(2)), Agent: sessions.AgentID(r.Str(3)), Created: r.Time(4)}
}

// Transcript implements transcriptfile.Source.
func (x transcriptSource) Transcript(ctx context.Context, num int64) (t transcriptfile.Transcript, found bool, err error) {
	err = x.db.Read(ctx, func(c *engine.Conn) error {
		found, err = c.One(ctx, fileColumns+"num = ? AND gone = 0", []any{num}, func(r engine.Row) error { t = scanTranscript(r); return nil })
		return err
	})
	return t, found, err
}

// TranscriptOf implements transcriptfile.Source.
func (x transcriptSource) TranscriptOf(ctx context.Context, id sessions.ID) (t transcriptfile.Transcript, err error) {
	err = x.db.Read(ctx, func(c *engine.Conn) error {
		found, err := c.One(ctx, fileColumns+"id = ? AND gone = 0", []any{string(id)}, func(r engine.Row) error { t = scanTranscript(r); return nil })
		if err == nil && !found {
			err = engine.NotFound("session", id)
		}
		return err
	})
	return t, err
}

// MessageID implements transcriptfile.Source.
func (x transcriptSource) MessageID(ctx context.Context, transcript, seq int64) (id string, found bool, err error) {
	err = x.db.Read(ctx, func(c *engine.Conn) error {
		found, err = c.One(ctx, "SELECT id FROM messages WHERE seq = ? AND transcript = ?", []any{seq, transcript}, func(r engine.Row) error { id = r.Str(0); return nil })
		return err
	})
	return id, found, err
}

// Messages implements transcriptfile.Source.
func (x transcriptSource) Messages(ctx context.Context, transcript, after int64, limit int) (out []transcriptfile.Message, err error) {
	err = x.db.Read(ctx, func(c *engine.Conn) error {
		out = nil
		return c.Each(ctx, "SELECT seq, body FROM messages WHERE transcript = ? AND seq > ? ORDER BY seq LIMIT ?", []any{transcript, after, limit}, func(r engine.Row) error {
			out = append(out, transcriptfile.Message{Seq: r.Int(0), Body: r.Str(1)})
			return nil
		})
	})
	return out, err
}

// Deliveries implements transcriptfile.Source.
func (x transcriptSource) Deliveries(ctx context.Context, transcript, lo, hi int64) (out []transcriptfile.Delivery, err error) {
	err = x.db.Read(ctx, func(c *engine.Conn) error {
		out = nil
		return c.Each(ctx, "SELECT "+deliveryColumns+", message_seq FROM deliveries WHERE message_seq BETWEEN ? AND ? AND message_seq > 0 AND transcript = ? ORDER BY message_seq, seq",
			[]any{lo, hi, transcript}, func(r engine.Row) error {
				d, _, err := scanDelivery(r)
				out = append(out, transcriptfile.Delivery{Delivery: d, MessageSeq: r.Int(15)})
				return err
			})
	})
	return out, err
}
