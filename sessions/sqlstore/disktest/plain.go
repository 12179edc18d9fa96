package disktest

import (
	"fmt"
	"os"
	"path/filepath"

	sqlite3 "modernc.org/sqlite/lib"
)

// Plain is a file on a disk that is written without SQLite.
type Plain struct {
	*os.File
	d    *Disk
	name string
}

// Plain puts the layer on a file below the folder.
func (d *Disk) Plain(f *os.File) *Plain {
	p := &Plain{File: f, d: d, name: filepath.Base(f.Name())}
	d.opened(p.name, f.Name())
	return p
}

func (p *Plain) do(op Op, run func(part int) error) error {
	op.Name = p.name
	var err error
	code := p.d.do(op, func(part int) int32 {
		if err = run(part); err != nil {
			return sqlite3.SQLITE_IOERR
		}
		return sqlite3.SQLITE_OK
	})
	if err == nil && code != sqlite3.SQLITE_OK {
		err = fmt.Errorf("%s of %s: the disk fails (%d)", op.Kind, op.Name, code)
	}
	return err
}

// WriteAt is a write.
func (p *Plain) WriteAt(b []byte, offset int64) (n int, err error) {
	err = p.do(Op{Kind: Write, Offset: offset, Len: len(b), data: b}, func(part int) error {
		n, err := p.File.WriteAt(b[:part], offset)
		_ = n
		return err
	})
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// Sync is a sync.
func (p *Plain) Sync() error { return p.do(Op{Kind: Sync}, func(int) error { return p.File.Sync() }) }

// Truncate is a cut.
func (p *Plain) Truncate(size int64) error {
	return p.do(Op{Kind: Truncate, Offset: size}, func(int) error { return p.File.Truncate(size) })
}
