//go:build linux

package mcp

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"parley/tools"
)

// build makes one of the SDK's example servers.
func build(t *testing.T, name string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), name)
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", to, "github.com/modelcontextprotocol/go-sdk/examples/server/"+name).CombinedOutput()
	if err != nil {
		t.Fatalf("building the example server: %v\n%s", err, out)
	}
	return to
}

// The official example server works over stdio and over HTTP; killed, it comes back.
func TestOfficialServer(t *testing.T) {
	t.Parallel()
	program := build(t, "everything")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close()
	over := serveHTTP(t, program, at)
	r := newRig(t, Settings{Open: true, Servers: map[string]tools.MCPServer{
		"here":  {Command: program, Enabled: true, TimeoutSeconds: 60},
		"there": {URL: "http://" + at, Enabled: true, TimeoutSeconds: 60},
	}})
	for _, s := range []string{"here", "there"} {
		r.until("running", func(x Status) bool { return x.Name == s && x.State == Running })
		if got := r.call(s+"_greet", `{"name":"Ada"}`); got.Text != "Hi Ada" || got.IsError {
			t.Errorf("%s: greet: %+v", s, got)
		}
		if got := r.call(s+"_greet__structured_", `{"name":"Ada"}`); !strings.Contains(got.Text, "Hi Ada") || strings.Count(got.Text, "Hi Ada") != 1 {
			t.Errorf("%s: structured: %+v", s, got)
		}
		if got := r.call(s+"_greet__content_with_ResourceLink_", `{"name":"Ada"}`); !strings.Contains(got.Text, "[resource data:text/plain,") {
			t.Errorf("%s: resource: %+v", s, got)
		}
		for _, asks := range []string{"_sample", "_roots", "_elicit__form_"} {
			if got := r.call(s+asks, `{}`); !got.IsError {
				t.Errorf("%s%s is not refused: %+v", s, asks, got)
			}
		}
		if got := r.call(s+"_ping", `{}`); got.IsError {
			t.Errorf("%s: ping: %+v", s, got)
		}
	}
	kill(over.Process)
	_ = over.Wait()
	kill(running(t, program))
	serveHTTP(t, program, at)
	for _, name := range []string{"here", "there"} {
		for { // until it is noticed, a call may say that the server is away
			if got := r.call(name+"_greet", `{"name":"Eve"}`); got.Text == "Hi Eve" {
				break
			}
			r.until("back", func(s Status) bool { return s.Name == name && s.State == Running && s.Restarts > 0 })
		}
	}
}

// running finds the process that a program runs as, without arguments.
func running(t *testing.T, program string) *os.Process {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if text, err := os.ReadFile(f); err == nil && string(text) == program+"\x00" {
			pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
			return &os.Process{Pid: pid}
		}
	}
	t.Fatal("the server does not run")
	return nil
}

// serveHTTP starts the example server with HTTP and waits until it listens.
func serveHTTP(t *testing.T, program, at string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "-http", at)
	cmd.SysProcAttr = group()
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		kill(cmd.Process)
		_ = cmd.Wait()
	})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "listening") {
			return cmd
		}
	}
	t.Fatal("the example server does not listen")
	return nil
}
