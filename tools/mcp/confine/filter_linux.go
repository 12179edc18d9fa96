package confine

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// machine is what the kernel calls this processor; 0 where no filter is known.
func machine() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

// filterable reports whether the kernel takes a filter of system calls.
func filterable() bool {
	_, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	return err == nil && machine() != 0
}

// Offsets in the kernel's struct seccomp_data.
const (
	offsetNumber  = 0
	offsetMachine = 4
)

// filter refuses to make sockets, of whatever kind, for this thread and all that it becomes and starts: the network namespace and
// Landlock leave those in the file system open. Pairs of sockets, which programs use to talk to their own children, are made.
// io_uring is refused because it makes sockets without the system call.
func filter() error {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	equal := func(v uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: v, Jt: yes, Jf: no}
	}
	give := func(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }
	program := []unix.SockFilter{
		load(offsetMachine),
		equal(machine(), 0, 5), // another one's calls have other numbers: none are made
		load(offsetNumber),
		equal(unix.SYS_SOCKET, 4, 0),
		equal(unix.SYS_IO_URING_SETUP, 2, 0),
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: 0x40000000, Jt: 1, Jf: 0}, // x32: the same
		give(unix.SECCOMP_RET_ALLOW),
		give(unix.SECCOMP_RET_ERRNO | uint32(syscall.ENOSYS)),
		give(unix.SECCOMP_RET_ERRNO | uint32(syscall.EACCES)),
	}
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&p)), 0, 0)
}
