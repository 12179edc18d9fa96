package sqlstore

import (
	"context"
	"slices"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// Identify notes who an account is. An account that was the same login under another name, and is not configured any more, has been renamed:
// what it had is this one's from here on. The same again gives the same: the answer to a commit may be lost.
func (s *moves) Identify(ctx context.Context, l sessions.Login) (found sessions.Identified, err error) {
	err = s.write(ctx, "Identify", func(t *tx) error {
		found = sessions.Identified{}
		var moves []channels.AccountID // those of which nothing has moved yet
		err := t.Each("SELECT account, became FROM logins WHERE channel = ? AND identity = ? AND account <> ? AND became IN ('', ?) ORDER BY account", []any{string(l.Channel), string(l.User), string(l.Account), string(l.Account)}, func(r engine.Row) error {
			was, moved, configured := channels.AccountID(r.Str(0)), r.Str(1) != "", slices.Contains(l.Configured, channels.AccountID(r.Str(0)))
			switch {
			case moved:
				found.Moved = append(found.Moved, was)
			case configured:
				found.Twice = append(found.Twice, was)
			default:
				found.Moved, moves = append(found.Moved, was), append(moves, was)
			}
			return nil
		})
		if err != nil {
			return err
		}
		// A name that is in use again is no former one, so there is no circle.
		if _, err := t.Exec("INSERT INTO logins (channel, account, identity) VALUES (?, ?, ?) ON CONFLICT (channel, account) DO UPDATE SET identity = excluded.identity, became = ''",
			string(l.Channel), string(l.Account), string(l.User)); err != nil {
			return err
		}
		for _, was := range moves {
			if err := s.renameAccount(t, l.Channel, was, l.Account); err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// Renames gives the accounts that another one replaced.
func (s *moves) Renames(ctx context.Context) ([]sessions.Rename, error) {
	return engine.ReadList(ctx, s.db, "SELECT channel, account, became FROM logins WHERE became <> '' ORDER BY channel, account", nil, func(r engine.Row) (sessions.Rename, error) {
		return sessions.Rename{Channel: channels.Kind(r.Str(0)), Was: channels.AccountID(r.Str(1)), Now: channels.AccountID(r.Str(2))}, nil
	})
}

// renameAccount gives all that an account had to the one that took its place.
func (s *moves) renameAccount(t *tx, kind channels.Kind, was, now channels.AccountID) error {
	if _, err := t.Exec("UPDATE logins SET became = ? WHERE channel = ? AND account = ?", string(now), string(kind), string(was)); err != nil {
		return err
	}
	x := relocation{from: channels.Address{Channel: kind, Account: was}, to: channels.Address{Channel: kind, Account: now}, account: true}
	for _, step := range []func(*tx, relocation) error{s.moveSessions, s.moveDeliveries, s.moveJobs, s.rehear, s.relocate, s.moveAddresses, s.movePeople, s.moveCursor} {
		if err := step(t, x); err != nil {
			return err
		}
	}
	return nil
}

// moveAddresses changes the account where a row is found by its address: its chats number their messages on, so what was seen and sent there
// is known by the new name. Where the new account has such a row already, that one stays.
func (s *moves) moveAddresses(t *tx, x relocation) error {
	was, now := accountPrefix(x.from.Channel, x.from.Account), accountPrefix(x.to.Channel, x.to.Account)
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
	_, err := t.Exec("UPDATE openings SET account = ? WHERE account = ?", account(x.to.Channel, x.to.Account), account(x.from.Channel, x.from.Account))
	return err
}

// moveCursor lets the new account go on where the old one stood, unless it has come to somewhere itself.
func (s *moves) moveCursor(t *tx, x relocation) error {
	was, now := account(x.from.Channel, x.from.Account), account(x.to.Channel, x.to.Account)
	if _, err := t.Exec("INSERT INTO cursors (account, position) SELECT ?, position FROM cursors WHERE account = ? ON CONFLICT (account) DO NOTHING", now, was); err != nil {
		return err
	}
	_, err := t.Exec("DELETE FROM cursors WHERE account = ?", was) // another login may have the name next
	return err
}

// movePeople lets in at the new account who was let in at the old one; who asked, or was turned down, did so there.
func (s *moves) movePeople(t *tx, x relocation) error {
	was, now := []any{string(x.from.Channel), string(x.from.Account)}, string(x.to.Account)
	for _, q := range []string{
		"INSERT INTO paired (channel, account, person, name, at) SELECT channel, ?, person, name, at FROM paired WHERE channel = ? AND account = ? ON CONFLICT (channel, account, person) DO NOTHING",
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
func (s *moves) movePairingChats(t *tx, x relocation) error {
	return x.moveColumn(t, "pairings", "num", "address", "channel = ? AND account = ?", string(x.to.Channel), string(x.to.Account))
}
