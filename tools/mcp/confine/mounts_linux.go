package confine

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// view is what a file system of its own shows of the one outside.
type view struct {
	links map[string]string // symbolic links, by path: their targets
	binds map[string]bool   // files and folders, by path without links: whether they can be written
}

// maxLinks bounds the symbolic links of a path, as the kernel does.
const maxLinks = 40

// show adds a path, with the symbolic links that lead to it.
func (v *view) show(path string, writable bool) error {
	rest, at := strings.Split(filepath.Clean(path), "/"), "/"
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if err != nil {
			return err
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return &os.PathError{Op: "open", Path: path, Err: unix.ELOOP}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return err
		}
		v.links[next] = target
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	if at == "/" {
		return &os.PathError{Op: "show", Path: path, Err: errors.New("the whole file system cannot be shown")}
	}
	v.binds[at] = v.binds[at] || writable
	return nil
}

// covered reports whether a folder above is shown already, with these rights or more.
func (v *view) covered(path string) bool {
	for up := filepath.Dir(path); up != "/"; up = filepath.Dir(up) {
		if writable, shown := v.binds[up]; shown && (writable || !v.binds[path]) {
			return true
		}
	}
	return false
}

// inside reports whether a path lies in a folder that is shown.
func (v *view) inside(path string) bool {
	for up := filepath.Dir(path); up != "/"; up = filepath.Dir(up) {
		if _, shown := v.binds[up]; shown {
			return true
		}
	}
	return false
}

// viewOf is what a plan shows: the system, and what it names. /proc is mounted apart.
func viewOf(p Plan) (*view, error) {
	v := &view{links: map[string]string{}, binds: map[string]bool{}}
	for _, paths := range [][]string{systemFolders, systemFiles, devices} {
		for _, path := range paths {
			if err := v.show(path, false); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
		}
	}
	for _, path := range []string{"/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr"} {
		if target, err := os.Readlink(path); err == nil {
			v.links[path] = target
		}
	}
	for _, path := range p.Read {
		if err := v.show(path, false); err != nil {
			return nil, err
		}
	}
	for _, path := range p.Write {
		if err := v.show(path, true); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// outer is where the file system outside is while the own one is made.
const outer = "/.outside"

// makeRoot gives this process, the first of its mount namespace, a file system that holds what the plan shows and nothing else. All but
// the folders to write is read-only: neither contents nor metadata change, whoever owns them.
func makeRoot(p Plan, landlock bool) error {
	v, err := viewOf(p)
	if err != nil {
		return err
	}
	here, err := os.Readlink("/proc/self/cwd")
	if err != nil {
		return err
	}
	if err := enterEmpty(); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(v.binds)) { // folders before what is in them
		if v.covered(path) {
			continue
		}
		if err := v.bind(path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(v.links)) {
		if v.inside(path) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(v.links[path], path); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	if err := mountProc(landlock); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	if err := unix.Unmount(outer, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the file system outside: %w", err)
	}
	if err := os.Remove(outer); err != nil {
		return err
	}
	if err := setMount("/", 0, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
		return err
	}
	return os.Chdir(here)
}

// enterEmpty makes an empty file system the root. The one outside is at outer.
//
// source: pivot_root(2); containers/bubblewrap bubblewrap.c, which does the same
func enterEmpty() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	const base = "/proc" // any folder that all systems have: it is covered for a moment only
	if err := unix.Mount("tmpfs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=1m"); err != nil {
		return fmt.Errorf("mount an empty file system: %w", err)
	}
	if err := os.Mkdir(base+outer, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(base, base+outer); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	return os.Chdir("/")
}

// bind shows a file or folder where it is outside.
func (v *view) bind(path string) error {
	from := outer + path
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = os.MkdirAll(path, 0o755)
	} else if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil && !v.inside(path) {
		err = os.WriteFile(path, nil, 0o444)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(from, path, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if v.binds[path] {
		return setMount(path, unix.AT_RECURSIVE, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	}
	return setMount(path, unix.AT_RECURSIVE, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_RDONLY)
}

// mountProc mounts a /proc that knows the processes of this namespace alone, or the one from outside where the system does not allow that
// (parts of it are hidden, as container engines and systemd do): Landlock
// opens nothing of other processes in that one, and where there is no Landlock it fails.
//
// source: user_namespaces(7), "mount_too_revealing"
func mountProc(landlock bool) error {
	if err := os.Mkdir("/proc", 0o555); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		if !landlock {
			return err
		}
		if err := unix.Mount(outer+"/proc", "/proc", "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
			return err
		}
	}
	return setMount("/proc", unix.AT_RECURSIVE, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID)
}

func setMount(path string, flags uint, set uint64) error {
	if err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &unix.MountAttr{Attr_set: set}); err != nil {
		return fmt.Errorf("mount_setattr: %w", err)
	}
	return nil
}
