package configfile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A group is the user's own when it has the user's number and no other member.
// source: Debian Reference 1.2.3 and the Debian wiki, UserPrivateGroups; passwd(5), group(5)
func TestTrustOwnGroup(t *testing.T) {
	t.Parallel()
	const passwd = "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\nada2:x:1000:1000::/home/ada:/bin/sh\nbob:x:1001:1001::/home/bob:/bin/sh\n"
	tests := map[string]struct {
		passwd, group string
		gid           int
		want          bool
	}{
		"alone":                    {passwd, "root:x:0:\nada:x:1000:\n", 1000, true},
		"listed too":               {passwd, "ada:x:1000:ada,ada2\n", 1000, true},
		"in no file":               {"", "", 1000, true},
		"another number":           {passwd, "users:x:100:ada\n", 100, false},
		"another member":           {passwd, "ada:x:1000:www-data\n", 1000, false},
		"another member, second":   {passwd, "ada:x:1000:ada, bob\n", 1000, false},
		"second line":              {passwd, "ada:x:1000:\nalso:x:1000:bob\n", 1000, false},
		"another's primary group":  {passwd + "eve:x:1002:1000::/:/bin/sh\n", "ada:x:1000:\n", 1000, false},
		"a line that is no record": {passwd + "\n+::\n", "+\nada:x:1000:\n", 1000, true},
	}
	for name, tt := range tests {
		if got := isOwnGroup(tt.passwd, tt.group, 1000, tt.gid); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A folder that was removed and made again is another folder, also when the file system gives it the same inode.
// source: statx(2), STATX_BTIME; ext4 gives the inode of a removed folder to the next one, https://docs.kernel.org/filesystems/ext4/allocators.html
func TestTrustInodeAgain(t *testing.T) {
	getenv := env("HOME", t.TempDir())
	folder := inFolder(t, "project")
	if _, err := Trust(folder, getenv); err != nil {
		t.Fatal(err)
	}
	was, err := Trusted(getenv)
	if err != nil || len(was) != 1 || was[0].Inode == 0 {
		t.Fatalf("%+v, %v", was, err)
	}
	if was[0].Born == 0 {
		t.Skip("this file system keeps no birth times")
	}
	list := filepath.Join(usersFolder(t, getenv), trustName)
	born := `"born": ` + strconv.FormatInt(was[0].Born, 10)
	data, err := os.ReadFile(list)
	if err != nil || !strings.Contains(string(data), born) {
		t.Fatalf("%s, %v", data, err)
	}
	for why, text := range map[string]string{
		"the folder is not trusted":                                       strings.Replace(string(data), born, `"born": 1`, 1),  // one before it had the inode
		"an earlier version of parley trusted the folder: trust it again": strings.Replace(string(data), ",\n    "+born, "", 1), // an older parley wrote it
	} {
		writeAll(t, list, text)
		var u *Untrusted
		if path, err := Find("", getenv); !errors.As(err, &u) || u.Why != why || u.Never {
			t.Errorf("%s: %q, %v", text, path, err)
		}
	}
	if _, err := Trust(folder, getenv); err != nil {
		t.Fatal(err)
	}
	if now, err := Trusted(getenv); err != nil || !slices.Equal(now, was) {
		t.Errorf("trusted again: %+v, %v", now, err)
	}
	if path, err := Find("", getenv); err != nil || path != Name {
		t.Errorf("trusted again: %q, %v", path, err)
	}
}

// With an access control list the bits of the group are the most that everybody in the list may.
// source: acl(5), "Correspondence between ACL entries and file permission bits"
func TestTrustAccessList(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	writeAll(t, path, "")
	if !isPrivateGroup(path, os.Getegid()) {
		t.Skip("the user of this test has no group alone")
	}
	list := "\x02\x00\x00\x00" + // version, then tag, rights, id of each entry
		"\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x06\x00\x07\x00\x00\x00" + "\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x06\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"
	if err := unix.Setxattr(path, "system.posix_acl_access", []byte(list), 0); err != nil {
		t.Skipf("this file system has no access control lists: %v", err)
	}
	if isPrivateGroup(path, os.Getegid()) {
		t.Error("user 7, who is in the list, is not seen")
	}
}
