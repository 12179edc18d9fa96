package sqlitefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// SumsFile is beside the SQLite database: a checksum for each of its pages. SQLite notices when a file's structure makes no sense; a flipped bit
// in a text or a number it takes as it is.
//
// The file of the database changes only when the log is moved into it, which nobody but the writer does. Before that, the sums of all pages in the log are on
// disk. So after a kill or a power cut at any moment a page either has its sum or is in the log, whose content replaces it and has sums of its own.
const SumsFile = DatabaseFile + "-sums"

// sumsHeader is the room for the first line, a sector. Behind it each page has eight bytes: its CRC-32C, and a sum of that with the page's
// number. What does not fit itself is no sum.
const (
	sumsHeader = 512
	sumsLine   = "parley sums 1: pages of %d bytes, commit %d, schema %d\n"
	sumSize    = 8
	sumChunk   = 256 // pages that are read at a time
)

// File is a file that is written without SQLite.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Sync() error
	Truncate(size int64) error
}

// pageChecksums are the checksums of a database's pages, and the log that they are made from.
type pageChecksums struct {
	f    File
	log  WAL
	page int // bytes

	// The writer's own.
	trying int64  // frames at which the log must be moved again
	kept   int64  // frames of the log whose pages have their sums on disk
	upTo   uint32 // the last page that could have one then
	moved  int64  // frames that were moved, for SQLite; a part of them may not be on disk
	torn   bool   // moving it failed
	// whole: the log's commits were all moved, and their sums are on disk: the next commit may begin it again.
	whole bool
	// settled: the last thing that was written is a commit that worked. What one that failed has left in the file looks like one.
	settled bool
	news    bool // something was committed since the log was looked at
	stale   bool // the sums have to be forgotten
	failing bool // it was said that they cannot be kept
}

// begin reads the log that lies beside a database.
func (x *pageChecksums) begin(ctx context.Context, l diskState, path string) (err error) {
	n, err := l.c.Number(ctx, "PRAGMA page_size")
	if err != nil {
		return err
	}
	x.page = int(n)
	_, err = x.log.Follow(path + "-wal")
	return err
}

func sumAt(number uint32) int64 { return sumsHeader + int64(number-1)*sumSize }

func seal(b []byte, number, sum uint32) {
	binary.BigEndian.PutUint32(b, sum)
	binary.BigEndian.PutUint32(b[4:], number)
	binary.BigEndian.PutUint32(b[4:], crc32.Checksum(b[:8], castagnoli))
}

func unseal(b []byte, number uint32) (sum uint32, ok bool) {
	var want [sumSize]byte
	sum = binary.BigEndian.Uint32(b)
	seal(want[:], number, sum)
	return sum, bytes.Equal(b[:sumSize], want[:])
}

// fits says whether the sums are of a database as it is now. Where the log has commits, they may be any after those that
// were summed. Where it has none, all that it had was moved into the file: by the writer, which wrote down the commit before, or by something else, such as the
// sqlite3 program.
func (x *pageChecksums) fits(l diskState) bool {
	var page int
	var at diskState
	b := make([]byte, sumsHeader)
	if _, err := x.f.ReadAt(b, 0); err != nil || !l.trusted || binary.BigEndian.Uint32(b[sumsHeader-4:]) != crc32.Checksum(b[:sumsHeader-4], castagnoli) {
		return false
	}
	if _, err := fmt.Sscanf(string(b), sumsLine, &page, &at.commits, &at.schema); err != nil || page != x.page {
		return false
	}
	return x.log.size > 0 && at.commits <= l.commits || at.commits == l.commits && at.schema == l.schema
}

// keep has the sums of the pages in the log on disk, for a database that has come to a commit. Those that it kept before are there: a log that a reader holds
// gets long.
func (x *pageChecksums) keep(l diskState) error {
	numbers := slices.DeleteFunc(slices.Sorted(maps.Keys(x.log.pages)), func(n uint32) bool { return n <= x.upTo && x.log.pages[n].frame <= x.kept })
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[0]+uint32(n) {
			n++
		}
		b := make([]byte, n*sumSize)
		for i, number := range numbers[:n] {
			seal(b[i*sumSize:], number, x.log.pages[number].sum)
		}
		if _, err := x.f.WriteAt(b, sumAt(numbers[0])); err != nil {
			return err
		}
		numbers = numbers[n:]
	}
	err := x.head(l, sumAt(x.log.size+1))
	if err == nil {
		x.kept, x.upTo = x.log.frames, x.log.size
	}
	return err
}

// forget takes every sum away: pages are taken as they are until they are written or the next start reads them.
func (x *pageChecksums) forget(l diskState) error {
	x.kept = 0
	if err := x.f.Truncate(0); err != nil {
		return err
	}
	return x.head(l, sumsHeader)
}

func (x *pageChecksums) head(l diskState, size int64) error {
	b := make([]byte, sumsHeader)
	copy(b, fmt.Appendf(nil, sumsLine, x.page, l.commits, l.schema))
	binary.BigEndian.PutUint32(b[sumsHeader-4:], crc32.Checksum(b[:sumsHeader-4], castagnoli))
	_, err := x.f.WriteAt(b, 0)
	if err == nil {
		err = x.f.Truncate(size)
	}
	if err == nil {
		err = x.f.Sync()
	}
	return err
}

// compare holds each page of the file that the log does not replace against its sum, as long as enough gives no error. Pages without a sum are taken as they
// are and get one if fill is set. Meanwhile the log must not be moved.
func (x *pageChecksums) compare(db io.ReaderAt, fill bool, enough func() error) (bad []uint32, without int, err error) {
	pages, sums := make([]byte, sumChunk*x.page), make([]byte, sumChunk*sumSize)
	for first := uint32(1); ; first += sumChunk {
		n, err := readAll(db, pages, int64(first-1)*int64(x.page))
		if err != nil {
			return bad, without, err
		}
		m, err := readAll(x.f, sums, sumAt(first))
		if err != nil {
			return bad, without, err
		}
		if n == 0 && m == 0 {
			return bad, without, nil
		}
		clear(sums[m:])
		end := 0
		for i := range sumChunk {
			number, here := first+uint32(i), sums[i*sumSize:(i+1)*sumSize]
			if x.log.Holds(number) {
				continue
			}
			there := (i+1)*x.page <= n
			want, known := unseal(here, number)
			sum := uint32(0)
			if there {
				sum = crc32.Checksum(pages[i*x.page:(i+1)*x.page], castagnoli)
			}
			switch {
			case known && (!there || sum != want):
				bad = append(bad, number)
			case there && !known:
				seal(here, number, sum)
				without, end = without+1, (i+1)*sumSize
			}
		}
		if fill && end > 0 {
			_, err := x.f.WriteAt(sums[:end], sumAt(first))
			fill = err == nil // there is no room: the next start does it
		}
		if err := enough(); err != nil {
			return bad, without, err
		}
	}
}

func readAll(f io.ReaderAt, b []byte, at int64) (int, error) {
	n, err := f.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// notAsWritten says which pages are damaged.
func notAsWritten(path string, bad []uint32) error {
	what := fmt.Sprintf("the checksum of page %d is wrong", bad[0])
	if len(bad) > 1 {
		what = fmt.Sprintf("the checksums of %d pages are wrong, such as page %d", len(bad), bad[0])
	}
	return errCorrupt(path, what+". "+howToGoOn(path))
}

func howToGoOn(path string) string {
	return "A disk, a copy or another program damaged the database. To accept the database as it is, remove " + path + "-commits"
}

// checkClosed reports whether a start would accept a database that is not in use. It changes nothing.
func checkClosed(ctx context.Context, path string) error {
	l, err := checkCommits(ctx, filepath.Dir(path), path)
	if err != nil {
		return err
	}
	defer l.close()
	if !l.trusted {
		return nil
	}
	f, err := os.Open(path + "-sums")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	x := &pageChecksums{f: f}
	defer x.log.Close()
	if err = x.begin(ctx, l, path); err != nil || !x.fits(l) {
		return err
	}
	db, err := os.Open(path)
	if err != nil {
		return err
	}
	bad, _, err := x.compare(db, false, ctx.Err)
	l.close() // before any other file of the database is closed
	_ = db.Close()
	if err == nil && len(bad) > 0 {
		return notAsWritten(path, bad)
	}
	return err
}
