package sqlstore

import (
	"errors"
	"slices"
	"strings"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// revise gives the turn at work other words to answer, once, in the transcript too. done is false when it has recorded or shown something,
// or is about to end.
func (s *runs) revise(t *tx, a sessions.AmendRun) (done bool, err error) {
	by, at, err := s.run(t, a.By)
	if errors.Is(err, sessions.ErrNotFound) {
		return false, nil
	}
	if err != nil || by.Status != sessions.Running || at.stop || by.Revised {
		return false, err
	}
	asked, askedAt, err := s.run(t, a.Run)
	if err != nil || asked.ID != by.ID && asked.Batch != by.ID {
		return false, err
	}
	open, err := t.Conn.Number(t.Ctx, "SELECT (SELECT count(*) FROM messages WHERE transcript = ? AND seq >= ? AND run = ? AND role <> 'user') + (SELECT count(*) FROM previews WHERE run = ?)",
		at.transcript, at.first, at.seq, string(by.ID))
	if err != nil || open > 0 {
		return false, err
	}
	if done, err = s.transcripts.rewrite(t, shelfOf(by, at), asked.Input.ID, a); err != nil || !done {
		return false, err
	}
	applyAmend(&asked.Input, a)
	if asked.ID == by.ID {
		by = asked
	} else if err := s.keepRequest(t, asked, askedAt); err != nil {
		return false, err
	}
	by.Revised = true
	return true, s.keepRequest(t, by, at)
}

// applyAmend puts other words and files into a message.
func applyAmend(m *sessions.Message, a sessions.AmendRun) {
	at := m.LastText()
	if at < 0 {
		at = 0
		m.Content = slices.Insert(m.Content, at, sessions.Block{Type: sessions.TextBlock})
	}
	m.Content[at].Text = a.Text
	if a.Files == nil {
		return
	}
	before, after := m.Content[:at+1], m.Content[at+1:]
	own := func(b sessions.Block) bool { return b.Media != nil && !b.Media.Other }
	m.Content = slices.Concat(before, a.Files, slices.DeleteFunc(after, own))
}

// keepRequest writes what a run is asked for.
func (s *runs) keepRequest(t *tx, run sessions.Run, at runRow) error {
	body, err := marshal(requestOf(run))
	if err != nil {
		return err
	}
	_, err = t.Exec("UPDATE runs SET body = ? WHERE seq = ?", body, at.seq)
	return err
}

// rewrite puts other words and files into a message of a transcript, into its index and its file; done is false when it is not there.
func (s *transcripts) rewrite(t *tx, at shelf, id string, a sessions.AmendRun) (done bool, err error) {
	var m sessions.Message
	done, err = t.One("SELECT "+messageColumns+" FROM messages WHERE id = ? AND transcript = ?", []any{id, at.transcript}, func(r engine.Row) (err error) {
		m, err = scanBody(r)
		return err
	})
	if err != nil || !done {
		return false, err
	}
	seq := m.Seq
	applyAmend(&m, a)
	w, err := s.encodeMessage(m, at.by)
	if err != nil {
		return false, err
	}
	if t.Dialect.Postgres {
		_, err = t.Exec("UPDATE messages SET body = ?, words = array_to_tsvector(?) WHERE seq = ?", w.body, indexed(w.words, at), seq)
	} else if _, err = t.Exec("UPDATE messages SET body = ? WHERE seq = ?", w.body, seq); err == nil {
		err = s.reindex(t, entry{seq: seq, text: strings.Join(indexed(w.words, at), " ")})
	}
	t.lines = append(t.lines, s.files.Remove(at.transcript, at.agent, at.session)) // written again with the next line
	return true, err
}

// reindex replaces the words of a message in the index, or in what this transaction adds to it. What waits from earlier commits is indexed
// first: memory is not changed before this transaction is committed.
func (s *transcripts) reindex(t *tx, e entry) error {
	if i := slices.IndexFunc(t.words, func(x entry) bool { return x.seq == e.seq }); i >= 0 {
		t.words[i].text = e.text
		return nil
	}
	if err := s.index.flushIndex(t); err != nil {
		return err
	}
	if _, err := t.Exec("DELETE FROM words WHERE rowid = ?", e.seq); err != nil || e.text == "" {
		return err
	}
	_, err := t.Exec("INSERT INTO words (rowid, text) VALUES (?, ?)", e.seq, e.text)
	return err
}
