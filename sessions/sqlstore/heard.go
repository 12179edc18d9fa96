package sqlstore

import (
	"context"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// heard remembers that the session's chat has written to it.
func (s *sessionRows) heard(t *tx, k known) error {
	if k.Last.IsZero() {
		return nil
	}
	return s.hear(t, k.Last.String(), string(k.Key))
}

func (s *sessionRows) hear(t *tx, from, key string) error {
	_, err := t.Exec("INSERT INTO heard (address, key) VALUES (?, ?) ON CONFLICT (address, key) DO NOTHING", from, key)
	return err
}

// rehear moves what is known about who wrote from a place to its new one. A chat's position stays behind: the new place numbers its
// messages from 1 again, so the next one from there is the first.
func (s *sessionRows) rehear(t *tx, x relocation) error {
	if !x.account {
		const some = " WHERE address = ? OR address >= ? AND address < ?"
		if _, err := t.Exec("UPDATE heard SET msg = '', at = 0"+some, x.below()...); err != nil {
			return err
		}
	}
	type sighting struct{ was, now, key string }
	var moved []sighting
	err := t.Each("SELECT address, key FROM heard WHERE address = ? OR address >= ? AND address < ?", x.below(), func(r engine.Row) error {
		if a, ok := x.move(address(r.Str(0))); ok {
			moved = append(moved, sighting{was: r.Str(0), now: a.String(), key: r.Str(1)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, m := range moved {
		if err := s.hearElsewhere(t, m.was, m.key, m.now, m.key); err != nil {
			return err
		}
	}
	return nil
}

// hearElsewhere lets what came from a chat for a session have come from another one, or for another one. The newer position stays.
func (s *sessionRows) hearElsewhere(t *tx, was, wasKey, now, nowKey string) error {
	if _, err := t.Exec(`INSERT INTO heard (address, key, msg, at) SELECT ?, ?, msg, at FROM heard WHERE address = ? AND key = ?
		ON CONFLICT (address, key) DO UPDATE SET msg = excluded.msg, at = excluded.at WHERE excluded.at > heard.at`, now, nowKey, was, wasKey); err != nil {
		return err
	}
	_, err := t.Exec("DELETE FROM heard WHERE address = ? AND key = ?", was, wasKey)
	return err
}

// Writers gives the chats that have written to a session.
func (s *sessionRows) Writers(ctx context.Context, key sessions.Key) (chats []channels.Address, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		chats = nil
		return c.Each(ctx, "SELECT h.address FROM heard h JOIN sessions s ON s.key = h.key WHERE h.key = ? ORDER BY CASE WHEN h.address = s.last THEN 0 ELSE 1 END, h.at DESC, h.address", []any{string(key)}, func(r engine.Row) error {
			chats = append(chats, address(r.Str(0)))
			return nil
		})
	})
	return chats, err
}

// Known gives the sessions that a chat has written to, archived or not.
func (s *sessionRows) Known(ctx context.Context, from channels.Address) (keys []sessions.Key, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		keys = nil
		return c.Each(ctx, "SELECT h.key FROM heard h JOIN sessions s ON s.key = h.key WHERE h.address = ? ORDER BY s.updated DESC, s.num DESC", []any{from.String()}, func(r engine.Row) error {
			keys = append(keys, sessions.Key(r.Str(0)))
			return nil
		})
	})
	return keys, err
}
