package mcp

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/tools"
)

// A server of sandboxed sessions reads and writes what it may and nothing else, and reaches no network: no TCP, no UDP, no socket of
// another program. The one for other sessions beside it does. Where this kernel cannot do a part of it, that is said.
func TestConfined(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	secret, given, taken := filepath.Join(outside, "secret"), filepath.Join(outside, "given"), filepath.Join(outside, "taken")
	for _, f := range []string{given, taken} {
		if err := os.Mkdir(f, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{secret, filepath.Join(given, "file")} {
		if err := os.WriteFile(f, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	conf := fake("good")
	conf.Read, conf.Write = []string{given}, []string{taken}
	r := newRig(t, Settings{Servers: map[string]tools.MCPServer{"x": conf}, Open: true, Sandbox: true})
	r.until("running", func(s Status) bool { return s.Sandbox && s.State == Running })
	own, tmp := filepath.Join(r.deps.Dir, "x.sandbox"), filepath.Join(r.deps.Dir, "x.sandbox.tmp")
	if env := r.callIn(t.Context(), true, "x_environment", "{}").Text; !strings.Contains(env, "HOME="+own+"\n") || !strings.Contains(env, "TMPDIR="+tmp+"\n") || !strings.Contains(env, "cwd="+own) {
		t.Errorf("its environment:\n%s", env)
	}
	a := r.ability()
	network := a.Filter || a.Namespace
	for _, c := range []struct {
		do, to string
		denied bool
	}{
		{"Read", secret, a.Landlock > 0 || a.Isolated},
		{"Write", filepath.Join(outside, "new"), a.Landlock > 0 || a.Isolated},
		{"Write", filepath.Join(given, "new"), a.Landlock > 0 || a.Isolated},
		{"Write", filepath.Join(r.deps.Dir, "new"), a.Landlock > 0 || a.Isolated},
		{"Cut", secret, a.Landlock > 2 || a.Isolated},
		{"Run", "cat " + secret, a.Landlock > 0 || a.Isolated},
		{"TCP", listen(t, "tcp"), network || a.Landlock > 3},
		{"UDP", packets(t), network},
		{"Unix", listen(t, "unix"), a.Filter || a.Isolated},
		{"Mode", secret, a.Filter || a.Isolated},
		{"Mode", r.deps.Dir, a.Filter || a.Isolated},
		{"Read", fmt.Sprintf("/proc/%d/cmdline", os.Getpid()), a.Landlock > 0},
		{"Run", fmt.Sprintf("cat /proc/%d/cmdline", os.Getpid()), a.Landlock > 0},
		{"Read", "/proc/self/maps", false},
		{"Read", "/proc/meminfo", false},
		{"Read", filepath.Join(given, "file"), false},
		{"Read", "/etc/passwd", false},
		{"Write", filepath.Join(own, "new"), false},
		{"Write", filepath.Join(tmp, "new"), false},
		{"Write", filepath.Join(taken, "new"), false},
		{"Run", "ls /usr >/dev/null", false},
	} {
		args, _ := json.Marshal(map[string]string{c.do: c.to})
		if got := r.callIn(t.Context(), true, "x_try", string(args)).Text; (got != "<nil>") != c.denied {
			t.Errorf("confined: %s %s: %s", c.do, c.to, got)
		}
		if got := r.call("x_try", string(args)).Text; got != "<nil>" {
			t.Errorf("not confined: %s %s: %s", c.do, c.to, got)
		}
	}
	few := r.callIn(t.Context(), true, "x_try", `{"Run":"test $( (ulimit -u || ulimit -p) 2>/dev/null) -le 512"}`).Text
	if (few == "<nil>") != a.Namespace {
		t.Errorf("with %+v, a bound of processes: %s", a, few)
	}
	if got, complete := r.Lacks(Settings{Servers: map[string]tools.MCPServer{"x": conf}, Sandbox: true}), a.Landlock >= 6 && a.Filter; (len(got) == 0) != complete || !slices.Equal(got, a.Missing()) {
		t.Errorf("this system gives %+v, and is said to lack %q", a, got)
	}
	for _, missing := range a.Missing() {
		if !strings.Contains(r.log.String(), missing) {
			t.Errorf("the log does not say %q", missing)
		}
	}
}

// What one process may use of the tools of the other is nothing: a sandboxed session never reaches the server of the others.
func TestSandboxedSessionsHaveTheirOwn(t *testing.T) {
	t.Parallel()
	conf := fake("good")
	r := newRig(t, Settings{Servers: map[string]tools.MCPServer{"x": conf}, Open: true})
	r.running()
	if got := r.names(true); len(got) != 0 {
		t.Errorf("the tools of sandboxed sessions: %v", got)
	}
	for _, x := range r.Tools(t.Context(), false) {
		if x.Spec().Name != "x_echo" {
			continue
		}
		if res, err := x.Call(t.Context(), tools.Call{Args: json.RawMessage("{}"), Caller: tools.Caller{Sandboxed: true}}); err != nil || !res.IsError {
			t.Errorf("a sandboxed call of the other's tool: %+v, %v", res, err)
		}
	}
	r.Apply(Settings{Servers: map[string]tools.MCPServer{"x": conf}, Sandbox: true})
	if s := r.until("running", func(s Status) bool { return s.State == Running }); !s.Sandbox || len(r.names(false)) != 0 || len(r.names(true)) == 0 {
		t.Errorf("after the sandbox is on: %v", r.Status())
	}
}

// The folder of a program is readable where it holds nothing else: not where the host's own files are in it.
func TestPrivateFolders(t *testing.T) {
	t.Parallel()
	r := newRig(t, Settings{}, func(d *Deps) { d.Dir, d.Private = "/srv/parley/state/mcp", []string{"/etc/parley/config.yaml"} })
	s := newServer(r.Servers, slot{name: "x"}, tools.MCPServer{})
	for folder, want := range map[string]bool{"/": true, "/srv": true, "/srv/parley": true, "/srv/parley/state/mcp": true, "/srv/parley/bin": false,
		"/etc/parley": true, "/usr/bin": false, os.TempDir(): true} {
		if got := s.private(folder); got != want {
			t.Errorf("%s: %v", folder, got)
		}
	}
}

func listen(t *testing.T, network string) string {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "unix" {
		folder, err := os.MkdirTemp("", "sock") // a path that fits into an address
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(folder) })
		at = filepath.Join(folder, "s")
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), network, at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func packets(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.LocalAddr().String()
}
