package whatsapp_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mau.fi/whatsmeow/types/events"

	"parley/channels"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

// Every way to lose the account has a state that says what to do, and is not tried again.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	refuse := func(f whatsapptest.Failure) func(*host) {
		return func(h *host) {
			h.phone.Refuse(&f)
			h.phone.Disconnect()
		}
	}
	for name, c := range map[string]struct {
		do     func(*host)
		state  channels.State
		class  channels.Class
		advice string
		aside  bool
	}{
		"unlinked on the phone":  {func(h *host) { h.phone.Unlink() }, channels.LoggedOut, channels.Unauthorized, "parley login whatsapp", true},
		"unlinked while away":    {refuse(whatsapptest.Failure{Reason: 401}), channels.LoggedOut, channels.Unauthorized, "parley login whatsapp", true},
		"locked":                 {refuse(whatsapptest.Failure{Reason: 403}), channels.LoggedOut, channels.Unauthorized, "on the phone", true},
		"banned for good":        {refuse(whatsapptest.Failure{Reason: 406}), channels.LoggedOut, channels.Unauthorized, "review", true},
		"another client":         {func(h *host) { h.phone.Replace() }, channels.Replaced, channels.Unauthorized, "stop that program", false},
		"too old":                {refuse(whatsapptest.Failure{Reason: 405}), channels.Outdated, channels.Unauthorized, "install a newer", false},
		"not accepted as client": {refuse(whatsapptest.Failure{Reason: 409}), channels.Outdated, channels.Unauthorized, "install a newer", false},
		"not known":              {refuse(whatsapptest.Failure{Reason: 415}), channels.LoggedOut, channels.Unauthorized, "parley login whatsapp", true},
		"banned for ever":        {refuse(whatsapptest.Failure{Reason: 402, Code: 101, Expire: 1e12 * time.Millisecond}), channels.Banned, channels.Limited, "for an unknown time", false},
		"banned for a time":      {refuse(whatsapptest.Failure{Reason: 402, Code: 101, Expire: 3 * time.Hour}), channels.Banned, channels.Limited, "do not use it", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := whatsapptest.New(t)
			h := linked(t, s, s.NewPhone("Bot"))
			c.do(h)
			h.class(h.ended(), c.class)
			got := h.ch.Health()
			if got.State != c.state || !strings.Contains(got.Detail, c.advice) {
				t.Errorf("health %+v", got)
			}
			if wait := channels.Classify(h.ended()).RetryAfter.Round(time.Minute); c.class == channels.Limited && wait != map[string]time.Duration{"banned for a time": 3 * time.Hour, "banned for ever": time.Hour}[name] {
				t.Errorf("to be tried after %s", wait)
			}
			kept, _ := filepath.Glob(filepath.Join(h.dir, "keys.db.2*"))
			if c.aside != (len(kept) > 0) {
				t.Errorf("kept aside: %v", kept)
			}
			_, sent := h.ch.Send(t.Context(), channels.Outbound{Key: "1", To: h.direct(h.phone), Text: "x"})
			if c.state.Permanent() {
				h.class(sent, channels.Unauthorized)
			}
		})
	}
}

// One refusal ends no account, whatever it says; the keys stay where they are.
// source: tdlib/telegram-bot-api#77 (the same of another platform), tulir/whatsmeow events.LoggedOut (OnConnect)
func TestOneRefusalIsNoVerdict(t *testing.T) {
	t.Parallel()
	for _, reason := range []int{401, 405} {
		s := whatsapptest.New(t)
		h := linked(t, s, s.NewPhone("Bot"))
		whatsapp.SetVerdict(h.ch, time.Second)
		h.phone.Refuse(&whatsapptest.Failure{Reason: reason})
		h.phone.Disconnect()
		if got := h.state(channels.Disconnected); !strings.Contains(got.Detail, "parley tries again") {
			waitFor(t, "the reason", func() bool { return strings.Contains(h.ch.Health().Detail, "parley tries again") })
		}
		h.phone.Refuse(nil)
		h.online()
		if kept, _ := filepath.Glob(filepath.Join(h.dir, "keys.db.2*")); len(kept) > 0 {
			t.Errorf("%d: kept aside: %v", reason, kept)
		}
		if err := h.end(); err != nil {
			t.Errorf("%d: %v", reason, err)
		}
	}
}

// Refusals that may pass are tried again.
func TestRefusalsThatPass(t *testing.T) {
	t.Parallel()
	for _, code := range []int{400, 500, 503} {
		s := whatsapptest.New(t)
		h := linked(t, s, s.NewPhone("Bot"))
		h.phone.Refuse(&whatsapptest.Failure{Reason: code})
		h.phone.Disconnect()
		h.state(channels.Disconnected)
		h.phone.Refuse(nil)
		h.online()
		if err := h.end(); err != nil {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestSendFailures(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna := s.NewPerson("Anna")
	h := linked(t, s, s.NewPhone("Bot"))
	to := h.direct(anna.Phone)
	key := 0
	try := func(to channels.Address) error {
		key++
		_, err := h.ch.Send(t.Context(), channels.Outbound{Key: strings.Repeat("k", key), To: to, Text: "x"})
		return err
	}
	for code, class := range map[int]channels.Class{403: channels.Rejected, 404: channels.Rejected, 500: channels.Transient, 503: channels.Transient} {
		h.phone.Reject(code)
		h.class(try(to), class)
	}
	h.phone.Reject(429)
	if e := channels.Classify(try(to)); e.Class != channels.Limited || e.RetryAfter == 0 {
		t.Errorf("429: %v", e)
	}
	for _, chat := range []channels.ChatID{"", "x", "1234", "4915@example.org", "status@broadcast", "1203630000000000001@newsletter", "4915:3@s.whatsapp.net"} {
		h.class(try(channels.Address{Channel: to.Channel, Account: to.Account, Chat: chat, Type: channels.Direct}), channels.Rejected)
	}
	elsewhere := s.NewGroup("others", anna.Phone)
	gone := h.group(elsewhere)
	gone.Chat = "120363099999999999@g.us"
	h.class(try(gone), channels.Rejected)
	nobody := to
	nobody.Chat = "4999999999@s.whatsapp.net"
	h.class(try(nobody), channels.Rejected)
	if got := h.phone.Sent(anna); len(got) != 0 {
		t.Errorf("refused messages arrived: %+v", got)
	}

	h.phone.LoseAnswer(1)
	out := channels.Outbound{Key: "lost", To: to, Text: "once"}
	_, err := h.ch.Send(t.Context(), out)
	h.class(err, channels.Ambiguous)
	h.send(out)
	if got := h.phone.Sent(anna); len(got) != 1 {
		t.Errorf("repeated after a lost answer: %+v", got)
	}
}

// An account that WhatsApp restricts sends nothing for a while, says so, and goes on receiving.
func TestRestricted(t *testing.T) {
	t.Parallel()
	s := whatsapptest.New(t)
	anna := s.NewPerson("Anna")
	h := linked(t, s, s.NewPhone("Bot"))
	h.phone.Reject(463)
	out := channels.Outbound{Key: "1", To: h.direct(anna.Phone), Text: "x"}
	for range 2 { // the second does not even ask
		_, err := h.ch.Send(t.Context(), out)
		if e := channels.Classify(err); e.Class != channels.Limited || e.RetryAfter < 50*time.Minute {
			t.Errorf("restricted: %v", e)
		}
	}
	if got := h.ch.Health(); got.State != channels.Banned || !strings.Contains(got.Detail, "do not use it") {
		t.Errorf("health %+v", got)
	}
	if got := h.phone.Stanzas(); len(got) != 1 {
		t.Errorf("went out: %v", got)
	}
	anna.Say(h.phone, "hello")
	if in := h.next(); in.Text != "hello" {
		t.Errorf("received %+v", in)
	}
	logins := h.phone.Logins()
	h.phone.Disconnect()
	waitFor(t, "a new login", func() bool { return h.phone.Logins() > logins })
	h.state(channels.Banned)
}

// What a state says that a person is to do can be done.
func TestAdviceThatWorks(t *testing.T) {
	t.Parallel()
	h, _ := answered(t)
	h.phone.Refuse(&whatsapptest.Failure{Reason: 418})
	h.phone.Disconnect()
	h.class(h.ended(), channels.Unauthorized)
	h.phone.Refuse(nil)
	if _, err := steps(t, h, "", func(step channels.PairStep) error { return h.phone.Scan(step.QR) }); err != nil {
		t.Errorf("%s: %v", h.ch.Health().Detail, err)
	}
	detail, _ := whatsapp.Verdict(h.ch, &events.CATRefreshError{})
	if want := "run parley logout whatsapp, then parley login whatsapp"; !strings.Contains(detail, want) {
		t.Errorf("%q lacks %q", detail, want)
	}
}

// A message that WhatsApp calls invalid is that one's trouble only.
func TestInvalidMessage(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	h.phone.Reject(479)
	_, err := h.ch.Send(t.Context(), channels.Outbound{Key: "1", To: h.direct(anna.Phone), Text: "x"})
	h.class(err, channels.Rejected)
	if got := h.ch.Health(); got.State != channels.Connected {
		t.Errorf("health %+v", got)
	}
	h.send(channels.Outbound{Key: "2", To: h.direct(anna.Phone), Text: "y"})
}

// An account rests as long as WhatsApp says that a restriction lasts, a day at most before it looks again, and an hour when the end is none
// that WhatsApp can mean; what people read names the same time.
// source: https://pkg.go.dev/go.mau.fi/whatsmeow/types/events#NotifyAccountReachoutTimelock ("time_enforcement_ends")
func TestRestOfARestriction(t *testing.T) {
	t.Parallel()
	for ends, want := range map[time.Duration]time.Duration{20 * time.Hour: 20 * time.Hour, 10 * time.Minute: 10 * time.Minute, 30 * 24 * time.Hour: 24 * time.Hour, -time.Hour: time.Hour, 365 * 24 * time.Hour: time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			detail, wait := whatsapp.Restrict(t.Context(), time.Now().Add(ends))
			if wait != want || !strings.Contains(detail, "parley sends nothing until "+time.Now().Add(want).Format(time.RFC1123)) {
				t.Errorf("ends in %s: %s, %q", ends, wait, detail)
			}
			detail, wait = whatsapp.Banned(ends)
			if wait != want || !strings.HasSuffix(detail, "parley sends nothing until "+time.Now().Add(want).Format(time.RFC1123)) {
				t.Errorf("banned for %s: %s, %q", ends, wait, detail)
			}
		})
	}
}
