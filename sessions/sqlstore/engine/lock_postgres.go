package engine

import (
	"context"
	"fmt"
	"os"
	"time"

	"parley/sessions"
)

// connectWriter opens the writer's connection. On PostgreSQL the same connection holds the lock that makes this process the owner
// of the database: when it breaks, the lock is gone with it, and nothing can be written without having the lock again.
func (db *DB) connectWriter(ctx context.Context) (*Conn, error) {
	dsn := db.conf.WriteDSN
	if db.conf.Pragmas != nil {
		dsn += db.conf.Pragmas()
	}
	c, err := db.conf.Dialect.Connect(ctx, dsn)
	if err != nil || !db.conf.Dialect.Postgres {
		return c, err
	}
	if err := db.lockDatabase(ctx, c); err != nil {
		_ = c.Close() // the first error counts
		return nil, err
	}
	return c, nil
}

// applicationName is what PostgreSQL calls this process.
func applicationName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("parley %.30s pid %d", host, os.Getpid())
}

func (db *DB) lockDatabase(ctx context.Context, c *Conn) error {
	if _, err := c.Number(ctx, "SELECT length(set_config('application_name', ?, false))", applicationName()); err != nil {
		return err
	}
	const key = "hashtextextended('parley:' || current_schema(), 0)"
	if err := db.endOwn(ctx, c); err != nil {
		return err
	}
	deadline := time.Now().Add(lockTimeout)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for got := false; ; { // the server notices a moment later that a connection has ended
		if _, err := c.One(ctx, "SELECT CASE WHEN pg_try_advisory_lock("+key+") THEN 1 ELSE 0 END", nil, func(r Row) error { got = r.Int(0) == 1; return nil }); err != nil || got {
			return err
		}
		if time.Now().After(deadline) {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	who := "another process"
	if _, err := c.One(ctx, "SELECT a.application_name || ' since ' || to_char(a.backend_start, 'YYYY-MM-DD HH24:MI:SS') FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND (l.classid::bigint << 32 | l.objid::bigint) = "+key+" LIMIT 1",
		nil, func(r Row) error { who = r.Str(0); return nil }); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s is in use by %s; stop it or use another database or schema", sessions.ErrInUse, db.conf.Name, who)
}
