package sqlstore

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/storetest"
)

func open(t *testing.T, conf Config) *Store {
	t.Helper()
	s, err := Open(context.Background(), conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some tests close it themselves
	return s
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	used := &prepared{all: make(map[string]bool)}
	t.Cleanup(func() { // behind the last test of the suite
		if !t.Failed() {
			used.walkNoTable(t)
		}
	})
	storetest.Run(t, func(t *testing.T) sessions.Store {
		s := open(t, Config{Dir: t.TempDir()})
		t.Cleanup(func() { used.take(s) })
		return s
	})
}

// postgresEnv names a server for tests, e.g. postgres://user@localhost:5432/db. Each test gets a schema of its own.
const postgresEnv = "PARLEY_TEST_POSTGRES"

var schemas atomic.Int64

// postgresDSN makes a schema on the test server and gives its data source.
func postgresDSN(t testing.TB) string {
	t.Helper()
	dsn := os.Getenv(postgresEnv)
	if dsn == "" {
		t.Skip(postgresEnv + " is not set: no PostgreSQL server to test on")
	}
	schema := fmt.Sprintf("parley_test_%d_%d", os.Getpid(), schemas.Add(1))
	run := func(q string) {
		c, err := engine.Postgres.Connect(context.Background(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Exec(context.Background(), q); err != nil {
			t.Error(err)
		}
	}
	run("CREATE SCHEMA " + schema)
	t.Cleanup(func() { run("DROP SCHEMA " + schema + " CASCADE") })
	if strings.Contains(dsn, "?") {
		return dsn + "&search_path=" + schema
	}
	return dsn + "?search_path=" + schema
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	if os.Getenv(postgresEnv) == "" {
		t.Skip(postgresEnv + " is not set: no PostgreSQL server to test on")
	}
	storetest.Run(t, func(t *testing.T) sessions.Store {
		dsn := postgresDSN(t)
		return open(t, Config{Dir: t.TempDir(), DSN: dsn, Readers: 2})
	})
}
