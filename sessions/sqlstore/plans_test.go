package sqlstore

import (
	"context"
	testflag "flag"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/sessions/sqlstore/engine"
)

// Tables that stay small, and the names of what a statement has selected before.
var smallTables = []string{"jobs", "lessons", "identities", "lifts", "logins", "moves", "occurrences", "paired", "pairings", "previews", "skipped", "sqlite_schema", "newest", "up", "chats"}

// smallIndexes are those of rows that are few at any time.
var smallIndexes = []string{"runs_active", "runs_open_below", "deliveries_open", "transcripts_gone", "notes_unindexed"}

// walks are the statements that may read a large table from one end, each by its end: it stops after a few rows, or a person asked for it.
var walks = []string{
	"FROM runs ORDER BY seq DESC LIMIT ?",                                                                    // the newest
	"FROM runs WHERE status = ? ORDER BY seq DESC LIMIT ?",                                                   // with an end that a person names
	"FROM runs WHERE body LIKE ? ESCAPE '!' ORDER BY seq DESC LIMIT ?",                                       // of a kind that a person names
	"FROM runs WHERE created >= ? ORDER BY seq DESC LIMIT ?",                                                 // since a time that a person names
	"FROM deliveries ORDER BY seq DESC LIMIT ?",                                                              // the newest
	"FROM deliveries WHERE state = ? ORDER BY seq DESC LIMIT ?",                                              // the newest that were sent, which most are
	"count(*) FROM deliveries",                                                                               // the state of the host, which a person asks for: an index alone is read
	"FROM receipts ORDER BY num LIMIT ?",                                                                     // the oldest
	"FROM seen ORDER BY num LIMIT ?",                                                                         // the oldest
	"FROM seen WHERE delivered > 0 AND delivery <= ? AND delivery + delivered > ? ORDER BY num DESC LIMIT ?", // parley trace
	"FROM sessions WHERE last = ? OR last >= ? AND last < ?",                                                 // a chat got another id
	// An account got another name.
	"SELECT key, key FROM sessions UNION SELECT key, target FROM aliases",
	"DELETE FROM seen WHERE address >= ? AND address < ? AND EXISTS (SELECT 1 FROM seen AS other WHERE other.msg = seen.msg AND other.event = seen.event AND other.address = ? || substr(seen.address, ?))",
	"UPDATE seen SET address = ? || substr(address, ?) WHERE address >= ? AND address < ?",
}

// prepared collects the statements that stores have used.
type prepared struct {
	mu   sync.Mutex
	all  map[string]bool
	full bool // a connection has kept as many as it may: of those behind them nothing is known
}

// take adds those of a store that its test is done with.
func (x *prepared) take(s *Store) {
	x.mu.Lock()
	defer x.mu.Unlock()
	add := func(c *engine.Conn) {
		all, full := c.Prepared()
		for _, q := range all {
			x.all[q] = true
		}
		x.full = x.full || full
	}
	if s.write(context.Background(), "look", func(tx *tx) error { add(tx.Conn); return nil }) != nil {
		return // closed by its test
	}
	// The store's own goroutines may still read.
	s.db.EachIdleReader(add)
}

// plans gives SQLite's plan for each statement.
func (x *prepared) plans(t *testing.T) map[string][]string {
	t.Helper()
	s, plans := open(t, Config{Dir: t.TempDir()}), make(map[string][]string)
	kind := regexp.MustCompile(`^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b`)
	if err := s.write(context.Background(), "plans", func(tx *tx) error {
		for q := range x.all {
			if !kind.MatchString(q) {
				continue
			}
			args := slices.Repeat([]any{1}, strings.Count(q, "?"))
			if err := tx.Conn.Each(tx.Ctx, "EXPLAIN QUERY PLAN "+q, args, func(r engine.Row) error { plans[q] = append(plans[q], r.Str(3)); return nil }); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return plans
}

// No statement looks through all that there ever was: what a host does every half minute, and for each message, takes as long after a year
// as on the first day.
func (x *prepared) walkNoTable(t *testing.T) {
	t.Helper()
	scan, met := regexp.MustCompile(`^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?$`), make(map[string]bool)
	few := regexp.MustCompile(`FROM sessions WHERE .*(?:spawned_by = \?|\bkey IN \()`)
	plans := x.plans(t)
	for q, plan := range plans {
		words := strings.Join(strings.Fields(q), " ")
		for _, step := range plan {
			if few.MatchString(words) && strings.HasSuffix(step, "archived=?)") {
				t.Errorf("%s: all sessions are read for a few by %s", step, words)
			}
			m := scan.FindStringSubmatch(step)
			if m == nil || slices.Contains(smallTables, m[1]) || slices.Contains(smallIndexes, m[2]) {
				continue
			}
			if i := slices.IndexFunc(walks, func(w string) bool { return strings.HasSuffix(words, w) }); i >= 0 {
				met[walks[i]] = true
				continue
			}
			t.Errorf("%s: all rows are read by %s", step, words)
		}
	}
	if strings.Contains(testflag.Lookup("test.run").Value.String(), "/") {
		return // a part of the suite
	}
	for _, w := range walks {
		if !met[w] {
			t.Errorf("nothing walks any more by %q: take it out of the list", w)
		}
	}
	if x.full {
		t.Error("a test uses more statements than a connection keeps, so that not all were looked at")
	}
	if len(plans) < 150 {
		t.Errorf("%d statements were looked at: the suite has more", len(plans))
	}
}
