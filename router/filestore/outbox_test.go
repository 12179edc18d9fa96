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

	"parley/channels/channeltest"
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
	if _, err := keep("d", 6); !errors.As(err, &refused) || !strings.Contains(refused.Reason, "outbox is full") {
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

func TestMediaKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ start, want string }{
		"a.txt":  {"\x89PNG\x0d\x0a\x1a\x0a", "image image/png"},
		"b.png":  {"only text", "document text/plain"},
		"c.csv":  {"a,b", "document text/csv"},
		"d":      {"GIF89a", "document image/gif"},
		"e.mp3":  {"ID3\x03\x00\x00\x00\x00\x00\x00", "audio audio/mpeg"},
		"f.json": {"{}", "document application/json"},
		"g.xyz":  {"\x00\x01", "document application/octet-stream"},
		// source: openclaw/openclaw#7, RFC 7845, RFC 9649
		"h.ogg":  {string(channeltest.Opus(1)), "audio audio/ogg; codecs=opus"},
		"i.bin":  {string(channeltest.Opus(1)), "audio audio/ogg; codecs=opus"},
		"j.opus": {"OggS\x00\x02" + strings.Repeat("\x00", 22) + "\x01vorbis", "audio audio/ogg"},
		"k.webp": {string(channeltest.WebP(512, 512, true)), "sticker image/webp"},
		"l.webp": {string(channeltest.WebP(1200, 900, false)), "document image/webp"},
		"m.m4a":  {"\x00\x00\x00\x1cftypM4A \x00\x00\x02\x00isomiso2" + strings.Repeat("\x00", 8), "audio audio/mp4"},
		"n.mp4":  {string(channeltest.MP4(1, 1, 1, 1)), "video video/mp4"},
	} {
		kind, is := kindOf([]byte(c.start), name)
		if got := string(kind) + " " + is; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
