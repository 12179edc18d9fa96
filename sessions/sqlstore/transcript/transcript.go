package transcript

import (
	"context"
	"math"
	"slices"

	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

// Store implements the methods of sessions.Store that are about transcripts.
type Store struct {
	db     *engine.DB
	rows   *Rows
	places places
}

// New returns a store over rows of the same database.
func New(db *engine.DB, rows *Rows) *Store { return &Store{db: db, rows: rows} }

// The columns of scanMessage, and of scanForPrompt.
const (
	messageColumns = "seq, body"
	promptColumns  = "seq, body, opaque"
)

// scanMessage reads a message as everybody but its provider does.
func scanMessage(r engine.Row) (sessions.Message, error) {
	m, err := column.Message(r.Int(0), r.Str(1))
	return m.Readable(), err
}

// scanForPrompt reads a message with what its provider wants back.
func scanForPrompt(r engine.Row) (sessions.Message, error) {
	m, err := column.Message(r.Int(0), r.Str(1))
	if err == nil {
		decodeOpaque(r.Str(2), &m)
	}
	return m, err
}

// Tail gives the newest messages of a transcript, oldest first, with their numbers and the marks of what was to leave. Transcripts from before a
// reset are found by their own id.
func (s *Store) Tail(ctx context.Context, id sessions.ID, q sessions.TailQuery) (out []sessions.Message, err error) {
	columns, scan := messageColumns, scanMessage
	if q.Opaque {
		columns, scan = promptColumns, scanForPrompt
	}
	query := "SELECT " + columns + " FROM messages WHERE transcript = ? AND seq > ? AND seq < ? "
	if !q.IncludeTool {
		query += "AND role <> 'toolResult' "
	}
	query += "ORDER BY seq DESC LIMIT ? OFFSET ?"
	before := q.Before
	if before <= 0 {
		before = math.MaxInt64
	}
	err = s.db.Read(ctx, func(c *engine.Conn) error {
		out = nil
		var num int64
		of := ""
		found, err := c.One(ctx, "SELECT num, key FROM transcripts WHERE id = ? AND gone = 0", []any{string(id)}, func(r engine.Row) error { num, of = r.Int(0), r.Str(1); return nil })
		if err != nil {
			return err
		}
		if !found || q.Of != "" && of != string(q.Of) {
			return engine.NotFound("session", id)
		}
		before := before
		if q.BeforeNumber > 0 {
			seq, err := s.places.seq(ctx, c, num, q.BeforeNumber)
			if err != nil {
				return err
			}
			before = min(before, seq)
		}
		err = c.Each(ctx, query, []any{num, q.After, before, engine.Limit(q.Limit, 200), max(q.Offset, 0)}, func(r engine.Row) error {
			m, err := scan(r)
			out = append(out, m)
			return err
		})
		if err != nil {
			return err
		}
		slices.Reverse(out)
		if !q.Opaque {
			if err := s.places.fill(ctx, c, num, out, q.IncludeTool); err != nil {
				return err
			}
		}
		return fillMarks(ctx, c, out)
	})
	return out, err
}

// fillMarks says for each assistant message what became of its deliveries (contract T2).
func fillMarks(ctx context.Context, c *engine.Conn, msgs []sessions.Message) error {
	at := map[int64]int{}
	for i, m := range msgs {
		if m.Role == sessions.Assistant {
			at[m.Seq] = i
		}
	}
	if len(at) == 0 {
		return nil
	}
	// A range, not a list: the numbers of one transcript lie close together, and one statement serves all.
	lo, hi := msgs[0].Seq, msgs[len(msgs)-1].Seq
	if hi-lo > 20*int64(len(at))+1000 { // other sessions were busier: ask for each
		for seq := range at {
			if err := fillRange(ctx, c, msgs, at, seq, seq); err != nil {
				return err
			}
		}
		return nil
	}
	return fillRange(ctx, c, msgs, at, lo, hi)
}

func fillRange(ctx context.Context, c *engine.Conn, msgs []sessions.Message, at map[int64]int, lo, hi int64) error {
	return c.Each(ctx, `SELECT d.message_seq, d.id, d.state, d.address, d.result, CASE WHEN t.key = d.session THEN 1 ELSE 0 END
		FROM deliveries d LEFT JOIN transcripts t ON t.num = d.transcript WHERE d.message_seq BETWEEN ? AND ? AND d.message_seq > 0 ORDER BY d.message_seq, d.seq`, []any{lo, hi}, func(r engine.Row) error {
		i, ok := at[r.Int(0)]
		if !ok {
			return nil
		}
		var res struct {
			Verdict *policy.Verdict `json:"verdict"`
			Error   string          `json:"error"`
		}
		if err := column.Decode(r.Str(4), &res); err != nil {
			return err
		}
		m := sessions.Mark{Delivery: sessions.DeliveryID(r.Str(1)), State: sessions.DeliveryState(r.Str(2)), To: r.Str(3)}
		if r.Int(5) == 1 { // another session's rule and trouble are not told to those who read this one (contract V4)
			m.Rule = rule(res.Verdict)
			m = m.WithError(res.Error)
		}
		msgs[i].SetDeliveries(append(msgs[i].Deliveries(), m))
		return nil
	})
}

func rule(v *policy.Verdict) string {
	if v == nil {
		return ""
	}
	return v.Rule
}

// Transcripts gives the conversations of a session that have messages, newest first: the current one and those that resets ended.
func (s *Store) Transcripts(ctx context.Context, key sessions.Key, limit int) ([]sessions.Transcript, error) {
	return engine.ReadList(ctx, s.db, "SELECT t.id, t.created FROM transcripts t WHERE t.key = ? AND t.gone = 0 AND EXISTS (SELECT 1 FROM messages m WHERE m.transcript = t.num) ORDER BY t.num DESC LIMIT ?",
		[]any{string(key), engine.Limit(limit, 50)}, func(r engine.Row) (sessions.Transcript, error) {
			return sessions.Transcript{ID: sessions.ID(r.Str(0)), Began: r.Time(1)}, nil
		})
}

// Steps gives the messages that a run has put into a transcript behind one, with what their provider wants back, oldest first.
func Steps(ctx context.Context, c *engine.Conn, transcript, run, after int64) ([]sessions.Message, error) {
	return engine.List(ctx, c, "SELECT "+promptColumns+" FROM messages WHERE transcript = ? AND seq > ? AND run = ? ORDER BY seq", []any{transcript, after, run}, scanForPrompt)
}
