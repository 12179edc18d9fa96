package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
// TestEndpoints has all rows continue on copied files.
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

// toolWithKill has a person ask for the tool. When the model has its result, the files of the host are copied, as a kill would leave them.
func (e *endpoint) toolWithKill() {
	e.t.Helper()
	waits, release := e.server.Hold("tool")
	defer release()
	copied := make(chan error, 1)
	ended, end := context.WithCancel(e.t.Context())
	defer end()
	go func() {
		defer release()
		select {
		case <-waits:
			copied <- copyFiles(e.dir, e.killed)
		case <-ended.Done(): // without a call of a tool
			copied <- fs.ErrNotExist
		}
	}()
	e.turn("tool", "one", "use the tool", e.row.Want.Tool)
	end()
	if err := <-copied; err != nil {
		e.killed = ""
		if !errors.Is(err, fs.ErrNotExist) {
			e.t.Errorf("%s: kill: copy the files: %v", e.row.ID, err)
		}
	}
}

// afterKill is a life on the files that a kill left between the tool's result and the model's answer: the turn continues without a word
// of anybody, and the next one works.
func (e *endpoint) afterKill() {
	e.t.Helper()
	if e.killed == "" || e.t.Failed() {
		return
	}
	w := e.row.Want
	e.dir = e.killed
	e.counts.from = len(e.server.Log())
	e.start()
	defer e.stop()
	if e.host.err != nil {
		e.t.Errorf("%s: kill: the host does not start: %v", e.row.ID, e.host.err)
		return
	}
	if got := e.host.next(endpointChat("one"), 0); !regexp.MustCompile(w.Killed).MatchString(got) {
		e.t.Errorf("%s: kill: the turn ends with\n\t%q, not\n\t%s\nrequests:\n\t%s\nthe log ends with\n%s", e.row.ID, got, w.Killed, e.replies(e.counts.from), e.host.lastLines(4))
		return
	}
	e.turn("follow-up after a kill", "one", "and now?", w.Follow)
	e.count("killed", w.Refused)
}

// copyFiles copies a folder of a host that runs, but for the index of its database's log, which is made again.
func copyFiles(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular() || strings.HasSuffix(path, "-shm"):
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), b, 0o600)
	})
}

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
	case <-time.After(turnLimit):
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
