package whatsapp_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"

	"parley/channels"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

// Pings in the time of a test.
var _ = func() bool {
	whatsmeow.KeepAliveIntervalMin, whatsmeow.KeepAliveIntervalMax = time.Second, 1200*time.Millisecond
	whatsmeow.KeepAliveResponseDeadline = 3 * time.Second
	return true
}()

// TestMain lets more tests run at once than there are processors: most of them wait.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for name, device := range map[string]string{"too long": strings.Repeat("x", 51), "a line break": "a\nb", "not UTF-8": "\xff"} {
		_, err := whatsapp.New(whatsapp.Config{DeviceName: device}, whatsapp.Deps{Dir: t.TempDir()})
		if field, ok := errors.AsType[*channels.FieldError](err); !ok || field.Field != "deviceName" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := whatsapp.New(whatsapp.Config{}, whatsapp.Deps{}); err == nil {
		t.Error("an account without a folder for its keys")
	}
	dir := filepath.Join(t.TempDir(), "none")
	ch, err := whatsapp.New(whatsapp.Config{}, whatsapp.Deps{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	caps := channels.Probe(ch)
	if caps.Typer == nil || caps.Editor == nil || caps.Reactor == nil || caps.Acknowledger == nil || caps.Remover == nil || caps.Fetcher == nil || caps.Pairer == nil || caps.Reporter == nil {
		t.Errorf("abilities %+v", caps)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("New has made files")
	}
}

// What is not linked says so and does not try again; a message before that may work later.
func TestNotLinked(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	h := newHost(t, s, s.NewPhone("Bot"))
	_, err := h.ch.Send(t.Context(), channels.Outbound{Key: "1", To: h.direct(h.phone), Text: "early"})
	h.class(err, channels.Transient)
	h.run()
	h.class(h.ended(), channels.Unauthorized)
	if got := h.ch.Health(); got.State != channels.LoggedOut || !strings.Contains(got.Detail, "parley login whatsapp") {
		t.Errorf("health %+v", got)
	}
	if _, err := os.Stat(h.dir); err == nil {
		t.Error("an account that is not linked has got a key file")
	}
}

func TestTextsBothWays(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna := s.NewPerson("Anna")
	h := linked(t, s, s.NewPhone("Bot"))
	id := anna.Say(h.phone, "hello")
	in := h.next()
	if in.Event != channels.Message || in.ID != channels.MessageID(id) || in.Text != "hello" || in.Address != h.direct(anna.Phone) ||
		in.Sender.ID != channels.UserID(anna.Number()) || in.Sender.Name != "Anna" || in.Late || in.SentByThisLogin || in.Mentioned || time.Since(in.Time) > time.Minute {
		t.Errorf("came as %+v", in)
	}
	out := channels.Outbound{Key: "run/1", To: in.Address, Text: "hello *Anna*", ReplyTo: in.ID}
	first, second := h.send(out), h.send(out)
	h.phone.WaitDelivered()
	if got := h.phone.Read(); len(got) != 0 {
		t.Errorf("marked as read before anybody said so: %v", got)
	}
	if first.ID != second.ID || len(first.ID) != 22 || !strings.HasPrefix(string(first.ID), "3EB0") || time.Since(first.At) > time.Minute {
		t.Errorf("receipts %+v, %+v", first, second)
	}
	got := h.phone.Sent(anna)
	if len(got) != 1 || got[0].Text != "hello *Anna*" || got[0].Quote != id || got[0].ID != string(first.ID) {
		t.Errorf("Anna sees %+v", got)
	}
	if asked := h.phone.Lookups(); len(asked) != 0 {
		t.Errorf("strangers were looked up: %v", asked)
	}
	if err := h.ch.Acknowledge(t.Context(), in.Address, in.ID); err != nil {
		t.Error(err)
	}
	waitFor(t, "the read receipt", func() bool { return len(h.phone.Read()) == 1 && h.phone.Read()[0] == id })

	anna.Say(h.phone, "thanks", whatsapptest.Quoting(h.phone, string(first.ID), "hello *Anna*"))
	if in = h.next(); in.Quote == nil || in.Quote.ID != first.ID || !in.Quote.FromBot || in.Quote.Text != "hello *Anna*" || !in.Mentioned {
		t.Errorf("the answer came as %+v, quote %+v", in, in.Quote)
	}
	h.none()
	if log := h.log.String(); strings.Contains(log, "hello") || strings.Contains(log, "thanks") {
		t.Error("the log shows what people write")
	}
}

// waitFor looks until something that no event tells of has happened.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(bound)
	for !done() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// One person is one chat, whichever of their addresses WhatsApp uses, and the chat of somebody whose number was hidden moves.
func TestOnePersonIsOneChat(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna, hidden := s.NewPerson("Anna"), s.NewPerson("Hidden")
	h := linked(t, s, s.NewPhone("Bot"))
	for name, by := range map[string]whatsapptest.Addressing{"by LID": whatsapptest.ByLID, "by number": whatsapptest.ByNumber, "hidden, but known": whatsapptest.Hidden} {
		if by == whatsapptest.Hidden {
			continue
		}
		anna.Name(by)
		anna.Say(h.phone, name)
		if in := h.next(); in.Address != h.direct(anna.Phone) || in.Sender.ID != channels.UserID(anna.Number()) {
			t.Errorf("%s: %+v", name, in)
		}
	}
	anna.Name(whatsapptest.Hidden)
	anna.Say(h.phone, "hidden, but known")
	if in := h.next(); in.Address != h.direct(anna.Phone) || in.Sender.ID != channels.UserID(anna.Number()) {
		t.Errorf("a number that was known before: %+v", in)
	}

	hidden.Name(whatsapptest.Hidden)
	hidden.Say(h.phone, "who am I")
	in := h.next()
	by := channels.Address{Channel: whatsapp.Kind, Account: channels.DefaultAccount, Chat: channels.ChatID(hidden.LID().String()), Type: channels.Direct}
	if in.Address != by || in.Sender.ID != channels.UserID(hidden.LID().String()) {
		t.Errorf("a hidden number: %+v", in)
	}
	h.send(channels.Outbound{Key: "2", To: by, Text: "I do not know"})
	if got := h.phone.Sent(hidden); len(got) != 1 {
		t.Errorf("sent by LID: %+v", got)
	}
	if err := h.end(); err != nil { // that the number was not known outlives the process
		t.Error(err)
	}
	h.open()
	h.run()
	h.online()
	hidden.Name(whatsapptest.ByLID)
	hidden.Say(h.phone, "it is me")
	moved, in := h.next(), h.next()
	if moved.Event != channels.Moved || moved.Address != by || moved.MovedTo != h.direct(hidden.Phone).Chat {
		t.Errorf("the move came as %+v", moved)
	}
	if in.Text != "it is me" || in.Address != h.direct(hidden.Phone) {
		t.Errorf("after the move: %+v", in)
	}
	hidden.Say(h.phone, "once")
	if in = h.next(); in.Event != channels.Message {
		t.Errorf("moved again: %+v", in)
	}
}

// In the chat with oneself the phone is the owner who speaks; elsewhere what the phone writes is the account's own.
func TestOwnPhone(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna := s.NewPerson("Anna")
	h := linked(t, s, s.NewPhone("Bot"))
	me := h.phone.Owner()
	id := me.Say(h.phone, "note to myself")
	in := h.next()
	if in.SentByThisLogin || in.Address != h.direct(h.phone) || in.Sender.ID != channels.UserID(h.phone.Number()) || in.ID != channels.MessageID(id) {
		t.Errorf("the owner: %+v", in)
	}
	r := h.send(channels.Outbound{Key: "1", To: in.Address, Text: "noted"})
	for _, id := range []channels.MessageID{in.ID, r.ID} {
		if err := h.ch.Acknowledge(t.Context(), in.Address, id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if !me.WaitHeard(h.phone, "noted") {
		return
	}
	me.Say(h.phone, "good", whatsapptest.Quoting(h.phone, string(r.ID), "noted"))
	if in = h.next(); in.Quote == nil || !in.Quote.FromBot {
		t.Errorf("an answer to ours: %+v", in.Quote)
	}
	me.Say(h.phone, "more", whatsapptest.Quoting(h.phone, id, "note to myself"))
	if in = h.next(); in.Quote == nil || in.Quote.FromBot {
		t.Errorf("an answer to one's own: %+v", in.Quote)
	}
	me.Say(anna, "hello Anna")
	if in = h.next(); !in.SentByThisLogin || in.Address != h.direct(anna.Phone) {
		t.Errorf("to somebody else: %+v", in)
	}
	h.none()
	h.class(h.ch.Acknowledge(t.Context(), in.Address, "UNKNOWN"), channels.Unsupported)
	if got := h.phone.Read(); len(got) != 0 {
		t.Errorf("own messages were marked as read: %v", got)
	}
}
