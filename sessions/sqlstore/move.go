package sqlstore

import (
	"context"

	"parley/channels"
	"parley/sessions"
)

// Readdress changes the chat of what is not final and of the sessions that wrote there last. Threads stay.
func (s *Store) Readdress(ctx context.Context, from, to channels.Address) error {
	return s.write(ctx, "Readdress", func(t *tx) error { return t.readdress(from, to) })
}

func (t *tx) readdress(from, to channels.Address) error {
	from, to = whole(from), whole(to)
	if from.IsZero() || to.IsZero() || from == to {
		return nil
	}
	if _, err := t.exec("INSERT INTO moves (chat, was) VALUES (?, ?) ON CONFLICT (chat) DO UPDATE SET was = excluded.was", to.String(), from.String()); err != nil {
		return err
	}
	if err := t.alias(from, to); err != nil { // while it is known who wrote from there
		return err
	}
	open, err := someDeliveries(t.ctx, t.conn, "state IN ('pending', 'sending') AND state <> 'sent' ORDER BY seq")
	if err != nil {
		return err
	}
	for _, d := range open {
		if moved, ok := move(d.To, from, to); ok {
			if _, err := t.exec("UPDATE deliveries SET address = ? WHERE seq = ?", moved.String(), d.Seq); err != nil {
				return err
			}
		}
	}
	// Receipts stay: the new place numbers its messages anew (Telegram: a supergroup begins at 1), so an old id names nothing there.
	if _, err := t.exec("UPDATE openings SET chat = ? WHERE chat = ? AND NOT EXISTS (SELECT 1 FROM openings WHERE chat = ?)", to.String(), from.String(), to.String()); err != nil {
		return err
	}
	if err := t.rehear(from, to); err != nil {
		return err
	}
	return t.relocate(from, to)
}

// Moves gives what chats were before.
func (s *Store) Moves(ctx context.Context) (was map[channels.Address]channels.Address, err error) {
	err = s.read(ctx, func(c *conn) error {
		was = map[channels.Address]channels.Address{}
		return c.each(ctx, "SELECT chat, was FROM moves", nil, func(r row) error {
			was[address(r.str(0))] = address(r.str(1))
			return nil
		})
	})
	return was, err
}

// relocate gives the sessions whose last message came from a chat its new place.
func (t *tx) relocate(from, to channels.Address) error {
	p := from.String()
	moved := map[int64]string{}
	err := t.each("SELECT num, last FROM sessions WHERE last = ? OR last >= ? AND last < ?", []any{p, p + "/", p + "0"}, func(r row) error {
		if a, ok := move(address(r.str(1)), from, to); ok {
			moved[r.int(0)] = a.String()
		}
		return nil
	})
	if err != nil {
		return err
	}
	for num, last := range moved {
		if _, err := t.exec("UPDATE sessions SET last = ? WHERE num = ?", last, num); err != nil {
			return err
		}
	}
	return nil
}

// move gives an address in the chat from its place in the chat to.
func move(a, from, to channels.Address) (channels.Address, bool) {
	if whole(a) != from {
		return a, false
	}
	to.Thread = a.Thread
	return to, true
}

// alias lets the keys of a chat's new place name the sessions of the old one. A place that has a session of its own keeps it.
func (t *tx) alias(from, to channels.Address) error {
	p := from.String()
	names := map[sessions.Key]sessions.Key{} // by any key that it has, the session
	const own = "SELECT key FROM heard WHERE address = ? OR address >= ? AND address < ?"
	err := t.each("SELECT key, key FROM ("+own+") AS here UNION SELECT key, target FROM aliases WHERE target IN ("+own+")", []any{p, p + "/", p + "0", p, p + "/", p + "0"}, func(r row) error {
		names[sessions.Key(r.str(0))] = sessions.Key(r.str(1))
		return nil
	})
	if err != nil {
		return err
	}
	for name, target := range names {
		parts, err := name.Parse()
		if err != nil || parts.Form != sessions.FormGroup && parts.Form != sessions.FormRoom || parts.ID != string(from.Chat) {
			continue
		}
		parts.Channel, parts.Account, parts.ID = to.Channel, to.Account, string(to.Chat)
		if parts.Form = sessions.FormGroup; to.Type == channels.Room {
			parts.Form = sessions.FormRoom
		}
		taken, err := t.one("SELECT 1 FROM sessions WHERE key = ?", []any{string(parts.Key())}, func(row) error { return nil })
		if err != nil {
			return err
		}
		if taken {
			continue
		}
		if _, err := t.exec("INSERT INTO aliases (key, target) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET target = excluded.target", string(parts.Key()), string(target)); err != nil {
			return err
		}
	}
	return nil
}
