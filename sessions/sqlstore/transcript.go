package sqlstore

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/transcriptfile"
)

// transcripts keeps messages, their summaries and their places.
type transcripts struct {
	repository

	ledger *ledger
	index  *searchIndex
	files  *transcriptfile.Writer

	places  places
	dropped dropLog
}

// written is a message that is encoded for the store.
type written struct {
	id, role string
	body     string   // the message in JSON, without what the store fills in
	opaque   string   // what its provider wants back, in JSON; "" = nothing
	words    []string // nil for tool results

	// Of an assistant message that was paid for.
	usage *sessions.Usage
	model string
	at    time.Time
}

// encodeMessage encodes a message. Its run is filled in where it has none.
func (s *transcripts) encodeMessage(m sessions.Message, run sessions.RunID) (written, error) {
	if m.ID == "" {
		return written{}, fmt.Errorf("run %s: a message without an id", run)
	}
	if m.Run == "" {
		m.Run = run
	}
	m = s.bounded(m, m.Run)
	m.Seq, m.Number, m.Deliveries = 0, 0, nil
	m.Time = engine.ClampTime(m.Time)
	body, err := marshal(m)
	if err != nil {
		return written{}, fmt.Errorf("message %s: %w", m.ID, err)
	}
	w := written{id: m.ID, role: string(m.Role), body: body}
	if w.opaque, err = encodeOpaque(m); err != nil {
		return written{}, fmt.Errorf("message %s: %w", m.ID, err)
	}
	if m.Role == sessions.User || m.Role == sessions.Assistant {
		w.words = words(m.Text())
	}
	if m.Role == sessions.Assistant {
		w.usage, w.model, w.at = m.Usage, m.Model, m.Time
	}
	return w, nil
}

func (s *transcripts) writeAll(run sessions.RunID, msgs []sessions.Message) ([]written, error) {
	out := make([]written, len(msgs))
	for i, m := range msgs {
		var err error
		if out[i], err = s.encodeMessage(m, run); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// shelf is where a message goes: a transcript, and what finds it there.
type shelf struct {
	transcript int64
	run        int64
	by         sessions.RunID
	key        sessions.Key
	agent      sessions.AgentID
	session    sessions.ID
}

// append puts messages at the end of a transcript. One that is there already is left alone. at maps ids to numbers of what is new.
func (s *transcripts) append(t *tx, to shelf, msgs []written, at map[string]int64) error {
	for _, m := range msgs {
		var n int64
		var err error
		seq := t.n.message + 1
		if t.Dialect.Postgres {
			n, err = t.Exec("INSERT INTO messages (seq, id, transcript, run, role, body, opaque, words) VALUES (?, ?, ?, ?, ?, ?, ?, array_to_tsvector(?)) ON CONFLICT (id) DO NOTHING",
				seq, m.id, to.transcript, to.run, m.role, m.body, m.opaque, indexed(m.words, to))
		} else {
			n, err = t.Exec("INSERT INTO messages (seq, id, transcript, run, role, body, opaque) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
				seq, m.id, to.transcript, to.run, m.role, m.body, m.opaque)
		}
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		t.n.message = seq
		if at != nil {
			at[m.id] = seq
		}
		if m.usage != nil {
			if err := s.ledger.charge(t, m, to); err != nil {
				return err
			}
		}
		if !t.Dialect.Postgres && len(m.words) > 0 {
			t.words = append(t.words, entry{seq: seq, text: strings.Join(indexed(m.words, to), " ")})
		}
		line, err := transcriptfile.MessageLine(to.transcript, seq, m.body)
		if err != nil {
			return fmt.Errorf("message %s: %w", m.id, err)
		}
		t.lines = append(t.lines, line)
	}
	return nil
}

// The columns of scanMessage, and of scanForPrompt.
const (
	messageColumns = "seq, body"
	promptColumns  = "seq, body, opaque"
)

// scanMessage reads a message as everybody but its provider does.
func scanMessage(r engine.Row) (sessions.Message, error) {
	m, err := scanBody(r)
	return m.Readable(), err
}

// scanForPrompt reads a message with what its provider wants back.
func scanForPrompt(r engine.Row) (sessions.Message, error) {
	m, err := scanBody(r)
	if err == nil {
		decodeOpaque(r.Str(2), &m)
	}
	return m, err
}

func scanBody(r engine.Row) (m sessions.Message, err error) {
	if err = decode(r.Str(1), &m); err != nil {
		return m, fmt.Errorf("message %d: %w", r.Int(0), err)
	}
	m.Seq = r.Int(0)
	return m, nil
}

// Tail gives the newest messages of a transcript, oldest first, with their numbers and the marks of what was to leave. Transcripts from before a
// reset are found by their own id.
func (s *transcripts) Tail(ctx context.Context, id sessions.ID, q sessions.TailQuery) (out []sessions.Message, err error) {
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
	err = s.read(ctx, func(c *engine.Conn) error {
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
		err = c.Each(ctx, query, []any{num, q.After, before, orDefault(q.Limit, 200), max(q.Offset, 0)}, func(r engine.Row) error {
			m, err := scan(r)
			out = append(out, m)
			return err
		})
		if err != nil {
			return err
		}
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
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
		var res result
		if err := decode(r.Str(4), &res); err != nil {
			return err
		}
		m := sessions.Mark{Delivery: sessions.DeliveryID(r.Str(1)), State: sessions.DeliveryState(r.Str(2)), To: r.Str(3)}
		if r.Int(5) == 1 { // another session's rule is not told to those who read this one (contract V4)
			m.Rule = rule(res.Verdict)
		}
		msgs[i].Deliveries = append(msgs[i].Deliveries, m)
		return nil
	})
}

func rule(v *policy.Verdict) string {
	if v == nil {
		return ""
	}
	return v.Rule
}
