package move

import (
	"context"
	"errors"
	"slices"
	"strings"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

// Identify notes who an account is. An account that was the same login under another name, and is not configured any more, has been renamed:
// what it had is this one's from here on. A configured name stays what it is, and hands over its denials alone: see restrictAccount. The same
// again gives the same: the answer to a commit may be lost.
func (s *Store) Identify(ctx context.Context, l sessions.Login) (found sessions.Identified, err error) {
	err = s.db.Write(ctx, "Identify", func(t *engine.Tx) error {
		found = sessions.Identified{}
		own, others, err := logins(t, l)
		if err != nil {
			return err
		}
		var moves, denials []channels.AccountID // those of which nothing has moved yet; those under whose name the login was, or is, configured
		for _, o := range others {
			here := o.identity == l.User && (o.became == "" || o.became == l.Account)
			switch {
			case here && o.became != "":
				found.Moved = append(found.Moved, o.account)
			case here && slices.Contains(l.Configured, o.account):
				found.Twice, denials = append(found.Twice, o.account), append(denials, o.account)
			case here:
				found.Moved, moves = append(found.Moved, o.account), append(moves, o.account)
			case o.was(l.User):
				denials = append(denials, o.account)
			}
		}
		if own.identity == l.User {
			denials = nil // it had them when it got the name: what is said of the other one since is not about it
		} else {
			own.leave()
		}
		// A name that is in use again is no former one, so there is no circle.
		if _, err := t.Exec("INSERT INTO logins (channel, account, identity, former) VALUES (?, ?, ?, ?) ON CONFLICT (channel, account) DO UPDATE SET identity = excluded.identity, former = excluded.former, became = ''",
			string(l.Channel), string(l.Account), string(l.User), own.former); err != nil {
			return err
		}
		for _, was := range moves {
			if err := s.rows.renameAccount(t, l.Channel, was, l.Account); err != nil {
				return err
			}
		}
		for _, was := range denials {
			restricted, err := s.rows.restrictAccount(t, l.Channel, was, l.Account)
			if err != nil {
				return err
			}
			if restricted {
				found.Denied = append(found.Denied, was)
			}
		}
		return nil
	})
	return found, err
}

// login is what the store knows of an account's name.
type login struct {
	account, became channels.AccountID
	identity        channels.UserID
	former          string // ids, newest first, each followed by a line break
}

// maxFormer bounds the bytes of the ids that a name remembers.
const maxFormer = 1 << 12

// was reports whether a login had the name before.
func (l login) was(who channels.UserID) bool {
	return who != "" && strings.Contains("\n"+l.former, "\n"+string(who)+"\n")
}

// leave puts who has the name among those who had it.
func (l *login) leave() {
	if l.identity == "" {
		return
	}
	l.former = string(l.identity) + "\n" + strings.TrimPrefix(strings.ReplaceAll("\n"+l.former, "\n"+string(l.identity)+"\n", "\n"), "\n")
	if len(l.former) > maxFormer {
		l.former = l.former[:strings.LastIndexByte(l.former[:maxFormer], '\n')+1]
	}
}

// logins gives what is known of an account's name, and of the others of its channel.
func logins(t *engine.Tx, l sessions.Login) (own login, others []login, err error) {
	err = t.Each("SELECT account, became, identity, former FROM logins WHERE channel = ? ORDER BY account", []any{string(l.Channel)}, func(r engine.Row) error {
		x := login{channels.AccountID(r.Str(0)), channels.AccountID(r.Str(1)), channels.UserID(r.Str(2)), r.Str(3)}
		if x.account == l.Account {
			own = x
		} else {
			others = append(others, x)
		}
		return nil
	})
	return own, others, err
}

// restrictAccount has the chats of an account that are denied be denied at another one too, and reports whether there are any: names were
// exchanged, or one got another login, and who was silenced under the one name must not speak under the other. Sessions stay with their names.
func (s *Rows) restrictAccount(t *engine.Tx, kind channels.Kind, was, now channels.AccountID) (restricted bool, err error) {
	x := relocation{from: channels.Address{Channel: kind, Account: was}, to: channels.Address{Channel: kind, Account: now}, account: true}
	names, err := readNames(t, allNames)
	if err != nil {
		return false, err
	}
	denied := map[sessions.Key]bool{}
	if err := names.each(x, func(parts sessions.Parts, was sessions.Key) error {
		old, err := s.sessions.Get(t, was)
		if err != nil || old.Settings.SendPolicy != policy.Deny {
			return err
		}
		key := x.renamed(parts)
		at, err := s.sessions.Get(t, key)
		if errors.Is(err, sessions.ErrNotFound) {
			at, err = s.sessions.Create(t, sessions.Session{Key: key, Agent: parts.Agent})
		}
		if err == nil && at.Settings.SendPolicy != policy.Deny {
			at.Settings.SendPolicy, restricted = policy.Deny, true
			err = s.sessions.Save(t, at)
		}
		denied[key] = err == nil
		return err
	}); err != nil {
		return restricted, err
	}
	return restricted, s.closeThreads(t, names, denied)
}

// closeThreads has the threads of denied chats be denied as well that were let speak by themselves: who let them meant another login.
func (s *Rows) closeThreads(t *engine.Tx, names sessionNames, denied map[sessions.Key]bool) error {
	for name, key := range names {
		for outer, ok := name.Around(); ok; outer, ok = outer.Around() {
			if !denied[outer] {
				continue
			}
			at, err := s.sessions.Get(t, key)
			if err == nil && at.Settings.SendPolicy == policy.Allow {
				at.Settings.SendPolicy = policy.Inherit
				err = s.sessions.Save(t, at)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// renameAccount gives all that an account had to the one that took its place.
func (s *Rows) renameAccount(t *engine.Tx, kind channels.Kind, was, now channels.AccountID) error {
	if _, err := t.Exec("UPDATE logins SET became = ? WHERE channel = ? AND account = ?", string(now), string(kind), string(was)); err != nil {
		return err
	}
	x := relocation{from: channels.Address{Channel: kind, Account: was}, to: channels.Address{Channel: kind, Account: now}, account: true}
	for _, step := range []func(*engine.Tx, relocation) error{s.moveSessions, s.moveDeliveries, s.moveJobs, s.rehear, s.relocate, s.moveAddresses, s.movePeople, s.moveCursor} {
		if err := step(t, x); err != nil {
			return err
		}
	}
	return nil
}

// moveAddresses changes the account where a row is found by its address: its chats number their messages on, so what was seen and sent there
// is known by the new name. Where the new account has such a row already, that one stays.
func (s *Rows) moveAddresses(t *engine.Tx, x relocation) error {
	was, now := column.AccountPrefix(x.from.Channel, x.from.Account), column.AccountPrefix(x.to.Channel, x.to.Account)
	tail := len([]rune(was)) + 1 // of what follows the account in an address, from 1
	for _, c := range []struct{ table, column, same string }{
		{table: "seen", column: "address", same: "other.msg = seen.msg AND other.event = seen.event AND "},
		{table: "openings", column: "chat", same: " "},
		{table: "moves", column: "chat", same: " "},
		{table: "moves", column: "was"}, {table: "receipts", column: "chat"}, {table: "skipped", column: "address"}, {table: "previews", column: "address"},
	} {
		here := c.column + " >= ? AND " + c.column + " < ?"
		if c.same != "" {
			if _, err := t.Exec("DELETE FROM "+c.table+" WHERE "+here+" AND EXISTS (SELECT 1 FROM "+c.table+" AS other WHERE "+c.same+"other."+c.column+" = ? || substr("+c.table+"."+c.column+", ?))",
				was+"/", was+"0", now, tail); err != nil {
				return err
			}
		}
		if _, err := t.Exec("UPDATE "+c.table+" SET "+c.column+" = ? || substr("+c.column+", ?) WHERE "+here, now, tail, was+"/", was+"0"); err != nil {
			return err
		}
	}
	_, err := t.Exec("UPDATE openings SET account = ? WHERE account = ?", column.Account(x.to.Channel, x.to.Account), column.Account(x.from.Channel, x.from.Account))
	return err
}

// moveCursor lets the new account go on where the old one stood, unless it has come to somewhere itself.
func (s *Rows) moveCursor(t *engine.Tx, x relocation) error {
	was, now := column.Account(x.from.Channel, x.from.Account), column.Account(x.to.Channel, x.to.Account)
	if _, err := t.Exec("INSERT INTO cursors (account, position) SELECT ?, position FROM cursors WHERE account = ? ON CONFLICT (account) DO NOTHING", now, was); err != nil {
		return err
	}
	_, err := t.Exec("DELETE FROM cursors WHERE account = ?", was) // another login may have the name next
	return err
}

// movePeople lets in at the new account who was let in at the old one; who asked, or was turned down, did so there.
func (s *Rows) movePeople(t *engine.Tx, x relocation) error {
	was, now := []any{string(x.from.Channel), string(x.from.Account)}, string(x.to.Account)
	for _, q := range []string{
		"INSERT INTO paired (channel, account, person, name, at, owner) SELECT channel, ?, person, name, at, owner FROM paired WHERE channel = ? AND account = ? ON CONFLICT (channel, account, person) DO NOTHING",
		// Of two requests of one person the rejection stays, else the newer one.
		`DELETE FROM pairings WHERE account = ? AND hash <> '' AND EXISTS (SELECT 1 FROM pairings AS other WHERE other.channel = pairings.channel AND other.person = pairings.person
			AND other.channel = ? AND other.account = ? AND other.hash = '')`,
		`DELETE FROM pairings WHERE EXISTS (SELECT 1 FROM pairings AS other WHERE other.channel = pairings.channel AND other.person = pairings.person AND other.account = ?)
			AND channel = ? AND account = ?`,
		"UPDATE pairings SET account = ? WHERE channel = ? AND account = ?",
	} {
		if _, err := t.Exec(q, append([]any{now}, was...)...); err != nil {
			return err
		}
	}
	if _, err := t.Exec("DELETE FROM paired WHERE channel = ? AND account = ?", was...); err != nil {
		return err
	}
	return s.movePairingChats(t, x)
}

// movePairingChats lets the answers to people who asked to be let in go to the new account.
func (s *Rows) movePairingChats(t *engine.Tx, x relocation) error {
	return x.moveColumn(t, "pairings", "num", "address", "channel = ? AND account = ?", string(x.to.Channel), string(x.to.Account))
}
