package transcript

import (
	"fmt"
	"log/slog"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/ledger"
	"parley/sessions/sqlstore/search"
	"parley/sessions/sqlstore/transcriptfile"
)

// Rows writes transcripts and their messages, in transactions of others.
type Rows struct {
	log    *slog.Logger
	ledger *ledger.Rows
	index  *search.Index
	files  *transcriptfile.Pending

	numbers, messages, summaries *engine.Sequence

	dropped dropLog
	garbage garbage
}

// NewRows returns the rows of a database.
func NewRows(db *engine.DB, log *slog.Logger, ledger *ledger.Rows, index *search.Index, files *transcriptfile.Pending) *Rows {
	s := &Rows{log: log, ledger: ledger, index: index, files: files, numbers: db.Sequence("SELECT max(num) FROM transcripts"),
		// A number that was indexed and deleted must not come back.
		messages:  db.Sequence("SELECT max(n) FROM (SELECT max(seq) AS n FROM messages UNION ALL " + search.Indexed + ") AS given"),
		summaries: db.Sequence("SELECT max(num) FROM summaries")}
	db.Attach(&s.garbage)
	return s
}

// Last returns the number of the newest message of all.
func (s *Rows) Last() int64 { return s.messages.Last() }

// Create makes an empty transcript and returns its number.
func (s *Rows) Create(t *engine.Tx, id sessions.ID, key sessions.Key, agent sessions.AgentID) (num int64, err error) {
	num = s.numbers.Next()
	_, err = t.Exec("INSERT INTO transcripts (num, id, key, agent, created) VALUES (?, ?, ?, ?, ?)", num, string(id), string(key), string(agent), engine.Ms(t.Now))
	return num, err
}

// Encoded is a message that is encoded for the store.
type Encoded struct {
	Usage *sessions.Usage // of an assistant message that is charged; nil = it is not

	id, role string
	body     string   // the message in JSON, without what the store fills in
	readable string   // and as its file has it
	opaque   string   // what its provider wants back, in JSON; "" = nothing
	words    []string // nil for tool results
	model    string
	at       time.Time
}

// Encode encodes messages, so that the writer only has to write. Their run is filled in where they have none.
func (s *Rows) Encode(run sessions.RunID, msgs ...sessions.Message) ([]Encoded, error) {
	out := make([]Encoded, len(msgs))
	for i, m := range msgs {
		var err error
		if out[i], err = s.encode(m, run); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *Rows) encode(m sessions.Message, run sessions.RunID) (Encoded, error) {
	if m.ID == "" {
		return Encoded{}, fmt.Errorf("run %s: a message without an id", run)
	}
	if m.Run == "" {
		m.Run = run
	}
	m = s.bounded(m, m.Run)
	m.Seq, m.Number = 0, 0
	m.SetDeliveries(nil)
	m.Time = engine.ClampTime(m.Time)
	body, err := column.JSON(sessions.StoredMessage(m))
	if err != nil {
		return Encoded{}, fmt.Errorf("message %s: %w", m.ID, err)
	}
	w := Encoded{id: m.ID, role: string(m.Role), body: body}
	if w.readable, err = transcriptfile.Readable(m); err != nil {
		return Encoded{}, fmt.Errorf("message %s: %w", m.ID, err)
	}
	if w.opaque, err = encodeOpaque(m); err != nil {
		return Encoded{}, fmt.Errorf("message %s: %w", m.ID, err)
	}
	if m.Role == sessions.User || m.Role == sessions.Assistant {
		w.words = search.Words(m.Text())
	}
	if m.Role == sessions.Assistant {
		w.Usage, w.model, w.at = m.Usage, m.Model, m.Time
	}
	return w, nil
}

// Slot is the place of a message: its transcript, and the run and session that it belongs to.
type Slot struct {
	Transcript int64 // number
	Run        int64 // number; 0 = none
	By         sessions.RunID
	Key        sessions.Key
	Agent      sessions.AgentID
	Session    sessions.ID
}

// Append puts messages at the end of a transcript. One that is there already is left alone. at maps ids to numbers of what is new.
func (s *Rows) Append(t *engine.Tx, to Slot, msgs []Encoded, at map[string]int64) error {
	for _, m := range msgs {
		var n int64
		var err error
		seq := s.messages.Last() + 1
		if t.Dialect.Postgres {
			n, err = t.Exec("INSERT INTO messages (seq, id, transcript, run, role, body, opaque, words) VALUES (?, ?, ?, ?, ?, ?, ?, array_to_tsvector(?)) ON CONFLICT (id) DO NOTHING",
				seq, m.id, to.Transcript, to.Run, m.role, m.body, m.opaque, search.Scoped(m.words, to.Key, to.Agent))
		} else {
			n, err = t.Exec("INSERT INTO messages (seq, id, transcript, run, role, body, opaque) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
				seq, m.id, to.Transcript, to.Run, m.role, m.body, m.opaque)
		}
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		s.messages.Next()
		if at != nil {
			at[m.id] = seq
		}
		if m.Usage != nil {
			if err := s.ledger.Charge(t, sessions.Spend{ID: m.id, Time: m.at, Run: to.By, Key: to.Key, Agent: to.Agent, Model: m.model, Usage: *m.Usage}); err != nil {
				return err
			}
		}
		if !t.Dialect.Postgres {
			s.index.Add(seq, search.Scoped(m.words, to.Key, to.Agent))
		}
		s.files.Add(transcriptfile.MessageLine(to.Transcript, seq, m.readable))
	}
	return nil
}

// Rewrite changes a message of a transcript, in its index and its file, too; done is false when it is not there.
func (s *Rows) Rewrite(t *engine.Tx, at Slot, id string, change func(*sessions.Message)) (done bool, err error) {
	var m sessions.Message
	done, err = t.One("SELECT "+messageColumns+" FROM messages WHERE id = ? AND transcript = ?", []any{id, at.Transcript}, func(r engine.Row) (err error) {
		m, err = column.Message(r.Int(0), r.Str(1))
		return err
	})
	if err != nil || !done {
		return false, err
	}
	seq := m.Seq
	change(&m)
	w, err := s.encode(m, at.By)
	if err != nil {
		return false, err
	}
	words := search.Scoped(w.words, at.Key, at.Agent)
	if t.Dialect.Postgres {
		_, err = t.Exec("UPDATE messages SET body = ?, words = array_to_tsvector(?) WHERE seq = ?", w.body, words, seq)
	} else if _, err = t.Exec("UPDATE messages SET body = ? WHERE seq = ?", w.body, seq); err == nil {
		err = s.index.Replace(t, seq, words)
	}
	s.files.Remove(at.Transcript, at.Agent, at.Session) // written again with the next line
	return true, err
}
