package whatsapp_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

// steps takes what a person is shown.
func steps(t *testing.T, h *host, phone string, use func(channels.PairStep) error) (shown []channels.PairStep, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	used := make(chan error, 10)
	err = h.ch.Pair(ctx, phone, func(s channels.PairStep) {
		shown = append(shown, s)
		if len(shown) == 1 {
			go func() { used <- use(s) }()
		}
	})
	if err == nil {
		if e := <-used; e != nil {
			t.Error(e)
		}
	}
	return shown, err
}

func TestPairing(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"QR", "code"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := whatsapptest.New(t)
			anna := s.NewPerson("Anna")
			h := newHost(t, s, s.NewPhone("Bot"))
			number, use := "", func(step channels.PairStep) error { return h.phone.Scan(step.QR) }
			if way == "code" {
				number, use = h.phone.Number(), func(step channels.PairStep) error { return h.phone.EnterCode(step.Code) }
			}
			shown, err := steps(t, h, number, use)
			if err != nil {
				t.Fatal(err)
			}
			if len(shown) != 1 || (shown[0].QR == "") == (shown[0].Code == "") || time.Until(shown[0].Expires) < 30*time.Second {
				t.Errorf("shown %d steps, the first for %s", len(shown), time.Until(shown[0].Expires))
			}
			log := h.log.String()
			for _, secret := range []string{shown[0].QR, shown[0].Code, strings.ReplaceAll(shown[0].Code, "-", "")} {
				if secret != "" && strings.Contains(log, secret) {
					t.Error("the log shows what only the person may see")
				}
			}
			for name, want := range map[string]os.FileMode{"": 0o700, "keys.db": 0o600} {
				if info, err := os.Stat(filepath.Join(h.dir, name)); err != nil || info.Mode().Perm() != want {
					t.Errorf("%q has %v, %v", name, info.Mode(), err)
				}
			}
			_, err = steps(t, h, "", use)
			h.class(err, channels.Rejected)
			h.run()
			h.online()
			anna.Say(h.phone, "hello")
			if in := h.next(); in.Text != "hello" {
				t.Errorf("after linking: %+v", in)
			}
			h.class(h.ch.Unpair(t.Context()), channels.Rejected) // Run has it
			if err := h.end(); err != nil {
				t.Error(err)
			}
			if err := h.ch.Unpair(t.Context()); err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(filepath.Join(h.dir, "keys*")); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			h.run()
			h.class(h.ended(), channels.Unauthorized)
		})
	}
}

func TestPairingThatFails(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	h := newHost(t, s, s.NewPhone("Bot"))
	_, err := steps(t, h, "0151 23", func(channels.PairStep) error { return nil })
	h.class(err, channels.Rejected)
	ctx, cancel := context.WithCancel(t.Context())
	err = h.ch.Pair(ctx, "", func(channels.PairStep) { cancel() })
	h.class(err, channels.Transient)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(h.dir, "keys*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// An event that is not taken comes again, and what follows it in its chat waits for it; other chats go on.
func TestRefusedEventsComeAgainInOrder(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna, bert := s.NewPerson("Anna"), s.NewPerson("Bert")
	h := linked(t, s, s.NewPhone("Bot"))
	tried := make(chan string, 100)
	h.refusing(func(in channels.Inbound) error {
		if in.Address != h.direct(anna.Phone) {
			return nil
		}
		tried <- in.Text
		return errors.New("the disk is full")
	})
	for _, text := range []string{"1", "2", "3"} {
		anna.Say(h.phone, text)
	}
	for range 4 { // in place, and after a new connection: never the second before the first
		if got := <-tried; got != "1" {
			t.Errorf("%q was offered before what came first", got)
		}
	}
	bert.Say(h.phone, "hello from Bert")
	if in := h.next(); in.Text != "hello from Bert" {
		t.Errorf("another chat waits: %+v", in)
	}
	h.phone.WaitWaiting(3)          // the host has said that it has Bert's
	if err := h.end(); err != nil { // and over a restart
		t.Error(err)
	}
	h.refusing(nil)
	h.open()
	h.run()
	var got []string
	for range 3 {
		in := h.next()
		got = append(got, in.Text)
		if !in.Late {
			t.Errorf("%q waited on the server and is not late", in.Text)
		}
	}
	if !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("came as %v", got)
	}
	h.none()
}

// What is taken is acknowledged, so it does not come again; what waits while nobody is connected comes late, and says that what was sent with it
// may follow; history never comes.
func TestOfflineAndHistory(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna := s.NewPerson("Anna")
	h := linked(t, s, s.NewPhone("Bot"))
	anna.Say(h.phone, "now")
	if in := h.next(); in.Late {
		t.Errorf("late: %+v", in)
	}
	h.none()
	h.phone.Replay(anna, "from last week", "and more")
	h.none()
	if err := h.end(); err != nil {
		t.Error(err)
	}
	anna.Say(h.phone, "are you there?")
	h.run()
	if in := h.next(); in.Text != "are you there?" || !in.Late || !in.More {
		t.Errorf("waited: %+v", in)
	}
	h.online()
	anna.Say(h.phone, "good")
	if in := h.next(); in.Text != "good" || in.Late || in.More {
		t.Errorf("after that: %+v", in)
	}
	h.none()
}

// A message that cannot be decrypted is said to be on its way, and comes when its sender has sent it again.
func TestUndecryptable(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna := s.NewPerson("Anna")
	h := linked(t, s, s.NewPhone("Bot"))
	anna.Say(h.phone, "first")
	h.next()
	h.phone.Garble(1)
	id := anna.Say(h.phone, "garbled")
	in := h.next()
	if in.Event != channels.Unreadable || in.ID != channels.MessageID(id) || !strings.Contains(in.Reason, "waiting for this message") || in.Address != h.direct(anna.Phone) {
		t.Errorf("came as %+v", in)
	}
	for in.Event == channels.Unreadable {
		in = h.next()
	}
	if in.Text != "garbled" || in.ID != channels.MessageID(id) {
		t.Errorf("sent again: %+v", in)
	}
}

// Connections come and go; pings keep the health fresh.
func TestConnectionsThatBreak(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna := s.NewPerson("Anna")
	h := linked(t, s, s.NewPhone("Bot"))
	seen := h.ch.Health().LastSeen
	waitFor(t, "a pong", func() bool { return h.ch.Health().LastSeen.Sub(seen) > 500*time.Millisecond })
	for i, cut := range []func(){h.phone.Disconnect, func() { h.phone.StreamError(503) }, func() { h.phone.StreamError(515) }, func() { h.phone.StreamError(599) }} {
		logins := h.phone.Logins()
		cut()
		waitFor(t, "a new login", func() bool { return h.phone.Logins() > logins })
		text := strings.Repeat("x", i+1)
		anna.Say(h.phone, text)
		if in := h.next(); in.Text != text {
			t.Errorf("cut %d: %+v", i, in)
		}
	}
	h.online()
	began := time.Now()
	if err := h.end(); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("Run ended with %v after %s", err, time.Since(began))
	}
	if got := h.ch.Health(); got.State != channels.Stopped {
		t.Errorf("health %+v", got)
	}
}

// An account whose server does not answer does not keep another one from being linked.
func TestLinkingBesideAServerThatIsSilent(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	silent := newHost(t, s, s.NewPhone("Silent"))
	silent.link()
	reached := make(chan struct{}, 100)
	ch, err := whatsapp.New(whatsapp.Config{}, whatsapp.Deps{Dir: silent.dir, Client: &http.Client{Transport: hanging(reached)}})
	if err != nil {
		t.Fatal(err)
	}
	silent.ch = ch
	silent.run()
	<-reached
	h := newHost(t, s, s.NewPhone("Bot"))
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	defer cancel()
	shown := make(chan struct{}, 100)
	done := make(chan error, 1)
	go func() { done <- h.ch.Pair(ctx, "", func(channels.PairStep) { shown <- struct{}{} }) }()
	select {
	case <-shown:
		cancel()
		h.class(<-done, channels.Transient)
	case err := <-done:
		t.Errorf("no code: %v", err)
	}
	if err := silent.end(); err != nil {
		t.Error(err)
	}
}

type hanging chan struct{}

func (h hanging) RoundTrip(req *http.Request) (*http.Response, error) {
	h <- struct{}{}
	<-req.Context().Done()
	return nil, req.Context().Err()
}
