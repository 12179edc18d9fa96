package sqlstore

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/sessions"
	"parley/sessions/sqlstore/sqlitefile"
)

// One bit of the number of commits flips, any of them: a whole database starts, and one that has lost its newest commits is refused still.
//
// proves: D6
func TestFaultCommitsBit(t *testing.T) {
	t.Parallel()
	dir, _ := crashed(t)
	cut := copied(t, dir)
	if err := os.Remove(filepath.Join(cut, DatabaseFile+"-wal")); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join(dir, CommitsFile))
	if err != nil {
		t.Fatal(err)
	}
	lost := forgottenIn(t, cut, said)
	for bit := range 8 * len(said) {
		b := append([]byte(nil), said...)
		b[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(filepath.Join(dir, CommitsFile), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if g, err := inspected(t, dir); err != nil || !g.Trusted() {
			t.Errorf("bit %d: a whole database: %v", bit, err)
		}
		if got := forgottenIn(t, cut, b); got != lost {
			t.Errorf("bit %d: one that has lost its log: %s", bit, got)
		}
	}
}

// inspected looks at a database as a start does.
func inspected(t *testing.T, dir string) (*sqlitefile.Guard, error) {
	t.Helper()
	g := sqlitefile.New(sqlitefile.Config{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	err := g.Inspect(t.Context())
	return g, errors.Join(err, g.Close(nil))
}

// forgottenIn gives the words about the commits that a database has lost.
func forgottenIn(t *testing.T, dir string, said []byte) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, CommitsFile), said, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := inspected(t, dir)
	if !errors.Is(err, sessions.ErrDamaged) || !strings.Contains(err.Error(), "commits are missing") {
		t.Errorf("%v", err)
	}
	number, _, _ := strings.Cut(fmt.Sprint(err), ", the last one of")
	return number
}

// What is left of the number says what to do: one damaged place is told of and written again, more of them are no missing commits.
func TestFaultCommitsDamaged(t *testing.T) {
	t.Parallel()
	spoil := func(at ...int) func([]byte) []byte {
		return func(b []byte) []byte {
			for i, at := range at {
				b[at+10+i] ^= 4
			}
			return b
		}
	}
	const secondAt, thirdAt = 28, 54 // where the second and the third line begin
	again := thirdAt + len("again ")
	for _, c := range []struct {
		name    string
		harm    func([]byte) []byte
		refused string // words of it; "" = it starts with everything
		warned  string
	}{
		{"nothing", spoil(), "", ""},
		{"the first place", spoil(0), "", "one corrupt copy of the commit counter"},
		{"the second", spoil(secondAt + len("sums ")), "", "one corrupt copy of the commit counter"},
		{"the third", spoil(again), "", ""}, // a program that does not write it leaves the same
		{"two places", spoil(0, again), "the newest commits may be missing", ""},
		{"all places", spoil(0, secondAt+len("sums "), again), "the newest commits may be missing", ""},
		{"emptied", func([]byte) []byte { return nil }, "", "cannot verify that the latest commits are present"},
		{"zeroed", func(b []byte) []byte { clear(b); return b }, "", "cannot verify that the latest commits are present"},
		{"of a program without the third", func(b []byte) []byte { return b[:thirdAt] }, "", ""},
		{"of a program that counts in the first alone, with commits that are lost", func(b []byte) []byte { b[10] += 3; return b }, "commits are missing", ""},
		{"of a program without the third, damaged", func(b []byte) []byte { return spoil(0)(b)[:thirdAt] }, "commits are missing", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			killed, look := crashed(t)
			dir := copied(t, killed)
			change(t, filepath.Join(dir, CommitsFile), c.harm)
			err := refused(t, dir)
			if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Fatal(err)
			}
			if c.refused != "" {
				return
			}
			dir = copied(t, killed)
			change(t, filepath.Join(dir, CommitsFile), c.harm)
			for i, want := range []string{c.warned, ""} {
				var said strings.Builder
				s := open(t, Config{Dir: dir, Logger: slog.New(slog.NewTextHandler(&said, nil))})
				if got := signature(t, s); got != look {
					t.Errorf("start %d: something is missing", i)
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if got := said.String(); strings.Contains(got, "commit counter") != (want != "") || !strings.Contains(got, want) {
					t.Errorf("start %d: %s", i, got)
				}
			}
		})
	}
}
