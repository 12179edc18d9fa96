package search

import (
	"context"
	"fmt"
	"strings"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// Notes keeps what agents note.
type Notes struct {
	db      *engine.DB
	numbers *engine.Sequence
}

// NewNotes returns the notes of a database.
func NewNotes(db *engine.DB) *Notes { return &Notes{db, db.Sequence("SELECT max(num) FROM notes")} }

// Add adds a note, and its words to the index: notes are few, and what is noted is looked for at once.
func (s *Notes) Add(t *engine.Tx, n sessions.AddNote) error {
	num := s.numbers.Next()
	if _, err := t.Exec("INSERT INTO notes (num, agent, key, body, at) VALUES (?, ?, ?, ?, ?)", num, string(n.Agent), string(n.Key), n.Text, engine.Ms(t.Now)); err != nil {
		return err
	}
	return s.index(t.Exec, num, string(n.Agent), n.Text)
}

func (s *Notes) index(exec func(q string, args ...any) (int64, error), num int64, agent, text string) error {
	w := append(Words(text), scope(agentMark, agent))
	if s.db.Dialect().Postgres {
		_, err := exec("UPDATE notes SET indexed = 1, words = array_to_tsvector(?) WHERE num = ?", w, num)
		return err
	}
	if _, err := exec("INSERT INTO note_words (rowid, text) VALUES (?, ?)", num, strings.Join(w, " ")); err != nil {
		return err
	}
	_, err := exec("UPDATE notes SET indexed = 1 WHERE num = ?", num)
	return err
}

// CatchUp indexes the notes that an older parley made, before anything else is written.
func (s *Notes) CatchUp(ctx context.Context, c *engine.Conn) error {
	type note struct {
		num         int64
		agent, text string
	}
	var old []note
	err := c.Each(ctx, "SELECT num, agent, body FROM notes WHERE indexed = 0 ORDER BY num", nil, func(r engine.Row) error {
		old = append(old, note{r.Int(0), r.Str(1), r.Str(2)})
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	exec := func(q string, args ...any) (int64, error) { return c.Exec(ctx, q, args...) }
	if _, err := exec("BEGIN"); err != nil {
		return err
	}
	for _, n := range old {
		if err := s.index(exec, n.num, n.agent, n.text); err != nil {
			return fmt.Errorf("index the notes: %w", err) // the connection is closed, and nothing of it stays
		}
	}
	if !s.db.Dialect().Postgres {
		if _, err := exec(engine.CountOne); err != nil {
			return fmt.Errorf("index the notes: %w", err)
		}
	}
	_, err = exec("COMMIT")
	return err
}

// Notes returns the notes of an agent that have all words of the query, newest first. A word of the query is the beginning of one of the
// note. Notes of other sessions than those asked for take nobody's place in the limit.
func (s *Notes) Notes(ctx context.Context, q sessions.NoteQuery) ([]sessions.Note, error) {
	terms := Words(q.Text)
	if len(terms) == 0 && strings.TrimSpace(q.Text) != "" {
		return nil, nil
	}
	by := "n.num"
	find, args := "SELECT n.num, n.key, n.body, n.at FROM notes n WHERE n.agent = ?", []any{string(q.Agent)}
	if len(terms) > 0 {
		find, by = findNotesSQLite, "w.rowid"
		if s.db.Dialect().Postgres {
			find, by = findNotesPostgres, "n.num"
		}
		args = append([]any{noteMatch(s.db.Dialect(), terms[:min(len(terms), maxTerms)], q.Agent)}, args...)
	}
	switch {
	case q.Of != "" && q.Children:
		find += " AND (n.key = ? OR n.key IN (SELECT key FROM sessions WHERE spawned_by = ? AND spawned_by <> '' AND agent = ?))"
		args = append(args, string(q.Of), string(q.Of), string(q.Agent))
	case q.Of != "":
		find += " AND n.key = ?"
		args = append(args, string(q.Of))
	}
	args = append(args, engine.Limit(q.Limit, 50))
	return engine.ReadList(ctx, s.db, find+" ORDER BY "+by+" DESC LIMIT ?", args, func(r engine.Row) (sessions.Note, error) {
		return sessions.Note{ID: r.Int(0), Key: sessions.Key(r.Str(1)), Text: r.Str(2), Time: r.Time(3)}, nil
	})
}

const (
	findNotesSQLite   = "SELECT n.num, n.key, n.body, n.at FROM note_words w JOIN notes n ON n.num = w.rowid WHERE w.note_words MATCH ? AND n.agent = ?"
	findNotesPostgres = "SELECT n.num, n.key, n.body, n.at FROM notes n WHERE n.words @@ CAST(CAST(? AS text) AS tsquery) AND n.agent = ?"
)

// noteMatch writes a query of the index. A word has only letters, digits and marks.
func noteMatch(d engine.Dialect, terms []string, agent sessions.AgentID) string {
	before, after, and := `"`, `"*`, " AND "
	if d.Postgres {
		before, after, and = "'", "':*", " & "
	}
	match := before + scope(agentMark, string(agent)) + strings.TrimRight(after, ":*")
	for _, w := range terms {
		match += and + before + w + after
	}
	return match
}
