package main

import (
	"database/sql"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/sessions/sqlstore"
)

// Somebody's sqlite3 holds the database locked for writing: who writes is told what it is and what to do, and so is who asks whether the host is ready. Nothing
// of what was refused is there afterwards, and all goes on by itself.
func TestFaultDatabaseLocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pageConfig("models: {providers: {mock: {api: openai, baseUrl: "+w.model.URL()+"/v1, apiKey: x}}}\nagents: {defaults: {model: mock/mock-1}}\n", "")
	p := w.start()
	if out, code := w.cli("say", "main", "before", "--wait"); code != 0 {
		t.Fatalf("%q, %d", out, code)
	}
	db, err := sql.Open("sqlite", filepath.Join(w.dir, "state", sqlstore.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	do := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	do("BEGIN IMMEDIATE")
	if out, code := w.cli("say", "main", "meanwhile", "--json"); code != exitFailed || !strings.Contains(out, `"store_locked"`) || !strings.Contains(out, "another program has locked the host's database (parley.db)") {
		t.Errorf("%q, %d", out, code)
	}
	if status, body := readiness(p); status != http.StatusServiceUnavailable || !strings.Contains(body, "another program has locked the store") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	do("ROLLBACK")
	w.until(20*time.Second, "ready again", func() bool { status, _ := readiness(p); return status == http.StatusOK })
	if out, code := w.cli("say", "main", "after", "--wait"); code != 0 || !strings.Contains(out, "after") {
		t.Errorf("%q, %d", out, code)
	}
	for _, r := range w.model.Requests() {
		if strings.Contains(r.LastUserText(), "meanwhile") {
			t.Error("what was refused was done")
		}
	}
}
