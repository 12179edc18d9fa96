package sqlstore

import (
	"context"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

// BeginPreview notes a preview before it is sent.
func (s *deliveries) BeginPreview(ctx context.Context, p sessions.Preview) error {
	return s.write(ctx, "BeginPreview", func(t *tx) error {
		if p.Known && p.To.Type == channels.Direct {
			if known, err := s.chats.opened(t, p.To); err != nil {
				return err
			} else if !known {
				return engine.Conflict("the account has never written in %s", p.To)
			}
		}
		n, err := t.Exec("INSERT INTO previews (run, session, address, key, state, msg, text, quoted, at) VALUES (?, ?, ?, ?, ?, '', ?, ?, ?) ON CONFLICT (run) DO NOTHING",
			string(p.Run), string(p.Session), p.To.String(), p.Key, string(sessions.PreviewSending), p.Text, string(p.ReplyTo), engine.Ms(t.Now))
		if err != nil || n == 0 {
			return err
		}
		_, err = s.chats.open(t, p.To, sessions.Reply, t.Now, sessions.FirstContactQuota{})
		return err
	})
}

// ShowPreview notes the platform's id of a preview.
func (s *deliveries) ShowPreview(ctx context.Context, run sessions.RunID, id channels.MessageID) error {
	return s.write(ctx, "ShowPreview", func(t *tx) error {
		n, err := t.Exec("UPDATE previews SET state = ?, msg = ? WHERE run = ?", string(sessions.PreviewShown), string(id), string(run))
		if err == nil && n == 0 {
			err = engine.NotFound("the preview of run", run)
		}
		return err
	})
}

const previewColumns = "run, session, address, key, state, msg, text, quoted"

func scanPreview(r engine.Row) (sessions.Preview, error) {
	return sessions.Preview{Run: sessions.RunID(r.Str(0)), Session: sessions.Key(r.Str(1)), To: column.Address(r.Str(2)), Key: r.Str(3), State: sessions.PreviewState(r.Str(4)),
		ID: channels.MessageID(r.Str(5)), Text: r.Str(6), ReplyTo: channels.MessageID(r.Str(7))}, nil
}

// Previews gives the previews that were begun and not ended.
func (s *deliveries) Previews(ctx context.Context) ([]sessions.Preview, error) {
	return engine.ReadList(ctx, s.db, "SELECT "+previewColumns+" FROM previews ORDER BY run", nil, scanPreview)
}

// EndPreview forgets a preview.
func (s *deliveries) EndPreview(ctx context.Context, run sessions.RunID) error {
	return s.write(ctx, "EndPreview", func(t *tx) error {
		_, err := t.Exec("DELETE FROM previews WHERE run = ?", string(run))
		return err
	})
}
