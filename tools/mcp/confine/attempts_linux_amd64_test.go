package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

var old = [4]int64{1, 1, 1, 1} // as two times, and as two pairs of second and microsecond

// legacyAttempts are calls that newer processors have not got.
func legacyAttempts() []attempt {
	outside := byFilter | byNamespaces
	uid, gid := uintptr(os.Getuid()), uintptr(os.Getgid())
	at := uintptr(unsafe.Pointer(&old))
	const kind, ids = "metadata of files outside", "programs that run as their owner (setuid, setgid)"
	out := []attempt{
		{kind, "chmod", outside, func(t target) error { return sys(unix.SYS_CHMOD, pointer(t.file()), 0o640) }},
		{kind, "chown", outside, func(t target) error { return sys(unix.SYS_CHOWN, pointer(t.file()), uid, gid) }},
		{kind, "lchown", outside, func(t target) error { return sys(unix.SYS_LCHOWN, pointer(t.file()), uid, gid) }},
		{kind, "utime", outside, func(t target) error { return dated(t.file(), sys(unix.SYS_UTIME, pointer(t.file()), at)) }},
		{kind, "utimes", outside, func(t target) error { return dated(t.file(), sys(unix.SYS_UTIMES, pointer(t.file()), at)) }},
		{kind, "futimesat", outside, func(t target) error { return dated(t.file(), sys(unix.SYS_FUTIMESAT, here, pointer(t.file()), at)) }},
	}
	for _, mode := range []uintptr{0o4755, 0o2755} {
		more := func(name string, try func(path string) error) {
			out = append(out, attempt{ids, fmt.Sprintf("%s %o", name, mode), byFilter, func(t target) error {
				path := filepath.Join(t.Own, "program")
				return special(path, try(path))
			}})
		}
		more("chmod", func(path string) error { return sys(unix.SYS_CHMOD, pointer(plain(path)), mode) })
		more("open", func(path string) error { return sys(unix.SYS_OPEN, pointer(path), unix.O_CREAT|unix.O_RDWR, mode) })
		more("creat", func(path string) error { return sys(unix.SYS_CREAT, pointer(path), mode) })
		more("mknod", func(path string) error { return sys(unix.SYS_MKNOD, pointer(path), unix.S_IFREG|mode, 0) })
	}
	return out
}
