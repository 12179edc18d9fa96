package sqlstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// TestBackupUnderLoad copies the database again and again while turns are committed: each copy is whole, and has all that was on disk
// when it began.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	const writers = 4
	var done [writers]atomic.Int64
	stop, progress := make(chan struct{}), make(chan struct{}, 1)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := life(t.Context(), s, w, 1000*w+i, someQuestion, someAnswer); err != nil {
					t.Error(err)
					return
				}
				done[w].Add(1)
				select {
				case progress <- struct{}{}:
				default:
				}
			}
		})
	}
	var copies []string
	var least []int64
	for range 5 {
		<-progress
		<-progress
		var want int64
		for w := range writers {
			want += done[w].Load()
		}
		to := filepath.Join(t.TempDir(), "copy.db")
		if err := s.Backup(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		copies, least = append(copies, to), append(least, want)
	}
	close(stop)
	wg.Wait()
	for i, path := range copies {
		if err := CheckFile(t.Context(), path); err != nil {
			t.Error(err)
		}
		in, err := Inspect(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if in.Messages < 2*least[i] { // a question and an answer for each turn
			t.Errorf("copy %d has %d messages, %d turns were on disk when it began", i, in.Messages, least[i])
		}
		if in.Unsent > writers {
			t.Errorf("copy %d has %d deliveries that are not sent; no more than %d were under way at any moment", i, in.Unsent, writers)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the copy's mode: %v, %v", info, err)
		}
	}
}

func TestInspectRefuses(t *testing.T) {
	t.Parallel()
	dir := filled(t, 1)
	path := filepath.Join(dir, DatabaseFile)
	c, err := engine.SQLite.Connect(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)"); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(t.Context(), path); err == nil || !strings.Contains(err.Error(), "newer parley") {
		t.Errorf("a newer schema: %v", err)
	}
	if err := Copy(t.Context(), path, path); err == nil {
		t.Error("a file was copied over itself")
	}
	if _, err := Inspect(t.Context(), filepath.Join(dir, "none.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestHoldAndUnfinished(t *testing.T) {
	t.Parallel()
	dir := filled(t, 1)
	release, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Dir: dir}); !errors.Is(err, sessions.ErrInUse) {
		t.Errorf("a host starts on a folder that is held: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, UnfinishedFile)
	if err := os.WriteFile(mark, []byte("there\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{Dir: dir}); !errors.Is(err, sessions.ErrDamaged) || !strings.Contains(err.Error(), "are in there") {
		t.Errorf("a host starts on a folder that is half restored: %v", err)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	open(t, Config{Dir: dir})
}
