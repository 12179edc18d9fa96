//go:build unix

package mcp

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"parley/channels"
	"parley/tools"
)

// A server runs as a process of its own: its tools have its name in front, it gets the arguments and gives the result, and its
// environment is what is documented and nothing else.
func TestProcess(t *testing.T) {
	t.Setenv("HOST_SECRET_THING", "not-for-servers")
	r := newRig(t, one(fake("good", "API_KEY", "key-0123456789")))
	r.running()
	if got := r.call("x_echo", `{"a":1}`); got.Text != `{"a":1}` || got.IsError {
		t.Errorf("echo: %+v", got)
	}
	env := r.call("x_environment", "{}").Text
	for _, want := range []string{"API_KEY=[secret]", "PATH=" + os.Getenv("PATH"), "cwd=" + filepath.Join(r.deps.Dir, "x")} {
		if !strings.Contains(env, want) {
			t.Errorf("its environment lacks %s:\n%s", want, env)
		}
	}
	if strings.Contains(env, "HOST_SECRET_THING") {
		t.Errorf("it has the host's environment:\n%s", env)
	}
}

// A server that is killed while a call is under way comes back, and the call says that it is not known whether it was done.
func TestKilledDuringACall(t *testing.T) {
	t.Parallel()
	r := newRig(t, one(fake("good")))
	r.running()
	before := r.names(false)
	if got := r.call("x_die", "{}"); !got.IsError || !strings.Contains(got.Text, "stopped during the call") {
		t.Errorf("the call: %+v", got)
	}
	down := r.until("down", func(s Status) bool { return s.State == Down || s.Restarts > 0 })
	if down.State == Down {
		if !strings.Contains(down.Detail, "signal: killed") {
			t.Errorf("why it is down: %s", down)
		}
		if got := r.names(false); strings.Join(got, " ") != strings.Join(before, " ") {
			t.Errorf("its tools while it is away: %v", got)
		}
		if got := r.call("x_echo", "{}"); !got.IsError || !strings.Contains(got.Text, "is not running: it ended: signal: killed. Nothing was done; try again later") {
			t.Errorf("a call while it is away: %+v", got)
		}
	}
	if s := r.running(); s.Restarts != 1 {
		t.Errorf("after the restart: %+v", s)
	}
	if got := r.call("x_echo", `{"b":2}`); got.Text != `{"b":2}` {
		t.Errorf("after the restart: %+v", got)
	}
}

// What a server writes to its standard error is in the log: without its secrets and without control characters, cut, and not too much.
func TestStandardError(t *testing.T) {
	t.Parallel()
	r := newRig(t, one(fake("good", "API_KEY", "key-0123456789")))
	r.running()
	r.call("x_say", "{}")
	r.stop()
	log := r.log.String()
	if !strings.Contains(log, `line="my key is [secret][31m"`) {
		t.Errorf("its words are not in the log:\n%.2000s", log)
	}
	if strings.Contains(log, "key-0123456789") || strings.Contains(log, "\x1b") {
		t.Error("a secret or a control character is in the log")
	}
	if !strings.Contains(log, strings.Repeat("y", logLine-200)) || strings.Contains(log, "key-01") {
		t.Error("a secret is cut before it is taken out")
	}
	if n := strings.Count(log, "MCP server wrote to standard error"); n > logBurst+5*logRate || n < logBurst {
		t.Errorf("%d lines are in the log", n)
	}
	if strings.Contains(log, strings.Repeat("x", logLine+1)) {
		t.Error("a line is not cut")
	}
}

// A server that cannot be started says why: its exit code and its last words, without secrets.
func TestCannotStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, one(fake("exit", "API_KEY", "key-0123456789")))
	s := r.until("down", func(s Status) bool { return s.State == Down })
	if s.Detail != "it ended: exit status 3, its last words: no key was given, only [secret]" {
		t.Errorf("why: %s", s.Detail)
	}
	none := newRig(t, one(tools.MCPServer{Command: "no-such-program-anywhere", Enabled: true, TimeoutSeconds: 1}))
	if s := none.until("down", func(s Status) bool { return s.State == Down }); !strings.Contains(s.Detail, "no-such-program-anywhere") {
		t.Errorf("why: %s", s.Detail)
	}
}

// Output that is no message harms nothing: lines, a thousand of them, a banner without a line end. What a server prints without an end is not
// kept, and the server is replaced.
func TestOutputThatIsNoMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, one(fake("junk")))
	r.running()
	if got := r.call("x_echo", `{"a":1}`); got.Text != `{"a":1}` {
		t.Errorf("echo: %+v", got)
	}
	if got := r.call("x_noise", "{}"); got.Text != "after the noise" {
		t.Errorf("noise: %+v", got)
	}
	if !strings.Contains(r.log.String(), "writes noise to its output") {
		t.Error("the log does not say so")
	}
	if got := r.call("x_flood", "{}"); !got.IsError {
		t.Errorf("flood: %+v", got)
	}
	s := r.until("replaced", func(s Status) bool { return s.Restarts == 1 })
	if s.State == Down && !strings.Contains(s.Detail, "a line of more than 256 MiB") {
		t.Errorf("why: %s", s.Detail)
	}
	r.running()
}

// A message that is too large costs the call that it answers, which says so; the other calls and the server go on.
func TestMessageThatIsTooLarge(t *testing.T) {
	t.Parallel()
	r := newRig(t, one(fake("good")))
	r.running()
	if got := r.call("x_picture", `{"bytes":6000000}`); got.IsError || len(got.Blocks) != 1 || got.Blocks[0].Media.Size != 6_000_000 {
		t.Errorf("a picture of 6 MB: %.300s", got.Text)
	}
	other := make(chan tools.Result)
	go func() { other <- r.call("x_wait", "{}") }()
	got := r.call("x_picture", `{"bytes":30000000}`)
	if !got.IsError || !strings.Contains(got.Text, "answered the call, but the host dropped the answer: its message has 38.1 MiB; at most 32 MiB are read") {
		t.Errorf("one of 30 MB: %.300s", got.Text)
	}
	r.call("x_release", "{}")
	if got := <-other; got.Text != "waited" {
		t.Errorf("another call: %+v", got)
	}
	if s := r.Status()[0]; s.State != Running || s.Restarts != 0 {
		t.Errorf("the server: %+v", s)
	}
}

// A server's own children end with it, also one that takes no notice of anything and holds its output open.
func TestChildrenEndWithTheServer(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, one(fake("parent", "ALIVE", fifo)))
	alive, err := os.Open(fifo) // open for writing in both, so it ends when both have ended
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	r.running()
	r.stop()
	if _, err := io.ReadAll(alive); err != nil {
		t.Error(err)
	}
}

// A reload ends what is gone, starts what is new, and leaves the rest alone.
func TestReload(t *testing.T) {
	t.Parallel()
	keep, change, drop := fake("good"), fake("good"), fake("good")
	set := Settings{Servers: map[string]tools.MCPServer{"keep": keep, "change": change, "drop": drop}, Open: true}
	r := newRig(t, set)
	r.names(false)
	pid := func(name string) *link {
		for _, s := range r.list() {
			if s.name == name {
				l, _ := s.current()
				return l
			}
		}
		return nil
	}
	kept, changed := pid("keep"), pid("change")
	if kept == nil || changed == nil || pid("drop") == nil {
		t.Fatalf("not all run: %v", r.Status())
	}
	change.Env = map[string]channels.Secret{mode: channels.NewSecret("good"), "A": channels.NewSecret("b")}
	off := drop
	off.Enabled = false
	r.Apply(Settings{Servers: map[string]tools.MCPServer{"keep": keep, "change": change, "drop": off, "new": fake("good")}, Open: true})
	names := strings.Join(r.names(false), " ")
	if pid("keep") != kept {
		t.Error("one that did not change was started again")
	}
	if now := pid("change"); now == changed || now == nil || !strings.Contains(r.call("change_environment", "{}").Text, "A=b") {
		t.Error("one that changed was not started again")
	}
	if strings.Contains(names, "drop_") || !strings.Contains(names, "new_echo") {
		t.Errorf("the tools: %s", names)
	}
	r.Apply(Settings{})
	if got := r.names(false); len(got) != 0 || len(r.Status()) != 0 {
		t.Errorf("all are gone: %v, %v", got, r.Status())
	}
}
