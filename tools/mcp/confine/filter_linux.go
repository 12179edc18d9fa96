//go:build amd64 || arm64

package confine

import (
	"math"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filterable reports whether the kernel takes a filter of system calls.
func filterable() bool {
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil
}

// rule refuses system calls: all of them, or those whose arguments fulfil all conditions.
type rule struct {
	answer syscall.Errno // 0: the call is not made and says that it was
	when   []condition
	calls  []uintptr
}

// condition looks at the lower half of an argument, which is all that the kernel looks at where the argument is an int.
type condition struct {
	arg    uint32
	upper  bool // the upper half instead
	mask   uint32
	is     uint32
	differ bool // it must not be the same
}

// lastCall is the newest system call that was looked at. What comes later does not exist: the numbers from 424 on are those of all
// processors. It also keeps out x32, whose numbers have a bit of their own.
const lastCall = unix.SYS_MSEAL

// filterFor gives the rules. What concerns files and processes outside is refused where no namespace hides them.
func filterFor(isolated bool) []rule {
	rules := slices.Concat(sockets, privileges, objects, processes, metadata, legacyMetadata)
	if !isolated {
		rules = slices.Concat(rules, outsideFiles, legacyOutsideFiles, outsideProcesses)
	}
	return rules
}

// refuse is a rule without conditions.
func refuse(answer syscall.Errno, calls ...uintptr) rule { return rule{answer: answer, calls: calls} }

// setsID are the rules against a mode with one of these bits in an argument.
//
// source: systemd/systemd src/shared/seccomp-util.c, seccomp_restrict_suid_sgid
func setsID(arg uint32, more []condition, calls ...uintptr) []rule {
	return []rule{
		{unix.EPERM, append([]condition{{arg: arg, mask: unix.S_ISUID, is: unix.S_ISUID}}, more...), calls},
		{unix.EPERM, append([]condition{{arg: arg, mask: unix.S_ISGID, is: unix.S_ISGID}}, more...), calls},
	}
}

// makesFile is fulfilled where flags of open in an argument make a file.
func makesFile(arg uint32) [][]condition {
	const unnamed = unix.O_TMPFILE &^ unix.O_DIRECTORY
	return [][]condition{{{arg: arg, mask: unix.O_CREAT, is: unix.O_CREAT}}, {{arg: arg, mask: unnamed, is: unnamed}}}
}

var (
	// Sockets of whatever kind are not made: the network namespace and Landlock leave those in the file system open. Pairs of connected
	// streams, which programs use to talk to their own children, are made, and cannot be used for anything else. Datagram pairs can be sent
	// from to any address (unix(7)). io_uring makes sockets without the system call.
	sockets = []rule{
		refuse(unix.EACCES, unix.SYS_SOCKET, unix.SYS_BIND, unix.SYS_CONNECT, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4),
		{unix.EACCES, []condition{{arg: 0, mask: math.MaxUint32, is: unix.AF_UNIX, differ: true}}, []uintptr{unix.SYS_SOCKETPAIR}},
		{unix.EACCES, []condition{{arg: 1, mask: 0xf, is: unix.SOCK_STREAM, differ: true}}, []uintptr{unix.SYS_SOCKETPAIR}},
		{unix.EACCES, []condition{{arg: 4, mask: math.MaxUint32, differ: true}}, []uintptr{unix.SYS_SENDTO}},
		{unix.EACCES, []condition{{arg: 4, upper: true, mask: math.MaxUint32, differ: true}}, []uintptr{unix.SYS_SENDTO}},
		refuse(unix.ENOSYS, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER),
	}
	// Namespaces and mounts are not made: in a new one a program has capabilities, and with them more of the kernel in reach. clone3 hides its
	// flags from a filter; libraries then use clone.
	privileges = []rule{
		refuse(unix.EPERM, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE,
			unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT,
			unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
			unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SETTIMEOFDAY,
			unix.SYS_CLOCK_SETTIME, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
			unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK),
		{unix.EPERM, []condition{{arg: 0, mask: namespaces, differ: true}}, []uintptr{unix.SYS_CLONE}},
		refuse(unix.ENOSYS, unix.SYS_CLONE3),
	}
	// Objects of the kernel that programs of one user share.
	objects = []rule{
		refuse(unix.ENOSYS, unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
			unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE,
			unix.SYS_MQ_NOTIFY, unix.SYS_MQ_GETSETATTR, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL),
	}
	// Other processes are not looked into.
	processes = []rule{
		refuse(unix.EPERM, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
			unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES),
		{unix.EPERM, []condition{{arg: 0, mask: math.MaxUint32, is: unix.PR_SCHED_CORE}}, []uintptr{unix.SYS_PRCTL}},
	}
	// Programs with the rights of their owner are made by nobody, and attributes that a file system keeps are left alone. openat2 hides the
	// mode from a filter; programs then use openat.
	metadata = slices.Concat(
		setsID(1, nil, unix.SYS_FCHMOD), setsID(2, nil, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_MKNODAT),
		setsID(3, makesFile(2)[0], unix.SYS_OPENAT), setsID(3, makesFile(2)[1], unix.SYS_OPENAT),
		[]rule{
			refuse(unix.ENOSYS, unix.SYS_OPENAT2),
			refuse(unix.EOPNOTSUPP, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR),
			{unix.ENOTTY, otherThan(harmlessControls), []uintptr{unix.SYS_IOCTL}},
			{unix.EINVAL, otherThan(harmlessCommands), []uintptr{unix.SYS_FCNTL}},
		})
	// Without a file system of its own, a program could change metadata of all files of its user, and have the kernel tell of changes.
	outsideFiles = []rule{
		refuse(unix.EPERM, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT),
		refuse(0, unix.SYS_UTIMENSAT), // the time of a file matters to nobody so much that copying should fail
		refuse(unix.EACCES, unix.SYS_INOTIFY_ADD_WATCH),
	}
	// Without a namespace of processes, a program could change limits and priorities of all processes of its user. It may for itself.
	outsideProcesses = []rule{
		{unix.EPERM, []condition{{arg: 0, mask: math.MaxUint32, differ: true}}, []uintptr{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
			unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR, unix.SYS_GET_ROBUST_LIST, unix.SYS_SETPRIORITY}},
		{unix.EPERM, []condition{{arg: 1, mask: math.MaxUint32, differ: true}}, []uintptr{unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET}},
		{unix.EPERM, []condition{{arg: 0, mask: math.MaxUint32, is: ioprioProcess, differ: true}}, []uintptr{unix.SYS_IOPRIO_SET}},
	}
)

const (
	namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

	ioprioProcess = 1 // IOPRIO_WHO_PROCESS
)

// harmlessControls are the commands of ioctl for terminals, pipes and copies: file systems have many more that change attributes, each has
// its own.
var harmlessControls = []uint32{
	unix.TCGETS, unix.TCSETS, unix.TCSETSW, unix.TCSETSF, unix.TIOCGWINSZ, unix.TIOCSWINSZ, unix.TIOCGPGRP, unix.TIOCSPGRP, unix.TIOCGSID, unix.TIOCOUTQ,
	unix.TIOCINQ, 0x5421 /* FIONBIO */, 0x5450 /* FIONCLEX */, 0x5451 /* FIOCLEX */, 0x5452 /* FIOASYNC */, 0x802c542a /* TCGETS2 */, unix.TIOCNOTTY,
	unix.FICLONE, unix.FICLONERANGE, 2 /* FIGETBSZ */, unix.FS_IOC_GETFLAGS, 0xc020660b, /* FS_IOC_FIEMAP */
}

// harmlessCommands are those of fcntl but the ones that reach beyond the program: a lease of a file that it may only read makes others wait
// who open it (F_SETLEASE), a hint changes the inode of such a file (F_SET_RW_HINT, F_SET_FILE_RW_HINT), F_NOTIFY tells of changes in a
// folder, and F_SETOWN, F_SETOWN_EX and F_SETSIG send signals. Locks stay: databases need them in the program's own folder.
//
// source: fcntl(2), "Leases", "File read/write hints", "Managing signals"
var harmlessCommands = []uint32{
	unix.F_DUPFD, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_GETOWN, unix.F_GETSIG, unix.F_GETOWN_EX,
	unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_GETLEASE, 1027 /* F_DUPFD_QUERY */, 1028 /* F_CREATED_QUERY */, unix.F_DUPFD_CLOEXEC,
	unix.F_SETPIPE_SZ, unix.F_GETPIPE_SZ, unix.F_ADD_SEALS, unix.F_GET_SEALS, unix.F_GET_RW_HINT, unix.F_GET_FILE_RW_HINT,
}

// otherThan is fulfilled by every command in the second argument but these.
func otherThan(commands []uint32) (out []condition) {
	for _, command := range commands {
		out = append(out, condition{arg: 1, mask: math.MaxUint32, is: command, differ: true})
	}
	return out
}

// Offsets in the kernel's struct seccomp_data.
const (
	offsetNumber  = 0
	offsetMachine = 4
	offsetArgs    = 16
)

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func jump(how uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | how | unix.BPF_K, K: k, Jt: yes, Jf: no}
}

func answer(e syscall.Errno) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(e)}
}

// assemble writes rules as a program of the kernel's packet filter.
func assemble(rules []rule) []unix.SockFilter {
	program := []unix.SockFilter{
		load(offsetMachine),
		jump(unix.BPF_JEQ, machine, 1, 0), // another one's calls have other numbers: none are made
		answer(unix.ENOSYS),
		load(offsetNumber),
		jump(unix.BPF_JGT, lastCall, 0, 1),
		answer(unix.ENOSYS),
	}
	for _, r := range rules {
		body := []unix.SockFilter{answer(r.answer)}
		for i := len(r.when) - 1; i >= 0; i-- {
			c := r.when[i]
			at := offsetArgs + 8*c.arg
			if c.upper {
				at += 4
			}
			test := jump(unix.BPF_JEQ, c.is, 0, uint8(len(body))) //nolint:gosec // fewer than 255, see below
			if c.differ {
				test.Jt, test.Jf = test.Jf, test.Jt
			}
			body = append([]unix.SockFilter{load(at), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: c.mask}, test}, body...)
		}
		if len(r.when) > 0 {
			body = append(body, load(offsetNumber)) // for the rules behind
		}
		if len(body) > math.MaxUint8 {
			panic("confine: a rule is too long for its jumps")
		}
		for _, call := range r.calls {
			program = append(program, jump(unix.BPF_JEQ, uint32(call), 0, uint8(len(body)))) //nolint:gosec // numbers of calls are small
			program = append(program, body...)
		}
	}
	return append(program, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
}

// installFilter binds this thread and all that it becomes and starts.
func installFilter(rules []rule) error {
	program := assemble(rules)
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]} //nolint:gosec // the kernel takes 4096 at most
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&p)), 0, 0)
}
