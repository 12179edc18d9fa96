package confine

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// separate gives a command namespaces of its own: users, with the same user in it; a network without anything; System V objects and
// message queues; and, isolated, mounts and processes.
func separate(cmd *exec.Cmd, isolated bool) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	at := cmd.SysProcAttr
	at.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC
	if isolated {
		at.Cloneflags |= syscall.CLONE_NEWNS | syscall.CLONE_NEWPID
		at.AmbientCaps = append(at.AmbientCaps, unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP) // in the new namespace, for lead; only root would keep them
	}
	at.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	at.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
}

// carryOut confines this process and has it become the command. Isolated, it is the first process of its namespaces: it makes the
// mounts, and stays as the parent of a second one, which does the rest.
func (o *order) carryOut(out io.Writer) (int, error) {
	if o.isolated && !o.inside {
		return o.lead()
	}
	runtime.LockOSThread() // what binds one thread binds what it becomes
	if err := limits(o.namespace); err != nil {
		return 1, err
	}
	if err := dropCapabilities(); err != nil {
		return 1, fmt.Errorf("capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 1, fmt.Errorf("no_new_privs: %w", err)
	}
	if o.landlock > 0 {
		if err := restrictFiles(o.Plan, o.landlock); err != nil {
			return 1, fmt.Errorf("landlock: %w", err)
		}
	}
	if o.filter {
		if err := installFilter(filterFor(o.isolated)); err != nil {
			return 1, fmt.Errorf("seccomp: %w", err)
		}
	}
	if o.bait != "" {
		return 0, o.report(out)
	}
	if err := unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil && !errors.Is(err, unix.ENOSYS) {
		return 1, fmt.Errorf("close descriptors: %w", err)
	}
	return 1, syscall.Exec(o.path, o.argv, os.Environ())
}

// lead is the first process of the namespaces. It waits for the command and for what the command leaves behind, and ends with it: then
// the kernel ends whatever is left in the namespace.
func (o *order) lead() (int, error) {
	// They are for the command. Ignored ones would be ignored by the command, too.
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return 1, fmt.Errorf("dumpable: %w", err)
	}
	if err := makeRoot(o.Plan, o.landlock > 0); err != nil {
		return 1, fmt.Errorf("mounts: %w", err)
	}
	next := *o
	next.inside = true
	self := "/proc/self/exe"
	pid, err := syscall.ForkExec(self, append([]string{self, Command}, next.args()...), &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		return 1, err
	}
	if err := dropCapabilities(); err != nil {
		return 1, fmt.Errorf("capabilities: %w", err)
	}
	for fd := range 3 { // the command's; who waits for their end waits for the command's
		_ = unix.Close(fd)
	}
	for {
		var status syscall.WaitStatus
		switch ended, err := syscall.Wait4(-1, &status, 0, nil); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 1, err
		case ended == pid && status.Signaled():
			return 128 + int(status.Signal()), nil
		case ended == pid:
			return status.ExitStatus(), nil
		}
	}
}

// dropCapabilities has this thread, and what it becomes, hold none: also where parley runs as root, or as root of a namespace.
func dropCapabilities() error {
	for c := range uintptr(unix.CAP_LAST_CAP + 1) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

// maxProcesses is how many processes and threads a command and what it starts may be.
const maxProcesses = 512

// limits bounds what a command may take of the machine. Processes are counted where the command has a user namespace of its own;
// elsewhere they would be counted together with all others of the user.
func limits(alone bool) error {
	bounds := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 4096, unix.RLIMIT_FSIZE: 1 << 30}
	if alone {
		bounds[unix.RLIMIT_NPROC] = maxProcesses
	}
	for what, most := range bounds {
		var now unix.Rlimit
		if err := unix.Getrlimit(what, &now); err != nil {
			return fmt.Errorf("rlimit: %w", err)
		}
		now.Max = min(now.Max, most)
		now.Cur = min(now.Cur, now.Max)
		if err := unix.Setrlimit(what, &now); err != nil {
			return fmt.Errorf("rlimit: %w", err)
		}
	}
	return nil
}
