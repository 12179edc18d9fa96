package sqlstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A host that was killed while the sum of its database was still compared leaves that sum behind. Whatever becomes of the file then, the
// sum says nothing of it: it is another commit's.
func TestFaultStaleSum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		then func(t *testing.T, dir string)
	}{
		{"somebody looks into it", func(t *testing.T, dir string) { // and moves the log into the file
			if _, err := Inspect(t.Context(), filepath.Join(dir, DatabaseFile)); err != nil {
				t.Fatal(err)
			}
		}},
		{"the next host leaves no sum", func(t *testing.T, dir string) {
			s := open(t, Config{Dir: dir, CheckBudget: time.Minute})
			if err := life(t.Context(), s, 1, 3, someQuestion, someAnswer); err != nil {
				t.Fatal(err)
			}
			s.sound.Store(false) // as when the file is too large for its sum
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := killedComparing(t)
			c.then(t, dir)
			s, err := Open(t.Context(), Config{Dir: dir, CheckBudget: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// killedComparing is a folder that was closed in order, started and killed before the end of the comparison, with commits in its log.
func killedComparing(t *testing.T) string {
	t.Helper()
	s := open(t, Config{Dir: t.TempDir()})
	if err := life(t.Context(), s, 1, 1, someQuestion, someAnswer); err != nil {
		t.Fatal(err)
	}
	dir := s.conf.Dir
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, CommitsFile))
	if err != nil {
		t.Fatal(err)
	}
	_, sum, _ := strings.Cut(string(b), "\n")
	if sum == "" {
		t.Fatal("no sum was left")
	}
	s = open(t, Config{Dir: dir, CheckBudget: time.Minute})
	if err := life(t.Context(), s, 1, 2, someQuestion, someAnswer); err != nil {
		t.Fatal(err)
	}
	killed := copied(t, dir)
	f, err := os.OpenFile(filepath.Join(killed, CommitsFile), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(sum), commitsLine); err != nil {
		t.Fatal(err)
	}
	return killed
}
