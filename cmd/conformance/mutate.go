package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A test that hangs has noticed: broken code often waits for what never comes. The limits keep that short.
const (
	testLimit  = 90 * time.Second
	buildLimit = 10 * time.Minute
)

// verdict is what became of a mutation.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "SURVIVED"
	unbuilt  verdict = "DOES NOT BUILD"
	unrun    verdict = "NO TEST RAN"
	misfit   verdict = "DOES NOT APPLY"
	broken   verdict = "FAILS WITHOUT IT" // the test fails, or does not build, on the code as it is
)

// run tries the chosen mutations one after the other, tells on w what became of each, and keeps what was seen in the table.
// It reports whether all were killed.
func (t *mutations) run(ctx context.Context, root string, chosen []int, w io.Writer) (bool, error) {
	good := map[string]bool{}
	ok := true
	for n, i := range chosen {
		m := &t.list[i]
		v, failed, err := m.try(ctx, root, good)
		if err != nil {
			return false, fmt.Errorf("%s: %w", m, err)
		}
		m.Seen = ""
		if v == killed {
			m.Seen = strings.Join(failed, ", ")
		}
		ok = ok && v == killed
		fmt.Fprintf(w, "%d/%d %s %s: %s\n", n+1, len(chosen), v, m, strings.Join(failed, ", "))
		if err := keep(t.path, *m); err != nil {
			return false, err
		}
	}
	return ok, nil
}

// keep writes what was seen of one mutation to the table as it is by now: a whole run takes long, and people edit meanwhile.
func keep(path string, m mutation) error {
	t, err := readMutations(path)
	if err != nil {
		return err
	}
	for i := range t.list {
		if t.list[i].sum() == m.sum() {
			t.list[i].Seen = m.Seen
		}
	}
	return t.write()
}

// try breaks the code and runs the test. good remembers the tests that pass on the code as it is: a test that fails anyway
// would kill every mutation.
func (m mutation) try(ctx context.Context, root string, good map[string]bool) (verdict, []string, error) {
	text, err := m.apply(root)
	if err != nil {
		return misfit, []string{err.Error()}, nil
	}
	if test := m.Dir + " " + m.Run; !good[test] {
		v, failed, err := m.test(ctx, root, "")
		if err != nil {
			return "", nil, err
		}
		switch v {
		case survived:
		case killed, unbuilt:
			return broken, failed, nil
		default:
			return v, failed, nil
		}
		good[test] = true
	}
	dir, err := os.MkdirTemp("", "mutation")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	file := filepath.Join(dir, "broken"+filepath.Ext(m.File))
	overlay := filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, filepath.FromSlash(m.File)): file}})
	if err != nil {
		return "", nil, err
	}
	if err := errors.Join(os.WriteFile(file, text, 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return "", nil, err
	}
	return m.test(ctx, root, overlay)
}

// test runs the mutation's test, with the broken file in place of the real one when overlay names the file that says so.
func (m mutation) test(ctx context.Context, root, overlay string) (verdict, []string, error) {
	ctx, stop := context.WithTimeout(ctx, buildLimit)
	defer stop()
	args := []string{"test", "-json", "-vet=off", "-count=1", "-failfast", "-timeout", testLimit.String(), "-run", m.Run, "./" + m.Dir}
	if quiet, err := usesRapid(ctx, root, m.Dir); err != nil {
		return "", nil, err
	} else if quiet {
		args = append(args, "-rapid.nofailfile")
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	if overlay != "" { // by the environment, so that a program that the test builds is broken as well
		cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		return "", nil, errors.Join(err, ctx.Err())
	}
	v, failed := m.read(&out)
	if v == "" {
		return "", nil, fmt.Errorf("go test printed no result: %s", complaints.String())
	}
	return v, failed, nil
}

// usesRapid reports whether the tests of a package use the library for property tests, which writes what it found into the tree.
func usesRapid(ctx context.Context, root, dir string) (bool, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-test", "-deps", "./"+dir)
	cmd.Dir = root
	list, err := cmd.Output()
	return bytes.Contains(list, []byte("pgregory.net/rapid\n")), err
}

// event is one line of go test -json.
type event struct {
	Action, Test, FailedBuild, Output string
}

// read tells from what go test -json says what became of the tests: those that failed, down to the level that -run names (which of
// their subtests failed first is chance), or what the compiler said.
func (m mutation) read(r io.Reader) (verdict, []string) {
	var failed []string
	var v verdict
	var passed int
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		switch {
		case e.Action == "build-output" && !strings.HasPrefix(e.Output, "#"):
			failed = append(failed, strings.TrimSpace(e.Output))
		case e.Action == "fail" && e.Test != "":
			if strings.Count(e.Test, "/") == strings.Count(m.Run, "/") {
				failed = append(failed, m.Dir+"."+e.Test)
			}
		case e.Action == "pass" && e.Test != "":
			passed++
		case e.Action == "fail" && e.FailedBuild != "":
			v = unbuilt
		case e.Action == "fail":
			v = killed
		case e.Action == "pass":
			v = survived
		case e.Action == "skip" && e.Test == "":
			v = unrun
		}
	}
	if v == survived && passed == 0 {
		v = unrun
	}
	slices.Sort(failed)
	if v == killed && len(failed) == 0 {
		failed = []string{m.Dir + " (the process ended)"}
	}
	return v, failed
}
