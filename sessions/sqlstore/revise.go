package sqlstore

import (
	"errors"
	"slices"

	"parley/sessions"
	"parley/sessions/sqlstore/row"
)

// revise gives the running turn other words to answer, once, in the transcript too. done is false when it has recorded or shown something,
// or is about to end.
func (s *runs) revise(t *tx, a sessions.AmendRun) (done bool, err error) {
	by, at, err := s.run(t, a.By)
	if errors.Is(err, sessions.ErrNotFound) {
		return false, nil
	}
	if err != nil || by.Status != sessions.Running || at.Stop || by.Revised {
		return false, err
	}
	asked, askedAt, err := s.run(t, a.Run)
	if err != nil || asked.ID != by.ID && asked.MergedInto != by.ID {
		return false, err
	}
	open, err := t.Conn.Number(t.Ctx, "SELECT (SELECT count(*) FROM messages WHERE transcript = ? AND seq >= ? AND run = ? AND role <> 'user') + (SELECT count(*) FROM previews WHERE run = ?)",
		at.Transcript, at.First, at.Seq, string(by.ID))
	if err != nil || open > 0 {
		return false, err
	}
	if done, err = s.transcripts.Rewrite(t, row.Slot(by, at), asked.Input.ID, func(m *sessions.Message) { applyAmend(m, a) }); err != nil || !done {
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
func (s *runs) keepRequest(t *tx, run sessions.Run, at row.Run) error {
	body, err := row.EncodeRun(run)
	if err != nil {
		return err
	}
	_, err = t.Exec("UPDATE runs SET body = ? WHERE seq = ?", body, at.Seq)
	return err
}
