package sqlstore

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"parley/channels"
	"parley/sessions"
)

// CallsFile is in the state folder. A line for each step of a try to send: the commit that begins it, its platform is about to be called, the platform has
// answered. The lines are written and never synced: they outlive the process, which needs no disk, and after the computer went down they say nothing, as they
// name the boot that they were written in. Recover reads them: the fate of what a killed host was sending is unknown only between the call and its answer.
//
// What is known is what the newest line about a try says. One that is missing, damaged, of another boot or of another try says nothing, so the file may be removed or
// left behind: that hides what is known, and makes nothing up. Where a line cannot be written all of them are removed.
const CallsFile = "parley.calls"

const (
	callSize  = 128  // bytes of a line
	callLines = 4096 // then the oldest is written over: some thousand tries
)

// The steps of a try.
const (
	callMeant    = 1 + iota // the commit that begins it is about to be made
	callMade                // the platform is about to be called
	callAnswered            // it has taken the part
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

// try names one try to send one part, and the boot that it is made in.
type try [tryLen]byte

// calls is the open CallsFile.
type calls struct {
	boot string

	// mu is held while a line is written, into memory of the system's: the order of the lines is what they say.
	mu     sync.Mutex
	f      plainFile // nil = nothing is noted
	number uint64    // of the newest line
	failed error     // one could not be written, nor the others be removed: what they say may be untrue
}

// call is what the newest line about a try says.
type call struct {
	number  uint64
	step    byte
	last    bool
	receipt channels.Receipt
}

// openCalls opens the file. Where there is none, or the system does not tell one boot from another, nothing is noted and nothing known.
func openCalls(dir, boot string) (*calls, error) {
	c := &calls{boot: boot}
	if c.boot == "" {
		return c, nil
	}
	f, err := os.OpenFile(filepath.Join(dir, CallsFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return c, err
	}
	Tighten(f.Name())
	c.f = f
	info, err := f.Stat()
	if err == nil && info.Size() != callLines*callSize { // all of it is there before it is needed: a full disk refuses no line
		err = f.Truncate(0)
		if err == nil {
			_, err = f.WriteAt(make([]byte, callLines*callSize), 0)
		}
	}
	if err == nil {
		err = c.each(func(_ try, x call) { c.number = max(c.number, x.number) })
	}
	if err != nil {
		c.give(err)
	}
	return c, err
}

// of names the try that a delivery is at.
func (c *calls) of(d *sessions.Delivery) (t try) {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d %d %d", c.boot, d.ID, d.Part, d.Attempt, Ms(d.Updated)))
	copy(t[:], h[:])
	return t
}

// note writes a line. On an error the lines that are there may say something else of the try, and what the line is for must not be done.
func (c *calls) note(d *sessions.Delivery, x call) error {
	key := c.of(d)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		c.give(c.failed)
	}
	if c.f == nil || c.failed != nil || len(x.receipt.ID) > callSize-callReceipt-1 { // nobody is told of such a receipt
		return c.failed
	}
	c.number++
	var b [callSize]byte
	binary.BigEndian.PutUint64(b[callNumber:], c.number)
	copy(b[callTry:], key[:])
	b[callStep] = x.step
	if x.last {
		b[callLast] = 1
	}
	binary.BigEndian.PutUint64(b[callAt:], uint64(Ms(x.receipt.At))) //nolint:gosec // and back
	b[callReceipt] = byte(len(x.receipt.ID))
	copy(b[callReceipt+1:], x.receipt.ID)
	binary.BigEndian.PutUint32(b[:], crc32.Checksum(b[callNumber:], castagnoli))
	if _, err := c.f.WriteAt(b[:], int64(c.number%callLines)*callSize); err != nil { //nolint:gosec // below callLines
		c.give(err)
	}
	return c.failed
}

// give gives up: no line is written any more, and none that is there may say anything. c.mu is held, or nobody else has c.
func (c *calls) give(err error) {
	if c.failed = err; c.f.Truncate(0) == nil { // takes no room
		_ = c.f.Close() // nothing of it is in a buffer
		c.f, c.failed = nil, nil
	}
}

// each reads the lines that are whole.
func (c *calls) each(do func(try, call)) error {
	b, err := io.ReadAll(io.NewSectionReader(c.f, 0, callLines*callSize))
	for ; len(b) >= callSize; b = b[callSize:] {
		line := b[:callSize]
		size := int(line[callReceipt])
		if binary.BigEndian.Uint32(line) != crc32.Checksum(line[callNumber:], castagnoli) || callReceipt+1+size > callSize {
			continue
		}
		x := call{number: binary.BigEndian.Uint64(line[callNumber:]), step: line[callStep], last: line[callLast] == 1}
		x.receipt = channels.Receipt{ID: channels.MessageID(line[callReceipt+1:][:size]), At: FromMs(int64(binary.BigEndian.Uint64(line[callAt:])))} //nolint:gosec // as it was
		do(try(line[callTry:callStep]), x)
	}
	return err
}

// newest gives what is known of tries: nothing when not all can be read.
func (c *calls) newest() (map[try]call, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.f == nil || c.failed != nil {
		return nil, c.failed
	}
	out := map[try]call{}
	err := c.each(func(t try, x call) {
		if x.number > out[t].number {
			out[t] = x
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *calls) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.f != nil {
		_ = c.f.Close() // nothing of it is in a buffer
	}
}

// bootFile tells one boot of a Linux system from another.
const bootFile = "/proc/sys/kernel/random/boot_id"

// boot names the system's boot; "" = it cannot be told.
func boot() string {
	b, err := os.ReadFile(bootFile)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Calling notes that the platform of a delivery that is being sent is about to be called.
func (s *Store) Calling(d sessions.Delivery) error {
	s.traceCall(d, "Call", BeforeCommit)
	err := s.calls.note(&d, call{step: callMade})
	if err != nil {
		return fmt.Errorf("noting that delivery %s is sent, in %s: %w", d.ID, CallsFile, err)
	}
	s.traceCall(d, "Call", AfterCommit)
	return nil
}

// Answered notes that the platform has taken a part.
func (s *Store) Answered(d sessions.Delivery, r channels.Receipt, last bool) {
	s.traceCall(d, "Answer", BeforeCommit)
	r.At = FromMs(Ms(r.At))
	_ = s.calls.note(&d, call{step: callAnswered, last: last, receipt: r}) // without it nothing is known
	s.traceCall(d, "Answer", AfterCommit)
}

// traceCall tells a test of what is noted of a call.
func (s *Store) traceCall(d sessions.Delivery, op, phase string) {
	if s.conf.TraceCall != nil {
		s.conf.TraceCall(op+"+"+string(d.To.Channel), phase)
	}
}

// stoppedBefore is said of a delivery that a host began to send that was killed before it called the platform.
const stoppedBefore = "the host stopped before it was sent"

// goOn does for a delivery that was found being sent what the killed host knew of it: it is put back when no platform was called, and has its receipt when one
// has answered.
func (t *tx) goOn(d *sessions.Delivery, transcript int64, said map[try]call) error {
	x := said[t.s.calls.of(d)]
	switch {
	case !underWay(d):
		return nil
	case x.step == callMeant:
		d.State, d.NotBefore, d.Error = sessions.Pending, time.Time{}, stoppedBefore
		d.Tried(sessions.NotArrived)
	case x.step == callAnswered:
		if _, err := t.sent(d, x.receipt, x.last); err != nil {
			return err
		}
	default:
		return nil
	}
	return t.keep(d, transcript)
}
