package sqlstore

import (
	"context"

	"parley/channels"
	"parley/sessions"
)

// heard remembers that the session's chat has written to it.
func (t *tx) heard(k known) error {
	if k.Last.IsZero() {
		return nil
	}
	return t.hear(k.Last.String(), string(k.Key))
}

func (t *tx) hear(from, key string) error {
	_, err := t.exec("INSERT INTO heard (address, key) VALUES (?, ?) ON CONFLICT (address, key) DO NOTHING", from, key)
	return err
}

// rehear moves what is known about who wrote from a chat to the chat's new place. Its position stays behind: the new place numbers its
// messages anew, so the next one from there is the first.
func (t *tx) rehear(x relocation) error {
	type sighting struct{ was, now, key string }
	var moved []sighting
	p := x.from.String()
	err := t.each("SELECT address, key FROM heard WHERE address = ? OR address >= ? AND address < ?", []any{p, p + "/", p + "0"}, func(r row) error {
		if a, ok := move(address(r.str(0)), x.from, x.to); ok {
			moved = append(moved, sighting{was: r.str(0), now: a.String(), key: r.str(1)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, m := range moved {
		if _, err := t.exec("DELETE FROM heard WHERE address = ? AND key = ?", m.was, m.key); err != nil {
			return err
		}
		if err := t.hear(m.now, m.key); err != nil {
			return err
		}
	}
	return nil
}

// Writers gives the chats that have written to a session.
func (s *Store) Writers(ctx context.Context, key sessions.Key) (chats []channels.Address, err error) {
	err = s.read(ctx, func(c *conn) error {
		chats = nil
		return c.each(ctx, "SELECT h.address FROM heard h JOIN sessions s ON s.key = h.key WHERE h.key = ? ORDER BY CASE WHEN h.address = s.last THEN 0 ELSE 1 END, h.at DESC, h.address", []any{string(key)}, func(r row) error {
			chats = append(chats, address(r.str(0)))
			return nil
		})
	})
	return chats, err
}

// Known gives the sessions that a chat has written to, archived or not.
func (s *Store) Known(ctx context.Context, from channels.Address) (keys []sessions.Key, err error) {
	err = s.read(ctx, func(c *conn) error {
		keys = nil
		return c.each(ctx, "SELECT h.key FROM heard h JOIN sessions s ON s.key = h.key WHERE h.address = ? ORDER BY s.updated DESC, s.num DESC", []any{from.String()}, func(r row) error {
			keys = append(keys, sessions.Key(r.str(0)))
			return nil
		})
	})
	return keys, err
}
