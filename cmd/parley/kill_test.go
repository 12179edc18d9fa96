package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
	"parley/gateway/api"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// crowd makes n people who may write.
func crowd(w *world, n int) (ids []int64) {
	for i := range n {
		id := int64(3000 + i)
		w.tg.AddUser(telegramtest.User{ID: id, Name: "P" + itoa(id)})
		ids = append(ids, id)
	}
	return ids
}

// TestKillInFlight kills the program while 50 messages are being worked on: each is answered once, nothing else is said.
func TestKillInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("    dmPolicy: open\n    allowFrom: [\"*\"]\n", "messages: {queue: {mode: followup}}\n")
	people := crowd(w, 25)
	hold := make(chan struct{})
	var release sync.Once
	free := func() { release.Do(func() { close(hold) }) }
	defer free()
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		<-hold
		return modeltest.Echo(r)
	})
	p := w.start()
	for i := range 50 {
		w.tg.Say(people[i%25], people[i%25], fmt.Sprintf("message %d", i))
	}
	w.until(20*time.Second, "all 50 are accepted and the model is asked", func() bool { return w.tg.Pending() == 0 && w.model.Count() >= 25 })
	p.kill()
	if n := w.tg.SentCount(); n != 0 {
		t.Fatalf("%d answers before the model said anything", n)
	}
	free()
	w.start()
	if _, err := w.tg.WaitSent(w.ctx(), 50); err != nil {
		t.Fatal(err)
	}
	w.quiet()
	seen := map[string]int{}
	for _, m := range w.tg.Sent() {
		seen[m.Text]++
	}
	for i := range 50 {
		if n := seen[fmt.Sprintf("echo: message %d", i)]; n != 1 {
			t.Errorf("message %d was answered %d times", i, n)
		}
	}
	if n := w.tg.SentCount(); n != 50 {
		t.Errorf("%d messages were sent, not 50", n)
	}
	for _, id := range people {
		shown := w.tg.SentTo(id)
		if len(shown) == 2 && shown[0].Text > shown[1].Text && len(shown[0].Text) >= len(shown[1].Text) {
			t.Errorf("chat %d is out of order: %q, %q", id, shown[0].Text, shown[1].Text)
		}
	}
}

// TestFaultLimitOverAKill kills a host that Telegram asked to leave a chat alone for an hour: the next one makes no call about it, not even to
// show that it is at work, and answers others.
func TestFaultLimitOverAKill(t *testing.T) {
	t.Parallel()
	w, p := chats(t)
	limit := telegramtest.TooManyRequests("sendMessage", 3600)
	limit.Chat = owner
	w.tg.Inject(limit)
	w.tg.Say(owner, owner, "hello")
	w.until(20*time.Second, "the limit is met and kept", func() bool {
		kept, err := filepath.Glob(filepath.Join(w.dir, "state", "channels", "telegram", "*", "holds.json"))
		return err == nil && len(kept) == 1
	})
	met := w.calls(owner)
	p.kill()
	w.start()
	w.tg.Say(owner, owner, "slowly")
	w.tg.Say(group, guest, "@"+telegramtest.BotUsername+" slowly")
	w.sent(group, 1)
	w.until(20*time.Second, "both answers wait", func() bool {
		s := fromAPI[api.HostStatus](w, "/api/status", nil)
		return len(s.Working)+s.Waiting == 0 && s.Deliveries["pending"] == 2
	})
	if n := w.calls(owner) - met; n != 0 {
		t.Errorf("%d calls about a chat that is to be left alone", n)
	}
}

// TestStop stops the program softly while it works: within 10 seconds, and nothing is lost.
func TestStop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("    dmPolicy: open\n    allowFrom: [\"*\"]\n", "")
	people := crowd(w, 10)
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		reply := modeltest.Echo(r)
		reply.Delay = 100 * time.Millisecond
		if strings.Contains(r.LastUserText(), "message 7") && r.N < 20 {
			reply.Delay = time.Minute
		}
		return reply
	})
	p := w.start()
	for i := range 10 {
		w.tg.Say(people[i], people[i], fmt.Sprintf("message %d", i))
	}
	w.until(20*time.Second, "the model is asked", func() bool { return w.model.Count() >= 10 })
	if took := p.stop(); took > 10*time.Second {
		t.Errorf("stopping took %s", took)
	}
	w.model.Script(modeltest.Echo)
	w.start()
	if _, err := w.tg.WaitSent(w.ctx(), 10); err != nil {
		t.Fatal(err)
	}
	w.quiet()
	if n := w.tg.SentCount(); n != 10 {
		t.Errorf("%d messages were sent, not 10", n)
	}
}

// TestSecondProcess starts a second program on the same state folder: it refuses and says who holds it.
//
// proves: D7
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	p := w.start()
	began := time.Now()
	w.keepPort(p)
	out, code := w.cli("run")
	if code == 0 || !strings.Contains(out, strconv.Itoa(p.cmd.Process.Pid)) {
		t.Errorf("exit %d, and the message does not name process %d: %s", code, p.cmd.Process.Pid, out)
	}
	t.Logf("refused after %s: %s", time.Since(began).Round(time.Millisecond), strings.TrimSpace(out))
}

// keepPort fixes the port of a running host in its configuration: the second process meets both the lock and the port.
func (w *world) keepPort(p *process) {
	w.t.Helper()
	path := filepath.Join(w.dir, "config.yaml")
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(b), "127.0.0.1:0", strings.TrimPrefix(p.url, "http://"), 1)), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestBadConfig gives every mistake at once, each with file and line.
func TestBadConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("    dmPolicy: opne\n", "tols: {}\nlog: {level: 7}\n")
	for _, args := range [][]string{{"check"}, {"run"}} {
		out, code := w.cli(args...)
		if code != exitUsage {
			t.Errorf("parley %v: exit %d, want %d", args, code, exitUsage)
		}
		for _, want := range []string{"config.yaml:", "dmPolicy", "tols", "log.level"} {
			if !strings.Contains(out, want) {
				t.Errorf("parley %v does not say %q:\n%s", args, want, out)
			}
		}
	}
}

// TestBadTelegram refuses values that the adapter could not work with, at start and on SIGHUP, and the host stays up.
func TestBadTelegram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pageConfig("", "")
	p := w.start()
	for _, bad := range []string{`token: "hello world"`, `{token: "1:a", apiUrl: "ftp://x"}`, `{token: "1:a", pollTimeoutSeconds: 99}`} {
		if bad[0] != '{' {
			bad = "{" + bad + "}"
		}
		w.pageConfig("", "channels: {telegram: "+bad+"}\n")
		if out, code := w.cli("check"); code != exitUsage || !strings.Contains(out, "config.yaml:3: channels.telegram") || strings.Contains(out, "hello world") {
			t.Errorf("check of %s: exit %d: %s", bad, code, out)
		}
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	w.pageConfig("", "channels:\n  telegram:\n    pollTimeoutSeconds: 99\n    apiUrl: localhost:8081\n    token: \"hello world\"\n")
	out, _ := w.cli("check")
	for _, want := range []string{":5: channels.telegram.pollTimeoutSeconds", ":6: channels.telegram.apiUrl", ":7: channels.telegram.token"} {
		if !strings.Contains(out, want) {
			t.Errorf("check does not say %q:\n%s", want, out)
		}
	}
	w.until(10*time.Second, "the bad files are refused", func() bool { return strings.Contains(p.log.String(), "configuration not reloaded") })
	if s := stillThere(w, p); !s.Ready {
		t.Errorf("after bad files: %+v", s)
	}
}

// stillThere mends the configuration file and asks the host how it is.
func stillThere(w *world, p *process) (s api.HostStatus) {
	w.t.Helper()
	w.pageConfig("", "")
	s = fromCLI[api.HostStatus](w, "status")
	select {
	case err := <-p.done:
		w.t.Fatalf("the host ended: %v", err)
	default:
	}
	return s
}

// TestReload applies a good file on SIGHUP and keeps the last good one otherwise.
func TestReload(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	p := w.start()
	hup := func(says string) {
		n := strings.Count(p.log.String(), says)
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		w.until(10*time.Second, "the log says "+says, func() bool { return strings.Count(p.log.String(), says) > n })
	}
	w.tg.Say(owner, owner, "one")
	w.sent(owner, 1)
	w.config("", "session: {sendPolicy: {default: deny}}\n")
	hup("configuration reloaded")
	w.tg.Say(owner, owner, "two")
	w.quiet()
	if n := w.tg.SentCount(); n != 1 {
		t.Errorf("%d messages, not 1: the new policy is not in force", n)
	}
	w.config("    nonsense: 1\n", "")
	hup("configuration not reloaded")
	w.config("", "session: {sendPolicy: {default: allow}}\n")
	hup("configuration reloaded")
	w.tg.Say(owner, owner, "three")
	if got := w.sent(owner, 2)[1]; got.Text != "echo: three" {
		t.Errorf("got %q", got.Text)
	}
}

// TestReloadAccounts connects an account that a new file names, and lets go of it when the file does not name it any more.
func TestReloadAccounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pageConfig("", "")
	p := w.start()
	hup := func(accounts int) {
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		w.until(10*time.Second, "the accounts are as the file says", func() bool { return len(fromCLI[api.HostStatus](w, "status").Accounts) == accounts })
	}
	w.tg.Say(owner, owner, "are you there?")
	w.config("", "")
	hup(2)
	if got := w.sent(owner, 1)[0]; got.Text != "echo: are you there?" {
		t.Errorf("got %q", got.Text)
	}
	w.pageConfig("", "")
	hup(1)
	w.tg.Say(owner, owner, "still there?")
	w.tg.Forget()
	if got := fromCLI[api.HostStatus](w, "status"); !got.Ready || w.tg.SentCount() != 0 || len(w.tg.Calls("getUpdates")) != 0 {
		t.Errorf("after the account was taken away: %+v, %d messages, %d polls", got, w.tg.SentCount(), len(w.tg.Calls("getUpdates")))
	}
}

// TestModelDown answers with one plain notice and keeps the details in the log.
func TestModelDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	w.model.Script(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Status: http.StatusUnauthorized} })
	p := w.start()
	w.tg.Say(owner, owner, "hello")
	got := w.sent(owner, 1)[0]
	if !strings.HasPrefix(got.Text, "I cannot use my language model: its provider does not accept my key. Please tell an owner; the log has the details.") ||
		!strings.HasSuffix(got.Text, "\n\nThe provider says: scripted error 401") { // an owner reads it
		t.Errorf("the notice: %q", got.Text)
	}
	w.until(5*time.Second, "the log has the details", func() bool { return strings.Contains(p.log.String(), "401") })
}

// TestDamagedStore refuses a file that is no database any more, and says which.
func TestDamagedStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	w.start().stop()
	path := filepath.Join(w.dir, "state", "parley.db")
	if err := os.WriteFile(path, []byte("this is no database, and it is long enough to be looked at as one"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code := w.cli("run")
	if code == 0 || !strings.Contains(out, "parley.db") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// TestReady says what /readyz and /healthz mean: a deaf account is not ready.
func TestReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	w.start()
	w.until(10*time.Second, "ready", func() bool { return fromCLI[api.HostStatus](w, "status").Ready })
	w.tg.Down(true)
	w.until(20*time.Second, "not ready", func() bool { return !fromCLI[api.HostStatus](w, "status").Ready })
	w.tg.Down(false)
	w.until(60*time.Second, "ready again", func() bool { return fromCLI[api.HostStatus](w, "status").Ready })
}

// TestReadyIsPublic says that /readyz without a token tells no details, and with one does not repeat the words of an MCP server; the status for
// owners does, without the password that is a part of its environment.
// source: CWE-209
func TestReadyIsPublic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", `tools: {mcp: {servers: {sad: {command: /bin/sh, args: [-c, "echo no way to $DB >&2; exit 1"], env: {DB: "postgres://me:hunter22hunter@db/x"}}}}}`)
	p := w.start()
	detail := ""
	w.until(20*time.Second, "the server is down", func() bool {
		s := fromAPI[api.HostStatus](w, "/api/status", nil).Servers
		if len(s) == 1 {
			detail = s[0].Detail
		}
		return strings.Contains(detail, "no way to")
	})
	resp, err := http.Get(p.url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(bytes.TrimSpace(body)) != `{"ready":true}` {
		t.Errorf("without a token: %v: %s", err, body)
	}
	if _, body := readiness(p); strings.Contains(body, "no way to") || !strings.Contains(body, `"sad"`) {
		t.Errorf("with a token: %s", body)
	}
	if strings.Contains(detail, "hunter22") || !strings.Contains(detail, "[secret]") {
		t.Errorf("the status: %s", detail)
	}
}

// readiness gives what /readyz says.
func readiness(p *process) (status int, body string) {
	req, err := http.NewRequest(http.MethodGet, p.url+"/readyz", nil)
	if err != nil {
		return 0, err.Error()
	}
	resp, err := p.w.host.do(req) // as the owner: others are told no details
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(b)
}
