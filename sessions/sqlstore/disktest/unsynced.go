package disktest

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// unsynced is what Unsynced registers once in a process.
var unsynced struct {
	once  sync.Once
	under uintptr // the VFS that does the work
	code  int32

	mu      sync.Mutex
	methods map[uintptr]uintptr // of a file: SQLite's own, and those that do not sync
}

// Unsynced has SQLite wait for no disk in this process from now on: what it writes is the system's, and outlives the process, but not a loss of power. It is
// for the TestMain of a package that proves nothing about one, and commits a hundred thousand times. No Disk may be made beside it.
//
// Each file gets SQLite's own methods with another xSync, so that nothing else costs more than without it.
func Unsynced() {
	unsynced.once.Do(func() {
		tls := libc.NewTLS() // for the life of the process
		u := &unsynced
		u.methods = map[uintptr]uintptr{}
		u.under = sqlite3.Xsqlite3_vfs_find(tls, 0)
		vfs := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{})))
		v := at[sqlite3.Tsqlite3_vfs](vfs)
		*v = *at[sqlite3.Tsqlite3_vfs](u.under)
		v.FpNext, v.FzName = 0, cString(tls, "parley-unsynced")
		v.FxOpen, v.FxDelete = pointer(openUnsynced), pointer(deleteUnsynced)
		u.code = sqlite3.Xsqlite3_vfs_register(tls, vfs, 1)
	})
	if unsynced.code != sqlite3.SQLITE_OK {
		panic("SQLite takes no further VFS")
	}
}

func openUnsynced(tls *libc.TLS, _, name, f uintptr, flags int32, out uintptr) int32 {
	u := &unsynced
	code := call[openFunc](at[sqlite3.Tsqlite3_vfs](u.under).FxOpen)(tls, u.under, name, f, flags, out)
	own := at[uintptr](f) // the methods are the first word of a file
	if code != sqlite3.SQLITE_OK || *own == 0 {
		return code
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.methods[*own] == 0 {
		m := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{})))
		*at[sqlite3.Tsqlite3_io_methods](m) = *at[sqlite3.Tsqlite3_io_methods](*own)
		at[sqlite3.Tsqlite3_io_methods](m).FxSync = pointer(noSync)
		u.methods[*own] = m
	}
	*own = u.methods[*own]
	return code
}

func deleteUnsynced(tls *libc.TLS, _, name uintptr, _ int32) int32 {
	return call[deleteFunc](at[sqlite3.Tsqlite3_vfs](unsynced.under).FxDelete)(tls, unsynced.under, name, 0)
}

func noSync(*libc.TLS, uintptr, int32) int32 { return sqlite3.SQLITE_OK }
