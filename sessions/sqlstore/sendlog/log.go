package sendlog

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
)

// FileName is in the state folder. A line for each step of a try to send: the commit that begins it, its platform is about to be called, the platform has
// answered. The lines are written and never synced: they outlive the process, which needs no disk, and after the computer went down they say nothing, as they
// name the boot that they were written in. Recover reads them: the fate of what a killed host was sending is unknown only between the call and its answer.
//
// What is known is what the newest line about a try says. One that is missing, damaged, of another boot or of another try says nothing, so the file may be removed or
// left behind: that hides what is known, and makes nothing up. Where a line cannot be written all of them are removed.
const FileName = "parley.calls"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const (
	lineSize = 128  // bytes of a line
	lines    = 4096 // then the oldest is written over: some thousand tries
)

// The steps of a try.
const (
	intent       = 1 + iota // the commit that begins it is about to be made
	started                 // the platform is about to be called
	acknowledged            // it has taken the part
)

// Where the fields of a line are.
const (
	callNumber  = 4 // behind the CRC-32C of all that follows
	callTry     = callNumber + 8
	callStep    = callTry + tryLen
	callLast    = callStep + 1
	callAt      = callLast + 1
	callReceipt = callAt + 8 // length, then the id
	tryLen      = 16
)

// sendTry names one try to send one part, and the boot that it is made in.
type sendTry [tryLen]byte

// Log is the open file.
type Log struct {
	boot string

	// mu is held while a line is written, into memory of the system's: the order of the lines is what they say.
	mu     sync.Mutex
	f      File   // nil = nothing is noted
	number uint64 // of the newest line
	failed error  // one could not be written, nor the others be removed: what they say may be untrue
}

// Call is the newest line about a try.
type Call struct {
	number  uint64
	step    byte
	Last    bool // of the delivery's parts
	Receipt channels.Receipt
}

// Open opens the file. wrap stands between the log and its file; nil = nothing. Where there is none, or the system does not tell one boot from another, nothing is noted and nothing known.
func Open(dir, boot string, wrap func(File) File) (*Log, error) {
	c := &Log{boot: boot}
	if c.boot == "" {
		return c, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return c, err
	}
	engine.Tighten(f.Name())
	c.f = f
	if wrap != nil {
		c.f = wrap(f)
	}
	info, err := f.Stat()
	if err == nil && info.Size() != lines*lineSize { // all of it is there before it is needed: a full disk refuses no line
		err = f.Truncate(0)
		for at := int64(0); err == nil && at < lines*lineSize; at += lines {
			_, err = f.WriteAt(make([]byte, lines), at)
		}
	}
	if err == nil {
		err = c.each(func(_ sendTry, x Call) { c.number = max(c.number, x.number) })
	}
	if err != nil {
		c.give(err)
	}
	return c, err
}

// File is the file that the log writes to.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
}

// Intent notes that the commit is about to be made that begins a try.
func (c *Log) Intent(d *sessions.Delivery) error { return c.note(d, Call{step: intent}) }

// Started notes that the platform is about to be called. On an error it must not be.
func (c *Log) Started(d *sessions.Delivery) error { return c.note(d, Call{step: started}) }

// Acknowledged notes that the platform has taken a part.
func (c *Log) Acknowledged(d *sessions.Delivery, r channels.Receipt, last bool) error {
	return c.note(d, Call{step: acknowledged, Last: last, Receipt: r})
}

// Intended reports whether the newest line says that no platform was called for the try.
func (x Call) Intended() bool { return x.step == intent }

// Taken reports whether the newest line says that the platform has taken the part.
func (x Call) Taken() bool { return x.step == acknowledged }

// Known is a snapshot of the notes about tries.
type Known struct {
	log   *Log
	calls map[sendTry]Call
}

// Of returns what is known of the try that a delivery is at; the zero Call = nothing.
func (k Known) Of(d *sessions.Delivery) Call { return k.calls[k.log.of(d)] }

// Len returns of how many tries something is known.
func (k Known) Len() int { return len(k.calls) }

// of names the try that a delivery is at.
func (c *Log) of(d *sessions.Delivery) (t sendTry) {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d %d %d", c.boot, d.ID, d.Part, d.Attempt, engine.Ms(d.Updated)))
	copy(t[:], h[:])
	return t
}

// note writes a line. On an error the lines that are there may say something else of the try, and what the line is for must not be done.
func (c *Log) note(d *sessions.Delivery, x Call) error {
	key := c.of(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		c.give(c.failed)
	}
	if c.f == nil || c.failed != nil || len(x.Receipt.ID) > lineSize-callReceipt-1 { // nobody is told of such a receipt
		return c.failed
	}
	c.number++
	var b [lineSize]byte
	binary.BigEndian.PutUint64(b[callNumber:], c.number)
	copy(b[callTry:], key[:])
	b[callStep] = x.step
	if x.Last {
		b[callLast] = 1
	}
	binary.BigEndian.PutUint64(b[callAt:], uint64(engine.Ms(x.Receipt.At))) //nolint:gosec // and back
	b[callReceipt] = byte(len(x.Receipt.ID))
	copy(b[callReceipt+1:], x.Receipt.ID)
	binary.BigEndian.PutUint32(b[:], crc32.Checksum(b[callNumber:], castagnoli))
	if _, err := c.f.WriteAt(b[:], int64(c.number%lines)*lineSize); err != nil { //nolint:gosec // below lines
		c.give(err)
	}
	return c.failed
}

// give gives up: no line is written any more, and none that is there may say anything. c.mu is held, or no other goroutine has c.
func (c *Log) give(err error) {
	if c.failed = err; c.f.Truncate(0) == nil { // takes no room
		_ = c.f.Close() // nothing of it is in a buffer
		c.f, c.failed = nil, nil
	}
}

// each reads the lines that are whole.
func (c *Log) each(do func(sendTry, Call)) error {
	r := bufio.NewReaderSize(io.NewSectionReader(c.f, 0, lines*lineSize), 16<<10)
	line := make([]byte, lineSize)
	for {
		if _, err := io.ReadFull(r, line); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
		size := int(line[callReceipt])
		if binary.BigEndian.Uint32(line) != crc32.Checksum(line[callNumber:], castagnoli) || callReceipt+1+size > lineSize {
			continue
		}
		x := Call{number: binary.BigEndian.Uint64(line[callNumber:]), step: line[callStep], Last: line[callLast] == 1}
		x.Receipt = channels.Receipt{ID: channels.MessageID(line[callReceipt+1:][:size]), At: engine.FromMs(int64(binary.BigEndian.Uint64(line[callAt:])))} //nolint:gosec // as it was
		do(sendTry(line[callTry:callStep]), x)
	}
}

// Newest returns what is known of tries: nothing when not all can be read.
func (c *Log) Newest() (Known, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.f == nil || c.failed != nil {
		return Known{log: c}, c.failed
	}
	out := map[sendTry]Call{}
	err := c.each(func(t sendTry, x Call) {
		if x.number > out[t].number {
			out[t] = x
		}
	})
	if err != nil {
		return Known{log: c}, err
	}
	return Known{c, out}, nil
}

// Close closes the file.
func (c *Log) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.f != nil {
		_ = c.f.Close() // nothing of it is in a buffer
	}
}

// bootFile tells one boot of a Linux system from another.
const bootFile = "/proc/sys/kernel/random/boot_id"

// Boot names the system's boot; "" = it cannot be told.
func Boot() string {
	b, err := os.ReadFile(bootFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
