package filesystem

import (
	"cmp"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// kinds are the file systems that something is to be said about, by their magic numbers (statfs(2)).
var kinds = map[int64]string{
	0x6969: "nfs", 0xff534d42: "cifs", 0xfe534d42: "smb", 0x517b: "smb", 0x01021997: "9p", 0x65735546: "fuse", 0x01021994: "tmpfs", 0x858458f6: "ramfs", 0x794c7630: "overlay",
}

// Of gives the room that this user has, in bytes, and the kind of the file system that a folder is on.
func Of(dir string) (free uint64, kind string, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, "", err
	}
	return s.Bavail * uint64(s.Bsize), cmp.Or(kinds[int64(s.Type)&0xffffffff], fmt.Sprintf("%#x", s.Type)), nil //nolint:gosec,unconvert // sizes are positive; the types differ between architectures
}

// CanSyncAll says that SyncAll has an effect.
const CanSyncAll = true

// SyncAll blocks until all that was written to the file system of an open folder or file is on disk. One call takes the place of one for each file.
func SyncAll(f *os.File) error { return unix.Syncfs(int(f.Fd())) }
