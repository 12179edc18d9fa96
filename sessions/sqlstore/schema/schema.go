package schema

import (
	"embed"
	"io/fs"

	"parley/sessions/sqlstore/engine"
)

// Migrations are the schema changes, numbered, forward only, one folder for each engine with the same numbers.
//
//go:embed migrations
var Migrations embed.FS

// Newest makes in a new SQLite database what all migrations make, in one script and less than half of their time.
//
//go:embed newest.sql
var Newest string

// Latest gives the migrations of a dialect and the newest schema version that this program knows.
func Latest(d engine.Dialect) (fs.FS, int64, error) { return d.Latest(Migrations) }
