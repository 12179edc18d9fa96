package openclaw

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Leases are read when somebody asks, because OpenClaw renews them while Read works; and a database that changes while it is copied is in use.
// source: openclaw/openclaw src/state (state_leases: a claim lasts five minutes and is renewed each 30 seconds)
func TestRunningAfterALongRead(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, ".openclaw")
	file := filepath.Join(dir, "state", "openclaw.sqlite")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "openclaw.json"), []byte("{gateway: {port: 1}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	run := func(statement string, args ...any) {
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE state_leases (scope TEXT, expires_at INTEGER, payload_json TEXT)")
	run("CREATE TABLE large (data BLOB)")
	run("INSERT INTO large VALUES (zeroblob(8 << 20))")
	run("INSERT INTO state_leases VALUES ('gateway-owner', ?, '{\"owner\": {\"pid\": 7, \"host\": \"0badcafe0bad\"}}')", time.Now().Add(-time.Minute).UnixMilli())
	getenv := func(name string) string { return map[string]string{"HOME": home}[name] }
	r := read(t, dir)
	if got := r.Running(t.Context(), getenv); got != "" {
		t.Errorf("the lease is at its end: %s", got)
	}
	run("UPDATE state_leases SET expires_at = ?", time.Now().Add(time.Minute).UnixMilli())
	if got := r.Running(t.Context(), getenv); got != "process 7" {
		t.Errorf("a lease that was renewed: %q, %+v", got, r.Report.Left)
	}
	run("DELETE FROM state_leases")
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for n := int64(1); ; n++ {
			select {
			case <-stop:
				close(done)
				return
			default:
			}
			if err := os.Chtimes(file, time.Time{}, time.Unix(n, 0)); err != nil {
				done <- err
				return
			}
		}
	}()
	got := ""
	for range 1000 { // a copy may come between two changes
		if got = r.Running(t.Context(), getenv); got != "" {
			break
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got != "changes in state/openclaw.sqlite" || strings.Contains(fmt.Sprint(r.Report.Left), "cannot tell") {
		t.Errorf("a database that changes: %q, %+v", got, r.Report.Left)
	}
}
