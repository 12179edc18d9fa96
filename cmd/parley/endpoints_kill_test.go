package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest/endpoints"
)

// TestEndpointsKilled kills the real program between a tool's result and the answer of the model: the next one continues the turn with
// all that the endpoint wants back, and the next message is answered too. One row proves each mechanism; with PARLEY_FULL=1 all rows do.
// In cmd/internal/tables/endpointtest all rows continue on copied files.
func TestEndpointsKilled(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, row := range endpoints.Table() {
		plays := row.Want.Tool == endpoints.ToolText && row.Want.Follow == endpoints.FollowText && !row.Chosen && row.Tools == nil && row.Agents == ""
		if !plays || os.Getenv("PARLEY_FULL") == "" && (row.Kind == "" || kinds[row.Kind]) {
			continue
		}
		kinds[row.Kind] = true
		t.Run(row.ID, func(t *testing.T) {
			t.Parallel()
			killEndpoint(t, row)
		})
	}
}

// killEndpoint has the program killed while a row's model holds the tool's result.
func killEndpoint(t *testing.T, row endpoints.Row) {
	t.Helper()
	w := newWorld(t)
	server := endpoints.NewServer(row)
	srv := httptest.NewServer(server)
	t.Cleanup(srv.Close)
	w.config("", "")
	file := filepath.Join(w.dir, "config.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	more, thinking := "", ""
	if row.Config != "" {
		more = ", " + row.Config
	}
	if row.Thinking != "" {
		thinking = ", thinking: \"" + row.Thinking + "\""
	}
	head, rest, _ := strings.Cut(string(text), "    mock: ")
	_, rest, _ = strings.Cut(rest, "  list: ")
	provider := fmt.Sprintf("    row: {api: %s, baseUrl: %q, apiKey: key-of-the-test%s}\nagents:\n  defaults: {model: %q%s}\n  list: ", row.API, srv.URL+row.Path, more, "row/"+row.Model, thinking)
	if err := os.WriteFile(file, []byte(head+provider+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.start()
	w.tg.Say(owner, owner, "hello") // in the order of TestEndpoints: what the first call learns is known in the turn that is killed
	w.sent(owner, 1)
	w.quiet()
	plain := len(w.sent(owner, 1))
	waits, release := server.Hold("tool")
	defer release()
	w.tg.Say(owner, owner, "use the tool")
	select {
	case <-waits:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: kill: no request with the tool's result came", row.ID)
	}
	p.kill()
	release()
	before := len(server.Log())
	w.start()
	shown := func(n int, want string) {
		t.Helper()
		if got := w.sent(owner, n)[n-1].Text; !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: kill: the chat shows %q, not %s", row.ID, got, want)
		}
	}
	shown(plain+1, row.Want.Killed)
	w.tg.Say(owner, owner, "and now?")
	shown(plain+2, row.Want.Follow)
	for _, r := range server.Log()[before:] {
		if r.Refused && row.Want.Refused == 0 {
			t.Errorf("%s: kill: a request after it was refused: %.300s", row.ID, r.Reply)
		}
	}
}
