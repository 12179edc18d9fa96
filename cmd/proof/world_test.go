package main

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/sessions"
)

// built builds the program under test once for all tests of this package.
var built = sync.OnceValues(func() (string, error) {
	return program{}.build(context.Background(), buildDir)
})

// buildDir is where the tests' program lies.
var buildDir string

// TestMain gives the tests a folder for the program that they build.
func TestMain(m *testing.M) {
	if os.Getenv(asParent) != "" {
		beParent()
	}
	if os.Getenv(asProof) != "" {
		os.Exit(prove())
	}
	dir, err := os.MkdirTemp("", "proof")
	if err != nil {
		panic(err)
	}
	buildDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// asParent in its environment makes the program of these tests a process that has a child.
const asParent = "PROOF_TEST_PARENT"

// asProof in its environment makes it the program that they test.
const asProof = "PROOF_TEST_PROOF"

// beParent starts a child that says so and reads its input to the end, and waits for it.
func beParent() {
	cmd := exec.CommandContext(context.Background(), "sh", "-c", "echo up; exec cat")
	cmd.Stdin, cmd.Stdout = os.Stdin, os.Stdout
	if err := runTied(cmd); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// testWorld is a world with the real program.
func testWorld(t *testing.T, c worldConfig) *world {
	t.Helper()
	c.Program, c.Dir = theHost(t), shortDir(t)
	w, err := newWorld(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// launch starts the host and waits until it answers.
func launch(t *testing.T, w *world) *process {
	t.Helper()
	p, err := w.start(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	if alive, err := w.ready(t.Context(), p); err != nil || !alive {
		t.Fatalf("alive %t: %v\n%s", alive, err, p.log)
	}
	return p
}

// A folder whose path has no room for a socket is refused before anything is built in it.
func TestDirTooLong(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), strings.Repeat("x", longestSocket))
	fails := program{Overlay: "no such file"}
	for name, err := range map[string]error{
		"kill": (&killCmd{program: fails, Kills: 1, Messages: 1, Dir: dir}).Run(t.Context()),
		"soak": (&soakCmd{program: fails, For: time.Hour, Rate: 1, WarmRate: 1, Dir: dir}).Run(t.Context()),
	} {
		if err == nil || !strings.Contains(err.Error(), "use a shorter one") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// In every place of the world a message is answered there, and the host calls the place and its session as the world does, also after
// it was killed.
func TestWorld(t *testing.T) {
	t.Parallel()
	w := testWorld(t, worldConfig{})
	p := launch(t, w)
	for life := range 2 {
		if err := w.rest(t.Context(), time.Minute); err != nil { // Discord says nothing to a bot that has never been there
			t.Fatalf("%v\n%s", err, p.log)
		}
		for i, at := range w.places {
			at.Say("hello " + id(int64(100*life+i)))
		}
		if err := until(t.Context(), time.Minute, "all is answered", func() bool { return w.model.Count() >= (life+1)*len(w.places) }); err != nil {
			t.Errorf("%v\n%s", err, p.log)
		}
		if err := w.rest(t.Context(), time.Minute); err != nil {
			t.Fatalf("%v\n%s", err, p.log)
		}
		if p.kill(); p.over() != nil {
			t.Error(p.over())
		}
		p = launch(t, w)
	}
	var all []sessions.Delivery
	if err := w.ask(t.Context(), http.MethodGet, "/api/deliveries", url.Values{"limit": {"1000"}}, nil, &all); err != nil {
		t.Fatal(err)
	}
	answers := map[string]sessions.Delivery{}
	for _, d := range all {
		_, text, _ := strings.Cut(d.Text, "hello ")
		answers[text] = d
	}
	for life := range 2 {
		for i, at := range w.places {
			text := id(int64(100*life + i))
			d, ok := answers[text]
			if !ok || d.State != sessions.Sent || placeOf(d) != at.Place || string(d.Session) != at.Session {
				t.Errorf("%q: %+v is not answered in %+v, session %s", text, d, at.Place, at.Session)
			}
		}
	}
	if len(all) != 2*len(w.places) || len(p.traced()) == 0 {
		t.Errorf("%d deliveries, %d calls of the trace", len(all), len(p.traced()))
	}
	if _, err := os.Stat(filepath.Join(w.state(), "parley.db")); err != nil {
		t.Error(err)
	}
}

// theHost is the program, built once for all tests.
func theHost(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shortDir is a folder for the time of a test; t.TempDir is too long for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "k")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
