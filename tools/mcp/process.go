package mcp

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"parley/tools/mcp/confine"
)

// How long a server that is to end may take: after its standard input was closed, and after it was told to stop.
const (
	closeWithin = 2 * time.Second
	stopWithin  = time.Second
	lastWords   = 200 * time.Millisecond // for what it wrote to its standard error
)

// inherited are the variables that a server gets from the host's environment. TMPDIR is its own.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// dialer says how this server is reached.
func (s *server) dialer() dialer {
	switch {
	case s.all.deps.dial != nil:
		return s.all.deps.dial(s)
	case s.conf.URL != "":
		return s.dialHTTP
	}
	return s.spawn
}

// spawn starts the server's process.
func (s *server) spawn(context.Context) (*dialed, error) {
	path, err := exec.LookPath(s.conf.Command)
	if err != nil {
		return nil, fmt.Errorf("run the command: %w", err)
	}
	at, err := s.folders()
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: append([]string{s.conf.Command}, s.conf.Args...), Dir: at.cwd, Env: s.environment(at), SysProcAttr: group()}
	if s.sandbox {
		if err := s.confine(cmd, at); err != nil {
			return nil, err
		}
	}
	p, err := start(cmd)
	if err != nil {
		return nil, fmt.Errorf("run the command: %w", err)
	}
	last := &stderrTail{read: make(chan struct{})}
	go func() {
		defer close(last.read)
		s.follow(p.stderr, last)
	}()
	t := newStdio(p.stdout, p.stdin, s)
	return &dialed{transport: t, end: sync.OnceValue(func() string {
		_ = p.stdin.Close()
		how := p.end(last.read)
		_ = t.Close()
		if text := last.text(); how != "" && text != "" {
			how += ", its last words: " + text
		}
		return how
	})}, nil
}

// places are the folders of a server.
type places struct{ cwd, home, tmp string }

// folders makes the server's own folders: the one that it runs in, where none is configured, and one for temporary files, which is
// empty at each start where the server is confined.
func (s *server) folders() (places, error) {
	dir, name := s.all.deps.Dir, s.name
	if s.sandbox {
		name += ".sandbox" // what sandboxed sessions write is not what the others read
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return places{}, err
	}
	at := places{cwd: s.conf.Cwd, home: s.all.deps.Getenv("HOME"), tmp: s.all.deps.Getenv("TMPDIR")}
	if at.cwd == "" {
		at.cwd = filepath.Join(dir, name)
		if err := os.MkdirAll(at.cwd, 0o700); err != nil {
			return at, err
		}
		if s.sandbox { // the server may have taken the rights from its folder
			if err := os.Chmod(at.cwd, 0o700); err != nil {
				return at, err
			}
		}
	}
	if s.sandbox {
		at.home, at.tmp = at.cwd, filepath.Join(dir, name+".tmp")
		tmp, err := ownFolder(dir, name+".tmp")
		if err != nil {
			return at, err
		}
		defer func() { _ = tmp.Close() }() // nothing of it is written
		return at, empty(tmp)
	}
	return at, nil
}

// environment is what the server gets: a few variables of the host, and those that are configured.
func (s *server) environment(at places) []string {
	vars := map[string]string{"HOME": at.home, "TMPDIR": at.tmp}
	for _, name := range inherited {
		if _, own := vars[name]; !own {
			vars[name] = s.all.deps.Getenv(name)
		}
	}
	for name, v := range s.conf.Env {
		vars[name] = v.Reveal()
	}
	var env []string
	for name, v := range vars {
		if _, set := s.conf.Env[name]; v != "" || set {
			env = append(env, name+"="+v)
		}
	}
	slices.Sort(env)
	return env
}

// confine has the launcher run the command, so that it reads and writes only what it may, and reaches no network.
func (s *server) confine(cmd *exec.Cmd, at places) error {
	program, err := filepath.EvalSymlinks(cmd.Path)
	if err != nil {
		return err
	}
	plan := confine.Plan{Read: append([]string{program}, s.conf.Read...), Write: append([]string{at.cwd, at.tmp}, s.conf.Write...)}
	if folder := filepath.Dir(program); !s.private(folder) {
		plan.Read = append(plan.Read, folder)
	}
	return s.all.deps.Confine.Wrap(cmd, plan, s.all.ability())
}

// private reports whether a folder holds more than a program: the host's own files, a home, everything.
func (s *server) private(folder string) bool {
	for _, p := range append([]string{s.all.deps.Getenv("HOME"), os.TempDir(), s.all.deps.Dir}, s.all.deps.Private...) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		if in, err := filepath.Rel(folder, p); p != "" && err == nil && filepath.IsLocal(in) {
			return true
		}
	}
	return false
}

// process is a server that runs here.
type process struct {
	cmd            *exec.Cmd
	stdin          *os.File
	stdout, stderr io.ReadCloser
	exited         chan struct{}
}

// start runs a command with pipes. They are the host's own, so that a child of the server that keeps them open holds up nothing.
func start(cmd *exec.Cmd) (*process, error) {
	var theirs, ours []*os.File
	abandon := func(err error) (*process, error) {
		for _, f := range append(theirs, ours...) {
			_ = f.Close()
		}
		return nil, err
	}
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return abandon(err)
		}
		if len(ours) == 0 {
			theirs, ours = append(theirs, r), append(ours, w)
		} else {
			theirs, ours = append(theirs, w), append(ours, r)
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	p := &process{cmd: cmd, stdin: ours[0], stdout: ours[1], stderr: ours[2], exited: make(chan struct{})}
	started := make(chan error, 1)
	go func() { // one thread from start to end: where the system can, the process dies with it, and so with the host
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is told by its last words
		}
		close(p.exited)
	}()
	if err := <-started; err != nil {
		return abandon(err)
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	return p, nil
}

// end waits until the process has ended, or ends it, and all that it started. It says how the process ended when it did so by itself.
func (p *process) end(read <-chan struct{}) (how string) {
	alone := p.ended(closeWithin)
	if !alone {
		terminate(p.cmd.Process)
		if !p.ended(stopWithin) {
			kill(p.cmd.Process)
			<-p.exited
		}
	}
	kill(p.cmd.Process) // what it left behind
	await(read, lastWords)
	_ = p.stderr.Close()
	<-read
	if alone {
		how = p.cmd.ProcessState.String()
	}
	return how
}

func (p *process) ended(within time.Duration) bool { return await(p.exited, within) }

// await waits for a channel to be closed.
func await(c <-chan struct{}, within time.Duration) bool {
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
		return false
	}
}
