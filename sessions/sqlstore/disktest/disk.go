package disktest

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// Kind is what is done with a file.
type Kind string

// The kinds of operations.
const (
	Open     Kind = "open"
	Read     Kind = "read"
	Write    Kind = "write"
	Sync     Kind = "sync"
	Truncate Kind = "truncate"
	Delete   Kind = "delete"
	Shared   Kind = "shared memory" // its file grows
)

// Op is one operation on a file.
type Op struct {
	N      int // its number on this disk, from 1; reads are not counted
	Kind   Kind
	Name   string // of the file, within the folder
	Offset int64  // Truncate: the new size
	Len    int

	data   []byte
	create bool
	names  bool // the folder is synced, too: what is created and deleted in it
}

// Fault is what goes wrong.
type Fault string

// The faults. A write that fails may leave its first half behind.
const (
	None        Fault = ""
	Full        Fault = "disk full"                // ENOSPC on what needs room
	IO          Fault = "I/O error"                // EIO on everything
	ReadOnly    Fault = "read-only"                // EROFS on everything but reads: the file system was remounted
	Descriptors Fault = "too many open files"      // EMFILE on opening
	Down        Fault = "the power is off already" // everything fails
)

// Disk is a folder with the layer on it.
type Disk struct {
	folder string

	mu    sync.Mutex
	n     atomic.Int64
	fault func(Op) Fault
	power *power
}

// New puts the layer on a folder, until the test ends. What is opened in it through SQLite after that goes through the layer.
func New(t testing.TB, folder string) *Disk {
	t.Helper()
	layer.once.Do(install)
	if layer.failed != sqlite3.SQLITE_OK {
		t.Fatalf("registering the layer: %d", layer.failed)
	}
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		t.Fatal(err)
	}
	d := &Disk{folder: folder}
	layer.mu.Lock()
	layer.disks[folder] = d
	layer.mu.Unlock()
	t.Cleanup(func() {
		layer.mu.Lock()
		delete(layer.disks, folder)
		layer.mu.Unlock()
	})
	return d
}

// Fail has a function decide about each operation from now on; nil: nothing fails. It is called by one goroutine at a time, and must
// not use the disk, but for Count.
func (d *Disk) Fail(fault func(Op) Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = fault
}

// Count gives the number of operations so far, without reads.
func (d *Disk) Count() int { return int(d.n.Load()) }

// decide numbers an operation and asks what becomes of it.
func (d *Disk) decide(op Op) Fault {
	if op.Kind != Read {
		op.N = int(d.n.Add(1))
	}
	if d.fault == nil {
		return None
	}
	return d.fault(op)
}

// codes are what SQLite's own layer says of an I/O error.
var codes = map[Kind]int32{
	Open: sqlite3.SQLITE_CANTOPEN, Read: sqlite3.SQLITE_IOERR_READ, Write: sqlite3.SQLITE_IOERR_WRITE, Sync: sqlite3.SQLITE_IOERR_FSYNC,
	Truncate: sqlite3.SQLITE_IOERR_TRUNCATE, Delete: sqlite3.SQLITE_IOERR_DELETE, Shared: sqlite3.SQLITE_IOERR_SHMMAP,
}

// answer gives SQLite's code for a fault of an operation, 0 when the fault does not concern it.
func answer(f Fault, op Op) int32 {
	switch f {
	case IO, Down:
		return codes[op.Kind]
	case ReadOnly:
		if op.Kind != Read && op.Kind != Sync && (op.Kind != Open || op.create) {
			return codes[op.Kind]
		}
	case Descriptors:
		if op.Kind == Open || op.Kind == Shared {
			return sqlite3.SQLITE_CANTOPEN
		}
	case Full:
		switch op.Kind {
		case Write:
			return sqlite3.SQLITE_FULL
		case Shared:
			return sqlite3.SQLITE_IOERR_SHMSIZE
		case Sync: // delayed allocation: some file systems notice only now
			return sqlite3.SQLITE_IOERR_FSYNC
		case Open:
			if op.create {
				return sqlite3.SQLITE_CANTOPEN
			}
		}
	}
	return sqlite3.SQLITE_OK
}

// do runs an operation, or lets it fail. run is given how many bytes to write.
func (d *Disk) do(op Op, run func(part int) int32) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.decide(op)
	if code := answer(f, op); code != sqlite3.SQLITE_OK {
		if op.Kind == Write && f != Down && op.Len >= 2 { // what had room
			op.data = op.data[:op.Len/2]
			if run(op.Len/2) == sqlite3.SQLITE_OK && d.power != nil {
				d.power.done(op)
			}
		}
		if op.Kind == Sync && f != Down && d.power != nil {
			d.power.forget(op.Name)
		}
		return code
	}
	code := run(op.Len)
	if code == sqlite3.SQLITE_OK && d.power != nil {
		d.power.done(op)
	}
	return code
}

// open decides about opening a file. On a file system that is read-only, a file that is there is opened for reading.
func (d *Disk) open(name string, create bool) (code int32, readOnly bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if create && d.there(name) {
		create = false
	}
	op := Op{Kind: Open, Name: name, create: create}
	f := d.decide(op)
	return answer(f, op), f == ReadOnly
}

// String names an operation.
func (o Op) String() string {
	return fmt.Sprintf("%d: %s %s at %d, %d bytes", o.N, o.Kind, o.Name, o.Offset, o.Len)
}
