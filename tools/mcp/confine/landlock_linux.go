package confine

import (
	"errors"
	"fmt"
	"os"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The system is what every program may read: programs, libraries, and what they look up. Nothing in it is private. Of /proc and /sys it is what
// says what the machine is: no names of groups and no counters, which tell what other programs there are and when they are at work. /proc/self is
// that of the command itself, not of programs that it starts.
var (
	systemFolders = []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/etc/alternatives",
		"/etc/ca-certificates", "/etc/fonts", "/etc/ld.so.conf.d", "/etc/pki/tls", "/etc/pki/ca-trust", "/etc/ssl/certs", "/nix/store", "/gnu/store"}
	systemFiles = []string{"/etc/group", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.preload", "/etc/localtime", "/etc/mime.types",
		"/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/ssl/openssl.cnf", "/etc/timezone", "/dev/random", "/dev/urandom", "/dev/zero",
		"/sys/devices/system/cpu/online", "/sys/devices/system/cpu/possible", "/sys/devices/system/cpu/present"}
	procFolders = []string{"/proc/self", "/proc/sys/vm", "/proc/sys/kernel/random"}
	procFiles   = []string{"/proc/cpuinfo", "/proc/filesystems", "/proc/meminfo", "/proc/version",
		"/proc/sys/kernel/osrelease", "/proc/sys/kernel/pid_max", "/proc/sys/kernel/cap_last_cap"}
	devices = []string{"/dev/null", "/dev/full"}
)

// landlockVersion is that of the kernel's Landlock, 0 for none.
func landlockVersion() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// Sets of rights.
const (
	fileRead  = ll.AccessFSExecute | ll.AccessFSReadFile
	fileWrite = ll.AccessFSReadFile | ll.AccessFSWriteFile | ll.AccessFSTruncate
	read      = fileRead | ll.AccessFSReadDir
	// Devices and sockets get no rights: ioctls of devices, and connecting to sockets in the file system.
	write = read | fileWrite | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym | ll.AccessFSRefer
)

// ruleset gives what a version of Landlock can restrict: all of it is.
//
// source: Linux, Documentation/userspace-api/landlock.rst, "Previous limitations"
func ruleset(version int) *ll.RulesetAttr {
	bits := func(from ...struct{ version, bits int }) uint64 {
		var out uint64
		for _, f := range from {
			if version >= f.version {
				out = 1<<f.bits - 1
			}
		}
		return out
	}
	type since = struct{ version, bits int }
	return &ll.RulesetAttr{
		HandledAccessFS:  bits(since{1, 13}, since{2, 14}, since{3, 15}, since{5, 16}, since{9, 17}),
		HandledAccessNet: bits(since{4, 2}, since{10, 4}),
		Scoped:           bits(since{6, 2}),
	}
}

// restrictFiles has Landlock allow this thread what the plan says and nothing else: files, and what this version knows besides (TCP from 4,
// signals and abstract sockets from 6).
func restrictFiles(p Plan, version int) error {
	set := ruleset(version)
	fd, err := ll.LandlockCreateRuleset(set, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	allow := func(path string, folder, file uint64) error {
		at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return &os.PathError{Op: "open", Path: path, Err: err}
		}
		defer func() { _ = unix.Close(at) }()
		var st unix.Stat_t
		if err := unix.Fstat(at, &st); err != nil {
			return err
		}
		rights := file
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			rights = folder
		}
		if err := ll.LandlockAddPathBeneathRule(fd, &ll.PathBeneathAttr{AllowedAccess: rights & set.HandledAccessFS, ParentFd: at}, 0); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	}
	for _, paths := range [][]string{systemFolders, systemFiles, procFolders, procFiles} {
		for _, path := range paths {
			if err := allow(path, read, fileRead); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	for _, path := range devices {
		if err := allow(path, 0, fileRead|fileWrite); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, path := range p.Read {
		if err := allow(path, read, fileRead); err != nil {
			return err
		}
	}
	for _, path := range p.Write {
		if err := allow(path, write, fileRead|fileWrite); err != nil {
			return err
		}
	}
	return ll.LandlockRestrictSelf(fd, 0)
}
