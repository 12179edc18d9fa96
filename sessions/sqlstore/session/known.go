package session

import (
	"parley/sessions/sqlstore/engine"
)

// heard remembers that the session's chat has written to it.
func (s *Rows) heard(t *engine.Tx, k *Row) error {
	if k.Last.IsZero() {
		return nil
	}
	n, err := t.Exec("INSERT INTO heard (address, key) VALUES (?, ?) ON CONFLICT (address, key) DO NOTHING", k.Last.String(), string(k.Key))
	k.NewChat = n > 0
	return err
}

// HearElsewhere lets what came from a chat for a session have come from another one, or for another one. The newer position stays.
func (s *Rows) HearElsewhere(t *engine.Tx, was, wasKey, now, nowKey string) error {
	if _, err := t.Exec(`INSERT INTO heard (address, key, msg, at) SELECT ?, ?, msg, at FROM heard WHERE address = ? AND key = ?
		ON CONFLICT (address, key) DO UPDATE SET msg = excluded.msg, at = excluded.at WHERE excluded.at > heard.at`, now, nowKey, was, wasKey); err != nil {
		return err
	}
	_, err := t.Exec("DELETE FROM heard WHERE address = ? AND key = ?", was, wasKey)
	return err
}
