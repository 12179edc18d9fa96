//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A FIFO in the place of a file ends each command with an error that names it; none waits.
// source: fifo(7), "opening a FIFO for reading normally blocks until some other process opens the same FIFO for writing"
func TestFIFOIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	fifo := filepath.Join(w.dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"restore", fifo}, {"--config", fifo, "check"}, {"--config", fifo, "run"}} {
		if out, err := w.here(args...); err == nil || !strings.Contains(out, fifo) || !strings.Contains(out, "not a regular file") {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
	for _, args := range [][]string{{"--config", w.dir, "check"}, {"restore", w.dir}} {
		if out, err := w.here(args...); err == nil || !strings.Contains(out, w.dir) {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
	if err := os.Symlink(fifo, filepath.Join(w.dir, "config.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check"}, {"run"}, {"trust"}} {
		if out, err := w.here(args...); err == nil || !strings.Contains(out, "config.yaml") || !strings.Contains(out, "not a regular file") {
			t.Errorf("%v: %v, %s", args, err, out)
		}
	}
}
