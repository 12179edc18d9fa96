package sqlstore

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"parley/sessions"
	"parley/sessions/sqlstore/search"
	"parley/sessions/sqlstore/transcript"
)

// The same rows in a PostgreSQL schema of their version: after the upgrade all of them are there as they were, and can be read and searched.
func TestUpgradePostgresKeepsEverything(t *testing.T) {
	t.Parallel()
	for _, f := range allFixtures(t) {
		t.Run(fmt.Sprint(f.version), func(t *testing.T) {
			t.Parallel()
			dsn := postgresDSN(t)
			var inserts []string
			for table, r := range f.raw {
				for _, row := range r.rows { // values as SQLite quotes them, which is how SQL does
					inserts = append(inserts, "INSERT INTO "+table+" ("+strings.Join(r.columns, ", ")+") VALUES ("+row+")")
				}
			}
			inserts = append(inserts, f.wordsPostgres(t)...)
			atVersion(t, goose.DialectPostgres, "pgx", dsn, "postgres", int(f.version), inserts)
			for range 2 {
				s := open(t, Config{Dir: t.TempDir(), DSN: dsn})
				f.readable(t, s)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				f.samePostgres(t, dsn)
			}
		})
	}
}

// wordsPostgres fills the index of words, which on PostgreSQL is a column of the rows that they stand in.
func (f fixture) wordsPostgres(t *testing.T) (out []string) {
	t.Helper()
	at := map[string]transcript.Slot{}
	for _, r := range f.table(t, "transcripts") {
		at[r["num"]] = transcript.Slot{Key: sessions.Key(r["key"]), Agent: sessions.AgentID(r["agent"])}
	}
	set := func(table, id, num string, words []string) {
		if len(words) > 0 {
			out = append(out, "UPDATE "+table+" SET words = array_to_tsvector(ARRAY['"+strings.Join(words, "','")+"']) WHERE "+id+" = "+num)
		}
	}
	for _, r := range f.table(t, "messages") {
		var m sessions.Message
		if err := json.Unmarshal([]byte(r["body"]), &m); err != nil {
			t.Fatal(err)
		}
		if m.Role != sessions.ToolResult {
			set("messages", "seq", r["seq"], search.Scoped(search.Words(m.Text()), at[r["transcript"]].Key, at[r["transcript"]].Agent))
		}
	}
	for _, r := range f.table(t, "notes") {
		if r["indexed"] == "1" {
			w := search.Scoped(search.Words(r["body"]), "", sessions.AgentID(r["agent"]))
			set("notes", "num", r["num"], slices.Delete(w, len(w)-2, len(w)-1)) // a note is found by its agent alone
		}
	}
	return out
}

// samePostgres is same for a PostgreSQL schema.
func (f fixture) samePostgres(t *testing.T, dsn string) {
	t.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }() // it only reads
	for table, was := range f.raw {
		got, err := quoted(db, table, was.columns)
		if err != nil {
			t.Fatal(err)
		}
		if want := slices.Sorted(slices.Values(was.rows)); !slices.Equal(got, want) {
			t.Errorf("version %d: table %s has %d rows instead of %d, or others: %.300s\ninstead of %.300s", f.version, table, len(got), len(want), fmt.Sprint(without(got, want)), fmt.Sprint(without(want, got)))
		}
	}
}

// quoted reads rows as the fixture has them.
func quoted(db *sql.DB, table string, columns []string) (out []string, err error) {
	rows, err := db.Query("SELECT " + strings.Join(columns, ", ") + " FROM " + table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		values, at := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			at[i] = &values[i]
		}
		if err := rows.Scan(at...); err != nil {
			return nil, err
		}
		line := make([]string, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case int64:
				line[i] = strconv.FormatInt(v, 10)
			case string:
				line[i] = "'" + strings.ReplaceAll(v, "'", "''") + "'"
			default:
				line[i] = "NULL"
			}
		}
		out = append(out, strings.Join(line, ","))
	}
	slices.Sort(out)
	return out, rows.Err()
}
