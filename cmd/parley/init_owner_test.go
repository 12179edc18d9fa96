package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/channels/discord/discordtest"
	"parley/channels/telegram/telegramtest"
)

// dialog is a parley init whose questions a test answers when it has read them.
type dialog struct {
	w    *world
	out  *buffer
	in   io.WriteCloser
	done chan error
}

func (w *world) dialog(args ...string) *dialog {
	w.t.Helper()
	d := &dialog{w: w, out: &buffer{}, done: make(chan error, 1)}
	cmd := w.command(append([]string{"--config", "config.yaml", "init"}, args...)...)
	cmd.Stdout, cmd.Stderr = d.out, d.out
	var err error
	if d.in, err = cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { d.done <- cmd.Wait() }()
	w.t.Cleanup(func() { _ = cmd.Process.Kill() })
	return d
}

// until waits for words of a question.
func (d *dialog) until(words string) {
	d.w.t.Helper()
	d.w.until(20*time.Second, words, func() bool { return strings.Contains(d.out.String(), words) })
}

func (d *dialog) answer(lines ...string) {
	for _, l := range lines {
		fmt.Fprintln(d.in, l)
	}
}

// code waits for a code, and gives it.
func (d *dialog) code() string {
	d.w.t.Helper()
	d.until("Press Enter to skip, or type your id")
	return regexp.MustCompile(`send ([A-Z0-9]{8}) to`).FindStringSubmatch(d.out.String())[1]
}

func (d *dialog) end() {
	d.w.t.Helper()
	_ = d.in.Close()
	if err := <-d.done; err != nil {
		d.w.t.Fatalf("%v: %s", err, d.out)
	}
}

// A newcomer opens the link that init shows and is the owner. Another person who writes meanwhile gets no answer from init, and the host's usual one
// when it starts.
func TestInitFindsTheOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.dialog("--api-url", "telegram="+w.tg.URL(), "--state", "state")
	d.answer("Ada", "none", w.tg.Token(), "", "n")
	code := d.code()
	if !strings.Contains(d.out.String(), "https://t.me/") || !strings.Contains(d.out.String(), "?start="+code) {
		t.Errorf("no link in %s", d.out)
	}
	w.tg.Say(guest, guest, "am I first?")
	w.tg.Say(guest, guest, "/start AAAAAAAA")
	w.tg.Say(owner, owner, "/start") // the button, before the code
	w.tg.Say(owner, owner, code)
	d.until("id 1001, sent the code")
	if n := w.calls(guest) + w.calls(owner); n != 0 {
		t.Errorf("init has sent %d messages", n)
	}
	d.answer("y", "y")
	d.end()
	if b, err := os.ReadFile(filepath.Join(w.dir, "config.yaml")); err != nil || !strings.Contains(string(b), `ownerAllowFrom: ["telegram:1001"]`) {
		t.Fatalf("%v: %s", err, b)
	}
	w.change("agents:", "gateway: {listen: \"127.0.0.1:0\"}\nagents:")
	w.start()
	if got := w.sent(guest, 1)[0].Text; !strings.Contains(got, "I do not know you yet") {
		t.Errorf("the other person is told %q", got)
	}
	w.tg.Say(owner, owner, "/send off")
	w.until(20*time.Second, "/send off is obeyed", func() bool {
		return slices.ContainsFunc(w.tg.SentTo(owner), func(m telegramtest.Message) bool { return strings.Contains(m.Text, "Send policy set to off.") })
	})
}

// On Discord the code is typed to the bot.
func TestInitFindsTheOwnerOnDiscord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dc := discordtest.New(t)
	const id = "100000000000000777"
	dc.AddUser(discordtest.User{ID: id, Name: "olga"})
	dm := dc.AddDM(id)
	d := w.dialog("--api-url", "discord="+dc.APIURL(), "--state", "state")
	d.answer("Ada", "none", "", discordtest.BotToken, "n")
	code := d.code()
	if strings.Contains(d.out.String(), "https://t.me/") {
		t.Errorf("a link of Telegram in %s", d.out)
	}
	w.until(20*time.Second, "Discord is connected", dc.Ready)
	dc.Say(dm, id, "hello")
	dc.Say(dm, id, " "+strings.ToLower(code))
	d.until("id " + id + ", sent the code")
	d.answer("y", "y")
	d.end()
	if b, err := os.ReadFile(filepath.Join(w.dir, "config.yaml")); err != nil || !strings.Contains(string(b), `"discord:`+id+`"`) {
		t.Fatalf("%v: %s", err, b)
	}
	if sent := dc.Sent(); len(sent) != 0 {
		t.Errorf("init has sent %+v", sent)
	}
}

// A key of the environment is stored beside the configuration, so that every shell has it, and the answer says so; one that its provider rejects is not.
func TestInitStoresTheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.Script(func(modeltest.Request) modeltest.Reply { return modeltest.Reply{Text: []string{"hello"}} })
	w.env = []string{"OPENAI_API_KEY=sk-stored", "OPENAI_BASE_URL=" + w.model.URL() + "/v1"}
	out, code := w.cli("init", "--yes", "--model", "openai/mock-1", "--state", "state")
	if code != 0 || !strings.Contains(out, "Stored OPENAI_API_KEY from the environment in ") {
		t.Fatalf("exit %d: %s", code, out)
	}
	if b, err := os.ReadFile(filepath.Join(w.dir, ".env")); err != nil || !strings.Contains(string(b), "OPENAI_API_KEY='sk-stored'") {
		t.Errorf("%v: %s", err, b)
	}
	w.env = []string{"OPENAI_BASE_URL=" + w.model.URL() + "/v1"} // another shell
	out, code = w.cli("init", "--yes", "--force", "--state", "state")
	if code != 0 || strings.Contains(out, "no language model") || strings.Contains(out, "Stored") || !strings.Contains(out, "keeps OPENAI_API_KEY from before") {
		t.Errorf("a key that .env keeps: exit %d: %s", code, out)
	}
	if b, err := os.ReadFile(filepath.Join(w.dir, "config.yaml")); err != nil || !strings.Contains(string(b), "${OPENAI_API_KEY}") {
		t.Errorf("%v: %s", err, b)
	}
	w.env = nil
	if out, code := w.cli("check"); code != 0 || strings.Contains(out, "not set") {
		t.Errorf("exit %d: %s", code, out)
	}
	if out, err := w.answering(nil, "--force"); err == nil || !strings.Contains(out, "nothing was written") || !strings.Contains(out, "--owner CHANNEL:ID") || !strings.Contains(out, "--token 'CHANNEL=$NAME'") {
		t.Errorf("without a terminal: %v: %s", err, out)
	}
}
