package confine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Probe finds out what this system gives: it confines a process of this program, with as much as works, and has it try what it must not be
// able to do.
func (l Launcher) Probe() Ability {
	if len(l) == 0 {
		return Ability{Why: "this program has no launcher"}
	}
	a := Ability{Landlock: landlockVersion(), Filter: filterable()}
	var err error
	for _, level := range []struct{ namespace, isolated bool }{{true, true}, {true, false}, {false, false}} {
		a.Namespace, a.Isolated = level.namespace, level.isolated
		if err = l.selfTest(&a); err == nil {
			return a
		}
		a.Failed = append(a.Failed, err.Error())
	}
	a.Reached = []string{"nothing, it could not run: " + err.Error()} // and so the servers will not, and say why
	return a
}

// testTimeout bounds one self-test.
const testTimeout = time.Minute

// bait is what the process of a self-test must not reach.
type bait struct {
	folder string // with a file and a socket in it
	pid    int
	shm    int // a System V segment; -1 where there are none
}

func (b bait) String() string { return fmt.Sprintf("%d:%d:%s", b.pid, b.shm, b.folder) }

func parseBait(text string) (bait, error) {
	part := strings.SplitN(text, ":", 3)
	if len(part) != 3 {
		return bait{}, fmt.Errorf("%s: wrong bait %q", Command, text)
	}
	pid, err := strconv.Atoi(part[0])
	if err != nil {
		return bait{}, err
	}
	shm, err := strconv.Atoi(part[1])
	return bait{part[2], pid, shm}, err
}

// newBait lays out what is not to be reached. The function that it returns removes it.
func newBait(in string) (bait, func(), error) {
	b := bait{folder: filepath.Join(in, "outside"), pid: os.Getpid(), shm: -1}
	if err := os.Mkdir(b.folder, 0o700); err != nil {
		return b, nil, err
	}
	if err := os.WriteFile(filepath.Join(b.folder, "file"), []byte("secret"), 0o600); err != nil {
		return b, nil, err
	}
	if id, _, err := unix.Syscall(unix.SYS_SHMGET, unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600); err == 0 {
		b.shm = int(id) //nolint:gosec // an int of the kernel
	}
	return b, func() {
		if b.shm >= 0 {
			_, _, _ = unix.Syscall(unix.SYS_SHMCTL, uintptr(b.shm), unix.IPC_RMID, 0)
		}
	}, nil
}

// selfTest runs a process with an ability and notes what it could not do, and what it could.
func (l Launcher) selfTest(a *Ability) error {
	folder, err := os.MkdirTemp("", "parley-confine")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	own := filepath.Join(folder, "own")
	if err := os.Mkdir(own, 0o700); err != nil {
		return err
	}
	b, remove, err := newBait(folder)
	if err != nil {
		return err
	}
	defer remove()
	var out, said bytes.Buffer
	cmd := &exec.Cmd{Dir: own, Env: []string{}, Stdout: &out, Stderr: &said}
	l.wrap(cmd, &order{Plan: Plan{Write: []string{own}}, landlock: a.Landlock, filter: a.Filter, namespace: a.Namespace, isolated: a.Isolated, bait: b.String()})
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := time.AfterFunc(testTimeout, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	if err := cmd.Wait(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	}
	a.Refused, a.Reached = nil, nil
	for line := range strings.Lines(out.String()) {
		result, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, t := range trials {
			switch {
			case t.what != what || !t.by(*a):
			case result == "refused":
				a.Refused = append(a.Refused, what)
			default:
				a.Reached = append(a.Reached, what)
			}
		}
	}
	if len(a.Refused)+len(a.Reached) == 0 {
		return errors.New("the test process said nothing")
	}
	return nil
}

// report is the test process, once it is confined: it tries everything and says what came of it. It fails where its own folder is of no use.
func (o *order) report(out io.Writer) error {
	b, err := parseBait(o.bait)
	if err != nil {
		return err
	}
	own := o.Write[0]
	file := filepath.Join(own, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		return err
	}
	if o.isolated && b.pid <= os.Getpid() { // the first process of a container: in this namespace it is another one that is called so
		b.pid = 1<<22 + 1
	}
	for _, t := range trials {
		result := "reached"
		if t.try(b, own) != nil {
			result = "refused"
		}
		if _, err := fmt.Fprintln(out, result, t.what); err != nil {
			return err
		}
	}
	return nil
}

// errUnchanged is what a trial says that was told to have worked, and has not.
var errUnchanged = errors.New("nothing has changed")

// trial is one thing outside that a confined process must not be able to do. try gives nil when it could.
type trial struct {
	what string
	by   func(Ability) bool // whether an ability promises that
	try  func(b bait, own string) error
}

func anyFilter(a Ability) bool { return a.Filter }

var trials = []trial{
	{"reading files", func(a Ability) bool { return a.Landlock > 0 || a.Isolated }, func(b bait, _ string) error {
		_, err := os.ReadFile(filepath.Join(b.folder, "file"))
		return err
	}},
	{"writing files", func(a Ability) bool { return a.Landlock > 0 || a.Isolated }, func(b bait, _ string) error {
		return os.WriteFile(filepath.Join(b.folder, "new"), nil, 0o600)
	}},
	{"modes, owners and times of files", func(a Ability) bool { return a.Filter || a.Isolated }, func(b bait, _ string) error {
		file := filepath.Join(b.folder, "file")
		if unix.Fchmodat(unix.AT_FDCWD, file, 0o644, 0) == nil || unix.Fchownat(unix.AT_FDCWD, file, os.Getuid(), os.Getgid(), 0) == nil {
			return nil
		}
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, file, []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0); err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Stat(file, &st); err != nil || st.Mtim.Sec != 1 {
			return errUnchanged
		}
		return nil
	}},
	{"setuid programs", anyFilter, func(_ bait, own string) error {
		fd, err := unix.Open(filepath.Join(own, "program"), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o4755)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}},
	{"network", func(a Ability) bool { return a.Filter || a.Namespace }, func(bait, string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		return unix.Connect(fd, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{192, 0, 2, 1}})
	}},
	{"sockets", anyFilter, func(bait, string) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			_, _ = unix.Close(pair[0]), unix.Close(pair[1])
		}
		return err
	}},
	{"shared memory", func(a Ability) bool { return a.Filter || a.Namespace }, func(b bait, _ string) error {
		if b.shm < 0 {
			return unix.ENOSYS
		}
		if at, _, err := unix.Syscall(unix.SYS_SHMAT, uintptr(b.shm), 0, unix.SHM_RDONLY); err != 0 {
			return err
		} else if _, _, err := unix.Syscall(unix.SYS_SHMDT, at, 0, 0); err != 0 {
			return err
		}
		return nil
	}},
	{"keyrings", anyFilter, func(bait, string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, false)
		return err
	}},
	{"signals", func(a Ability) bool { return a.Landlock >= 6 || a.Isolated }, func(b bait, _ string) error { return unix.Kill(b.pid, 0) }},
	{"memory of others", func(a Ability) bool { return a.Filter || a.Isolated }, func(b bait, _ string) error {
		var mine byte
		here := []unix.Iovec{{Base: &mine, Len: 1}}
		_, err := unix.ProcessVMReadv(b.pid, here, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&mine)), Len: 1}}, 0)
		return err
	}},
	{"new namespaces", anyFilter, func(bait, string) error { return unix.Unshare(unix.CLONE_FILES) }},
}
