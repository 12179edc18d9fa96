package transcript

import (
	"context"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/transcriptfile"
)

// Source reads what the files of transcripts are made of, deliveries excepted.
type Source struct{ DB *engine.DB }

const fileColumns = "SELECT num, id, key, agent, created FROM transcripts WHERE "

func scanTranscript(r engine.Row) transcriptfile.Transcript {
	return transcriptfile.Transcript{Num: r.Int(0), ID: sessions.ID(r.Str(1)), Key: sessions.Key(r.Str(2)), Agent: sessions.AgentID(r.Str(3)), Created: r.Time(4)}
}

// Transcript implements transcriptfile.Source.
func (x Source) Transcript(ctx context.Context, num int64) (t transcriptfile.Transcript, found bool, err error) {
	err = x.DB.Read(ctx, func(c *engine.Conn) error {
		found, err = c.One(ctx, fileColumns+"num = ? AND gone = 0", []any{num}, func(r engine.Row) error { t = scanTranscript(r); return nil })
		return err
	})
	return t, found, err
}

// TranscriptOf implements transcriptfile.Source.
func (x Source) TranscriptOf(ctx context.Context, id sessions.ID) (t transcriptfile.Transcript, err error) {
	err = x.DB.Read(ctx, func(c *engine.Conn) error {
		found, err := c.One(ctx, fileColumns+"id = ? AND gone = 0", []any{string(id)}, func(r engine.Row) error { t = scanTranscript(r); return nil })
		if err == nil && !found {
			err = engine.NotFound("session", id)
		}
		return err
	})
	return t, err
}

// MessageID implements transcriptfile.Source.
func (x Source) MessageID(ctx context.Context, transcript, seq int64) (id string, found bool, err error) {
	err = x.DB.Read(ctx, func(c *engine.Conn) error {
		found, err = c.One(ctx, "SELECT id FROM messages WHERE seq = ? AND transcript = ?", []any{seq, transcript}, func(r engine.Row) error { id = r.Str(0); return nil })
		return err
	})
	return id, found, err
}

// Messages implements transcriptfile.Source.
func (x Source) Messages(ctx context.Context, transcript, after int64, limit int) ([]transcriptfile.Message, error) {
	return engine.ReadList(ctx, x.DB, "SELECT seq, body FROM messages WHERE transcript = ? AND seq > ? ORDER BY seq LIMIT ?", []any{transcript, after, limit}, func(r engine.Row) (transcriptfile.Message, error) {
		return transcriptfile.Message{Seq: r.Int(0), Body: r.Str(1)}, nil
	})
}
