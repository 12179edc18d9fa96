package whatsapp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/whatsapp/whatsapptest"
)

// answered gives a host whose account is linked, connected, and has been written to by Anna.
func answered(t *testing.T) (*host, *whatsapptest.Person) {
	t.Helper()
	s := whatsapptest.New(t)
	anna := s.NewPerson("Anna")
	h := linked(t, s, s.NewPhone("Bot"))
	anna.Say(h.phone, "hello")
	h.texts("hello")
	h.phone.WaitDelivered()
	return h, anna
}

// texts waits for messages that say this, in this order, and nothing else.
func (h *host) texts(want ...string) {
	h.t.Helper()
	for _, text := range want {
		if in := h.next(); in.Event != channels.Message || in.Text != text || in.SentByThisLogin {
			h.t.Fatalf("%q came as %+v", text, in)
		}
	}
}

// once gives the events that have not come before. A store takes what comes again for what it is.
func (h *host) once() func() channels.Inbound {
	type event struct {
		kind channels.Event
		id   channels.MessageID
	}
	seen := map[event]bool{}
	return func() channels.Inbound {
		for {
			in := h.next()
			if e := (event{in.Event, in.ID}); !seen[e] {
				seen[e] = true
				return in
			}
		}
	}
}

// idle checks that the account wrote to nobody and asked about nobody.
func (h *host) idle() {
	h.t.Helper()
	if sent, asked := h.phone.Stanzas(), h.phone.Lookups(); len(sent)+len(asked) != 0 {
		h.t.Errorf("nobody asked for it, and the account sent %v and looked up %v", sent, asked)
	}
}

// reopen starts the account again as a new process does.
func (h *host) reopen() {
	h.open()
	h.run()
	h.online()
}

// The process dies after WhatsApp took a message and before the receipt is on disk: the message is sent again with its key, and people
// see it once.
func TestFaultReceiptLost(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	to, n := h.direct(anna.Phone), channeltest.Times(8, 500)
	var want []string
	for i := range n {
		out := channels.Outbound{Key: fmt.Sprint("delivery ", i), To: to, Text: fmt.Sprint("text ", i)}
		want = append(want, out.Text)
		ctx, die := context.WithCancel(t.Context())
		sent := make(chan error, 1)
		ch := h.ch
		h.phone.LoseAnswer(1)
		go func() {
			_, err := ch.Send(ctx, out)
			sent <- err
		}()
		h.phone.WaitSent(2*i + 1)
		die()
		h.class(<-sent, channels.Ambiguous)
		if err := h.end(); err != nil {
			t.Fatal(err)
		}
		h.reopen()
		h.send(out)
	}
	var shown []string
	for _, m := range h.phone.Sent(anna) {
		shown = append(shown, m.Text)
	}
	if !slices.Equal(shown, want) || len(h.phone.Stanzas()) != 2*n || anna.Repeats() != n {
		t.Errorf("sent %d times, %d repeats, shown: %v", len(h.phone.Stanzas()), anna.Repeats(), shown)
	}
	h.none()
}

// The process dies after the library has decrypted a message and before the message is on disk: it comes again, and can be read although
// its key is used up.
//
// proves: D1
func TestFaultKilledBeforeCommit(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	for i := range channeltest.Times(4, 100) {
		disk, reached, die := t.TempDir(), make(chan struct{}, 1), make(chan struct{})
		h.refusing(func(channels.Inbound) error {
			select {
			case reached <- struct{}{}:
			default:
			}
			<-die
			return errors.New("the process is dead")
		})
		text := fmt.Sprint("message ", i)
		anna.Say(h.phone, text)
		<-reached
		for _, name := range []string{"keys.db", "keys.db-wal"} { // what the dead process leaves behind
			b, err := os.ReadFile(filepath.Join(h.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(disk, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		h.stop()
		close(die)
		if err := h.ended(); err != nil || h.phone.Waiting() != 1 {
			t.Fatalf("Run ended with %v, %d messages are not confirmed", err, h.phone.Waiting())
		}
		h.refusing(nil)
		h.dir = disk
		h.reopen()
		h.texts(text)
		h.none()
	}
}

// Nothing can be written for a while: nothing is acknowledged meanwhile, and then everything is taken, once and in order.
//
// proves: D1
func TestFaultDiskFull(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	bert := h.s.NewPerson("Bert")
	n := channeltest.Times(10, 200)
	full, tries := make(chan struct{}), make(chan channels.Event, 100000)
	h.refusing(func(in channels.Inbound) error {
		select {
		case <-full:
			return nil
		default:
			tries <- in.Event
			return errors.New("disk full")
		}
	})
	group := h.s.NewGroup("crew", anna.Phone, h.phone)
	group.Rename(anna.Phone, "the crew")
	want := map[channels.UserID][]string{}
	for i := range n {
		text := fmt.Sprint("message ", i)
		for _, p := range []*whatsapptest.Person{anna, bert} {
			p.Say(h.phone, text)
			want[channels.UserID(p.Number())] = append(want[channels.UserID(p.Number())], text)
		}
	}
	limit := time.After(bound)
	for renames := 0; renames < 4; { // it is tried three times on one connection
		select {
		case event := <-tries:
			if event == channels.Renamed {
				renames++
			}
		case <-limit:
			t.Fatal("what was refused does not come again")
		}
	}
	if waiting := h.phone.Waiting(); waiting != 2*n+1 {
		t.Errorf("%d events of %d are not acknowledged", waiting, 2*n+1)
	}
	close(full)
	got, next := map[channels.UserID][]string{}, h.once()
	for range 2*n + 1 {
		in := next()
		if in.Event == channels.Renamed {
			if in.Title != "the crew" || in.Address != h.group(group) {
				t.Errorf("renamed: %+v", in)
			}
			continue
		}
		got[in.Sender.ID] = append(got[in.Sender.ID], in.Text)
	}
	for who := range want {
		if !slices.Equal(got[who], want[who]) {
			t.Errorf("of %s came %v", who, got[who])
		}
	}
	h.phone.WaitDelivered()
	h.idle()
}

// The phone hands over its history: that is no conversation. Nobody is answered, and nobody written to.
func TestFaultHistoryReplay(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	old := make([]string, channeltest.Times(200, 5000))
	for i := range old {
		old[i] = fmt.Sprint("are you there? ", i)
	}
	h.phone.Replay(anna, old...)
	h.phone.WaitDelivered()
	anna.Say(h.phone, "new")
	h.texts("new")
	h.none()
	h.idle()
}

// Whatever WhatsApp does with the connection, the account has the right state, writes to nobody of its own, and what was written to
// it meanwhile comes once when it is back.
func TestFaultConnections(t *testing.T) {
	t.Parallel()
	refuse := func(f whatsapptest.Failure) func(*host) {
		return func(h *host) {
			h.phone.Refuse(&f)
			h.phone.Disconnect()
		}
	}
	for name, c := range map[string]struct {
		do    func(*host)
		state channels.State // Connected: it comes back by itself
		class channels.Class
	}{
		"440 replaced":     {(*host).replaced, channels.Replaced, channels.Unauthorized},
		"401 unlinked":     {func(h *host) { h.phone.Unlink() }, channels.LoggedOut, channels.Unauthorized},
		"401 at login":     {refuse(whatsapptest.Failure{Reason: 401}), channels.LoggedOut, channels.Unauthorized},
		"402 banned":       {refuse(whatsapptest.Failure{Reason: 402, Code: 101, Expire: time.Hour}), channels.Banned, channels.Limited},
		"405 outdated":     {refuse(whatsapptest.Failure{Reason: 405}), channels.Outdated, channels.Unauthorized},
		"408 no pong":      {func(h *host) { h.phone.NoPong(true); h.again() }, channels.Connected, ""},
		"408 silence":      {func(h *host) { h.phone.Silence(); h.again() }, channels.Connected, ""},
		"503 unavailable":  {func(h *host) { h.phone.StreamError(503); h.again() }, channels.Connected, ""},
		"515 restart":      {func(h *host) { h.phone.StreamError(515); h.again() }, channels.Connected, ""},
		"cut":              {func(h *host) { h.phone.Disconnect(); h.again() }, channels.Connected, ""},
		"503 at the login": {func(h *host) { refuse(whatsapptest.Failure{Reason: 503})(h); h.again(); h.again() }, channels.Connected, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := whatsapptest.New(t)
			anna := s.NewPerson("Anna")
			h := linked(t, s, s.NewPhone("Bot"))
			if c.state != channels.LoggedOut { // after its first message the library tidies up in the background, also keys that are gone
				anna.Say(h.phone, "hello")
				h.texts("hello")
				h.phone.WaitDelivered() // else it may come twice, which the store sees
			}
			c.do(h)
			if c.state != channels.Connected {
				h.class(h.ended(), c.class)
				if got := h.ch.Health(); got.State != c.state || got.Detail == "" {
					t.Errorf("health %+v", got)
				}
			}
			if c.state != channels.LoggedOut {
				anna.Say(h.phone, "are you back?")
				h.phone.Refuse(nil)
				h.phone.NoPong(false)
				if c.state != channels.Connected {
					h.reopen()
				}
				h.texts("are you back?")
				h.none()
			}
			if strings.Contains(h.log.String(), "still uses an ended connection") {
				t.Error("a connection was made while the library still handled what the one before had brought")
			}
			h.idle()
		})
	}
}

func (h *host) replaced() { h.phone.Replace() }

// again waits for one more login.
func (h *host) again() {
	h.t.Helper()
	logins := h.phone.Logins()
	waitFor(h.t, "another login", func() bool { return h.phone.Logins() > logins })
}

// WhatsApp names a chat by the number at first and by the LID later: it is one chat, and its messages are of one person.
func TestFaultAddressSwitch(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	group := h.s.NewGroup("crew", anna.Phone, h.phone)
	for i, by := range []whatsapptest.Addressing{whatsapptest.ByNumber, whatsapptest.ByLID, whatsapptest.Hidden, whatsapptest.ByNumber} {
		anna.Name(by)
		for _, chat := range []whatsapptest.Chat{h.phone, group} {
			text := fmt.Sprint("message ", i)
			anna.Say(chat, text)
			in := h.next()
			want := h.direct(anna.Phone)
			if chat == whatsapptest.Chat(group) {
				want = h.group(group)
			}
			if in.Event != channels.Message || in.Text != text || in.Address != want || in.Sender.ID != channels.UserID(anna.Number()) {
				t.Errorf("way %d: %+v", by, in)
			}
			if r := h.send(channels.Outbound{Key: fmt.Sprint(i, want), To: in.Address, Text: "answer to " + text}); r.ID == "" {
				t.Errorf("no id: %+v", r)
			}
		}
	}
	for _, chat := range []whatsapptest.Chat{anna, group} {
		if shown := h.phone.Sent(chat); len(shown) != 4 || !strings.HasSuffix(shown[3].Text, "message 3") {
			t.Errorf("shown: %+v", shown)
		}
	}
	h.none()
}

// Messages that cannot be decrypted are told, sent again by who wrote them, and come once; repeated and reordered stanzas add nothing.
func TestFaultUndecryptable(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	n, next := channeltest.Times(5, 100), h.once()
	var want, got, told []string
	for i := range n {
		text := fmt.Sprint("message ", i)
		h.phone.Garble(1)
		want = append(want, anna.Say(h.phone, text))
		for len(got) <= i {
			switch in := next(); in.Event {
			case channels.Message:
				got = append(got, string(in.ID))
			case channels.Unreadable:
				told = append(told, string(in.ID))
			default:
				t.Fatalf("came: %+v", in)
			}
		}
	}
	if !slices.Equal(got, want) || len(told) != n {
		t.Errorf("came %v, told of %d, want %v", got, len(told), want)
	}
	h.phone.Double(3)
	for i := range 3 {
		anna.Say(h.phone, fmt.Sprint("doubled ", i))
	}
	h.texts("doubled 0", "doubled 1", "doubled 2") // the library knows what it has decrypted before
	h.phone.Swap(3)
	for i := range 3 {
		anna.Say(h.phone, fmt.Sprint("swapped ", i))
	}
	for i := range 3 {
		if in := next(); in.Text != fmt.Sprint("swapped ", 2-i) {
			t.Errorf("came: %+v", in)
		}
	}
	h.none()
	h.idle()
}

// A connection that breaks between the login and the first word after it was none. The library waits 5 s for another one, and then says
// that it is connected all the same, whatever the state of that one is.
func TestHalfLogin(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	h.phone.HalfLogin()
	h.phone.Disconnect()
	waitFor(t, "the library to give up", func() bool { return strings.Contains(h.log.String(), "Failed to send post-connect") })
	anna.Say(h.phone, "are you back?")
	h.phone.FullLogin()
	h.phone.Disconnect()
	h.texts("are you back?")
	h.online()
	if got := strings.Count(h.log.String(), "state=connected"); got != 2 {
		t.Errorf("it was said to be connected %d times", got)
	}
}
