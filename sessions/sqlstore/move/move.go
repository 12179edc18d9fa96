package move

import (
	"errors"
	"slices"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/session"
)

// MoveChat carries out an event that says that a chat has moved.
func (s *Rows) MoveChat(t *engine.Tx, in channels.Inbound, m sessions.MoveChat) error {
	x := relocation{from: in.Address, to: m.To, was: string(in.Address.Chat), now: string(m.To.Chat), route: m.Route}
	if x.to.Type == channels.Direct && in.Sender.ID != "" {
		x.now = string(in.Sender.ID)
	}
	return s.readdress(t, x)
}

// readdress gives all that a chat has its new place.
func (s *Rows) readdress(t *engine.Tx, x relocation) error {
	x.from, x.to = column.Chat(x.from), column.Chat(x.to)
	if x.from.IsZero() || x.to.IsZero() || x.from == x.to {
		return nil
	}
	// Sessions come first, while it is known who wrote from there.
	for _, step := range []func(*engine.Tx, relocation) error{s.noteMove, s.moveSessions, s.moveDeliveries, s.movePerson, s.moveJobs, s.rehear, s.relocate} {
		if err := step(t, x); err != nil {
			return err
		}
	}
	return nil
}

// noteMove remembers what the chat and its person were. An id that is in use again is no former one, so there is no circle, and one that
// moved before has one successor, the newest.
func (s *Rows) noteMove(t *engine.Tx, x relocation) error {
	if _, err := t.Exec("DELETE FROM moves WHERE was IN (?, ?)", x.to.String(), x.from.String()); err != nil {
		return err
	}
	_, err := t.Exec("INSERT INTO moves (chat, was) VALUES (?, ?) ON CONFLICT (chat) DO UPDATE SET was = excluded.was", x.to.String(), x.from.String())
	if err != nil || x.to.Type != channels.Direct || x.was == x.now {
		return err
	}
	// A number that somebody else has got does not belong to its former person any more: their own id gives no rights to the new one.
	if _, err := t.Exec("DELETE FROM identities WHERE channel = ? AND (was = ? OR now = ?)", string(x.to.Channel), x.now, x.now); err != nil {
		return err
	}
	_, err = t.Exec("INSERT INTO identities (channel, was, now) VALUES (?, ?, ?) ON CONFLICT (channel, was) DO UPDATE SET now = excluded.now", string(x.to.Channel), x.was, x.now)
	return err
}

// Before gives the address under which the messages of a direct chat came before it moved, "" when there was none: they keep their ids. A
// group's new place numbers its messages again from 1 (Telegram), so an old id names nothing there.
const Before = "COALESCE((SELECT was FROM moves WHERE chat = ?), '')"

// BeforeOf gives the argument of Before.
func BeforeOf(at channels.Address) string {
	if at.Type != channels.Direct {
		return ""
	}
	return column.Chat(at).String()
}

// Current gives the address that a chat has now.
func (s *Rows) Current(t *engine.Tx, at channels.Address) (channels.Address, error) {
	for range maxMoves {
		next := at
		moved, err := t.One("SELECT chat, '' FROM moves WHERE was = ? UNION ALL SELECT '', became FROM logins WHERE channel = ? AND account = ? AND became <> '' LIMIT 1",
			[]any{column.Chat(at).String(), string(at.Channel), string(at.Account)}, func(r engine.Row) error {
				if next.Account = channels.AccountID(r.Str(1)); next.Account == "" {
					next = column.Address(r.Str(0))
				}
				return nil
			})
		if err != nil || !moved {
			return at, err
		}
		next.Thread = at.Thread
		at = next
	}
	return at, nil
}

// maxMoves bounds how often a chat's address is followed.
const maxMoves = 16

// moveDeliveries gives what is not final, and what is shown while it is being written, the new address.
func (s *Rows) moveDeliveries(t *engine.Tx, x relocation) error {
	if !x.keepsIDs() {
		if err := s.endReplies(t, x); err != nil {
			return err
		}
	}
	if err := x.moveColumn(t, "deliveries", "seq", "address", openDelivery); err != nil {
		return err
	}
	if x.keepsIDs() {
		if _, err := t.Exec("UPDATE previews SET address = ? WHERE address = ?", x.to.String(), x.from.String()); err != nil {
			return err
		}
	}
	_, err := t.Exec("UPDATE openings SET chat = ? WHERE chat = ? AND NOT EXISTS (SELECT 1 FROM openings WHERE chat = ?)", x.to.String(), x.from.String(), x.to.String())
	return err
}

// endReplies has the deliveries that are not final reply to nothing: a group's new place numbers its messages from 1 again.
func (s *Rows) endReplies(t *engine.Tx, x relocation) error {
	bodies := map[int64]string{}
	err := t.Each("SELECT "+row.DeliveryColumns+" FROM deliveries WHERE "+openDelivery, nil, func(r engine.Row) error {
		d, _, err := row.ScanDelivery(r) // one that cannot be read stays as it is
		if _, here := x.move(d.To); err != nil || !here || d.ReplyTo == "" {
			return nil
		}
		d.ReplyTo = ""
		p, err := row.EncodeDelivery(d)
		if err == nil {
			bodies[d.Seq] = p.Body
		}
		return err
	})
	if err != nil {
		return err
	}
	for seq, body := range bodies {
		if _, err := t.Exec("UPDATE deliveries SET body = ? WHERE seq = ?", body, seq); err != nil {
			return err
		}
	}
	return nil
}

const openDelivery = "state IN ('pending', 'sending', 'held') AND state <> 'sent'"

// movePerson lets a person's admission, and their request to be let in, hold for the id that they have now. Who was turned down stays so.
func (s *Rows) movePerson(t *engine.Tx, x relocation) error {
	if x.to.Type != channels.Direct || x.was == x.now {
		return nil
	}
	at := []any{string(x.from.Channel), string(x.from.Account)}
	by := func(id string) []any { return append(slices.Clone(at), id) }
	const person = "channel = ? AND account = ? AND person = ?"
	if _, err := t.Exec("INSERT INTO paired (channel, account, person, name, at, owner) SELECT channel, ?, ?, name, at, owner FROM paired WHERE "+person+" ON CONFLICT (channel, account, person) DO NOTHING",
		append([]any{string(x.to.Account), x.now}, by(x.was)...)...); err != nil {
		return err
	}
	if _, err := t.Exec("DELETE FROM paired WHERE "+person, by(x.was)...); err != nil {
		return err
	}
	rejected, err := t.Exists("SELECT 1 FROM pairings WHERE hash = '' AND "+person, by(x.was)...)
	if err != nil {
		return err
	}
	there, err := t.Exists("SELECT 1 FROM pairings WHERE "+person, by(x.now)...)
	if err != nil {
		return err
	}
	gone := x.was // two requests of one person: one stays
	if rejected {
		gone = x.now
	}
	if there {
		if _, err := t.Exec("DELETE FROM pairings WHERE "+person, by(gone)...); err != nil {
			return err
		}
	}
	_, err = t.Exec("UPDATE pairings SET person = ?, address = ? WHERE "+person, append([]any{x.now, x.to.String()}, by(x.was)...)...)
	return err
}

// moveJobs lets what scheduled jobs say go to the new address.
func (s *Rows) moveJobs(t *engine.Tx, x relocation) error {
	return s.jobs.Change(t, func(j *sessions.Job) (changed bool) {
		j.To, changed = x.move(j.To)
		return changed
	})
}

// relocate gives the sessions whose last message came from a chat its new place.
func (s *Rows) relocate(t *engine.Tx, x relocation) error {
	return x.moveColumn(t, "sessions", "num", "last", "last = ? OR last >= ? AND last < ?", x.below()...)
}

// moveSessions lets the keys of a chat's new place name the sessions of the old one.
func (s *Rows) moveSessions(t *engine.Tx, x relocation) error {
	const own = "SELECT key FROM heard WHERE address = ? OR address >= ? AND address < ?"
	query, args := "SELECT key, key FROM ("+own+") AS here UNION SELECT key, target FROM aliases WHERE target IN ("+own+")", append(x.below(), x.below()...)
	if x.account { // also sessions to which nothing came yet
		query, args = allNames, nil
	}
	names, err := readNames(t, query, args...)
	if err != nil {
		return err
	}
	return names.each(x, func(parts sessions.Parts, old sessions.Key) error {
		next := []sessions.Key{x.renamed(parts)}
		if x.route != "" && parts.Thread == "" { // first: what waits goes where its next messages go
			next = []sessions.Key{x.route, next[0]}
		}
		for _, key := range next {
			if err := s.succession(t, x, old, key); err != nil {
				return err
			}
		}
		return nil
	})
}

// succession lets a session of the moved chat go on by another key. A session that has this key already has the chat from then on: what was
// said last under the new address is there.
func (s *Rows) succession(t *engine.Tx, x relocation, old, key sessions.Key) error {
	if key == old {
		return nil
	}
	at, err := s.sessions.Get(t, key)
	fresh := errors.Is(err, sessions.ErrNotFound)
	if err != nil && !fresh || at.Key == old {
		return err
	}
	if p, err := key.Parse(); fresh && (err != nil || p.Agent != old.Agent() || p.Form == sessions.FormMain || p.Form == sessions.FormGlobal) {
		was, err := s.sessions.Get(t, old) // what several chats share, or another agent has, is no other name of one chat's session
		if err != nil || was.Settings.SendPolicy == policy.Inherit || was.Settings.SendPolicy == policy.Allow {
			return err
		}
		if at, err = s.sessions.Create(t, sessions.Session{Key: key, Agent: p.Agent}); err != nil {
			return err
		}
		fresh = false
	}
	switch {
	case fresh:
	case at.Key == key:
		return s.succeed(t, x, old, at)
	default: // another chat's session went by this name, and its rules hold for what does now
		if err := s.restrict(t, old, at.Key); err != nil {
			return err
		}
	}
	return s.alias(t, key, old)
}

// succeed hands a chat over from its old session to another one that it has: what waits for a turn, context lines, jobs, and what
// is to be sent. The old session stays to be read, and has no chat: what it has others do is stopped with the other one.
func (s *Rows) succeed(t *engine.Tx, x relocation, old sessions.Key, at session.Row) error {
	if err := s.restrict(t, old, at.Key); err != nil {
		return err
	}
	if err := s.requeue(t, old, at); err != nil {
		return err
	}
	if err := s.takeOver(t, old, at); err != nil {
		return err
	}
	for _, q := range []string{"UPDATE overheard SET key = ? WHERE key = ?", "UPDATE deliveries SET session = ? WHERE session = ? AND " + openDelivery} {
		if _, err := t.Exec(q, string(at.Key), string(old)); err != nil {
			return err
		}
	}
	if err := s.jobs.Change(t, func(j *sessions.Job) bool {
		if j.From != old {
			return false
		}
		j.From = at.Key
		return true
	}); err != nil {
		return err
	}
	var places []string
	if err := t.Each("SELECT address FROM heard WHERE key = ?", []any{string(old)}, func(r engine.Row) error { places = append(places, r.Str(0)); return nil }); err != nil {
		return err
	}
	for _, p := range places {
		if _, here := x.move(column.Address(p)); !here {
			continue
		}
		if err := s.sessions.HearElsewhere(t, p, string(old), p, string(at.Key)); err != nil {
			return err
		}
	}
	was, err := s.sessions.Get(t, old)
	if _, here := x.move(was.Last); err != nil || !here {
		return err
	}
	was.Last = channels.Address{}
	if err := s.sessions.Save(t, was); err != nil {
		return err
	}
	return s.alias(t, old, at.Key)
}

// alias lets a key lead to a session. The key of a session that is still there leads to that one; closedFor looks for its successor.
func (s *Rows) alias(t *engine.Tx, key, to sessions.Key) error {
	_, err := t.Exec("INSERT INTO aliases (key, target) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET target = excluded.target", string(key), string(to))
	return err
}

// rehear moves what is known about who wrote from a place to its new one. A chat's position stays behind: the new place numbers its
// messages from 1 again, so the next one from there is the first.
func (s *Rows) rehear(t *engine.Tx, x relocation) error {
	if !x.keepsIDs() { // what is told of the new place's messages is not told of the old one's
		if _, err := t.Exec("UPDATE overheard SET message = '' WHERE key IN (SELECT key FROM heard WHERE address = ? OR address >= ? AND address < ?)", x.below()...); err != nil {
			return err
		}
	}
	if !x.account {
		const some = " WHERE address = ? OR address >= ? AND address < ?"
		if _, err := t.Exec("UPDATE heard SET msg = '', at = 0"+some, x.below()...); err != nil {
			return err
		}
	}
	type sighting struct{ was, now, key string }
	var moved []sighting
	err := t.Each("SELECT address, key FROM heard WHERE address = ? OR address >= ? AND address < ?", x.below(), func(r engine.Row) error {
		if a, ok := x.move(column.Address(r.Str(0))); ok {
			moved = append(moved, sighting{was: r.Str(0), now: a.String(), key: r.Str(1)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, m := range moved {
		if err := s.sessions.HearElsewhere(t, m.was, m.key, m.now, m.key); err != nil {
			return err
		}
	}
	return nil
}

// requeue lets another session answer the messages that wait in one for their first turn.
func (s *Rows) requeue(t *engine.Tx, old sessions.Key, at session.Row) error {
	var waiting []int64
	err := t.Each("SELECT "+row.RunColumns+" FROM runs WHERE key = ? AND status IN ('queued', 'running') AND status = 'queued' ORDER BY seq", []any{string(old)}, func(r engine.Row) error {
		run, has, err := row.ScanRun(r) // one that cannot be read stays where it is
		if err == nil && run.Kind == sessions.TurnRun && run.Attempt == 0 && run.Chain == nil && run.Agent == at.Agent {
			waiting = append(waiting, has.Seq)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, seq := range waiting {
		if _, err := t.Exec("UPDATE runs SET key = ?, session = ?, transcript = ? WHERE seq = ?", string(at.Key), string(at.ID), at.Transcript, seq); err != nil {
			return err
		}
	}
	return nil
}

// takeOver puts the turns that have begun in another session into this one's queue: one chat has one turn at a time. They keep their transcript.
func (s *Rows) takeOver(t *engine.Tx, old sessions.Key, at session.Row) error {
	begun := map[int64]string{}
	err := t.Each("SELECT "+row.RunColumns+" FROM runs WHERE key = ? AND status IN ('queued', 'running') AND attempt > 0", []any{string(old)}, func(r engine.Row) error {
		run, has, err := row.ScanRun(r)
		if err != nil || run.Kind != sessions.TurnRun || run.Agent != at.Agent { // one that cannot be read stays where it is
			return nil
		}
		x := run.Extras()
		x.Home = run.TranscriptKey()
		run.SetExtras(x)
		begun[has.Seq], err = row.EncodeRun(run)
		return err
	})
	if err != nil {
		return err
	}
	for seq, body := range begun {
		if _, err := t.Exec("UPDATE runs SET key = ?, body = ? WHERE seq = ?", string(at.Key), body, seq); err != nil {
			return err
		}
	}
	return nil
}

// restrict gives two sessions of one chat the stricter of their send policies. What several chats share takes over a deny alone.
func (s *Rows) restrict(t *engine.Tx, old, other sessions.Key) error {
	a, err := s.sessions.Get(t, old)
	if err != nil {
		return err
	}
	b, err := s.sessions.Get(t, other)
	if err != nil {
		return err
	}
	both := policy.Stricter(a.Settings.SendPolicy, b.Settings.SendPolicy)
	for _, k := range []session.Row{a, b} {
		if k.Settings.SendPolicy == both || both != policy.Deny && k.Key.Kind() == sessions.KindMain {
			continue
		}
		k.Settings.SendPolicy = both
		if err := s.sessions.Save(t, k); err != nil {
			return err
		}
	}
	return nil
}
