package sqlstore

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/transcript"
)

// What is in memory of the index follows the commit: an edit whose commit fails changes nothing that a search finds, and one in the same
// transaction as an indexing replaces what that has written.
// source: https://www.sqlite.org/fts5.html, "External Content Table Pitfalls": an index that does not follow its table
func TestReindexFollowsTheCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Bool
		s := open(t, Config{Dir: t.TempDir(), Trace: func(op, phase string) {
			if op == "Edit" && phase == BeforeCommit && fails.Load() {
				panic("the commit fails")
			}
		}})
		if err := life(t.Context(), s, 1, 1, "apricot", someAnswer); err != nil {
			t.Fatal(err)
		}
		edit := func(text string, first func(*tx) error) error {
			return s.write(t.Context(), "Edit", func(t *tx) error {
				if err := first(t); err != nil {
					return err
				}
				at, id := transcript.Slot{}, ""
				if _, err := t.One("SELECT m.transcript, m.id, t.key, t.agent, t.id FROM messages m JOIN transcripts t ON t.num = m.transcript WHERE m.role = 'user' ORDER BY m.seq DESC LIMIT 1", nil, func(r engine.Row) error {
					at, id = transcript.Slot{Transcript: r.Int(0), Key: sessions.Key(r.Str(2)), Agent: sessions.AgentID(r.Str(3)), Session: sessions.ID(r.Str(4))}, r.Str(1)
					return nil
				}); err != nil {
					return err
				}
				_, err := s.transcripts.Rewrite(t, at, id, func(m *sessions.Message) { applyAmend(m, sessions.AmendRun{Text: text}) })
				return err
			})
		}
		nothing := func(*tx) error { return nil }
		finds := func(when string, want string) {
			t.Helper()
			var found []string
			for _, word := range []string{"apricot", "banana", "cherry"} {
				hits, err := s.Search(t.Context(), sessions.SearchQuery{Text: word})
				if err != nil {
					t.Fatal(err)
				}
				if len(hits) > 0 {
					found = append(found, word)
				}
			}
			if got := strings.Join(found, " "); got != want {
				t.Errorf("%s: a search finds %q, want %q", when, got, want)
			}
		}
		fails.Store(true)
		if err := edit("banana", nothing); err == nil {
			t.Fatal("the commit does not fail")
		}
		finds("not committed", "apricot")
		fails.Store(false)
		if err := edit("banana", nothing); err != nil {
			t.Fatal(err)
		}
		finds("committed", "banana")
		if err := life(t.Context(), s, 2, 2, "apricot", someAnswer); err != nil { // waits to be indexed
			t.Fatal(err)
		}
		if err := edit("cherry", s.index.Flush); err != nil {
			t.Fatal(err)
		}
		finds("indexed in the same transaction", "banana cherry")
	})
}
