//go:build unix

package config

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino) //nolint:unconvert // its type differs between systems
	}
	return 0
}

// foreign says how a file or folder, and what a link leads to, is open to another user; "" = it is not, or is not there.
func foreign(path string) string {
	for _, look := range []func(string) (fs.FileInfo, error){os.Lstat, os.Stat} {
		info, err := look(path)
		if errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		if err != nil {
			return "cannot be examined: " + err.Error()
		}
		s, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case !ok:
			return "cannot be examined: its owner is unknown"
		case int(s.Uid) != os.Geteuid():
			return "belongs to another user"
		case info.Mode()&fs.ModeSymlink == 0 && info.Mode().Perm()&0o002 != 0:
			return "can be written by every user"
		}
	}
	return ""
}
