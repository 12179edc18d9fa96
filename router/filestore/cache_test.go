package filestore

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOldMediaGoes: what was not used for a month goes, and the oldest when there is too much.
func TestOldMediaGoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		total int64
		left  string
	}{"old": {1000, "[a b c]"}, "too many": {28, "[a b]"}} {
		x := NewCache(t.TempDir(), slog.New(slog.DiscardHandler))
		x.total = c.total
		for i, age := range []time.Duration{time.Hour, 2 * time.Hour, cacheTTL - time.Hour, cacheTTL + time.Hour} {
			path := filepath.Join(x.dir, string(rune('a'+i)))
			if err := os.WriteFile(path, make([]byte, 10), 0o600); err != nil {
				t.Fatal(err)
			}
			at := time.Now().Add(-age)
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		x.Evict(time.Now())
		entries, err := os.ReadDir(x.dir)
		var left []string
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if err != nil || fmt.Sprint(left) != c.left {
			t.Errorf("%s: %v, %v", name, left, err)
		}
	}
}
