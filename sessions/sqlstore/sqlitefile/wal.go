package sqlitefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
)

// The form of SQLite's write-ahead log (sqlite.org/fileformat2.html, section 4): a header, then frames of a header and a page.
const (
	logHeader   = 32
	frameHeader = 24
	logVersion  = 3007000
	logMagic    = 0x377f0682 // the last bit: the words that are added up are big-endian
	logChunk    = 8          // frames that are read at a time
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// logged is a page in the log.
type logged struct {
	sum   uint32 // CRC-32C
	frame int64  // from 1
}

// LogFile is a log that is only read.
type LogFile interface {
	io.ReaderAt
	io.Closer
}

// WAL reads a log as SQLite itself does when it opens one: up to its last whole commit. It continues where it ended the last time.
type WAL struct {
	wrap   func(LogFile) LogFile // stands before f; nil = nothing
	f      LogFile               // nil = there was none yet
	buf    []byte
	order  binary.ByteOrder
	page   int     // bytes
	salts  [8]byte // of this log: it has others when it begins again in the same file
	at     int64   // the end of the last commit
	check  [2]uint32
	frames int64             // in commits
	pages  map[uint32]logged // in commits, by number: the newest content
	size   uint32            // of the database after the last commit, in pages; 0 = there is no commit
}

// Close closes the file.
func (l *WAL) Close() {
	if l.f != nil {
		_ = l.f.Close() // it was only read
	}
}

// Follow reads the commits since the last call. anew reports that the log of that time was replaced.
func (l *WAL) Follow(path string) (anew bool, err error) {
	if l.f == nil {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		l.f = f
		if l.wrap != nil {
			l.f = l.wrap(f)
		}
	}
	var h [logHeader]byte
	if _, err := l.f.ReadAt(h[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if l.page == 0 || !bytes.Equal(h[16:24], l.salts[:]) {
		anew = l.size > 0
		if !l.begin(h[:]) {
			return anew, nil
		}
	}
	frame := int64(frameHeader + l.page)
	if int64(len(l.buf)) != logChunk*frame {
		l.buf = make([]byte, logChunk*frame)
	}
	fresh, check, at := map[uint32]logged{}, l.check, l.at
	for {
		n, err := l.f.ReadAt(l.buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return anew, err
		}
		for b := l.buf[:n]; int64(len(b)) >= frame; b = b[frame:] {
			head, page := b[:frameHeader], b[frameHeader:frame]
			number := binary.BigEndian.Uint32(head)
			if number == 0 || !bytes.Equal(head[8:16], l.salts[:]) {
				return anew, nil
			}
			check = l.add(l.add(check, head[:8]), page)
			if check[0] != binary.BigEndian.Uint32(head[16:]) || check[1] != binary.BigEndian.Uint32(head[20:]) {
				return anew, nil
			}
			at += frame
			fresh[number] = logged{crc32.Checksum(page, castagnoli), (at - logHeader) / frame}
			if size := binary.BigEndian.Uint32(head[4:]); size != 0 { // the last one of a commit
				maps.Copy(l.pages, fresh)
				clear(fresh)
				l.frames = (at - logHeader) / frame
				l.size, l.at, l.check = size, at, check
			}
		}
		if n < len(l.buf) {
			return anew, nil
		}
	}
}

// begin takes a log up from its header. A header that is not whole is none.
func (l *WAL) begin(h []byte) bool {
	*l = WAL{wrap: l.wrap, f: l.f, buf: l.buf, order: binary.LittleEndian, pages: map[uint32]logged{}}
	magic := binary.BigEndian.Uint32(h)
	if magic == logMagic|1 {
		l.order = binary.BigEndian
	}
	page := int(binary.BigEndian.Uint32(h[8:]))
	l.check = l.add([2]uint32{}, h[:24])
	if magic&^1 != logMagic || binary.BigEndian.Uint32(h[4:]) != logVersion || page < 512 || page > 65536 || page&(page-1) != 0 ||
		l.check[0] != binary.BigEndian.Uint32(h[24:]) || l.check[1] != binary.BigEndian.Uint32(h[28:]) {
		return false
	}
	l.page, l.at = page, logHeader
	copy(l.salts[:], h[16:24])
	return true
}

// add is the log's checksum: each word goes into one of two sums, and each of those into the other.
func (l *WAL) add(check [2]uint32, b []byte) [2]uint32 {
	x, y := check[0], check[1]
	if l.order == binary.ByteOrder(binary.LittleEndian) {
		for ; len(b) >= 8; b = b[8:] {
			x += binary.LittleEndian.Uint32(b) + y
			y += binary.LittleEndian.Uint32(b[4:]) + x
		}
		return [2]uint32{x, y}
	}
	for ; len(b) >= 8; b = b[8:] {
		x += binary.BigEndian.Uint32(b) + y
		y += binary.BigEndian.Uint32(b[4:]) + x
	}
	return [2]uint32{x, y}
}

// content reads a page.
func (l *WAL) content(b []byte, p logged) error {
	_, err := l.f.ReadAt(b[:l.page], logHeader+p.frame*int64(frameHeader+l.page)-int64(l.page))
	return err
}

// PageSize returns the bytes of a page; 0 = there is no log.
func (l *WAL) PageSize() int { return l.page }

// Pages returns how many pages the database has after the last commit; 0 = there is no commit.
func (l *WAL) Pages() uint32 { return l.size }

// Holds reports whether the log replaces a page of the file, or cuts it off.
func (l *WAL) Holds(number uint32) bool {
	_, ok := l.pages[number]
	return ok || l.size > 0 && number > l.size
}
