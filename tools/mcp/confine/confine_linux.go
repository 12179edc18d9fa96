package confine

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Probe finds out what this system gives.
func (l Launcher) Probe() Ability {
	if len(l) == 0 {
		return Ability{Why: "this program has no launcher"}
	}
	a := Ability{Landlock: version(), Filter: filterable()}
	cmd := &exec.Cmd{Path: l[0], Args: append(append([]string{}, l...), "--check"), SysProcAttr: &syscall.SysProcAttr{}}
	separate(cmd)
	a.Namespace = cmd.Run() == nil
	return a
}

// version is that of the kernel's Landlock, 0 for none.
func version() int {
	v, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return v
}

// separate gives a command a user namespace, with the same user in it, and a network namespace without any network. None for processes:
// binding all threads (psx) finds them by what /proc calls them, which is not what they are called in one.
func separate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	at := cmd.SysProcAttr
	at.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
	at.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	at.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
}

// system is what every program may read: programs, libraries, and what they look up. Nothing in it is private. Of /proc it is what
// tells of the machine, not of other processes; /proc/self is that of the command itself, not of programs that it starts.
var (
	systemFolders = []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/etc/alternatives",
		"/etc/ca-certificates", "/etc/fonts", "/etc/ld.so.conf.d", "/etc/pki/tls", "/etc/pki/ca-trust", "/etc/ssl/certs", "/nix/store", "/gnu/store",
		"/proc/self", "/proc/sys/vm", "/proc/sys/kernel/random"}
	systemFiles = []string{"/etc/group", "/etc/hosts", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.preload", "/etc/localtime", "/etc/mime.types",
		"/etc/nsswitch.conf", "/etc/os-release", "/etc/passwd", "/etc/ssl/openssl.cnf", "/etc/timezone", "/proc/cpuinfo", "/proc/filesystems",
		"/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/uptime", "/proc/version", "/proc/sys/kernel/osrelease", "/proc/sys/kernel/pid_max",
		"/proc/sys/kernel/cap_last_cap", "/dev/random", "/dev/urandom", "/dev/zero"}
	devices = []string{"/dev/null", "/dev/full"}
)

// Exec confines this process and becomes the command. It returns only when that fails.
func Exec(p Plan, path string, argv []string) error {
	runtime.LockOSThread() // what binds one thread binds what it becomes
	if err := limits(p.Alone); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	if v := version(); v > 0 {
		if err := files(p, v); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	if filterable() {
		if err := filter(); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	return syscall.Exec(path, argv, os.Environ())
}

// files has Landlock allow what the plan says and nothing else: files, and what this version knows besides (TCP from 4, signals and
// abstract sockets from 6). It is not done as well as possible but as the version says, or fails.
func files(p Plan, version int) error {
	all := []landlock.Config{landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6, landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11}
	config := all[min(version, len(all))-1]
	rules := []landlock.Rule{
		landlock.RODirs(systemFolders...).IgnoreIfMissing(), landlock.ROFiles(systemFiles...).IgnoreIfMissing(), landlock.RWFiles(devices...).IgnoreIfMissing(),
	}
	for _, path := range p.Read {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			rules = append(rules, landlock.RODirs(path))
		default:
			rules = append(rules, landlock.ROFiles(path))
		}
	}
	for _, path := range p.Write {
		rule := landlock.RWDirs(path)
		if version >= 2 {
			rule = rule.WithRefer()
		}
		rules = append(rules, rule)
	}
	return config.Restrict(rules...)
}

// mostProcesses is how many processes and threads a command and what it starts may be.
const mostProcesses = 512

// limits bounds what a command may take of the machine. Processes are counted where the command has a user namespace of its own;
// elsewhere they would be counted together with all others of the user.
func limits(alone bool) error {
	bounds := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 4096, unix.RLIMIT_FSIZE: 1 << 30}
	if alone {
		bounds[unix.RLIMIT_NPROC] = mostProcesses
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
