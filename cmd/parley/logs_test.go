package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alecthomas/kong"
)

var redirected = regexp.MustCompile(` (?:2>>|<) ?\S+`)

// Every command has an example, every example is a command line that the program takes, and no command's help repeats the flags of all.
func TestHelpExamples(t *testing.T) {
	t.Parallel()
	var walk func(n *kong.Node)
	seen, paths := 0, map[string]bool{}
	walk = func(n *kong.Node) {
		for _, c := range n.Children {
			if c.Hidden {
				continue
			}
			paths[strings.TrimPrefix(c.FullPath(), "parley ")] = true
			_, text, has := strings.Cut(c.Detail, "Examples:\n")
			if !has {
				t.Errorf("%s has no example", c.FullPath())
			}
			for line := range strings.Lines(text) {
				for _, args := range commands(redirected.ReplaceAllString(strings.TrimSpace(line), "")) {
					seen++
					if err := parses(args); err != nil {
						t.Errorf("%s: %s: %v", c.FullPath(), strings.TrimSpace(line), err)
					}
				}
			}
			walk(c)
		}
	}
	k := grammar(&cli{})
	walk(k.Model.Node)
	if seen < 80 {
		t.Errorf("only %d examples", seen)
	}
	for path := range examples {
		if !paths[path] {
			t.Errorf("there are examples of %q, which is no command", path)
		}
	}
	var out bytes.Buffer
	k = grammar(&cli{})
	k.Stdout, k.Exit = &out, func(int) {}
	_, _ = k.Parse([]string{"status", "--help"})
	if strings.Contains(out.String(), "--config=FILE") || !strings.Contains(out.String(), "--json") || !strings.Contains(out.String(), "parley status --json") {
		t.Errorf("%s", out.String())
	}
}

// The manual page has the sections of man-pages(7), and one heading for options.
// source: man-pages(7), "Sections within a manual page"
func TestManualSections(t *testing.T) {
	t.Parallel()
	text := manPage(grammar(&cli{}).Model)
	at := 0
	for _, s := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "FILES", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES", "SEE ALSO"} {
		i := strings.Index(text, ".SH "+s+"\n")
		if i < at || strings.Count(text, ".SH "+s+"\n") != 1 {
			t.Errorf("section %s: at %d after %d, %d times", s, i, at, strings.Count(text, ".SH "+s+"\n"))
		}
		at = i
	}
	for _, want := range []string{"HTTPS_PROXY", "PARLEY_CONFIG", "parley connects chat platforms", ".B 130"} {
		if !strings.Contains(text, want) {
			t.Errorf("the manual page lacks %q", want)
		}
	}
}

// The last lines of a log file are printed, and with -f those that come, over a truncation and a new file of the same name.
func TestLogsFile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "a\n": "a\n", "a\nb\nc\n": "b\nc\n", "a\nb\nc": "b\nc\n", "a\x1b[2J\n": "a[2J\n"} {
		path := filepath.Join(t.TempDir(), "log")
		write(t, path, text)
		var out bytes.Buffer
		if err := (logsCmd{Lines: 2}).file(t.Context(), path, &out); err != nil || out.String() != want {
			t.Errorf("%q: %q, %v", text, out.String(), err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "log")
		write(t, path, "old\n")
		ctx, cancel := context.WithCancel(t.Context())
		var out lockedBuffer
		done := make(chan error)
		go func() { done <- logsCmd{Lines: 0, Follow: true}.file(ctx, path, &out) }()
		steps := []func(){
			func() { write(t, path, "old\nhalf a ") }, func() { write(t, path, "old\nhalf a line\n") },
			func() { write(t, path, "cut\n") },
			func() { _ = os.Rename(path, path+".1"); write(t, path, "new\n") },
		}
		for _, step := range steps {
			synctest.Wait()
			step()
			time.Sleep(3 * followInterval)
		}
		cancel()
		if err := <-done; err != nil || out.String() != "half a line\ncut\nnew\n" {
			t.Errorf("%q, %v", out.String(), err)
		}
	})
}

// The unit of a host is found in the text of /proc/self/cgroup.
// source: cgroups(7), systemd.exec(5)
func TestUnitOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0::/system.slice/parley.service\n":                                           "parley.service false",
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/parley.service\n": "parley.service true",
		"0::/user.slice/user-1000.slice/session-2.scope\n":                            " false",
		"1:name=systemd:/x.service\n0::/\n":                                           " false",
		"":                                                                            " false",
	} {
		unit, user := unitOf(text)
		if got := fmt.Sprint(unit, " ", user); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Error(err)
	}
}

// lockedBuffer is a buffer for two goroutines.
type lockedBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(p)
}
