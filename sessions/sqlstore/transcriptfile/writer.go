package transcriptfile

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/sessions"
)

// The bounds of a Writer: lines that wait in memory, files that are known, how long lines are collected to be written together.
const (
	maxLines   = 8192
	maxFiles   = 1024
	batchDelay = 20 * time.Millisecond
)

// Line is a line for the file of a transcript, written after a commit.
type Line struct {
	transcript int64
	path       string // of one that goes
	seq        int64  // of a message, otherwise 0
	delivery   string // id and state of a delivery that ended
	text       string // without line end
	remove     bool   // the file goes
}

// Writer appends to the JSONL files that people read (contract T1, T2). It runs behind the commits and never holds one up. The
// store is the truth: a file is compared with it before the first append after a start or after lines had to be dropped, and what
// is missing is written first.
type Writer struct {
	log  *slog.Logger
	from Source
	dir  string // the state folder

	mu      sync.Mutex
	waiting []Line
	behind  map[int64]bool // transcripts whose lines were dropped
	lost    bool           // more of them than can be remembered: no file is known any more
	busy    bool
	idle    *sync.Cond

	wake     chan struct{}
	done     chan struct{}
	stop     chan struct{}
	rebuilds chan rebuildRequest // rebuilds
	files    map[int64]*file

	drains int     // how many there were
	fresh  []*file // those that know what is near their end
}

// file is a transcript file that is known to be complete up to seq.
type file struct {
	path  string
	seq   int64
	have  map[string]bool // deliveries near its end; for a while, see forget
	since int             // the drain in which it was completed
}

type rebuildRequest struct {
	id   sessions.ID
	done chan error
}

// New returns a writer of the files in a state folder. Run starts it.
func New(log *slog.Logger, from Source, dir string) *Writer {
	m := &Writer{log: log, from: from, dir: dir, behind: map[int64]bool{}, files: map[int64]*file{},
		wake: make(chan struct{}, 1), done: make(chan struct{}), stop: make(chan struct{}), rebuilds: make(chan rebuildRequest)}
	m.idle = sync.NewCond(&m.mu)
	return m
}

// Append takes lines over. It copies them and never blocks.
func (m *Writer) Append(lines []Line) {
	if len(lines) == 0 {
		return
	}
	m.mu.Lock()
	for _, l := range lines {
		if len(m.waiting) < maxLines || l.remove {
			m.waiting = append(m.waiting, l)
		} else if len(m.behind) < maxLines {
			m.behind[l.transcript] = true
		} else {
			m.lost = true
		}
	}
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Run writes until Close, then what is left.
func (m *Writer) Run(ctx context.Context) {
	defer close(m.done)
	m.rebuildOld(ctx)
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-m.wake:
		case j := <-m.rebuilds:
			j.done <- m.rebuild(ctx, j.id)
			continue
		case <-m.stop:
			for m.drain(ctx) {
			}
			return
		}
		wait.Reset(batchDelay)
		select {
		case <-wait.C:
		case <-m.stop:
		}
		m.drain(ctx)
	}
}

// drain writes what waits and reports whether there was something.
func (m *Writer) drain(ctx context.Context) bool {
	m.mu.Lock()
	lines, behind := m.waiting, m.behind
	if m.lost {
		clear(m.files)
	}
	m.waiting, m.behind, m.lost, m.busy = nil, map[int64]bool{}, false, true
	m.mu.Unlock()
	m.forget()
	for num := range behind {
		delete(m.files, num)
	}
	order := make([]int64, 0, 64)
	group := map[int64][]Line{}
	for _, l := range lines {
		if _, ok := group[l.transcript]; !ok {
			order = append(order, l.transcript)
		}
		group[l.transcript] = append(group[l.transcript], l)
	}
	for num := range behind {
		if _, ok := group[num]; !ok {
			order, group[num] = append(order, num), nil
		}
	}
	for _, num := range order {
		if err := m.write(ctx, num, group[num]); err != nil {
			delete(m.files, num) // the next append compares and fills
			m.log.Warn("cannot write a transcript file", "hint", "the next message or a rebuild completes the file", "transcript", num, "err", err)
		}
	}
	m.mu.Lock()
	m.busy = false
	if len(m.waiting) == 0 {
		m.idle.Broadcast()
	}
	m.mu.Unlock()
	return len(order) > 0
}

// forget lets go of what files have near their end, once none of it can come again: the lines of a commit that was read when a file was
// completed come two drains later at the latest. The writer hands them over before those of any other commit, and by then one wake-up
// may have been left from before.
func (m *Writer) forget() {
	m.drains++
	m.fresh = slices.DeleteFunc(m.fresh, func(f *file) bool {
		if m.drains-f.since <= 2 {
			return false
		}
		f.have = nil
		return true
	})
}

// Remembered returns how many files are known, how many of them with their ends, and how many deliveries are known of those. Run has ended.
func (m *Writer) Remembered() (files, fresh, deliveries int) {
	for _, f := range m.files {
		deliveries += len(f.have)
	}
	return len(m.files), len(m.fresh), deliveries
}

// Flush waits until everything that was appended so far is written.
func (m *Writer) Flush() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.waiting) > 0 || m.busy {
		m.idle.Wait()
	}
}

// write appends lines to one file.
func (m *Writer) write(ctx context.Context, num int64, lines []Line) error {
	for i, l := range lines {
		if l.remove {
			delete(m.files, num)
			if err := os.Remove(l.path); err != nil && !os.IsNotExist(err) {
				return err
			}
			lines = lines[i+1:]
			if len(lines) == 0 {
				return nil
			}
			return m.write(ctx, num, lines)
		}
	}
	f := m.files[num]
	if f == nil {
		var err error
		if f, err = m.complete(ctx, num); err != nil || f == nil {
			return err
		}
		if len(m.files) >= maxFiles {
			clear(m.files) // comparing a file again costs one look at its end
		}
		f.since = m.drains
		m.files[num], m.fresh = f, append(m.fresh, f)
	}
	var b strings.Builder
	for _, l := range lines {
		if l.seq > 0 && l.seq <= f.seq || l.delivery != "" && f.have[l.delivery] {
			continue
		}
		b.WriteString(l.text)
		b.WriteByte('\n')
		f.seq = max(f.seq, l.seq)
	}
	if b.Len() == 0 {
		return nil
	}
	w, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = w.WriteString(b.String())
	if e := w.Close(); err == nil {
		err = e
	}
	return err
}

// complete compares a file with the store and writes what is missing. nil: the transcript is gone.
func (m *Writer) complete(ctx context.Context, num int64) (*file, error) {
	t, found, err := m.from.Transcript(ctx, num)
	if err != nil || !found {
		return nil, err
	}
	f := &file{path: m.Path(t.Agent, t.ID), have: map[string]bool{}}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return nil, err
	}
	w, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	end, err := readEnd(w)
	if err == nil && end.seq > 0 {
		end, err = m.known(ctx, num, end)
	}
	if err == nil {
		f.have = end.have
		if err = w.Truncate(end.keep); err == nil {
			_, err = w.Seek(end.keep, 0)
		}
	}
	if err == nil && end.keep == 0 {
		_, err = w.WriteString(t.header() + "\n")
	}
	if err == nil {
		f.seq, err = m.fill(ctx, w, num, end)
	}
	if e := w.Close(); err == nil {
		err = e
	}
	return f, err
}

// known is the end of a file whose last message the store has under the same number. A file that is ahead of the store, because an older
// database was put in place, is written again.
func (m *Writer) known(ctx context.Context, num int64, end fileEnd) (fileEnd, error) {
	id, found, err := m.from.MessageID(ctx, num, end.seq)
	if err == nil && (!found || end.id != "" && id != end.id) {
		end = fileEnd{have: map[string]bool{}}
	}
	return end, err
}

// fill writes the messages behind the end of a file and the deliveries that are missing, a page at a time. It gives the number
// of the last message.
func (m *Writer) fill(ctx context.Context, w *os.File, num int64, end fileEnd) (int64, error) {
	last := end.seq
	if end.first > 0 { // what ended meanwhile of messages that are in the file
		lines, err := m.endedLines(ctx, num, end.first, last, end.have)
		if err != nil {
			return last, err
		}
		var b strings.Builder
		for _, seq := range slices.Sorted(maps.Keys(lines)) {
			b.WriteString(strings.Join(lines[seq], "\n") + "\n")
		}
		if _, err := w.WriteString(b.String()); err != nil {
			return last, err
		}
	}
	for {
		const page = 500
		msgs, err := m.from.Messages(ctx, num, last, page)
		if err != nil {
			return last, err
		}
		if len(msgs) > 0 {
			if err := m.fillPage(ctx, w, num, msgs, end.have); err != nil {
				return last, err
			}
			last = msgs[len(msgs)-1].Seq
		}
		if len(msgs) < page {
			return last, nil
		}
	}
}

// fillPage writes some messages, and behind each one the deliveries of it that ended.
func (m *Writer) fillPage(ctx context.Context, w *os.File, num int64, msgs []Message, have map[string]bool) error {
	ended, err := m.endedLines(ctx, num, msgs[0].Seq, msgs[len(msgs)-1].Seq, have)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, x := range msgs {
		text, err := storedLine(x)
		if err != nil {
			return err
		}
		b.WriteString(text + "\n")
		for _, l := range ended[x.Seq] {
			b.WriteString(l + "\n")
		}
	}
	_, err = w.WriteString(b.String())
	return err
}
