package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
)

// Search finds messages that have all the words, newest first.
func (x *Index) Search(ctx context.Context, q sessions.SearchQuery) ([]sessions.Hit, error) {
	terms := Words(q.Text)
	if len(terms) == 0 || q.Keys != nil && len(q.Keys) == 0 || q.Agents != nil && len(q.Agents) == 0 {
		return nil, nil
	}
	if x.behind.Load() {
		if err := x.db.Write(ctx, "Index", x.Flush); err != nil {
			return nil, err
		}
	}
	f := finding{terms: terms[:min(len(terms), maxTerms)], limit: engine.Limit(q.Limit, 10), offset: max(q.Offset, 0)}
	if q.Agents != nil {
		also := q.Also[:min(len(q.Also), maxScopes)]
		f.scopes = [][]string{append(scoped(agentMark, q.Agents), scoped(sessionMark, also)...)}
	}
	var found []hit
	err := x.db.Read(ctx, func(c *engine.Conn) (err error) {
		f := f
		found = nil
		if len(q.Keys) <= maxScopes {
			if q.Keys != nil {
				f.scopes = append(f.scopes, scoped(sessionMark, q.Keys))
			}
			found, err = f.search(ctx, c)
			return err
		}
		each := f
		each.limit, each.offset = f.limit+f.offset, 0
		for some := range slices.Chunk(q.Keys, maxScopes) {
			each.scopes = append(slices.Clip(f.scopes), scoped(sessionMark, some))
			hits, err := each.search(ctx, c)
			if err != nil {
				return err
			}
			found = append(found, hits...)
		}
		slices.SortFunc(found, func(a, b hit) int { return cmp.Compare(b.seq, a.seq) })
		found = slices.CompactFunc(found, func(a, b hit) bool { return a.seq == b.seq }) // a key may have been named twice
		found = found[min(f.offset, len(found)):min(f.offset+f.limit, len(found))]
		return nil
	})
	out := make([]sessions.Hit, len(found))
	for i, h := range found {
		out[i] = h.Hit
	}
	return out, err
}

// hit is a message that was found, and its place.
type hit struct {
	seq int64
	sessions.Hit
}

// finding is one search in the index.
type finding struct {
	terms         []string
	scopes        [][]string // one of each
	limit, offset int
}

// maxScopes bounds the sessions that are looked for at once: PostgreSQL compares what it finds with each of them.
const maxScopes = 64

func (f finding) search(ctx context.Context, c *engine.Conn) (out []hit, err error) {
	queries, and, or, quote := []string{searchSQLite}, " AND ", " OR ", `"`
	if c.Dialect.Postgres {
		queries, and, or, quote = []string{searchNewest, searchAll}, " & ", " | ", "'"
		if len(f.scopes) > 0 {
			queries = queries[1:]
		}
	}
	all := func(words []string, by string) string { // a word has only letters, digits and marks
		return "(" + quote + strings.Join(words, quote+by+quote) + quote + ")"
	}
	match := all(f.terms, and)
	for _, one := range f.scopes {
		match += and + all(one, or)
	}
	look := map[string]bool{}
	for _, w := range f.terms {
		look[w] = true
	}
	for i := 0; i < len(queries) && len(out) < f.limit; i++ {
		out = nil
		if err := c.Each(ctx, queries[i], []any{match, f.limit, f.offset}, func(r engine.Row) error {
			m, err := column.Message(r.Int(0), r.Str(1))
			m = m.Readable()
			out = append(out, hit{r.Int(0), sessions.Hit{Key: sessions.Key(r.Str(2)), Session: sessions.ID(r.Str(3)), Message: m.ID, Role: m.Role, Time: m.Time, Snippet: snippet(m.Text(), look)}})
			return err
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// On SQLite the index gives what matches in order, so that a search stops when it has enough. PostgreSQL's gives it in no order, and
// its planner, which does not know the words, walks through all messages from the newest on: quick for a common word, and without
// end for a rare one. So it is told what to do: look at the newest messages, and when those do not give enough, collect by the
// index. A search in some sessions goes to the index at once.
const (
	searchSQLite = `SELECT m.seq, m.body, t.key, t.id FROM words w JOIN messages m ON m.seq = w.rowid JOIN transcripts t ON t.num = m.transcript
		WHERE w.words MATCH ? AND t.gone = 0 ORDER BY w.rowid DESC LIMIT ? OFFSET ?`
	searchNewest = `SELECT m.seq, m.body, t.key, t.id FROM (SELECT seq, transcript, body, words FROM messages ORDER BY seq DESC LIMIT 2000) m
		JOIN transcripts t ON t.num = m.transcript
		WHERE m.words @@ CAST(CAST(? AS text) AS tsquery) AND t.gone = 0 ORDER BY m.seq DESC LIMIT ? OFFSET ?`
	searchAll = `WITH found AS MATERIALIZED (SELECT seq, transcript FROM messages WHERE words @@ CAST(CAST(? AS text) AS tsquery)),
		page AS (SELECT f.seq, t.key, t.id FROM found f JOIN transcripts t ON t.num = f.transcript WHERE t.gone = 0 ORDER BY f.seq DESC LIMIT ? OFFSET ?)
		SELECT m.seq, m.body, p.key, p.id FROM page p JOIN messages m ON m.seq = p.seq ORDER BY m.seq DESC`
)
