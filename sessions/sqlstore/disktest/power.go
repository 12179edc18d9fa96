package disktest

import (
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sector is what a disk writes whole.
const sector = 512

// power remembers what of each file is on the disk for certain, and what was written to it since then.
type power struct {
	files map[string]*platter
}

// platter is one file as a disk has it.
type platter struct {
	exists  bool // for the programs
	there   bool // its name is on the disk
	synced  []byte
	pending []Op // since the last sync, in order
}

// Remember begins to keep apart what is synced and what is not. What is in the folder now counts as synced.
func (d *Disk) Remember() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.power = &power{files: map[string]*platter{}}
}

func (d *Disk) there(name string) bool {
	_, err := os.Stat(filepath.Join(d.folder, name))
	return err == nil
}

// opened takes a file up that was there before, or is new.
func (d *Disk) opened(name, path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.power == nil {
		return
	}
	if f := d.power.files[name]; f != nil {
		f.exists = true
		return
	}
	b, err := os.ReadFile(path)
	d.power.files[name] = &platter{exists: true, synced: b, there: err == nil && len(b) > 0}
}

// done notes an operation that worked.
func (p *power) done(op Op) {
	if f := p.files[op.Name]; f != nil {
		switch op.Kind {
		case Write, Truncate, Delete:
			op.data = slices.Clone(op.data)
			f.pending = append(f.pending, op)
			f.exists = op.Kind != Delete
		case Sync:
			for _, o := range f.pending {
				f.synced = o.apply(f.synced)
			}
			f.pending = f.pending[:0]
		}
	}
	if op.names {
		p.syncNames()
	}
}

// forget is what a failed sync does on Linux: what was written stays in memory, where it is read, and counts as clean. No later sync
// puts it on the disk, unless it is written again.
func (p *power) forget(name string) {
	if f := p.files[name]; f != nil {
		f.pending = slices.DeleteFunc(f.pending, func(o Op) bool { return o.Kind == Write })
	}
}

// syncNames puts on the disk which files there are.
func (p *power) syncNames() {
	for _, f := range p.files {
		f.there = f.exists
		for i := len(f.pending) - 1; i >= 0; i-- {
			if f.pending[i].Kind == Delete {
				f.synced, f.pending = nil, f.pending[i+1:]
				break
			}
		}
	}
}

// apply carries an operation out on the bytes of a file.
func (o Op) apply(b []byte) []byte {
	switch o.Kind {
	case Write:
		if end := int(o.Offset) + len(o.data); end > len(b) {
			b = append(b, make([]byte, end-len(b))...)
		}
		copy(b[o.Offset:], o.data)
	case Truncate:
		if int(o.Offset) < len(b) {
			b = b[:o.Offset]
		} else {
			b = append(b, make([]byte, int(o.Offset)-len(b))...)
		}
	case Delete:
		b = nil
	}
	return b
}

// Cut is what a power cut left of the files that SQLite wrote.
type Cut struct {
	files   map[string][]byte
	Pending int // operations that were not synced
	Lost    int // of them: those that are gone, wholly or in part
}

// Cut takes the power away: everything fails from now on, and of what was not synced a random part is on the disk, whole, in sectors
// or not at all, and in no order.
func (d *Disk) Cut(r *rand.Rand) *Cut {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cut(r)
}

// CutAt has the power go at an operation; until then operations fail as Fail said before. The function that it gives waits for nothing:
// what it returns is nil until the power is gone.
func (d *Disk) CutAt(n int, r *rand.Rand) func() *Cut {
	d.mu.Lock()
	defer d.mu.Unlock()
	var cut *Cut
	before := d.fault
	d.fault = func(op Op) Fault {
		if op.N >= n && op.Kind != Read {
			cut = d.cut(r) // which lets all fail that follows
			return Down
		}
		if before != nil {
			return before(op)
		}
		return None
	}
	return func() *Cut {
		d.mu.Lock()
		defer d.mu.Unlock()
		return cut
	}
}

func (d *Disk) cut(r *rand.Rand) *Cut {
	c := &Cut{files: map[string][]byte{}}
	for _, name := range slices.Sorted(maps.Keys(d.power.files)) { // the order decides what the seed means
		if strings.HasSuffix(name, "-shm") {
			continue // it is made again
		}
		f := d.power.files[name]
		b, there := slices.Clone(f.synced), f.there
		all := r.IntN(4) == 0 // now and then nothing is lost, or everything
		none := !all && r.IntN(4) == 0
		for _, o := range f.pending {
			c.Pending++
			switch {
			case all || !none && r.IntN(2) == 0:
				b, there = o.apply(b), o.Kind != Delete
			case none || o.Kind != Write || r.IntN(2) == 0:
				c.Lost++
			default:
				c.Lost++
				for at := 0; at < len(o.data); at += sector {
					if r.IntN(2) == 0 {
						part := Op{Kind: Write, Offset: o.Offset + int64(at), data: o.data[at:min(at+sector, len(o.data))]}
						b, there = part.apply(b), true
					}
				}
			}
		}
		if there {
			c.files[name] = b
		}
	}
	d.fault = func(Op) Fault { return Down }
	return c
}

// Restore writes what the cut left into a folder, and copies what SQLite did not write from the disk.
func (c *Cut) Restore(t testing.TB, d *Disk, to string) {
	t.Helper()
	err := filepath.WalkDir(d.folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(d.folder, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		if _, ok := d.power.files[rel]; ok || strings.HasSuffix(rel, "-shm") || !e.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range c.files {
		if err := os.WriteFile(filepath.Join(to, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
