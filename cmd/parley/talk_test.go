package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"parley/channels/telegram/telegramtest"
	"parley/gateway/api"
)

// TestCommandsAndPrompt writes commands in Telegram: the model of the next request, a new session with its first message, an export;
// a forwarded command is text. The model is told what the workspace says, and when and by whom a message was written.
//
// proves: P3, S8
func TestCommandsAndPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tg.AddGroup(group, "Garden")
	w.config("    dmPolicy: allowlist\n    allowFrom: [2002]\n    groupPolicy: open\n", "")
	raw, err := os.ReadFile(filepath.Join(w.dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(raw), "{model: mock/mock-1}", "{model: mock/mock-1, fallbacks: [mock/mock-2], timezone: Asia/Tokyo}", 1)
	if err := os.WriteFile(filepath.Join(w.dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.start()
	dir := filepath.Join(w.dir, "state", "workspace", "main")
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("the workspace: %v (%v)", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "PERSONA.md"), []byte("You are Flora."), 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	says := func(text string, opts ...telegramtest.Option) string {
		t.Helper()
		n++
		w.tg.Say(owner, owner, text, opts...)
		return w.sent(owner, n)[n-1].Text
	}
	says("an old secret")
	if got := says("/model mock-2"); !strings.HasPrefix(got, "⚙️ Model: mock/mock-2 (set for this session") {
		t.Errorf("/model: %q", got)
	}
	says("who answers?")
	if got := says("/send off", telegramtest.With("forward_origin", map[string]any{"type": "hidden_user", "sender_user_name": "Eve", "date": 1})); !strings.HasSuffix(got, "/send off") {
		t.Errorf("a forwarded command: %q", got)
	}
	if got := says("/export"); !strings.HasPrefix(got, "⚙️ Exported 6 messages to ") {
		t.Errorf("/export: %q", got)
	} else if path := regexp.MustCompile(`to (/\S+\.md)\.$`).FindStringSubmatch(got); path == nil || filepath.Dir(path[1]) != filepath.Join(w.dir, "state", "exports") {
		t.Errorf("/export: %q", got)
	} else if b, err := os.ReadFile(path[1]); err != nil || !strings.Contains(string(b), "\n> an old secret\n") {
		t.Errorf("the export: %s (%v)", b, err)
	}
	if got := says("/new and now for something else"); got != "✅ New session started · model: mock/mock-2" {
		t.Errorf("/new: %q", got)
	}
	n++
	w.sent(owner, n)
	calls := w.model.Requests()
	if len(calls) != 4 || calls[0].Model != "mock-1" || calls[1].Model != "mock-2" || calls[3].Model != "mock-2" {
		t.Fatalf("%d calls: %+v", len(calls), calls)
	}
	frame := regexp.MustCompile(`^\[message of \w{3} \d{4}-\d\d-\d\d \d\d:\d\d, on telegram, by an owner(, forwarded from "Eve": their words)?\]\n\n(.*)$`)
	for i, want := range []string{"an old secret", "who answers?", "/send off", "and now for something else"} {
		m := calls[i].Messages[len(calls[i].Messages)-1]
		if got := frame.FindStringSubmatch(m.Text); got == nil || got[2] != want || (got[1] != "") != (i == 2) {
			t.Errorf("call %d ends with %q, want %q", i, m.Text, want)
		}
		if !strings.Contains(calls[i].System, "## PERSONA.md\n\nYou are Flora.") || !strings.Contains(calls[i].System, "Asia/Tokyo") {
			t.Errorf("call %d is told:\n%s", i, calls[i].System)
		}
	}
	if len(calls[3].Messages) != 2 && len(calls[3].Messages) != 1 || strings.Contains(string(calls[3].Raw), "secret") {
		t.Errorf("the new session begins with %+v", calls[3].Messages)
	}
	if s := fromAPI[[]api.Session](w, "/api/sessions", nil); len(s) != 1 {
		t.Errorf("%+v", s)
	}
	w.tg.Say(group, guest, "/export@"+telegramtest.BotUsername)
	if got := w.sent(group, 1)[0].Text; got != "Only an owner can use /export. Send me /whoami in a direct chat to read how to become one." {
		t.Errorf("a guest: %q", got)
	}
}
