package configfile

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// birthTime gives when a folder was made; 0 = its file system does not tell.
func birthTime(path string) int64 {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &s); err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return s.Btime.Sec*int64(time.Second) + int64(s.Btime.Nsec)
}

// isPrivateGroup reports whether what a group may do to a file only the user may do: Debian, Fedora and others give each user a group and the
// umask 002. With an access control list the bits of the group stand for everybody who is named in it.
func isPrivateGroup(path string, gid int) bool {
	if gid != os.Getegid() {
		return false
	}
	if _, err := unix.Lgetxattr(path, "system.posix_acl_access", nil); !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.ENOTSUP) {
		return false
	}
	passwd, err1 := os.ReadFile("/etc/passwd")
	group, err2 := os.ReadFile("/etc/group")
	return errors.Join(err1, err2) == nil && isOwnGroup(string(passwd), string(group), os.Geteuid(), gid)
}

// isOwnGroup reports whether a group has the user's number and no other member, as systems make one for each user: in the text of
// /etc/passwd it is no other user's, and in that of /etc/group only the user's names are listed.
func isOwnGroup(passwd, group string, user, gid int) bool {
	if user != gid {
		return false
	}
	names := []string{""} // no member at all
	for line := range strings.Lines(passwd) {
		f := strings.Split(strings.TrimSpace(line), ":")
		switch {
		case len(f) < 4:
		case f[2] == strconv.Itoa(user):
			names = append(names, f[0])
		case f[3] == strconv.Itoa(gid):
			return false
		}
	}
	for line := range strings.Lines(group) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 || f[2] != strconv.Itoa(gid) {
			continue
		}
		for m := range strings.SplitSeq(f[3], ",") {
			if !slices.Contains(names, strings.TrimSpace(m)) {
				return false
			}
		}
	}
	return true
}
