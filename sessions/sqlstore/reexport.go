package sqlstore

import (
	"context"

	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/schema"
	"parley/sessions/sqlstore/sendlog"
	"parley/sessions/sqlstore/sqlitefile"
	"parley/sessions/sqlstore/trace"
)

// What the packages below the store say to those that use it.

// The phases that Config.Trace is told.
const (
	BeforeCommit = engine.BeforeCommit
	AfterCommit  = engine.AfterCommit
)

// Files in the state folder.
const (
	DatabaseFile   = sqlitefile.DatabaseFile   // the SQLite database
	CommitsFile    = sqlitefile.CommitsFile    // the number of its last commit
	SumsFile       = sqlitefile.SumsFile       // the checksums of its pages
	RescuedFile    = sqlitefile.RescuedFile    // what it had when its files were removed or replaced under it
	UnfinishedFile = sqlitefile.UnfinishedFile // there while a restore changes the folder; its text says where the state before is
	CallsFile      = sendlog.FileName          // notes of calls to platforms
)

// IDs names what has ids that people shorten.
type IDs = trace.IDs

// What has such ids.
const (
	RunIDs      = trace.RunIDs
	DeliveryIDs = trace.DeliveryIDs
	SessionIDs  = trace.SessionIDs
	JobIDs      = trace.JobIDs
)

// Owner is the process that holds a state folder.
type Owner = engine.Owner

// ReadOwner says which process holds a state folder now. The error wraps ErrNotFound when none does.
func ReadOwner(dir string) (Owner, error) { return engine.ReadOwner(dir) }

// Full reports whether an operation failed because the disk is full, in whatever words the store says it.
func Full(err error) bool { return engine.Full(err) }

// Locked reports whether an operation failed because another program kept the SQLite database locked for longer than the store waits, 5 seconds. The
// commit that met it was not made.
func Locked(err error) bool { return engine.Locked(err) }

// ErrSchema says that a database has another schema than the program that wrote it made.
var ErrSchema = schema.ErrSchema

// CheckSchema compares the schema of a store's SQLite database, which this process has not open, with the one that the migrations up to its
// version make. The error wraps ErrSchema when they differ. A version that no migration has is for Inspect to refuse.
func CheckSchema(ctx context.Context, path string) error { return schema.Check(ctx, path) }

// CheckPlain refuses a database of a library, whose schema this program does not know, that has more than tables and indexes of columns. The
// error wraps ErrSchema.
func CheckPlain(ctx context.Context, path string) error { return schema.CheckPlain(ctx, path) }

// Copy copies a SQLite database, as it is at one moment, into a file that is not there yet. Other connections, of other processes
// too, may write meanwhile.
func Copy(ctx context.Context, from, to string) error { return sqlitefile.Copy(ctx, from, to) }

// CopyStopped copies the database of a state folder that no host uses, unless a start would refuse it.
func CopyStopped(ctx context.Context, dir, to string) error {
	return sqlitefile.CopyStopped(ctx, dir, to)
}

// CheckFile runs SQLite's quick_check on any SQLite database that exists and that this process has not open, and holds a store's own against
// what is noted beside it, as a start does. The error wraps ErrDamaged when it is damaged.
func CheckFile(ctx context.Context, path string) error { return sqlitefile.CheckFile(ctx, path) }
