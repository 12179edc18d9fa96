//go:build !race

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// maxWalk is how many commands a person needs for each walk of the scripts.
const maxWalk = 6

// walks measures the parts of scripts between walk NAME and walked NAME: what a person types, and how long the machine takes.
type walks struct {
	mu    sync.Mutex
	began map[string]time.Time
	rows  []string
}

func (w *walks) begin(_ *testscript.TestScript, _ bool, args []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began[args[0]] = time.Now()
}

func (w *walks) end(_ *testscript.TestScript, _ bool, args []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rows = append(w.rows, fmt.Sprintf("%-14s %8d %8.1f", args[0], scriptWalks()[args[0]], time.Since(w.began[args[0]]).Seconds()))
}

// log prints the table. No test depends on the times, which are those of a busy machine.
func (w *walks) log(t *testing.T) {
	slices.Sort(w.rows)
	t.Logf("%-14s %8s %8s\n%s", "walk", "commands", "seconds", strings.Join(w.rows, "\n"))
}

var (
	walkBounds = regexp.MustCompile(`(?ms)^walk (\S+)$(.*?)^walked (\S+)$`)
	walkLine   = regexp.MustCompile(`(?m)^(exec|code \d+) (sh -c '(exec )?)?parley `)
)

// scriptWalks returns the number of commands of each walk by its name.
func scriptWalks() map[string]int {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		panic(err)
	}
	found := map[string]int{}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			panic(err)
		}
		for _, m := range walkBounds.FindAllStringSubmatch(string(text), -1) {
			if m[1] == m[3] {
				found[m[1]] = len(walkLine.FindAllString(m[2], -1))
			}
		}
	}
	return found
}

// A stranger needs few commands, from nothing and from each era of OpenClaw.
func TestWalkCommands(t *testing.T) {
	t.Parallel()
	found := scriptWalks()
	for _, name := range []string{"newcomer", "telegram", "mover-2025", "mover-jsonl", "mover-sqlite"} {
		if n := found[name]; n == 0 || n > maxWalk {
			t.Errorf("%s: %d commands, want 1 to %d", name, n, maxWalk)
		}
	}
}
