//go:build amd64 || arm64

package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// means are what can refuse an attempt.
type means int

const (
	byLandlock means = 1 << iota
	byFilter
	byNamespaces
	always // no capability, and nothing inherited: also where everything else is switched off
)

// target is what a hostile program is told of the world outside.
type target struct {
	Own     string // its folder
	Given   string // a folder that it may read, with a file of its own user
	Outside string // a folder that it may not use, with a file and sockets
	TCP     int    // a port of this machine
	UDP     int
	Victim  int // a process of the same user without capabilities
	Key     int // of a shared memory segment, a semaphore and a queue
	Queue   string
}

func (t target) file() string    { return filepath.Join(t.Given, "file") }
func (t target) outside() string { return filepath.Join(t.Outside, "file") }

// attempt is one thing that a hostile program tries. It gives nil where it could.
type attempt struct {
	kind, name string
	by         means
	try        func(t target) error
}

func sys(call uintptr, args ...uintptr) error {
	_, err := result(call, args...)
	return err
}

func result(call uintptr, args ...uintptr) (int, error) {
	var a [6]uintptr
	copy(a[:], args)
	r, _, err := unix.Syscall6(call, a[0], a[1], a[2], a[3], a[4], a[5])
	if err != 0 {
		return -1, err
	}
	return int(r), nil
}

func pointer(path string) uintptr {
	p, _ := unix.BytePtrFromString(path)
	kept.Store(p, true)
	return uintptr(unsafe.Pointer(p))
}

var kept sync.Map // what the kernel is pointed to

const here = ^uintptr(99) // AT_FDCWD

// opened gives a descriptor of a file to an attempt.
func opened(path string, try func(fd uintptr) error) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return try(uintptr(fd))
}

// dated reports whether a call gave a file a time of long ago.
func dated(path string, err error) error {
	var st unix.Stat_t
	if err == nil {
		err = unix.Stat(path, &st)
	}
	if err == nil && st.Mtim.Sec > 1_000_000 {
		return errUnchanged
	}
	return err
}

// special reports whether a call made a file that runs as its owner.
func special(path string, err error) error {
	var st unix.Stat_t
	if err == nil {
		err = unix.Stat(path, &st)
	}
	if err == nil && st.Mode&(unix.S_ISUID|unix.S_ISGID) == 0 {
		return errUnchanged
	}
	_ = os.Remove(path)
	return err
}

// hint gives the inode or the descriptor of a file a hint of how long its data stay.
func hint(fd uintptr, command int) error {
	long := uint64(4) // RWH_WRITE_LIFE_LONG
	return sys(unix.SYS_FCNTL, fd, uintptr(command), uintptr(unsafe.Pointer(&long)))
}

func plain(path string) string {
	_ = os.WriteFile(path, []byte("x"), 0o600)
	return path
}

// What the kernel is pointed to does not move.
var (
	longAgo = [2]unix.Timespec{{Sec: 1}, {Sec: 1}}
	value   byte
)

// attempts is the list. docs/security.md shows it.
func attempts() []attempt {
	const nameX = "user.parley"
	v := uintptr(unsafe.Pointer(&value))
	name := pointer(nameX)
	times := uintptr(unsafe.Pointer(&longAgo[0]))
	outside := byFilter | byNamespaces
	files := byLandlock | byNamespaces
	all := []attempt{
		{"files outside", "read", files, func(t target) error { _, err := os.ReadFile(t.outside()); return err }},
		{"files outside", "list", files, func(t target) error { _, err := os.ReadDir(t.Outside); return err }},
		{"files outside", "make", files, func(t target) error { return os.WriteFile(t.outside()+".new", nil, 0o600) }},
		{"files outside", "truncate", files, func(t target) error { return os.Truncate(t.outside(), 0) }},
		{"files outside", "link", files, func(t target) error { return os.Link(t.outside(), filepath.Join(t.Own, "link")) }},
		{"files outside", "see size and time (stat)", byNamespaces, func(t target) error { _, err := os.Stat(t.outside()); return err }},
		{"files outside", "be told of changes (inotify)", outside, func(t target) error {
			fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
			if err == nil {
				_, err = unix.InotifyAddWatch(fd, t.Outside, unix.IN_MODIFY)
			}
			return err
		}},
		{"files outside", "be told of changes (fcntl F_NOTIFY)", byFilter, func(t target) error {
			return opened(t.Given, func(fd uintptr) error { return sys(unix.SYS_FCNTL, fd, unix.F_NOTIFY, 0x20 /* DN_ATTRIB */) })
		}},
		{"files outside", "make those wait who write (fcntl F_SETLEASE)", byFilter, func(t target) error {
			return opened(t.file(), func(fd uintptr) error { return sys(unix.SYS_FCNTL, fd, unix.F_SETLEASE, unix.F_RDLCK) })
		}},
		{"files outside", "write to a folder that it may read", files, func(t target) error { return os.WriteFile(t.file()+".new", nil, 0o600) }},

		{"metadata of files outside", "fchmod", outside, func(t target) error {
			return opened(t.file(), func(fd uintptr) error { return sys(unix.SYS_FCHMOD, fd, 0o640) })
		}},
		{"metadata of files outside", "fchmodat", outside, func(t target) error { return sys(unix.SYS_FCHMODAT, here, pointer(t.file()), 0o640) }},
		{"metadata of files outside", "fchmodat2", outside, func(t target) error { return sys(unix.SYS_FCHMODAT2, here, pointer(t.file()), 0o640, 0) }},
		{"metadata of files outside", "fchmodat of what it may not read", outside, func(t target) error { return sys(unix.SYS_FCHMODAT, here, pointer(t.outside()), 0o640) }},
		{"metadata of files outside", "fchown", outside, func(t target) error {
			return opened(t.file(), func(fd uintptr) error { return sys(unix.SYS_FCHOWN, fd, uintptr(os.Getuid()), uintptr(os.Getgid())) })
		}},
		{"metadata of files outside", "fchownat", outside, func(t target) error {
			return sys(unix.SYS_FCHOWNAT, here, pointer(t.file()), uintptr(os.Getuid()), uintptr(os.Getgid()), 0)
		}},
		{"metadata of files outside", "utimensat", outside, func(t target) error {
			return dated(t.file(), sys(unix.SYS_UTIMENSAT, here, pointer(t.file()), times, 0))
		}},
		{"metadata of files outside", "setxattr", outside, func(t target) error { return sys(unix.SYS_SETXATTR, pointer(t.file()), name, v, 1, 0) }},
		{"metadata of files outside", "lsetxattr", outside, func(t target) error { return sys(unix.SYS_LSETXATTR, pointer(t.file()), name, v, 1, 0) }},
		{"metadata of files outside", "fsetxattr", outside, func(t target) error {
			return opened(t.file(), func(fd uintptr) error { return sys(unix.SYS_FSETXATTR, fd, name, v, 1, 0) })
		}},
		{"metadata of files outside", "setxattrat", outside, func(t target) error {
			args := struct {
				value       uint64
				size, flags uint32
			}{uint64(v), 1, 0}
			return sys(unix.SYS_SETXATTRAT, here, pointer(t.file()), 0, name, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args))
		}},
		{"metadata of files outside", "removexattr", outside, func(t target) error { return sys(unix.SYS_REMOVEXATTR, pointer(t.file()), pointer("user.a")) }},
		{"metadata of files outside", "lremovexattr", outside, func(t target) error { return sys(unix.SYS_LREMOVEXATTR, pointer(t.file()), pointer("user.b")) }},
		{"metadata of files outside", "fremovexattr", outside, func(t target) error {
			return opened(t.file(), func(fd uintptr) error { return sys(unix.SYS_FREMOVEXATTR, fd, pointer("user.c")) })
		}},
		{"metadata of files outside", "removexattrat", outside, func(t target) error {
			return sys(unix.SYS_REMOVEXATTRAT, here, pointer(t.file()), 0, pointer("user.d"))
		}},
		{"metadata of files outside", "ioctl FS_IOC_SETFLAGS", outside, func(t target) error {
			return opened(t.file(), func(fd uintptr) error {
				var flags uint32
				if err := sys(unix.SYS_IOCTL, fd, unix.FS_IOC_GETFLAGS, uintptr(unsafe.Pointer(&flags))); err != nil {
					return err
				}
				flags |= 0x40 // not to be dumped
				return sys(unix.SYS_IOCTL, fd, unix.FS_IOC_SETFLAGS, uintptr(unsafe.Pointer(&flags)))
			})
		}},
		{"metadata of files outside", "fcntl F_SET_RW_HINT", byFilter, func(t target) error {
			return opened(t.file(), func(fd uintptr) error { return hint(fd, unix.F_SET_RW_HINT) })
		}},
		{"metadata of files outside", "fcntl F_SET_FILE_RW_HINT", byFilter, func(t target) error {
			return opened(t.file(), func(fd uintptr) error { return hint(fd, unix.F_SET_FILE_RW_HINT) })
		}},
		{"metadata of files outside", "ioctl FS_IOC_FSSETXATTR", outside, func(t target) error {
			return opened(t.file(), func(fd uintptr) error {
				var attr [28]byte
				return sys(unix.SYS_IOCTL, fd, 0x401c5820, uintptr(unsafe.Pointer(&attr[0])))
			})
		}},
		{"metadata of files outside", "file_setattr", outside, func(t target) error {
			var attr [24]byte
			return sys(unix.SYS_FILE_SETATTR, here, pointer(t.file()), uintptr(unsafe.Pointer(&attr[0])), 24, 0)
		}},

		{"sockets", "make one, of 46 families and 6 types", byFilter, func(target) error { return anySocket(unix.SYS_SOCKET) }},
		{"sockets", "make a pair that is no stream, of 46 families and 6 types", byFilter, func(target) error { return anySocket(unix.SYS_SOCKETPAIR) }},
		{"sockets", "connect by TCP", byLandlock | outside, func(t target) error {
			return connected(unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Port: t.TCP, Addr: [4]byte{127, 0, 0, 1}})
		}},
		{"sockets", "send by UDP", outside, func(t target) error {
			return sent(unix.AF_INET, &unix.SockaddrInet4{Port: t.UDP, Addr: [4]byte{127, 0, 0, 1}})
		}},
		{"sockets", "connect to one in the file system", outside, func(t target) error {
			return connected(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: filepath.Join(t.Outside, "stream")})
		}},
		{"sockets", "connect to an abstract one", byLandlock | outside, func(t target) error {
			return connected(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: "@" + t.Queue})
		}},
		{"sockets", "send from a datagram pair to one in the file system", outside, func(t target) error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: filepath.Join(t.Outside, "datagram")})
		}},
		{"sockets", "io_uring", byFilter, func(target) error {
			var params [120]byte
			return sys(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params[0])))
		}},

		{"shared objects", "System V shared memory", outside, func(t target) error {
			id, err := result(unix.SYS_SHMGET, uintptr(t.Key), 0, 0)
			if err == nil {
				err = sys(unix.SYS_SHMAT, uintptr(id), 0, unix.SHM_RDONLY)
			}
			return err
		}},
		{"shared objects", "System V semaphores", outside, func(t target) error { return sys(unix.SYS_SEMGET, uintptr(t.Key), 0, 0) }},
		{"shared objects", "System V message queues", outside, func(t target) error { return sys(unix.SYS_MSGGET, uintptr(t.Key), 0, 0) }},
		{"shared objects", "POSIX message queues", outside, func(t target) error { return sys(unix.SYS_MQ_OPEN, pointer(t.Queue), unix.O_RDONLY, 0, 0) }},
		{"shared objects", "keyrings: add_key", byFilter, func(target) error {
			return sys(unix.SYS_ADD_KEY, pointer("user"), pointer("parley"), v, 1, ^uintptr(3))
		}},
		{"shared objects", "keyrings: request_key", byFilter, func(target) error {
			err := sys(unix.SYS_REQUEST_KEY, pointer("user"), pointer("parley-none"), 0, 0)
			if errors.Is(err, unix.ENOKEY) {
				return nil // it was looked for
			}
			return err
		}},
		{"shared objects", "keyrings: keyctl", byFilter, func(target) error { return sys(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, ^uintptr(3), 0) }},
	}
	return slices.Concat(all, ownAttempts(), processAttempts(), activityAttempts(), privilegeAttempts(), legacyAttempts())
}

// ownAttempts are about programs that run as their owner, in the program's own folder.
func ownAttempts() []attempt {
	const kind = "programs that run as their owner (setuid, setgid)"
	own := func(t target) string { return filepath.Join(t.Own, "program") }
	var out []attempt
	for _, mode := range []uintptr{0o4755, 0o2755, 0o6755} {
		more := func(name string, try func(t target) error) {
			out = append(out, attempt{kind, fmt.Sprintf("%s %o", name, mode), byFilter, func(t target) error { return special(own(t), try(t)) }})
		}
		more("fchmod", func(t target) error {
			return opened(plain(own(t)), func(fd uintptr) error { return sys(unix.SYS_FCHMOD, fd, mode) })
		})
		more("fchmodat", func(t target) error { return sys(unix.SYS_FCHMODAT, here, pointer(plain(own(t))), mode) })
		more("fchmodat2", func(t target) error { return sys(unix.SYS_FCHMODAT2, here, pointer(plain(own(t))), mode, 0) })
		more("openat", func(t target) error {
			return sys(unix.SYS_OPENAT, here, pointer(own(t)), unix.O_CREAT|unix.O_RDWR, mode)
		})
		more("openat2", func(t target) error {
			how := unix.OpenHow{Flags: unix.O_CREAT | unix.O_RDWR, Mode: uint64(mode)}
			return sys(unix.SYS_OPENAT2, here, pointer(own(t)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
		})
		more("openat without a name", func(t target) error {
			fd, err := result(unix.SYS_OPENAT, here, pointer(t.Own), unix.O_TMPFILE|unix.O_RDWR, mode)
			if err != nil {
				return err
			}
			return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, own(t), unix.AT_SYMLINK_FOLLOW)
		})
		more("mknodat", func(t target) error { return sys(unix.SYS_MKNODAT, here, pointer(own(t)), unix.S_IFREG|mode, 0) })
	}
	return out
}

func processAttempts() []attempt {
	const kind = "other processes"
	outside, signals := byFilter|byNamespaces, byLandlock|byNamespaces
	return []attempt{
		{kind, "/proc of one", signals, func(t target) error { _, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", t.Victim)); return err }},
		{kind, "kill", signals, func(t target) error { return unix.Kill(t.Victim, 0) }},
		{kind, "tgkill", signals, func(t target) error { return unix.Tgkill(t.Victim, t.Victim, 0) }},
		{kind, "rt_sigqueueinfo", signals, func(t target) error {
			info := unix.Siginfo{Code: -1}
			return sys(unix.SYS_RT_SIGQUEUEINFO, uintptr(t.Victim), 0, uintptr(unsafe.Pointer(&info)))
		}},
		{kind, "pidfd_send_signal", signals, func(t target) error {
			fd, err := unix.PidfdOpen(t.Victim, 0)
			if err == nil {
				err = unix.PidfdSendSignal(fd, 0, nil, 0)
			}
			return err
		}},
		{kind, "have the kernel signal one (fcntl F_SETOWN)", outside, func(t target) error {
			return opened(t.file(), func(fd uintptr) error { return sys(unix.SYS_FCNTL, fd, unix.F_SETOWN, uintptr(t.Victim)) })
		}},
		{kind, "pidfd_getfd", byLandlock | outside, func(t target) error {
			fd, err := unix.PidfdOpen(t.Victim, 0)
			if err == nil {
				_, err = unix.PidfdGetfd(fd, 0, 0)
			}
			return err
		}},
		{kind, "ptrace", byLandlock | outside, func(t target) error {
			runtime.LockOSThread()
			err := sys(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(t.Victim), 0, 0)
			return err
		}},
		{kind, "process_vm_readv", byLandlock | outside, func(t target) error { return memory(unix.SYS_PROCESS_VM_READV, t.Victim) }},
		{kind, "process_vm_writev", byLandlock | outside, func(t target) error { return memory(unix.SYS_PROCESS_VM_WRITEV, t.Victim) }},
		{kind, "kcmp", byLandlock | outside, func(t target) error {
			return sys(unix.SYS_KCMP, uintptr(t.Victim), uintptr(os.Getpid()), 2, 0, 0)
		}},
		{kind, "move_pages", byLandlock | outside, func(t target) error { return sys(unix.SYS_MOVE_PAGES, uintptr(t.Victim), 0, 0, 0, 0, 0) }},
		{kind, "get_robust_list", byLandlock | outside, func(t target) error {
			var head, size uintptr
			return sys(unix.SYS_GET_ROBUST_LIST, uintptr(t.Victim), uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&size)))
		}},
		{kind, "prlimit64", outside, func(t target) error {
			var old unix.Rlimit
			if err := unix.Prlimit(t.Victim, unix.RLIMIT_CORE, nil, &old); err != nil {
				return err
			}
			return unix.Prlimit(t.Victim, unix.RLIMIT_CORE, &unix.Rlimit{Cur: 0, Max: old.Max}, nil)
		}},
		{kind, "setpriority", outside, func(t target) error { return sys(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, uintptr(t.Victim), 10) }},
		{kind, "ioprio_set", outside, func(t target) error { return sys(unix.SYS_IOPRIO_SET, ioprioProcess, uintptr(t.Victim), 2<<13|7) }},
		{kind, "sched_setaffinity", outside, func(t target) error {
			var set unix.CPUSet
			set.Set(0)
			return unix.SchedSetaffinity(t.Victim, &set)
		}},
		{kind, "sched_setscheduler", outside, func(t target) error {
			var zero int32
			return sys(unix.SYS_SCHED_SETSCHEDULER, uintptr(t.Victim), unix.SCHED_BATCH, uintptr(unsafe.Pointer(&zero)))
		}},
		{kind, "sched_setattr", outside, func(t target) error {
			return unix.SchedSetAttr(t.Victim, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: 19}, 0)
		}},
		{kind, "descriptors passed by accident", always, func(target) error {
			for fd := 3; fd < 20; fd++ {
				path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
				if err == nil && strings.HasSuffix(path, "/outside/file") {
					return nil
				}
			}
			return os.ErrNotExist
		}},
	}
}

func privilegeAttempts() []attempt {
	const kind = "mounts, namespaces and more of the kernel"
	plainly := func(name string, by means, call uintptr, args ...uintptr) attempt {
		return attempt{kind, name, by, func(target) error { return sys(call, args...) }}
	}
	made := func(name string, flags uintptr, by means) attempt {
		return attempt{kind, name, by, func(target) error {
			pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Cloneflags: flags}})
			if err == nil {
				_, err = syscall.Wait4(pid, nil, 0, nil)
			}
			return err
		}}
	}
	root, sched := pointer("/"), uintptr(unix.PR_SCHED_CORE)
	return []attempt{
		made("clone with a user namespace", unix.CLONE_NEWUSER, byFilter),
		made("clone with a mount namespace", unix.CLONE_NEWNS, always),
		plainly("unshare", byFilter, unix.SYS_UNSHARE, unix.CLONE_FILES),
		{kind, "setns", always, func(target) error {
			return opened("/proc/self/ns/net", func(fd uintptr) error { return sys(unix.SYS_SETNS, fd, 0) })
		}},
		plainly("mount", always, unix.SYS_MOUNT, pointer("tmpfs"), pointer("/usr"), pointer("tmpfs"), 0, 0),
		plainly("umount2", always, unix.SYS_UMOUNT2, pointer("/usr"), unix.MNT_DETACH),
		plainly("pivot_root", always, unix.SYS_PIVOT_ROOT, root, root),
		plainly("chroot", always, unix.SYS_CHROOT, pointer("/usr")),
		plainly("open_tree", byFilter, unix.SYS_OPEN_TREE, here, pointer("/usr"), 0),
		plainly("open_tree with a copy", always, unix.SYS_OPEN_TREE, here, pointer("/usr"), 1),
		plainly("fsopen", always, unix.SYS_FSOPEN, pointer("tmpfs"), 0),
		{kind, "mount_setattr", always, func(target) error {
			return unix.MountSetattr(unix.AT_FDCWD, "/usr", 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
		}},
		{kind, "name_to_handle_at", byFilter, func(t target) error {
			_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, t.Own, 0)
			return err
		}},
		{kind, "open_by_handle_at", always, func(t target) error {
			handle := unix.NewFileHandle(1, make([]byte, 8))
			return opened(t.Own, func(fd uintptr) error {
				_, err := unix.OpenByHandleAt(int(fd), handle, 0)
				return err
			})
		}},
		plainly("fanotify_init", byFilter, unix.SYS_FANOTIFY_INIT, unix.FAN_CLOEXEC|unix.FAN_REPORT_FID, 0),
		plainly("userfaultfd", byFilter, unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1),
		plainly("perf_event_open", byFilter, unix.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&perf)), 0, ^uintptr(0), ^uintptr(0), 0),
		{kind, "bpf", byFilter, func(target) error {
			attr := [6]uint32{2, 4, 4, 1, 0, 0} // an array map
			return sys(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr[0])), unsafe.Sizeof(attr))
		}},
		plainly("prctl PR_SCHED_CORE", byFilter, unix.SYS_PRCTL, sched, 1, 0, 0, 0),
		plainly("swapoff", always, unix.SYS_SWAPOFF, pointer("/none")),
		plainly("sethostname", always, unix.SYS_SETHOSTNAME, pointer("x"), 1),
		plainly("clock_settime", always, unix.SYS_CLOCK_SETTIME, unix.CLOCK_REALTIME, uintptr(unsafe.Pointer(&longAgo[0]))),
		plainly("init_module", always, unix.SYS_INIT_MODULE, 0, 0, 0),
		plainly("kexec_load", always, unix.SYS_KEXEC_LOAD, 0, 0, 0, 0),
	}
}

var perf = unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Config: unix.PERF_COUNT_SW_CPU_CLOCK, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}

// memory looks into a process at an address where there is nothing: that nothing is there is known only to those who may look.
func memory(call uintptr, pid int) error {
	var b byte
	ours := unix.Iovec{Base: &b, Len: 1}
	theirs := unix.RemoteIovec{Base: 16, Len: 1}
	err := sys(call, uintptr(pid), uintptr(unsafe.Pointer(&ours)), 1, uintptr(unsafe.Pointer(&theirs)), 1, 0)
	if errors.Is(err, unix.EFAULT) {
		return nil
	}
	return err
}

// anySocket makes sockets of all families and types, save pairs of streams.
func anySocket(call uintptr) error {
	var refused error
	for family := range uintptr(46) {
		for kind := range uintptr(7) {
			if call == unix.SYS_SOCKETPAIR && family == unix.AF_UNIX && kind == unix.SOCK_STREAM {
				continue
			}
			var pair [2]int32
			err := sys(call, family, kind, 0, uintptr(unsafe.Pointer(&pair)))
			if err == nil {
				return nil
			}
			if !errors.Is(err, unix.EACCES) {
				refused = err
			}
		}
	}
	if refused == nil {
		refused = unix.EACCES
	}
	return refused
}

func connected(family, kind int, to unix.Sockaddr) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, to)
}

func sent(family int, to unix.Sockaddr) error {
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Sendto(fd, []byte("x"), 0, to)
}
