package disktest

import (
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// The layer is a VFS of SQLite's, made the default one, which hands everything on to the one that was the default before. Files below
// a Disk get an object of two words in front of SQLite's own: the methods below, and a handle. All others are opened as if the layer
// were not there.
type header struct{ methods, handle uintptr }

const headerSize = unsafe.Sizeof(header{})

// layer is what is registered once in a process.
var layer struct {
	once    sync.Once
	under   uintptr // the VFS that does the work
	methods uintptr // of files below a Disk
	failed  int32

	mu    sync.RWMutex
	disks map[string]*Disk // by folder
	files sync.Map         // by handle: *file
	last  atomic.Uintptr
}

// file is one open file below a Disk.
type file struct {
	d    *Disk
	path string
	name string // within the folder
	// names: the first sync of a log or journal syncs its folder, too, as SQLite's own layer does it.
	names atomic.Bool
}

func install() {
	tls := libc.NewTLS() // for the life of the process
	l := &layer
	l.disks = map[string]*Disk{}
	l.under = sqlite3.Xsqlite3_vfs_find(tls, 0)
	l.methods = libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
	*at[sqlite3.Tsqlite3_io_methods](l.methods) = sqlite3.Tsqlite3_io_methods{
		FiVersion: 2, // without memory-mapped reads, which nobody could stand between
		FxClose:   pointer(xClose), FxRead: pointer(xRead), FxWrite: pointer(xWrite), FxTruncate: pointer(xTruncate), FxSync: pointer(xSync),
		FxFileSize: pointer(xFileSize), FxLock: pointer(xLock), FxUnlock: pointer(xUnlock), FxCheckReservedLock: pointer(xCheckReservedLock),
		FxFileControl: pointer(xFileControl), FxSectorSize: pointer(xSectorSize), FxDeviceCharacteristics: pointer(xDeviceCharacteristics),
		FxShmMap: pointer(xShmMap), FxShmLock: pointer(xShmLock), FxShmBarrier: pointer(xShmBarrier), FxShmUnmap: pointer(xShmUnmap),
	}
	vfs := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
	*at[sqlite3.Tsqlite3_vfs](vfs) = *at[sqlite3.Tsqlite3_vfs](l.under)
	v := at[sqlite3.Tsqlite3_vfs](vfs)
	v.FszOsFile += int32(headerSize)
	v.FpNext, v.FzName = 0, cString(tls, "parley-disktest")
	v.FxOpen, v.FxDelete = pointer(xOpen), pointer(xDelete)
	l.failed = sqlite3.Xsqlite3_vfs_register(tls, vfs, 1)
}

func cString(tls *libc.TLS, s string) uintptr {
	p := libc.Xmalloc(tls, libc.Tsize_t(len(s)+1))
	copy(unsafe.Slice(at[byte](p), len(s)+1), s+"\x00")
	return p
}

// at reads an address in SQLite's memory, which is none of Go's.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// pointer gives a top-level function the form of a C function pointer, call the other way round.
func pointer[F any](f F) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

func call[F any](fp uintptr) F { return *(*F)(unsafe.Pointer(&fp)) }

// below finds the disk on which a path lies.
func below(path string) (*Disk, string) {
	layer.mu.RLock()
	defer layer.mu.RUnlock()
	for folder, d := range layer.disks {
		if rest, ok := strings.CutPrefix(path, folder+string(filepath.Separator)); ok {
			return d, rest
		}
	}
	return nil, ""
}

type (
	openFunc   = func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	deleteFunc = func(*libc.TLS, uintptr, uintptr, int32) int32
	dataFunc   = func(*libc.TLS, uintptr, uintptr, int32, int64) int32
	sizeFunc   = func(*libc.TLS, uintptr, int64) int32
	intFunc    = func(*libc.TLS, uintptr, int32) int32
	outFunc    = func(*libc.TLS, uintptr, uintptr) int32
	plainFunc  = func(*libc.TLS, uintptr) int32
)

func xOpen(tls *libc.TLS, _, name, f uintptr, flags int32, out uintptr) int32 {
	under := call[openFunc](at[sqlite3.Tsqlite3_vfs](layer.under).FxOpen)
	var d *Disk
	var path, rest string
	if name != 0 {
		path = libc.GoString(name)
		d, rest = below(path)
	}
	if d == nil {
		return under(tls, layer.under, name, f, flags, out)
	}
	*at[header](f) = header{}
	code, readOnly := d.open(rest, flags&sqlite3.SQLITE_OPEN_CREATE != 0)
	if code != sqlite3.SQLITE_OK {
		return code
	}
	if readOnly {
		flags = flags&^(sqlite3.SQLITE_OPEN_CREATE|sqlite3.SQLITE_OPEN_READWRITE) | sqlite3.SQLITE_OPEN_READONLY
	}
	if code = under(tls, layer.under, name, f+headerSize, flags, out); code != sqlite3.SQLITE_OK {
		return code
	}
	handle := layer.last.Add(1)
	x := &file{d: d, path: path, name: rest}
	x.names.Store(flags&sqlite3.SQLITE_OPEN_CREATE != 0 && flags&(sqlite3.SQLITE_OPEN_WAL|sqlite3.SQLITE_OPEN_MAIN_JOURNAL|sqlite3.SQLITE_OPEN_SUPER_JOURNAL) != 0)
	layer.files.Store(handle, x)
	d.opened(rest, path)
	*at[header](f) = header{methods: layer.methods, handle: handle}
	return sqlite3.SQLITE_OK
}

func xDelete(tls *libc.TLS, _, name uintptr, sync int32) int32 {
	under := call[deleteFunc](at[sqlite3.Tsqlite3_vfs](layer.under).FxDelete)
	d, rest := below(libc.GoString(name))
	if d == nil {
		return under(tls, layer.under, name, sync)
	}
	return d.do(Op{Kind: Delete, Name: rest, names: sync != 0}, func(int) int32 { return under(tls, layer.under, name, sync) })
}

// object gives a file's record, SQLite's own object behind it, and that one's methods.
func object(f uintptr) (*file, uintptr, *sqlite3.Tsqlite3_io_methods) {
	v, _ := layer.files.Load(at[header](f).handle) // it is there while the file is open
	return v.(*file), f + headerSize, at[sqlite3.Tsqlite3_io_methods](*at[uintptr](f + headerSize))
}

func xClose(tls *libc.TLS, f uintptr) int32 {
	_, under, m := object(f)
	layer.files.Delete(at[header](f).handle)
	return call[plainFunc](m.FxClose)(tls, under)
}

func xRead(tls *libc.TLS, f, buf uintptr, n int32, offset int64) int32 {
	x, under, m := object(f)
	return x.d.do(Op{Kind: Read, Name: x.name, Offset: offset, Len: int(n)}, func(int) int32 { return call[dataFunc](m.FxRead)(tls, under, buf, n, offset) })
}

func xWrite(tls *libc.TLS, f, buf uintptr, n int32, offset int64) int32 {
	x, under, m := object(f)
	return x.d.do(Op{Kind: Write, Name: x.name, Offset: offset, Len: int(n), data: unsafe.Slice(at[byte](buf), n)}, func(part int) int32 {
		return call[dataFunc](m.FxWrite)(tls, under, buf, int32(part), offset)
	})
}

func xTruncate(tls *libc.TLS, f uintptr, size int64) int32 {
	x, under, m := object(f)
	return x.d.do(Op{Kind: Truncate, Name: x.name, Offset: size}, func(int) int32 { return call[sizeFunc](m.FxTruncate)(tls, under, size) })
}

func xSync(tls *libc.TLS, f uintptr, flags int32) int32 {
	x, under, m := object(f)
	return x.d.do(Op{Kind: Sync, Name: x.name, names: x.names.Load()}, func(int) int32 {
		code := call[intFunc](m.FxSync)(tls, under, flags)
		if code == sqlite3.SQLITE_OK {
			x.names.Store(false)
		}
		return code
	})
}

func xShmMap(tls *libc.TLS, f uintptr, page, size, extend int32, out uintptr) int32 {
	x, under, m := object(f)
	run := func(int) int32 {
		return call[func(*libc.TLS, uintptr, int32, int32, int32, uintptr) int32](m.FxShmMap)(tls, under, page, size, extend, out)
	}
	if extend == 0 {
		return run(0)
	}
	return x.d.do(Op{Kind: Shared, Name: x.name + "-shm"}, run)
}

// What follows is handed on as it is.

func xFileSize(tls *libc.TLS, f, out uintptr) int32 {
	_, under, m := object(f)
	return call[outFunc](m.FxFileSize)(tls, under, out)
}

func xLock(tls *libc.TLS, f uintptr, kind int32) int32 {
	_, under, m := object(f)
	return call[intFunc](m.FxLock)(tls, under, kind)
}

func xUnlock(tls *libc.TLS, f uintptr, kind int32) int32 {
	_, under, m := object(f)
	return call[intFunc](m.FxUnlock)(tls, under, kind)
}

func xCheckReservedLock(tls *libc.TLS, f, out uintptr) int32 {
	_, under, m := object(f)
	return call[outFunc](m.FxCheckReservedLock)(tls, under, out)
}

func xFileControl(tls *libc.TLS, f uintptr, op int32, arg uintptr) int32 {
	_, under, m := object(f)
	return call[func(*libc.TLS, uintptr, int32, uintptr) int32](m.FxFileControl)(tls, under, op, arg)
}

func xSectorSize(tls *libc.TLS, f uintptr) int32 {
	_, under, m := object(f)
	return call[plainFunc](m.FxSectorSize)(tls, under)
}

func xDeviceCharacteristics(tls *libc.TLS, f uintptr) int32 {
	_, under, m := object(f)
	return call[plainFunc](m.FxDeviceCharacteristics)(tls, under)
}

func xShmLock(tls *libc.TLS, f uintptr, offset, n, flags int32) int32 {
	_, under, m := object(f)
	return call[func(*libc.TLS, uintptr, int32, int32, int32) int32](m.FxShmLock)(tls, under, offset, n, flags)
}

func xShmBarrier(tls *libc.TLS, f uintptr) {
	_, under, m := object(f)
	call[func(*libc.TLS, uintptr)](m.FxShmBarrier)(tls, under)
}

func xShmUnmap(tls *libc.TLS, f uintptr, remove int32) int32 {
	_, under, m := object(f)
	return call[intFunc](m.FxShmUnmap)(tls, under, remove)
}
