package sqlstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// Words are cut out of a text here and not by the database: so both engines find the same, no query syntax can leak through, and a
// language without spaces is found character by character. SQLite indexes them behind the commits, a hundred messages at a time:
// that costs a tenth of what indexing each in its own commit does. A search first brings the index up to date, and so does a
// start after a crash, from a mark that is moved in the same transaction.
const (
	indexBatch = 128 // at once, whoever waits
	indexSoon  = 64  // in the next pause
	indexDelay = 500 * time.Millisecond
	maxWord    = 64   // bytes of a word that count
	maxSnippet = 300  // characters
	maxTerms   = 32   // words of a query that count
	maxWords   = 8000 // different words of a message that count
)

// entry is a message whose words are to be indexed.
type entry struct {
	seq  int64
	text string // its words, separated by spaces
}

// eachWord calls f with every word of a text in lower case and where it begins, until f says stop.
func eachWord(s string, f func(word string, at int) bool) {
	start := -1
	for i, r := range s {
		switch {
		case alone(r):
			if start >= 0 && !f(fold(s[start:i]), start) {
				return
			}
			start = -1
			if !f(string(r), i) {
				return
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			if start < 0 {
				start = i
			}
		default:
			if start >= 0 && !f(fold(s[start:i]), start) {
				return
			}
			start = -1
		}
	}
	if start >= 0 {
		f(fold(s[start:]), start)
	}
}

// alone reports whether a character is a word by itself: those of scripts that are written without spaces.
func alone(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && !unicode.IsMark(r)
}

func fold(w string) string {
	w = strings.ToLower(w)
	if len(w) <= maxWord {
		return w
	}
	n := maxWord
	for n > 0 && !utf8.RuneStart(w[n]) {
		n--
	}
	return w[:n]
}

// words gives the different words of a text.
func words(s string) (out []string) {
	seen := map[string]bool{}
	eachWord(s, func(w string, _ int) bool {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
		return len(out) < maxWords
	})
	return out
}

// indexed adds to the words of a message those that stand for its session and its agent, so that a search in one session does not
// walk through all others. They begin with characters that no word has.
func indexed(words []string, to shelf) []string {
	if len(words) == 0 {
		return nil
	}
	out := make([]string, 0, len(words)+2)
	return append(append(out, words...), scope('\uE000', string(to.key)), scope('\uE001', string(to.agent)))
}

func scoped[T ~string](prefix rune, ids []T) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = scope(prefix, string(id))
	}
	return out
}

// scope names an id by its hash, one for which nobody can find a second id: what stands under a key is seen under that key alone.
func scope(prefix rune, id string) string {
	h := sha256.Sum256([]byte(id))
	return string(prefix) + hex.EncodeToString(h[:16])
}

// searchIndex finds messages by their words.
type searchIndex struct {
	repository
	unindexed []entry     // the writer goroutine's own
	behind    atomic.Bool // unindexed is not empty
}

// committed takes over what a commit left to be indexed, and forgets what it indexed.
func (s *searchIndex) committed(flushed int, words []entry) {
	if flushed > 0 {
		s.unindexed = append(s.unindexed[:0], s.unindexed[flushed:]...)
	}
	s.unindexed = append(s.unindexed, words...)
	s.behind.Store(len(s.unindexed) > 0)
}

// flushIndex indexes what is left from earlier commits.
func (s *searchIndex) flushIndex(t *tx) error {
	todo := s.unindexed[t.flushed:] // the rest another operation of this transaction has indexed
	if len(todo) == 0 {
		return nil
	}
	for _, e := range todo {
		if _, err := t.Exec("INSERT INTO words (rowid, text) VALUES (?, ?)", e.seq, e.text); err != nil {
			return err
		}
	}
	t.flushed += len(todo)
	_, err := t.Exec("UPDATE meta SET value = ? WHERE name = 'indexed'", todo[len(todo)-1].seq)
	return err
}

// catchUp finds the messages that were committed and not indexed when the process died.
func (s *searchIndex) catchUp(ctx context.Context, c *engine.Conn) error {
	if s.db.Dialect().Postgres {
		return nil
	}
	from, err := c.Number(ctx, "SELECT value FROM meta WHERE name = 'indexed'")
	if err != nil {
		return err
	}
	defer func() { s.behind.Store(len(s.unindexed) > 0) }()
	return c.Each(ctx, "SELECT m.seq, m.body, t.key, t.agent FROM messages m JOIN transcripts t ON t.num = m.transcript WHERE m.seq > ? AND m.role <> 'toolResult' ORDER BY m.seq", []any{from}, func(r engine.Row) error {
		m, err := scanMessage(r)
		if err != nil {
			return err
		}
		w := words(m.Text())
		if len(w) > 0 {
			to := shelf{key: sessions.Key(r.Str(2)), agent: sessions.AgentID(r.Str(3))}
			s.unindexed = append(s.unindexed, entry{seq: r.Int(0), text: strings.Join(indexed(w, to), " ")})
		}
		return nil
	})
}

// Search finds messages that have all the words, newest first.
func (s *searchIndex) Search(ctx context.Context, q sessions.SearchQuery) ([]sessions.Hit, error) {
	terms := words(q.Text)
	if len(terms) == 0 || q.Keys != nil && len(q.Keys) == 0 || q.Agents != nil && len(q.Agents) == 0 {
		return nil, nil
	}
	if s.behind.Load() {
		if err := s.write(ctx, "Index", s.flushIndex); err != nil {
			return nil, err
		}
	}
	f := finding{terms: terms[:min(len(terms), maxTerms)], limit: orDefault(q.Limit, 10), offset: max(q.Offset, 0)}
	if q.Agents != nil {
		f.scopes = [][]string{scoped('\uE001', q.Agents)}
	}
	var found []hit
	err := s.read(ctx, func(c *engine.Conn) (err error) {
		if len(q.Keys) <= maxScopes {
			if q.Keys != nil {
				f.scopes = append(f.scopes, scoped('\uE000', q.Keys))
			}
			found, err = f.search(ctx, c)
			return err
		}
		each := f
		each.limit, each.offset = f.limit+f.offset, 0
		for some := range slices.Chunk(q.Keys, maxScopes) {
			each.scopes = append(slices.Clip(f.scopes), scoped('\uE000', some))
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
			m, err := scanMessage(r)
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

// snippet gives at most 300 characters of a text around the first word that was looked for.
func snippet(s string, find map[string]bool) string {
	at := 0
	eachWord(s, func(w string, i int) bool {
		if find[w] {
			at = i
			return false
		}
		return true
	})
	const before = 80
	start := at
	for n := 0; n < before && start > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	var b strings.Builder
	n := 0
	if start > 0 {
		b.WriteRune('…')
		n++
	}
	for _, r := range s[start:] {
		if n == maxSnippet-1 {
			b.WriteRune('…')
			break
		}
		if r == '\n' || r == '\r' || r == '\t' {
			r = ' '
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
