package engine

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"parley/sessions"
)

// Trouble gives the error of the last commit that failed for a reason of the store (a full disk, an I/O error, a read-only file, a
// lost connection) when nothing was written after it; nil otherwise. It asks no server and never blocks: Probe finds out whether it
// still holds.
func (db *DB) Trouble() error {
	if e := db.trouble.Load(); e != nil {
		return *e
	}
	return nil
}

// Probe commits something tiny. When that works, Trouble is over; otherwise the error says why not. It returns when ctx ends, even
// when a server hangs.
func (db *DB) Probe(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		done <- db.Write(ctx, "Probe", func(t *Tx) error {
			// Another value each time: SQLite writes nothing for a row that stays as it is.
			_, err := t.Exec("INSERT INTO meta (name, value) VALUES ('probed', 1) ON CONFLICT (name) DO UPDATE SET value = meta.value + 1")
			return err
		})
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		if before := db.Trouble(); before != nil {
			return fmt.Errorf("%w; the host tries again: %w", before, ctx.Err())
		}
		return fmt.Errorf("probe the store in %s: %w", db.conf.Name, ctx.Err())
	}
}

// note remembers how a transaction went. One that wrote nothing proves nothing: it works on a full disk, too.
func (db *DB) note(wrote bool, err error) {
	switch {
	case err == nil && wrote:
		db.trouble.Store(nil)
	case err != nil && db.fault(err):
		if Locked(err) {
			err = fmt.Errorf("another program has locked the store: %w", err)
		}
		e := fmt.Errorf("cannot write to %s: %w", db.conf.Name, err)
		db.trouble.Store(&e)
	}
}

// Full reports whether an operation failed because the disk is full, in whatever words the store says it.
func Full(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()&0xff == sqlite3.SQLITE_FULL || e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE // its shared memory is a file, too
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code == "53100" // disk_full of PostgreSQL's appendix A
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Locked reports whether an operation failed because another program kept the SQLite database locked for longer than the store waits, 5 seconds. The
// commit that met it was not made.
func Locked(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// stale reports whether an error of SQLite's may come of its connection's view of the files, which a new one would not have: one that
// was opened while the disk was read-only stays so, and after an I/O error nobody knows what the old one still holds.
func stale(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// awayTimeout bounds how long a read waits for a database that is away. A failover takes 5 to 8 seconds.
const awayTimeout = 10 * time.Second

// away reports whether an operation failed because the database could not be reached, or would not work at that moment, so that a read may be
// made a moment later.
func away(err error) bool {
	if _, ok := errors.AsType[*sqlite.Error](err); ok {
		return Locked(err)
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		// The classes of PostgreSQL's appendix A: connection, rolled back for others (a standby's replay), resources, operator, a lock. Who cancels a
		// statement, or bounds its time (57014), wants its end.
		for _, class := range []string{"08", "40", "53", "57", "55P03"} {
			if strings.HasPrefix(e.Code, class) {
				return e.Code != "57014"
			}
		}
		return false
	}
	_, network := errors.AsType[net.Error](err)
	_, connect := errors.AsType[*pgconn.ConnectError](err)
	return network || connect || errors.Is(err, driver.ErrBadConn)
}

// fault reports whether an operation failed for a reason of the store, not one of its own.
func (db *DB) fault(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED,
			sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return true
		}
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		// The classes of PostgreSQL's appendix A: connection, resources, operator, system, its own faults; 25006 is read-only.
		for _, class := range []string{"08", "53", "57", "58", "F0", "XX", "25006"} {
			if strings.HasPrefix(e.Code, class) {
				return true
			}
		}
		return false
	}
	return away(err) || errors.Is(err, sessions.ErrDamaged) || errors.Is(err, sessions.ErrInUse) || db.conf.Dialect.Postgres && db.writer.gone
}

// unfit reports whether an operation failed for what it was to write, or by a fault of the code, so that it fails whenever it is tried. What is not
// known for sure is not among these.
func unfit(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE:
			return true
		}
		return false
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		// Data exceptions, constraints, and limits such as the size of an index row: PostgreSQL documentation, appendix A.
		return strings.HasPrefix(e.Code, "22") || strings.HasPrefix(e.Code, "23") || strings.HasPrefix(e.Code, "54")
	}
	return errors.Is(err, ErrPanic)
}
