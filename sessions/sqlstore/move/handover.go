package move

import (
	"cmp"
	"errors"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/session"
)

// HandOver gives a session the conversation of another one, as sessions.Handover says. The other session is archived with an empty transcript and
// keeps its settings; no key leads from it to the new one: an owner who is a stranger again does not write into the owner's session.
func (s *Rows) HandOver(t *engine.Tx, h sessions.Handover) (sessions.Moved, error) {
	if h.From == h.To || h.From == "" || h.To == "" {
		return "", nil
	}
	old, err := s.sessions.Get(t, h.From)
	if errors.Is(err, sessions.ErrNotFound) || err == nil && (old.Agent != h.To.Agent() || old.Key != h.From && !personal(old.Key)) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	h.From = old.Key // another name of it, where the person had another id
	has, err := s.transcripts.HasMessages(t, h.From)
	if err != nil || !has && (old.Archived || old.Settings.SendPolicy != policy.Deny) { // a deny is handed over without a message, too
		return "", err
	}
	at, err := s.sessions.Get(t, h.To)
	fresh := errors.Is(err, sessions.ErrNotFound)
	if err != nil && !fresh {
		return "", err
	}
	if !fresh {
		used, err := s.transcripts.HasMessages(t, h.To)
		if err == nil && !used {
			used, err = t.Exists("SELECT 1 FROM runs WHERE key = ? AND status IN ('queued', 'running')", string(h.To))
		}
		switch {
		case err == nil && !used && at.Key == h.To:
		case old.Settings.SendPolicy == policy.Deny && at.Settings.SendPolicy != policy.Deny:
			return sessions.MovedLoud, err
		default:
			return sessions.MovedNever, err
		}
	}
	const open = row.OpenBelow + "SELECT 1 FROM runs WHERE status IN ('queued', 'running') AND (parent = ? OR seq IN (SELECT seq FROM up WHERE key = ?))"
	if busy, err := t.Exists(open, string(h.From), string(h.From)); err != nil || busy { // its result is for the old session
		return sessions.MovedLater, err
	}
	if fresh {
		with := old.Settings
		if with.SendPolicy == policy.Allow { // of one chat; the owners share the session
			with.SendPolicy = policy.Inherit
		}
		if at, err = s.sessions.Create(t, sessions.Session{Key: h.To, Agent: old.Agent, Settings: with}); err != nil {
			return "", err
		}
	}
	t.Label(true, "handover")
	if err := s.transcripts.HandOver(t, h.From, h.To, old.Agent); err != nil {
		return "", err
	}
	moved := sessions.MovedNow
	if !has {
		moved = ""
	}
	return moved, s.handOverRows(t, old, at)
}

// personal reports whether a session is that of one person's direct chats.
func personal(key sessions.Key) bool {
	p, err := key.Parse()
	return err == nil && (p.Form == sessions.FormPeer || p.Form == sessions.FormChannelPeer || p.Form == sessions.FormAccountPeer)
}

// handOverRows gives at the row of old, and what other tables have under its key.
func (s *Rows) handOverRows(t *engine.Tx, old, at session.Row) error {
	was := old
	from, to := string(was.Key), string(at.Key)
	for _, q := range []string{
		"UPDATE runs SET key = ? WHERE key = ?", "UPDATE runs SET parent = ? WHERE parent = ? AND parent <> ''",
		"UPDATE deliveries SET session = ? WHERE session = ? AND session <> ''", "UPDATE overheard SET key = ? WHERE key = ?",
		"UPDATE sessions SET spawned_by = ? WHERE spawned_by = ? AND spawned_by <> ''",
	} {
		if _, err := t.Exec(q, to, from); err != nil {
			return err
		}
	}
	if err := s.handOverTop(t, from, to); err != nil {
		return err
	}
	if err := s.sessions.Reset(t, &old); err != nil { // it gives its id and its transcript away
		return err
	}
	old.Label, old.Last, old.Archived = "", channels.Address{}, true
	if err := s.sessions.Save(t, old); err != nil {
		return err
	}
	at.ID, at.Transcript, at.Usage, at.Context, at.Turns, at.ByAgents = was.ID, was.Transcript, was.Usage, was.Context, was.Turns, was.ByAgents
	at.Label, at.LastInput, at.Archived = cmp.Or(at.Label, was.Label), was.LastInput, false // the old title is the person's name
	if was.Settings.SendPolicy == policy.Deny {
		at.Settings.SendPolicy = policy.Deny
	}
	if at.Last.IsZero() {
		at.Last = was.Last
	}
	at.Touch(was.Updated, t.Now)
	if err := s.sessions.Save(t, at); err != nil {
		return err
	}
	if err := s.jobs.Change(t, func(j *sessions.Job) bool {
		if j.From != was.Key {
			return false
		}
		j.From = at.Key
		return true
	}); err != nil {
		return err
	}
	var places []string
	if err := t.Each("SELECT address FROM heard WHERE key = ?", []any{from}, func(r engine.Row) error { places = append(places, r.Str(0)); return nil }); err != nil {
		return err
	}
	for _, p := range places {
		if err := s.sessions.HearElsewhere(t, p, from, p, to); err != nil {
			return err
		}
	}
	return nil
}

// handOverTop bills to a session the sub-agents below it that were billed to another one.
func (s *Rows) handOverTop(t *engine.Tx, from, to string) error {
	for left := []string{to}; len(left) > 0; left = left[1:] {
		var below []string
		if err := t.Each("SELECT key FROM sessions WHERE spawned_by = ? AND spawned_by <> '' AND top = ?", []any{left[0], from}, func(r engine.Row) error { below = append(below, r.Str(0)); return nil }); err != nil {
			return err
		}
		for _, key := range below {
			if _, err := t.Exec("UPDATE sessions SET top = ? WHERE key = ?", to, key); err != nil {
				return err
			}
		}
		left = append(left, below...)
	}
	return nil
}
