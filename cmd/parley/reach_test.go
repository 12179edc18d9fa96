package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/gateway/config"
)

// Whatever people send, a line of the log is one line, in both formats.
func TestLogLines(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		path := filepath.Join(t.TempDir(), "log")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		log := logger(config.Log{Level: "debug", Format: format}, f)
		log.Info("one", "path", "/a\nb\r\x1b[2Jc\u2028", "err", os.PathError{Op: "x\ny", Err: os.ErrExist})
		slog.NewLogLogger(log.Handler(), slog.LevelDebug).Print("two\nforged\u2028again\u0085\u202eback")
		_ = f.Close()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(string(b), "\n"); lines != 2 || strings.ContainsAny(string(b), "\r\x1b\u2028") || format == "text" && strings.ContainsAny(string(b), "\u0085\u202e") {
			t.Errorf("%s: %d lines: %q", format, lines, b)
		}
	}
}
