package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// machine is what a run knows of the computer that it is on: a host on one that it shares waits for others, and looks slow.
type machine struct {
	page   *os.File
	slices []slice   // of this window
	synced latencies // of a page that was written to the disk, of all windows
	late   latencies // of a pause, behind its time
}

// slice is a short time, and what part of the processors' time other machines had in it while they were wanted here.
type slice struct {
	begin, end time.Time
	stolen     float64
}

const (
	sliceTakes = 500 * time.Millisecond
	probeEvery = 100 * time.Millisecond
	pageEvery  = 10   // probes: the host writes to the same disk, and waits for what is written here
	quietBelow = 0.02 // of the processors' time: ticks are counted, and one of them says nothing
)

// newMachine has its page in a folder on the disk that the host writes to.
func newMachine(dir string) (*machine, error) {
	f, err := os.Create(filepath.Join(dir, "page"))
	return &machine{page: f}, err
}

// watch probes the machine until ctx ends.
func (m *machine) watch(ctx context.Context) error {
	m.slices = m.slices[:0]
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	began, before := time.Now(), readProcessors()
	page := make([]byte, os.Getpagesize())
	for n := 0; ; n++ {
		select {
		case due := <-tick.C:
			m.late.add(time.Since(due))
		case <-ctx.Done():
			return nil
		}
		if n%pageEvery == 0 {
			if err := m.sync(page); err != nil {
				return err
			}
		}
		if now := time.Now(); now.Sub(began) >= sliceTakes {
			p := readProcessors()
			m.slices = append(m.slices, slice{began, now, p.since(before)})
			began, before = now, p
		}
	}
}

// sync puts a page on the disk.
func (m *machine) sync(page []byte) error {
	at := time.Now()
	if _, err := m.page.WriteAt(page, 0); err != nil {
		return err
	}
	if err := m.page.Sync(); err != nil {
		return err
	}
	m.synced.add(time.Since(at))
	return nil
}

// quiet reports whether hardly anything was stolen between two moments of a window.
func (m *machine) quiet(from, to time.Time) bool {
	known := false
	for _, s := range m.slices {
		if s.begin.Before(to) && s.end.After(from) {
			if known = true; s.stolen >= quietBelow {
				return false
			}
		}
	}
	return known
}

// processors is what the kernel says of the processors' time since the machine began, in ticks. A virtual machine that wants a processor
// which another one has waits; that time is stolen.
type processors struct{ stolen, all float64 }

func readProcessors() (p processors) {
	b, _ := os.ReadFile("/proc/stat") // none: nothing is known to be stolen
	line, _, _ := strings.Cut(string(b), "\n")
	for i, s := range strings.Fields(line) {
		n, _ := strconv.ParseFloat(s, 64)
		if i <= stealColumn { // what guests had is in the columns before
			p.all += n
		}
		if i == stealColumn {
			p.stolen = n
		}
	}
	return p
}

const stealColumn = 8 // of the first line of /proc/stat, see proc(5)

// since is the part that was stolen since an earlier moment.
func (p processors) since(before processors) float64 {
	return (p.stolen - before.stolen) / max(p.all-before.all, 1)
}
