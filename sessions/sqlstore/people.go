package sqlstore

import (
	"context"
	"fmt"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
)

// A pairing that was rejected has no hash: no code is its.

// people keeps who asked to be let in, and who was.
type people struct {
	repository

	numbers    *engine.Sequence
	inbox      *inbox
	deliveries *deliveries
}

// PutPairing keeps a stranger's request and its notice, unless one is there already, max of the account are waiting, or the message was taken
// before: a kill may have come between this and what else it does, and the person have been let in and removed since.
func (s *people) PutPairing(ctx context.Context, p sessions.Pairing, limit int) (created bool, err error) {
	var notice *row.Delivery
	if p.Delivery != nil {
		if notice, err = row.EncodeDelivery(*p.Delivery); err != nil {
			return false, err
		}
	}
	err = s.write(ctx, "PutPairing", func(t *tx) error {
		created = false
		now := p.Created
		if now.IsZero() {
			now = t.Now
		}
		if p.Source != "" {
			if seen, err := t.One("SELECT 1 FROM seen WHERE msg = ? AND address = ? AND event IN (?, ?)",
				[]any{column.Key(string(p.Source)), column.Key(column.Chat(p.Address).String()), pairEvent, string(channels.Message)}, func(engine.Row) error { return nil }); err != nil || seen {
				return err
			}
		}
		waiting, mine := 0, false
		if err := t.Each("SELECT person, hash FROM pairings WHERE channel = ? AND account = ? AND expires > ?", []any{string(p.Channel), string(p.Account), engine.Ms(now)}, func(r engine.Row) error {
			if r.Str(1) != "" {
				waiting++
			}
			mine = mine || r.Str(0) == string(p.User)
			return nil
		}); err != nil || mine || waiting >= limit {
			return err
		}
		if _, err := t.Exec("DELETE FROM pairings WHERE channel = ? AND account = ? AND expires <= ?", string(p.Channel), string(p.Account), engine.Ms(now)); err != nil {
			return err
		}
		if _, err := t.Exec("INSERT INTO pairings (num, channel, account, person, name, hash, created, expires, address) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			s.numbers.Next(), string(p.Channel), string(p.Account), string(p.User), p.Name, p.Hash, engine.Ms(now), engine.Ms(p.Expires), p.Address.String()); err != nil {
			return err
		}
		created = true
		if notice == nil {
			return nil
		}
		made, err := s.deliveries.post(t, notice)
		if err != nil || p.Source == "" {
			return err
		}
		return s.inbox.recordSeen(t, dedupeKey{msg: column.Key(string(p.Source)), address: column.Key(column.Chat(p.Address).String()), event: pairEvent, thread: string(p.Address.Thread)}, "", []sessions.Delivery{made})
	})
	return created, err
}

const pairingColumns = "channel, account, person, name, hash, created, expires, address"

func scanPairing(r engine.Row) sessions.Pairing {
	return sessions.Pairing{Channel: channels.Kind(r.Str(0)), Account: channels.AccountID(r.Str(1)), User: channels.UserID(r.Str(2)), Name: r.Str(3), Hash: r.Str(4), Created: r.Time(5), Expires: r.Time(6), Rejected: r.Str(4) == "", Address: column.Address(r.Str(7))}
}

// Pairings gives the requests that wait or were rejected, oldest first.
func (s *people) Pairings(ctx context.Context, now time.Time) ([]sessions.Pairing, error) {
	return engine.ReadList(ctx, s.db, "SELECT "+pairingColumns+" FROM pairings WHERE expires > ? ORDER BY num", []any{engine.Ms(now)}, func(r engine.Row) (sessions.Pairing, error) { return scanPairing(r), nil })
}

// endPairing lets the person in whose request has this hash, or keeps the request as rejected for a while. owner reports whether the person is an
// owner now.
func (s *people) endPairing(t *tx, a sessions.DecidePairing) (owner bool, err error) {
	var p sessions.Pairing
	found, err := t.One("SELECT "+pairingColumns+" FROM pairings WHERE channel = ? AND hash = ? AND hash <> '' AND expires > ?", []any{string(a.Channel), a.Hash, engine.Ms(a.Time)}, func(r engine.Row) error {
		p = scanPairing(r)
		return nil
	})
	if err != nil {
		return false, err
	}
	if !found {
		return false, &engine.UserError{Words: fmt.Sprintf("no pairing on %s is waiting for this code (it may have expired or been used)", a.Channel), Is: sessions.ErrNotFound}
	}
	if !a.Approve {
		_, err := t.Exec("UPDATE pairings SET hash = '', expires = ? WHERE channel = ? AND account = ? AND person = ?", engine.Ms(a.Time.Add(sessions.RejectedFor)), string(p.Channel), string(p.Account), string(p.User))
		return false, err
	}
	owner = a.Owner == sessions.AnyOwner
	if a.Owner == sessions.FirstOwner {
		others, err := t.Exists(everAdmittedQuery)
		if err != nil {
			return false, err
		}
		owner = !others
	}
	if err := noteAdmitted(t); err != nil {
		return false, err
	}
	if _, err := t.Exec("INSERT INTO paired (channel, account, person, name, at, owner) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (channel, account, person) DO UPDATE SET owner = CASE WHEN paired.owner = 1 THEN 1 ELSE excluded.owner END",
		string(p.Channel), string(p.Account), string(p.User), p.Name, engine.Ms(a.Time), owner); err != nil {
		return false, err
	}
	_, err = t.Exec("DELETE FROM pairings WHERE channel = ? AND account = ? AND person = ?", string(p.Channel), string(p.Account), string(p.User))
	return owner, err
}

// everAdmitted is the row of meta that says that the store has let somebody in, also when that was taken back since.
const (
	everAdmitted      = "admitted"
	everAdmittedQuery = "SELECT 1 FROM paired UNION ALL SELECT 1 FROM meta WHERE name = '" + everAdmitted + "'"
)

// EverAdmitted reports whether anybody was let in, also when that was taken back since.
func (s *people) EverAdmitted(ctx context.Context) (bool, error) {
	n, err := engine.ReadNumber(ctx, s.db, everAdmittedQuery)
	return n != 0, err
}

func noteAdmitted(t *tx) error {
	_, err := t.Exec("INSERT INTO meta (name, value) VALUES (?, 1) ON CONFLICT (name) DO NOTHING", everAdmitted)
	return err
}

// grant makes an approved person an owner.
func (s *people) grant(t *tx, g sessions.GrantOwner) error {
	n, err := t.Exec("UPDATE paired SET owner = 1 WHERE channel = ? AND account = ? AND person = ?", string(g.Channel), string(g.Account), string(g.User))
	if err == nil && n == 0 {
		err = &engine.UserError{Words: fmt.Sprintf("%s:%s was not approved on account %s: parley pairing list", g.Channel, g.User, g.Account), Is: sessions.ErrNotFound}
	}
	return err
}

// unpair takes back what became of a person's request.
func (s *people) unpair(t *tx, u sessions.RevokePairing) error {
	who := []any{string(u.Channel), string(u.Account), string(u.User)}
	admitted, err := t.Exec("DELETE FROM paired WHERE channel = ? AND account = ? AND person = ?", who...)
	if err != nil {
		return err
	}
	rejected, err := t.Exec("DELETE FROM pairings WHERE hash = '' AND channel = ? AND account = ? AND person = ?", who...)
	if err != nil {
		return err
	}
	if admitted+rejected == 0 {
		return &engine.UserError{Words: fmt.Sprintf("%s:%s was neither approved nor rejected on account %s: parley pairing list", u.Channel, u.User, u.Account), Is: sessions.ErrNotFound}
	}
	if admitted > 0 { // also by an older parley
		return noteAdmitted(t)
	}
	return nil
}

// Admitted gives everybody who was let in, who came first first.
func (s *people) Admitted(ctx context.Context) ([]sessions.Admitted, error) {
	return engine.ReadList(ctx, s.db, "SELECT channel, account, person, name, at, owner FROM paired ORDER BY at, channel, account, person", nil, func(r engine.Row) (sessions.Admitted, error) {
		return sessions.Admitted{Channel: channels.Kind(r.Str(0)), Account: channels.AccountID(r.Str(1)), User: channels.UserID(r.Str(2)), Name: r.Str(3), Since: r.Time(4), Owner: r.Bool(5)}, nil
	})
}

// Paired reports whether a person was let in.
func (s *people) Paired(ctx context.Context, kind channels.Kind, id channels.AccountID, user channels.UserID) (bool, error) {
	n, err := engine.ReadNumber(ctx, s.db, "SELECT 1 FROM paired WHERE channel = ? AND account = ? AND person = ?", string(kind), string(id), string(user))
	return n != 0, err
}
