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

// Latest gives the migrations of a dialect and the newest schema version that this program knows.
func Latest(d engine.Dialect) (fs.FS, int64, error) { return d.Latest(Migrations) }
