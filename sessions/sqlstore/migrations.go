package sqlstore

import (
	"embed"
	"io/fs"

	"parley/sessions/sqlstore/engine"
)

// The schema changes, numbered, forward only, one folder for each engine with the same numbers.
//
//go:embed migrations
var migrations embed.FS

// latest gives the migrations of a dialect and the newest schema version that this program knows.
func latest(d engine.Dialect) (fs.FS, int64, error) { return d.Latest(migrations) }
