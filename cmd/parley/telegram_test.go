package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
	"parley/gateway/api"
	"parley/sessions"
)

const (
	group  = -100500
	forum  = -100600
	denied = -100700
	topic  = 7
)

// slow answers late enough that a host would show that it is typing.
func slow(r modeltest.Request) modeltest.Reply {
	reply := modeltest.Echo(r)
	if strings.Contains(r.LastUserText(), "slowly") {
		reply.Delay = 600 * time.Millisecond
	}
	return reply
}

func chats(t *testing.T) (*world, *process) {
	t.Helper()
	w := newWorld(t)
	w.tg.AddGroup(group, "Garden")
	w.tg.AddGroup(denied, "Quiet")
	w.tg.AddForum(forum, "Forum", map[int64]string{topic: "Seven"})
	w.model.Script(slow)
	w.config(`
    dmPolicy: allowlist
    allowFrom: [2002]
    groupPolicy: open
`, `
session:
  sendPolicy: {default: allow, rules: [{action: deny, match: {channel: telegram, to: "-100700"}}]}
`)
	return w, w.start()
}

// proves: K2, K3
func TestTelegramChats(t *testing.T) {
	t.Parallel()
	w, _ := chats(t)
	w.tg.Say(owner, owner, "hello")
	if got := w.sent(owner, 1)[0]; got.Text != "echo: hello" {
		t.Errorf("direct chat: %+v", got)
	}
	w.tg.Say(group, guest, "nobody is meant")
	said := w.tg.Say(group, guest, "@"+telegramtest.BotUsername+" hi there")
	got := w.sent(group, 1)[0]
	if !strings.Contains(got.Text, "hi there") || got.ReplyTo != said.MessageID {
		t.Errorf("group with mention: %+v", got)
	}
	w.tg.Say(forum, guest, "@"+telegramtest.BotUsername+" in the topic", telegramtest.InTopic(topic))
	if got := w.sent(forum, 1)[0]; got.Thread != topic || !strings.Contains(got.Text, "in the topic") {
		t.Errorf("topic: %+v", got)
	}
	w.quiet()
	if n := len(w.tg.SentTo(group)); n != 1 {
		t.Errorf("the group shows %d messages, not 1", n)
	}
	want := []string{"agent:main:main", "agent:main:telegram:group:-100500", "agent:main:telegram:group:-100600:topic:7"}
	rows := fromCLI[[]api.Session](w, "sessions", "list")
	have := map[string]bool{}
	for _, r := range rows {
		have[string(r.Key)] = true
	}
	for _, k := range want {
		if !have[k] {
			t.Errorf("no session %s in %v", k, rows)
		}
	}
}

// proves: P2, P3, P4, P5, P6, P7
func TestSendPolicy(t *testing.T) {
	t.Parallel()
	w, _ := chats(t)
	const key = "agent:main:telegram:group:-100500"
	at := "@" + telegramtest.BotUsername + " "
	w.tg.Say(group, guest, at+"hi")
	w.sent(group, 1)

	w.tg.Say(group, guest, "/send@"+telegramtest.BotUsername+" off")
	if got := w.sent(group, 2)[1]; !strings.Contains(got.Text, "Only an owner") {
		t.Errorf("a stranger's /send off: %q", got.Text)
	}
	w.tg.Say(group, guest, at+"still there?")
	w.sent(group, 3)

	w.tg.Say(group, owner, "/send@"+telegramtest.BotUsername+" off")
	if got := w.sent(group, 4)[3]; got.Text != "⚙️ Send policy set to off." {
		t.Errorf("the owner's /send off: %q", got.Text)
	}
	w.quiet()
	before := w.calls(group)
	w.tg.Say(group, guest, at+"slowly, please")
	w.tg.Say(group, owner, "/status@"+telegramtest.BotUsername)
	w.quiet()
	if n := w.calls(group) - before; n != 0 {
		t.Errorf("%d calls reached a chat that is switched off", n)
	}
	withheld := fromCLI[[]sessions.Delivery](w, "deliveries", "list", "--state", "withheld")
	if len(withheld) != 2 || withheld[0].Verdict == nil || withheld[0].Verdict.Rule != "session override" {
		t.Errorf("withheld: %+v", withheld)
	}
	if text := transcript(t, w, key); !strings.Contains(text, `"withheld"`) || !strings.Contains(text, "slowly") {
		t.Errorf("the transcript does not say that the answer was withheld:\n%s", text)
	}
	w.tg.Say(group, owner, "/send@"+telegramtest.BotUsername+" inherit")
	w.sent(group, 5)
	w.tg.Say(group, guest, at+"back again")
	w.sent(group, 6)
}

// proves: P4, P5, P6
func TestDenyRule(t *testing.T) {
	t.Parallel()
	w, _ := chats(t)
	w.tg.Say(denied, guest, "@"+telegramtest.BotUsername+" slowly, please")
	w.until(20*time.Second, "the answer is withheld", func() bool {
		return len(fromCLI[[]sessions.Delivery](w, "deliveries", "list", "--state", "withheld")) == 1
	})
	if n := w.calls(denied); n != 0 {
		t.Errorf("%d calls reached a denied chat", n)
	}
	x := fromCLI[api.Explanation](w, "policy", "explain", "agent:main:telegram:group:-100700")
	if x.Verdict.Action != "deny" || x.Verdict.Rule != "session.sendPolicy.rules[0]" {
		t.Errorf("explain: %+v", x.Verdict)
	}
	if text := transcript(t, w, "agent:main:telegram:group:-100700"); !strings.Contains(text, `"withheld"`) {
		t.Errorf("the transcript does not say that the answer was withheld:\n%s", text)
	}
}

// transcript waits for a session's file to name a delivery's end and gives it.
func transcript(t *testing.T, w *world, key string) (text string) {
	t.Helper()
	var id sessions.ID
	for _, r := range fromCLI[[]api.Session](w, "sessions", "list") {
		if string(r.Key) == key {
			id = r.ID
		}
	}
	path := filepath.Join(w.dir, "state", "agents", "main", "sessions", string(id)+".jsonl")
	w.until(10*time.Second, "the transcript is written", func() bool {
		b, err := os.ReadFile(path)
		text = string(b)
		return err == nil && strings.Contains(text, `"withheld"`)
	})
	return text
}

func TestPairing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	w.start()
	w.tg.Say(guest, guest, "hello?")
	notice := w.sent(guest, 1)[0].Text
	w.tg.Say(guest, guest, "hello??")
	w.quiet()
	if n := len(w.tg.SentTo(guest)); n != 1 || w.model.Count() != 0 {
		t.Fatalf("a stranger got %d messages and %d model calls", n, w.model.Count())
	}
	_, code, _ := strings.Cut(notice, "pairing approve telegram ")
	code = strings.TrimSpace(strings.SplitN(code, "\n", 2)[0])
	if out, exit := w.cli("pairing", "approve", "telegram", "WRONGONE"); exit == 0 {
		t.Errorf("a wrong code was taken: %s", out)
	}
	if out, exit := w.cli("pairing", "approve", "telegram", code); exit != 0 {
		t.Fatalf("approve %q: %s", code, out)
	}
	if got := w.sent(guest, 2)[1].Text; !strings.HasPrefix(got, "✅ You can talk to me now.") {
		t.Errorf("told %q", got)
	}
	w.tg.Say(guest, guest, "and now?")
	if got := w.sent(guest, 3)[2]; got.Text != "echo: and now?" {
		t.Errorf("after pairing: %q", got.Text)
	}
	if out, exit := w.cli("pairing", "list"); exit != 0 || !strings.Contains(out, itoa(guest)) || !strings.Contains(out, "let in since") {
		t.Errorf("the list (exit %d):\n%s", exit, out)
	}
	if out, exit := w.cli("pairing", "remove", "telegram", " "+itoa(guest)); exit != 0 || !strings.Contains(out, "may no longer write") {
		t.Errorf("remove (exit %d): %s", exit, out)
	}
	if out, exit := w.cli("pairing", "remove", "telegram", itoa(guest)); exit == 0 || !strings.Contains(out, "was neither approved nor rejected") {
		t.Errorf("a second remove (exit %d): %s", exit, out)
	}
	if out, exit := w.cli("pairing", "approve", "telegram", "ABCDEFGH", "--owner", "--no-owner"); exit != exitUsage || !strings.Contains(out, "--owner and --no-owner") {
		t.Errorf("both flags (exit %d): %s", exit, out)
	}
	w.tg.Say(guest, guest, "still there?")
	if got := w.sent(guest, 4)[3].Text; !strings.Contains(got, "I do not know you yet") {
		t.Errorf("after the removal: %q", got)
	}
}

func TestTrace(t *testing.T) {
	t.Parallel()
	w, _ := chats(t)
	said := w.tg.Say(owner, owner, "follow me")
	w.sent(owner, 1)
	w.quiet()
	out, code := w.cli("trace", itoa(said.MessageID))
	for _, want := range []string{"accepted", "run", "mock/mock-1", "delivery", "arrived as"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("the trace (exit %d) does not say %q:\n%s", code, want, out)
		}
	}
}
