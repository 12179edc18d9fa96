package schema

import (
	"context"
	"fmt"

	"parley/sessions/sqlstore/engine"
)

// unreleased are columns that came into a schema version shortly before the first release: a database of an earlier build has the
// version's number without them, and nothing upgrades it.
var unreleased = []struct {
	version int64
	query   string
}{
	{1, "SELECT above, by_agents FROM sessions LIMIT 0"},
	{1, "SELECT root, parent FROM runs LIMIT 0"},
	{1, "SELECT awaits FROM deliveries LIMIT 0"},
	{5, "SELECT text, quoted FROM previews LIMIT 0"},
	{5, "SELECT was FROM moves LIMIT 0"},
	{5, "SELECT address FROM pairings LIMIT 0"},
}

// CheckReleased refuses a database of a build before the first release whose schema was another one.
func CheckReleased(ctx context.Context, c *engine.Conn, name string, have int64) error {
	for _, u := range unreleased {
		if have < u.version {
			continue
		}
		if _, err := c.Number(ctx, u.query); err != nil {
			return fmt.Errorf("the store in %s has schema version %d of a build before the first release, which this program does not support. Nothing was changed. Use that build, or move the state folder away to start with an empty one (%w)",
				name, have, err)
		}
	}
	return nil
}

// HasContent reports whether a SQLite database is worth a copy before it is upgraded.
func HasContent(ctx context.Context, c *engine.Conn) (bool, error) {
	n, err := c.Number(ctx, "SELECT CASE WHEN EXISTS (SELECT 1 FROM seen) OR EXISTS (SELECT 1 FROM transcripts) OR EXISTS (SELECT 1 FROM deliveries) OR EXISTS (SELECT 1 FROM paired) THEN 1 ELSE 0 END")
	return n != 0, err
}
