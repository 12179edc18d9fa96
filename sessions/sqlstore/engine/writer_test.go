package engine

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"
)

// nothing is a user of the engine that has no maintenance.
type nothing struct{}

func (nothing) Next(bool, bool, bool) (name string, o Operation) { return "", nil }
func (nothing) Wait(bool, bool) time.Duration                    { return time.Hour }
func (nothing) Done(string, error)                               {}

// The only write that waits is one whose caller has gone away: nothing is committed, and the writer goes on.
func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	dsn := "file:" + filepath.Join(t.TempDir(), "x.db")
	db := New(Config{Dialect: SQLite, Name: "x.db", WriteDSN: dsn, ReadDSN: dsn, Readers: 1, Logger: slog.New(slog.DiscardHandler)})
	db.Maintain(nothing{})
	if err := db.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Writer().Exec(t.Context(), "CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL)"); err != nil {
		t.Fatal(err)
	}
	go db.Run(context.Background())
	for range 3 {
		o := &op{name: "Gone", done: make(chan struct{}), do: func(*Tx) error {
			t.Error("it was run")
			return nil
		}}
		o.taken.Store(true)
		db.queue <- o
		<-o.done
		if err := db.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !db.Stop() {
		t.Error("it was stopped before")
	}
	db.Wait()
	if err := db.Writer().Close(); err != nil {
		t.Error(err)
	}
}
