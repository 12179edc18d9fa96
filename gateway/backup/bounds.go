package backup

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"parley/gateway/filesystem"
	"parley/sessions/sqlstore"
)

// ErrTooLarge says that an archive would unpack to more than is allowed. Nothing of it is used.
var ErrTooLarge = errors.New("the backup is too large")

const (
	// DefaultMaxBytes is how much an archive may unpack to when Options say nothing.
	DefaultMaxBytes = 64 << 30

	maxFiles     = 400_000   // in an archive
	maxFileBytes = 2 << 30   // of a file that is no database
	maxRatio     = 100       // unpacked to packed bytes; databases and transcripts come to 20
	freeRatio    = 256 << 20 // unpacked bytes that may have any ratio
	spareBytes   = 64 << 20  // that stay free on the disk
	maxTrailing  = 1 << 20   // behind the end of the tar
)

// bounds are what an archive may unpack to. The zero value bounds nothing: for archives that are only read.
type bounds struct {
	bytes   int64 // of all files; 0 = any number
	room    int64 // what the disk has left for them; -1 = not known
	ratio   bool  // a file that is packed suspiciously well is refused
	packed  *counted
	written int64
	files   int
}

// boundsOf gives the bounds of a restore into a folder.
func boundsOf(o Options) *bounds {
	b := &bounds{bytes: o.MaxBytes, room: -1}
	if b.bytes == 0 {
		b.bytes, b.ratio = DefaultMaxBytes, true
	}
	if free, kind, err := filesystem.Of(o.State); err == nil && kind != "" {
		b.room = max(int64(min(free, 1<<62))-spareBytes, 0)
	}
	return b
}

// admit refuses a file whose header says that it is too large, before any of it is written.
func (b *bounds) admit(name string, size int64) error {
	if b.bytes == 0 {
		return nil
	}
	b.files++
	switch total := b.written + size; {
	case b.files > maxFiles:
		return fmt.Errorf("%w: it has more than %d files", ErrTooLarge, maxFiles)
	case size < 0 || total < 0 || total > b.bytes:
		return fmt.Errorf("%w: its files exceed %d MiB at %.200q; if the backup is yours, raise --max-size", ErrTooLarge, b.bytes>>20, name)
	case size > maxFileBytes && !database(name):
		return fmt.Errorf("%w: %.200q has %d MiB; only databases may exceed %d MiB", ErrTooLarge, name, size>>20, maxFileBytes>>20)
	case b.room >= 0 && total > b.room:
		return fmt.Errorf("%w for the disk: its files exceed the %d MiB that are free, apart from a reserve", ErrTooLarge, b.room>>20)
	}
	return nil
}

func database(name string) bool {
	rest := strings.TrimPrefix(name, stateFolder)
	return rest == sqlstore.DatabaseFile || isDatabase(rest) || path.Ext(rest) == ".db-wal"
}

// wrote counts what was unpacked.
func (b *bounds) wrote(n int) error {
	b.written += int64(n)
	if b.ratio && b.written > freeRatio && b.written-freeRatio > maxRatio*b.packed.n {
		return fmt.Errorf("%w: it unpacks to more than %d times its size; if the backup is yours, raise --max-size", ErrTooLarge, maxRatio)
	}
	return nil
}

// counted counts what is read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bounded writes within bounds.
type bounded struct {
	w io.Writer
	b *bounds
}

func (w bounded) Write(p []byte) (int, error) {
	if err := w.b.wrote(len(p)); err != nil {
		return 0, err
	}
	return w.w.Write(p)
}
