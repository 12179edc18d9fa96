package filestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/tools"
)

// The bounds of files that are sent.
const (
	maxOutboxFile  = 100 << 20        // bytes of one
	maxOutboxBytes = 1 << 30          // bytes of all that are kept
	OutboxTTL      = time.Hour        // how long one stays after all that need it are sent; it is looked at once an hour
	MinOutbox      = 10 * time.Minute // how long one stays when room is needed: its delivery may not be in the store yet
)

// Outbox keeps the files of deliveries, each under the hash of its bytes: what an agent changes after it has posted a file is not sent.
type Outbox struct {
	dir         string // "" = none
	each, total int64
	log         *slog.Logger
	Clear       func(context.Context) error // removes what nothing that waits needs; nil = nothing is
	mu          sync.Mutex                  // what is in dir stays as it is; no file is read or written meanwhile
}

// NewOutbox returns an outbox in a folder; "" takes no file.
func NewOutbox(dir string, log *slog.Logger) *Outbox {
	return &Outbox{dir: dir, each: maxOutboxFile, total: maxOutboxBytes, log: log}
}

// Put copies a file. It is on disk when Put returns. What is in the way is a *tools.Refused, or the error of open.
func (x *Outbox) Put(ctx context.Context, name string, open func() (io.ReadCloser, error)) (f sessions.File, err error) {
	if x.dir == "" {
		return f, &tools.Refused{Reason: "this host keeps no files, so it cannot send any"}
	}
	from, err := open()
	if err != nil {
		return f, err
	}
	defer func() { _ = from.Close() }()
	to, err := newFile(x.dir)
	if err != nil {
		return f, err
	}
	defer func() { _ = os.Remove(to.Name()) }() // gone when it was renamed
	sum, start := sha256.New(), &firstBytes{}
	n, err := io.Copy(io.MultiWriter(to, sum, start), io.LimitReader(&reader{ctx, from}, x.each+1))
	if err == nil {
		err = to.Sync()
	}
	if err := errors.Join(err, to.Close()); err != nil {
		return f, err
	}
	switch {
	case n > x.each:
		return f, &tools.Refused{Reason: fmt.Sprintf("%s has more than %d bytes, the maximum", name, x.each)}
	case n == 0:
		return f, &tools.Refused{Reason: name + " is empty; platforms do not accept empty files"}
	}
	f = sessions.File{Name: sessions.FileName(name), Size: n, Hash: hex.EncodeToString(sum.Sum(nil))}
	f.Kind, f.MIME = kindOf(start.b, f.Name)
	taken, err := x.take(to.Name(), f)
	if err == nil && !taken && x.Clear != nil {
		if err = x.Clear(ctx); err == nil {
			taken, err = x.take(to.Name(), f)
		}
	}
	if err == nil && !taken {
		err = &tools.Refused{Reason: "the outbox is full: too many files wait to be sent. Try again later"}
	}
	return f, err
}

// take gives a file that was written its name; false when there is no room.
func (x *Outbox) take(written string, f sessions.File) (bool, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.used()+f.Size > x.total {
		return false, nil
	}
	if err := os.Rename(written, x.path(f)); err != nil {
		return false, err
	}
	syncFolder(x.dir)
	return true, nil
}

// used counts the bytes that are kept.
func (x *Outbox) used() (n int64) {
	entries, err := os.ReadDir(x.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.log.Warn("cannot list the outbox", keyErr, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !strings.HasPrefix(e.Name(), "new-") {
			n += info.Size()
		}
	}
	return n
}

// reader ends with its ctx.
type reader struct {
	ctx  context.Context //nolint:containedctx // for one copy
	from io.Reader
}

func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(b)
}

// firstBytes keeps what tells the kind of a file.
type firstBytes struct{ b []byte }

func (s *firstBytes) Write(b []byte) (int, error) {
	s.b = append(s.b, b[:min(len(b), 512-len(s.b))]...)
	return len(b), nil
}

// kindOf says how platforms show a file: by its bytes; its name only says more about what looks like nothing special.
func kindOf(start []byte, name string) (channels.MediaKind, string) {
	is, _, _ := strings.Cut(http.DetectContentType(start), ";")
	switch {
	case is == "application/ogg":
		return oggKind(start)
	case is == "video/mp4" && len(start) > 11 && string(start[8:11]) == "M4A": // a brand of files without a picture
		return channels.Audio, "audio/mp4"
	case is == "image/webp":
		if w, h, _, ok := channels.ReadWebP(start); ok && w <= channels.StickerSide && h <= channels.StickerSide {
			return channels.Sticker, is
		}
	}
	if slices.Contains([]string{"application/octet-stream", "text/plain", "application/zip"}, is) {
		if t, _, _ := strings.Cut(mime.TypeByExtension(strings.ToLower(filepath.Ext(name))), ";"); t != "" && !strings.HasPrefix(t, "image/") {
			is = t
		}
	}
	switch {
	case is == "image/jpeg" || is == "image/png":
		return channels.Image, is
	case is == "video/mp4":
		return channels.Video, is
	case strings.HasPrefix(is, "audio/"):
		return channels.Audio, is
	}
	return channels.Document, is
}

// oggKind looks into an Ogg file: platforms take Opus as a voice message. The first page is the head of what is in it.
func oggKind(start []byte) (channels.MediaKind, string) {
	switch {
	case bytes.Contains(start, []byte("OpusHead")):
		return channels.Audio, "audio/ogg; codecs=opus"
	case bytes.Contains(start, []byte("\x80theora")):
		return channels.Document, "video/ogg"
	}
	return channels.Audio, "audio/ogg"
}

func (x *Outbox) path(f sessions.File) string { return filepath.Join(x.dir, f.Hash) }

// Check returns why a file cannot be sent; "" = it can.
func (x *Outbox) Check(f sessions.File) string {
	name := sessions.FileName(f.Name)
	if f.Hash == "" {
		return fmt.Sprintf("the file %s was not included: the send policy did not allow it at the time of the post", name)
	}
	info, err := os.Stat(x.path(f))
	switch {
	case x.dir == "" || errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("the host no longer has the file %s", name)
	case err != nil:
		return fmt.Sprintf("cannot read the file %s: %v", name, errors.Unwrap(err))
	case info.Size() != f.Size:
		return fmt.Sprintf("the file %s is damaged: it has %d bytes of %d", name, info.Size(), f.Size)
	}
	return ""
}

// Outbound gives a file as adapters take it.
func (x *Outbox) Outbound(f sessions.File) channels.File {
	return channels.File{Kind: f.Kind, Name: sessions.FileName(f.Name), Words: f.String(), MIME: f.MIME, Size: f.Size, Open: func() (io.ReadCloser, error) { return os.Open(x.path(f)) }}
}

// Deliveries lists deliveries; sessions.Store says how.
type Deliveries interface {
	ListDeliveries(ctx context.Context, q sessions.DeliveryQuery) ([]sessions.Delivery, error)
}

// Evict removes the files that no delivery has needed for kept. One that is not final needs its files; one that a person may have sent
// again has them until the room is needed.
func (x *Outbox) Evict(ctx context.Context, store Deliveries, now time.Time, kept time.Duration) error {
	if entries, err := os.ReadDir(x.dir); x.dir == "" || err != nil || len(entries) == 0 {
		return nil //nolint:nilerr // there is no such folder yet
	}
	for _, state := range []sessions.DeliveryState{sessions.Held, sessions.DeliveryFail, sessions.Expired, sessions.Pending, sessions.Sending} {
		at := now
		if state.Final() {
			at = now.Add(-OutboxTTL / 2)
		}
		for before := int64(0); ; {
			page, err := store.ListDeliveries(ctx, sessions.DeliveryQuery{State: state, Limit: 1000, Before: before})
			if err != nil {
				return err
			}
			for _, d := range page {
				x.touch(at, d.Files...)
				before = d.Seq
			}
			if len(page) < 1000 {
				break
			}
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	evict(x.log, x.dir, now.Add(-kept), math.MaxInt64) // never what waits, however much it is
	return nil
}

// touch marks files as needed.
func (x *Outbox) touch(now time.Time, files ...sessions.File) {
	for _, f := range files {
		if f.Hash == "" {
			continue
		}
		if err := os.Chtimes(x.path(f), now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
			x.log.Warn("cannot mark a file as needed", keyErr, err)
		}
	}
}
