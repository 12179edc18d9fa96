//go:build unix

package configfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// maxLinks is the most links that are followed on the way to a file, as in Linux.
const maxLinks = 40

func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino) //nolint:unconvert // its type differs between systems
	}
	return 0
}

// foreign says how another user could change a file or folder, or what its name leads to: by writing it, or by renaming a folder or a link on
// the way to it. "" = no other user can, or it is not there. The path is absolute.
func foreign(path string) string {
	at, rest := "/", strings.Split(path, "/")
	if why := foreignNode(at, true); why != "" {
		return why
	}
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		if why := foreignNode(next, len(rest) > 0); why != "" {
			return why
		}
		target, err := os.Readlink(next)
		if errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		if err != nil { // no link
			at = next
			continue
		}
		if links++; links > maxLinks {
			return next + " cannot be examined: too many links"
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = slices.Concat(strings.Split(target, "/"), rest)
	}
	return ""
}

// foreignNode is foreign for one file, folder or link; passed means that the way goes on from it.
func foreignNode(path string, passed bool) string {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return path + " cannot be examined: " + err.Error()
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return path + " cannot be examined: its owner is unknown"
	}
	n := node{mode: info.Mode(), owner: int(s.Uid), passed: passed}
	n.shared = n.mode.Perm()&0o020 != 0 && !isPrivateGroup(path, int(s.Gid))
	if why := n.foreign(os.Geteuid()); why != "" {
		return path + " " + why
	}
	return ""
}

// node is a file, folder or link on a way.
type node struct {
	mode   fs.FileMode
	owner  int
	shared bool // its group can write it, and has other members than the user
	passed bool // the way goes on from it
}

// foreign says how another user than user and root could change it; "" = none can.
func (n node) foreign(user int) string {
	switch {
	case n.owner != user && n.owner != 0:
		return "belongs to another user"
	case n.mode&fs.ModeSymlink != 0: // its mode means nothing
		return ""
	case n.passed && n.mode&fs.ModeSticky != 0: // only owners rename what is in it
		return ""
	case n.mode.Perm()&0o002 != 0:
		return "can be written by every user"
	case n.shared:
		return "can be written by a group"
	}
	return ""
}
