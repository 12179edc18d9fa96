package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/channels/channeltest"
	"parley/channels/telegram/telegramtest"
	"parley/cmd/internal/failpoint"
	"parley/gateway/api"
	"parley/sessions/sqlstore"
	"parley/tools/mcp/confine"
)

// TestMain lets the test binary be the program: the tests run it as a child process, as people do.
func TestMain(m *testing.M) {
	if os.Getenv("PARLEY_TEST_MAIN") == "1" || len(os.Args) > 1 && os.Args[1] == confine.Command {
		failpoint.ReachWhatsApp()
		parley(failpoint.Killer())
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == mcpServer {
		serveMCP()
		os.Exit(0)
	}
	channeltest.SideBySide(4)
	os.Exit(m.Run())
}

// world is what a host is tested in: a Telegram, a model, a folder for its state.
type world struct {
	t     *testing.T
	tg    *telegramtest.Server
	two   *telegramtest.Server // a second bot; nil where there is one
	model *modeltest.Server
	dir   string
	env   []string // of the program, besides the usual
	host  *host    // the one that runs

	mu     sync.Mutex
	called map[int]call // by modeltest.Request.N
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the program as a child process: not in -short")
	}
	model, err := modeltest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	w := &world{t: t, tg: telegramtest.New(t), model: model, dir: t.TempDir(), called: map[int]call{}}
	w.tg.AddUser(telegramtest.User{ID: owner, Name: "Olga"})
	w.tg.AddUser(telegramtest.User{ID: guest, Name: "Gustav"})
	return w
}

const (
	owner = 1001
	guest = 2002
)

// config writes the configuration; extra sections are put behind the common ones.
func (w *world) config(telegram, extra string) {
	w.t.Helper()
	text := fmt.Sprintf(`
state: state
gateway: {listen: "127.0.0.1:0"}
models:
  providers:
    mock: {api: openai, baseUrl: %s/v1, apiKey: x}
agents:
  defaults: {model: mock/mock-1}
  list: [{id: main, default: true}]
commands: {ownerAllowFrom: ["telegram:%d"]}
channels:
  telegram:
    token: %q
    apiUrl: %s
    pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}
%s
%s
`, w.model.URL(), owner, w.tg.Token(), w.tg.URL(), telegram, extra)
	if err := os.WriteFile(filepath.Join(w.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// process is a running host.
type process struct {
	t    *testing.T
	w    *world
	cmd  *exec.Cmd
	log  *buffer
	url  string
	done chan error
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// command makes a child process of this program.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), os.Args[0], args...)
	cmd.Dir = w.dir
	cmd.Env = append(clean(os.Environ()), "PARLEY_TEST_MAIN=1", "HOME="+w.dir)
	cmd.Env = append(cmd.Env, w.env...)
	return cmd
}

// clean takes out of an environment what would pick a real model or another configuration.
func clean(env []string) []string {
	var out []string
	for _, e := range env {
		name, _, _ := strings.Cut(e, "=")
		if strings.HasPrefix(name, "PARLEY_") || strings.Contains(name, "OPENAI") || strings.Contains(name, "ANTHROPIC") || strings.Contains(name, "OLLAMA") || strings.HasPrefix(strings.ToUpper(name), "HTTP") {
			continue
		}
		out = append(out, e)
	}
	return out
}

// start runs the host and waits until it answers.
func (w *world) start() *process {
	w.t.Helper()
	p := &process{t: w.t, w: w, cmd: w.command("--config", "config.yaml"), log: &buffer{}, done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	w.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if w.t.Failed() {
			w.t.Logf("the host's log:\n%s", p.log)
		}
		if strings.Contains(p.log.String(), w.tg.Token()) {
			w.t.Error("the log contains the token")
		}
	})
	w.until(20*time.Second, "the host answers", func() bool {
		select {
		case err := <-p.done:
			w.t.Fatalf("the host ended at start: %v\n%s", err, p.log)
		default:
		}
		o, err := sqlstore.ReadOwner(filepath.Join(w.dir, "state"))
		if err != nil || o.PID != p.cmd.Process.Pid || o.Address == "" {
			return false
		}
		p.url = o.Address
		resp, err := http.Get(p.url + "/healthz")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	w.meet()
	return p
}

// meet finds the host that runs.
func (w *world) meet() {
	w.t.Helper()
	h, err := running(&env{ctx: w.ctx(), config: filepath.Join(w.dir, "config.yaml")})
	if err != nil {
		w.t.Fatal(err)
	}
	w.host = h
}

// until waits for something that another process does.
func (w *world) until(limit time.Duration, what string, ok func() bool) {
	w.t.Helper()
	deadline := time.After(limit)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatalf("waited %s in vain: %s", limit, what)
		}
	}
}

// kill ends the host the hard way.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	if err := <-p.done; err == nil {
		p.t.Error("the host had ended by itself")
	}
}

// stop ends the host the soft way and gives how long that took.
func (p *process) stop() time.Duration {
	p.t.Helper()
	began := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case err := <-p.done:
		if err != nil {
			p.t.Errorf("the host ended with %v\n%s", err, p.log)
		}
	case <-time.After(15 * time.Second):
		p.t.Fatal("the host did not stop")
	}
	return time.Since(began)
}

// cli runs a command of the program beside the host.
func (w *world) cli(args ...string) (string, int) {
	w.t.Helper()
	cmd := w.command(append([]string{"--config", "config.yaml"}, args...)...)
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return string(out), 0
}

// fromCLI decodes a command's JSON.
func fromCLI[T any](w *world, args ...string) (v T) {
	w.t.Helper()
	out, code := w.cli(append(args, "--json")...)
	if code != 0 {
		w.t.Fatalf("parley %s: exit %d: %s", strings.Join(args, " "), code, out)
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		w.t.Fatalf("parley %s: %v in %s", strings.Join(args, " "), err, out)
	}
	return v
}

func (w *world) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	w.t.Cleanup(cancel)
	return ctx
}

// sent waits for the n-th message of the bot in a chat.
func (w *world) sent(chat int64, n int) []telegramtest.Message {
	w.t.Helper()
	return w.sentBy(w.tg, chat, n)
}

// sentBy is sent for one of several bots.
func (w *world) sentBy(bot *telegramtest.Server, chat int64, n int) []telegramtest.Message {
	w.t.Helper()
	if err := bot.Wait(w.ctx(), func() bool { return len(bot.SentTo(chat)) >= n }); err != nil {
		w.t.Fatalf("chat %d shows %d messages, not %d: %v", chat, len(bot.SentTo(chat)), n, err)
	}
	return bot.SentTo(chat)
}

// api asks the running host, as the commands do.
func fromAPI[T any](w *world, path string, q url.Values) (v T) {
	w.t.Helper()
	err := w.host.call(w.ctx(), http.MethodGet, path, q, nil, &v)
	if err != nil {
		w.t.Fatalf("%s: %v", path, err)
	}
	return v
}

// quiet waits until all that people said has been taken and the host has nothing to do.
func (w *world) quiet() {
	w.t.Helper()
	w.until(20*time.Second, "the host has nothing to do", func() bool {
		if w.tg.Pending() > 0 || w.two != nil && w.two.Pending() > 0 {
			return false
		}
		s := fromAPI[api.HostStatus](w, "/api/status", nil)
		return len(s.Working)+s.Waiting == 0 && s.Deliveries["pending"]+s.Deliveries["sending"] == 0
	})
}

// calls counts the requests that name a chat.
func (w *world) calls(chat int64) int {
	n := 0
	for _, c := range w.tg.Calls() {
		if c.Chat == chat {
			n++
		}
	}
	return n
}
