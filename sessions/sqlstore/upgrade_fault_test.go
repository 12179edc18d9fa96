package sqlstore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/disktest"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/schema"
	"parley/sessions/sqlstore/sqlitefile"
)

// steps upgrades a database once and counts what SQLite does to its files meanwhile.
func (f fixture) steps(t *testing.T) int {
	t.Helper()
	dir := f.folder(t)
	d := disktest.New(t, dir)
	up(t, dir)
	return d.Count()
}

// some are at most so many of the numbers from 1 to n, all when there are fewer.
func some(n, most int) (out []int) {
	for i := range min(n, most) {
		out = append(out, 1+i*n/min(n, most))
	}
	return out
}

// from is a fault that begins at an operation and stays.
func from(n int, fault disktest.Fault) func(disktest.Op) disktest.Fault {
	begun := false
	return func(op disktest.Op) disktest.Fault {
		if begun = begun || op.N == n; begun {
			return fault
		}
		return disktest.None
	}
}

// older gives the fixtures that an upgrade changes.
func older(t *testing.T) []fixture {
	t.Helper()
	_, newest, err := schema.Latest(engine.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Clone(allFixtures(t)), func(f fixture) bool { return f.version == newest })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// goesOn opens what a broken upgrade left: one good file with all its content, which becomes the newest, and the copy of what was before.
func (f fixture) goesOn(t *testing.T, dir, when string) (was int64) {
	t.Helper()
	path := filepath.Join(dir, DatabaseFile)
	_, newest, err := schema.Latest(engine.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	if was = versionOf(t, path); was < f.version || was > newest {
		t.Fatalf("%s: version %d", when, was)
	}
	f.same(t, path)
	if before := sqlitefile.BeforeFile(path, f.version); exists(before) { // half a copy never has its name
		f.same(t, before)
	}
	s, err := Open(t.Context(), Config{Dir: dir, CheckBudget: time.Minute})
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f.same(t, path)
	isNewest(t, path)
	f.kept(t, path, newest)
	if left, err := filepath.Glob(path + "*.part*"); err != nil || len(left) > 0 {
		t.Errorf("%s: left are %v, %v", when, left, err)
	}
	return was
}

// The process is killed at an operation on a file during the upgrade: what is written is there, nothing after it is.
//
// proves: D9
func TestUpgradeKilled(t *testing.T) {
	t.Parallel()
	var kills, halfway atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, f := range older(t) {
			for _, n := range some(f.steps(t), times(6, 100000)) {
				t.Run(fmt.Sprint("version ", f.version, " at ", n), func(t *testing.T) {
					t.Parallel()
					dir := f.folder(t)
					d := disktest.New(t, dir)
					d.Fail(from(n, disktest.Down))
					if s, err := Open(t.Context(), Config{Dir: dir}); err == nil {
						_ = s.Close() // there is no disk any more
					}
					d.Fail(nil)
					if was := f.goesOn(t, dir, fmt.Sprint("killed at ", n)); was > f.version {
						halfway.Add(1)
					}
					kills.Add(1)
				})
			}
		}
	})
	t.Logf("%d kills during upgrades, %d of them after a migration was committed: one good file each time", kills.Load(), halfway.Load())
}

// The power goes during the upgrade: of what was not synced a random part is on the disk.
func TestUpgradePowerCut(t *testing.T) {
	t.Parallel()
	var cuts, pending, lost atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, f := range older(t) {
			count := f.steps(t)
			for seed := range times(4, 50) {
				t.Run(fmt.Sprint("version ", f.version, " seed ", seed), func(t *testing.T) {
					t.Parallel()
					r := rand.New(rand.NewPCG(uint64(seed), uint64(f.version)))
					dir := f.folder(t)
					d := disktest.New(t, dir)
					d.Remember()
					when := d.CutAt(1+r.IntN(count), r)
					if s, err := Open(t.Context(), Config{Dir: dir}); err == nil {
						_ = s.Close() // there is no disk any more
					}
					cut := when()
					if cut == nil {
						cut = d.Cut(r)
					}
					to := t.TempDir()
					cut.Restore(t, d, to)
					copied := sqlitefile.BeforeFile(filepath.Join(to, DatabaseFile), f.version)
					if _, err := os.Stat(copied); err == nil {
						_ = os.Remove(copied + ".part") // that is its name now, which the layer has not seen
					}
					f.goesOn(t, to, fmt.Sprint("power cut ", seed))
					cuts.Add(1)
					pending.Add(int64(cut.Pending))
					lost.Add(int64(cut.Lost))
				})
			}
		}
	})
	t.Logf("%d power cuts during upgrades, %d of %d writes that were not synced were lost or torn: one good file each time", cuts.Load(), lost.Load(), pending.Load())
}

// The disk is full from some moment of the upgrade on: the error says so and what to do, and the database is good. While it is only
// copied, it is as it was.
func TestUpgradeDiskFull(t *testing.T) {
	t.Parallel()
	var full, copying atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, f := range older(t) {
			for _, n := range some(f.steps(t), times(6, 100000)) {
				t.Run(fmt.Sprint("version ", f.version, " at ", n), func(t *testing.T) {
					t.Parallel()
					dir := f.folder(t)
					path := filepath.Join(dir, DatabaseFile)
					d := disktest.New(t, dir)
					d.Fail(from(n, disktest.Full))
					s, err := Open(t.Context(), Config{Dir: dir})
					if err == nil { // it was needed no more
						_ = s.Close()
					}
					d.Fail(nil)
					if err != nil {
						full.Add(1)
						f.says(t, path, err, &copying)
					}
					f.goesOn(t, dir, fmt.Sprint("full at ", n))
				})
			}
		}
	})
	t.Logf("%d upgrades met a full disk, %d of them while the database was copied, which left it as it was", full.Load(), copying.Load())
}

// says looks at the error of an upgrade that met a full disk.
func (f fixture) says(t *testing.T, path string, err error, copying *atomic.Int64) {
	t.Helper()
	if errors.Is(err, sessions.ErrDamaged) || strings.Contains(err.Error(), "upgrad") && !strings.Contains(err.Error(), path) {
		t.Errorf("the error: %v", err)
	}
	if !strings.Contains(err.Error(), "copy the database to") {
		return
	}
	copying.Add(1)
	for _, part := range []string{path, "Free disk space", "Nothing was changed"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	_, schema, e := look(path, contents{})
	if e != nil || !slices.Equal(schema, f.schema) || versionOf(t, path) != f.version {
		t.Errorf("the database has another schema: %v", e)
	}
	if _, e := os.Stat(sqlitefile.BeforeFile(path, f.version) + ".part"); !errors.Is(e, os.ErrNotExist) {
		t.Errorf("half a copy is left: %v", e)
	}
}
