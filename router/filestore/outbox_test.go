package filestore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/sessions"
	"parley/tools"
)

// TestOutboxBounds: one file may be so large, all of them together too; a name is no path.
func TestOutboxBounds(t *testing.T) {
	t.Parallel()
	x := NewOutbox(filepath.Join(t.TempDir(), "outbox"), slog.New(slog.DiscardHandler))
	x.each, x.total = 10, 25
	keep := func(name string, size int) (sessions.File, error) {
		return x.Put(t.Context(), name, func() (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(append([]byte(name), make([]byte, size-len(name))...))), nil
		})
	}
	f, err := keep("../a", 10)
	if err != nil || f.Name != "a" || f.Size != 10 || filepath.Dir(x.path(f)) != x.dir || x.Check(f) != "" {
		t.Errorf("%+v, %v", f, err)
	}
	var refused *tools.Refused
	if _, err := keep("b", 11); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "more than 10 bytes") {
		t.Errorf("%v", err)
	}
	if _, err := keep("c", 10); err != nil {
		t.Error(err)
	}
	if _, err := keep("d", 6); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "no room") {
		t.Errorf("%v", err)
	}
	if _, err := x.Put(t.Context(), "e", func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }); !errors.As(err, &refused) {
		t.Errorf("an empty file: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Put(ended, "f", func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if entries, err := os.ReadDir(x.dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
