//go:build amd64 || arm64

package confine

import (
	"encoding/binary"
	"math"
	"syscall"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// answers runs a filter as the kernel does, without the kernel, and gives what a call gets: 0 and false = it is made.
func answers(t *testing.T, rules []rule, arch, call uint32, args ...uint64) (syscall.Errno, bool) {
	t.Helper()
	raw := assemble(rules)
	if len(raw) > 4096 {
		t.Fatalf("%d instructions: the kernel takes 4096", len(raw))
	}
	var program []bpf.Instruction
	for _, i := range raw {
		program = append(program, bpf.RawInstruction{Op: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K}.Disassemble())
	}
	vm, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64) // struct seccomp_data; the machine of package bpf reads it as if it came from a network
	binary.BigEndian.PutUint32(data[offsetNumber:], call)
	binary.BigEndian.PutUint32(data[offsetMachine:], arch)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[offsetArgs+8*i:], uint32(a))
		binary.BigEndian.PutUint32(data[offsetArgs+8*i+4:], uint32(a>>32))
	}
	verdict, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	if v := uint32(verdict); v != unix.SECCOMP_RET_ALLOW {
		if v&unix.SECCOMP_RET_ACTION_FULL != unix.SECCOMP_RET_ERRNO {
			t.Errorf("call %d: %#x", call, v)
		}
		return syscall.Errno(v & unix.SECCOMP_RET_DATA), true
	}
	return 0, false
}

// What the filter answers, by the numbers of this processor's calls: the program is run here, so that it also shows on a system, or under an
// emulator, that takes no filter.
//
// source: seccomp(2), "Filters"; Linux, Documentation/userspace-api/seccomp_filter.rst, "Pitfalls" (the machine is looked at first)
func TestFilterAnswers(t *testing.T) {
	t.Parallel()
	const made = syscall.Errno(math.MaxUint16)
	here := uint32(machine)
	const suid, at = unix.S_ISUID | 0o755, uint64(math.MaxUint32) // -100 is AT_FDCWD; any folder will do
	tests := map[string]struct {
		arch     uint32
		call     uint32
		args     []uint64
		outside  syscall.Errno // without namespaces
		isolated syscall.Errno
	}{
		"read":                             {here, unix.SYS_READ, nil, made, made},
		"exit":                             {here, unix.SYS_EXIT_GROUP, nil, made, made},
		"another processor's":              {here ^ 1, unix.SYS_READ, nil, unix.ENOSYS, unix.ENOSYS},
		"a call that nobody knows":         {here, lastCall + 1, nil, unix.ENOSYS, unix.ENOSYS},
		"x32":                              {here, unix.SYS_READ | 0x40000000, nil, unix.ENOSYS, unix.ENOSYS},
		"negative":                         {here, math.MaxUint32, nil, unix.ENOSYS, unix.ENOSYS},
		"socket":                           {here, unix.SYS_SOCKET, []uint64{unix.AF_UNIX}, unix.EACCES, unix.EACCES},
		"stream pair":                      {here, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, made, made},
		"datagram pair":                    {here, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, unix.EACCES, unix.EACCES},
		"network pair":                     {here, unix.SYS_SOCKETPAIR, []uint64{unix.AF_INET, unix.SOCK_STREAM}, unix.EACCES, unix.EACCES},
		"send to nobody":                   {here, unix.SYS_SENDTO, []uint64{3, 4, 5, 0, 0}, made, made},
		"send to an address":               {here, unix.SYS_SENDTO, []uint64{3, 4, 5, 0, 0x1000}, unix.EACCES, unix.EACCES},
		"send to a high address":           {here, unix.SYS_SENDTO, []uint64{3, 4, 5, 0, 1 << 40}, unix.EACCES, unix.EACCES},
		"io_uring":                         {here, unix.SYS_IO_URING_SETUP, nil, unix.ENOSYS, unix.ENOSYS},
		"thread":                           {here, unix.SYS_CLONE, []uint64{unix.CLONE_VM | unix.CLONE_THREAD}, made, made},
		"user namespace":                   {here, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER}, unix.EPERM, unix.EPERM},
		"clone3":                           {here, unix.SYS_CLONE3, nil, unix.ENOSYS, unix.ENOSYS},
		"bpf":                              {here, unix.SYS_BPF, nil, unix.EPERM, unix.EPERM},
		"PR_SCHED_CORE":                    {here, unix.SYS_PRCTL, []uint64{unix.PR_SCHED_CORE}, unix.EPERM, unix.EPERM},
		"PR_SET_NAME":                      {here, unix.SYS_PRCTL, []uint64{unix.PR_SET_NAME}, made, made},
		"shared memory":                    {here, unix.SYS_SHMAT, nil, unix.ENOSYS, unix.ENOSYS},
		"keyring":                          {here, unix.SYS_KEYCTL, nil, unix.ENOSYS, unix.ENOSYS},
		"ptrace":                           {here, unix.SYS_PTRACE, nil, unix.EPERM, unix.EPERM},
		"mode":                             {here, unix.SYS_FCHMODAT, []uint64{at, 0, 0o644}, unix.EPERM, made},
		"mode with setuid":                 {here, unix.SYS_FCHMODAT, []uint64{at, 0, suid}, unix.EPERM, unix.EPERM},
		"descriptor's mode with setuid":    {here, unix.SYS_FCHMOD, []uint64{3, suid}, unix.EPERM, unix.EPERM},
		"open with setuid, not made":       {here, unix.SYS_OPENAT, []uint64{at, 0, unix.O_RDONLY, suid}, made, made},
		"open with setuid, made":           {here, unix.SYS_OPENAT, []uint64{at, 0, unix.O_CREAT, suid}, unix.EPERM, unix.EPERM},
		"open with setuid, without name":   {here, unix.SYS_OPENAT, []uint64{at, 0, unix.O_TMPFILE | unix.O_RDWR, suid}, unix.EPERM, unix.EPERM},
		"attribute":                        {here, unix.SYS_SETXATTR, nil, unix.EOPNOTSUPP, unix.EOPNOTSUPP},
		"owner":                            {here, unix.SYS_FCHOWNAT, nil, unix.EPERM, made},
		"time":                             {here, unix.SYS_UTIMENSAT, nil, 0, made},
		"terminal's size":                  {here, unix.SYS_IOCTL, []uint64{0, unix.TIOCGWINSZ}, made, made},
		"flags of a file":                  {here, unix.SYS_IOCTL, []uint64{3, unix.FS_IOC_SETFLAGS}, unix.ENOTTY, unix.ENOTTY},
		"input typed for others (TIOCSTI)": {here, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, unix.ENOTTY, unix.ENOTTY},
		"own limits":                       {here, unix.SYS_PRLIMIT64, []uint64{0}, made, made},
		"another's limits":                 {here, unix.SYS_PRLIMIT64, []uint64{77}, unix.EPERM, made},
	}
	for name, tt := range tests {
		for isolated, want := range map[bool]syscall.Errno{false: tt.outside, true: tt.isolated} {
			got, refused := answers(t, filterFor(isolated), tt.arch, tt.call, tt.args...)
			if !refused {
				got = made
			}
			if got != want {
				t.Errorf("%s, isolated %t: %d (%v), want %d", name, isolated, got, got, want)
			}
		}
	}
}
