package sqlstore

import (
	"context"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// ImportPaired keeps people whom another program had let in, all at once, and returns how many are new. It is safe to repeat. A person who was
// turned down or taken out here in between is let in again: call it once for each import.
func (s *people) ImportPaired(ctx context.Context, list []sessions.Admitted) (added int, err error) {
	err = s.write(ctx, "ImportPaired", func(t *tx) error {
		added = 0
		for _, p := range list {
			at := p.Since
			if at.IsZero() {
				at = t.Now
			}
			n, err := t.Exec("INSERT INTO paired (channel, account, person, name, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (channel, account, person) DO NOTHING",
				string(p.Channel), string(p.Account), string(p.User), p.Name, engine.Ms(at))
			if err != nil {
				return err
			}
			added += int(n)
		}
		return nil
	})
	return added, err
}
