package discord

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

func TestResumeLosesNothing(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Drop()
		h.srv.Say(general, anna, "while away")
		in := h.one()
		if in.Text != "while away" || !in.Late {
			t.Errorf("%+v", in)
		}
		h.srv.Say(general, anna, "back")
		if in := h.one(); in.Late {
			t.Errorf("an event of the living connection is late: %+v", in)
		}
		if s := h.srv.Stats(); s.Identifies != 1 || s.Resumed != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestReconnects(t *testing.T) {
	for name, c := range map[string]struct {
		cut        func(*discordtest.Server)
		identifies int
	}{
		"asked":             {func(s *discordtest.Server) { s.Reconnect() }, 1},
		"1000":              {func(s *discordtest.Server) { s.Disconnect(1000) }, 1},
		"no status":         {func(s *discordtest.Server) { s.Disconnect(1005) }, 1},
		"4000":              {func(s *discordtest.Server) { s.Disconnect(4000) }, 1},
		"4007":              {func(s *discordtest.Server) { s.Disconnect(4007) }, 2},
		"4009":              {func(s *discordtest.Server) { s.Disconnect(4009) }, 2},
		"invalid":           {func(s *discordtest.Server) { s.Invalidate(false) }, 2},
		"invalid resumable": {func(s *discordtest.Server) { s.Invalidate(true) }, 1},
		"expired":           {func(s *discordtest.Server) { s.Expire(); s.Drop() }, 2},
		"no hello":          {func(s *discordtest.Server) { s.Next(discordtest.Link{NoHello: true}); s.Drop() }, 1},
		"no ready":          {func(s *discordtest.Server) { s.Next(discordtest.Link{NoReady: true}); s.Drop() }, 1},
		"gateway says 502":  {func(s *discordtest.Server) { s.Next(discordtest.Link{Status: 502}); s.Drop() }, 1},
		"deaf":              {func(s *discordtest.Server) { s.Silence() }, 1},
		"four vain resumes": {func(s *discordtest.Server) { l := discordtest.Link{Close: 4000}; s.Next(l, l, l); s.Drop() }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(h *host) {
				c.cut(h.srv)
				h.after(2 * time.Minute)
				if !h.ch.Health().Live(time.Now()) {
					t.Errorf("%+v", h.ch.Health())
				}
				h.srv.Say(general, anna, "hello")
				if in := h.one(); in.Text != "hello" {
					t.Errorf("%+v", in)
				}
				s := h.srv.Stats()
				if s.Identifies != c.identifies || s.Open != 1 {
					t.Errorf("%+v, want %d identifies", s, c.identifies)
				}
				if strings.HasPrefix(name, "400") && c.identifies == 2 && s.Resumes > 0 {
					t.Errorf("a session that is over is resumed: %+v", s)
				}
			})
		})
	}
}

func TestIdentifiesAreFar(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.IdentifyLimit(1000, 5*time.Second)
		for i := range 10 {
			if i%mostShort == 0 {
				h.after(quietLimit + time.Second) // one that lasted: nothing but the IDENTIFYs is waited for
			}
			began, before := time.Now(), h.srv.Stats().Identifies
			h.srv.Invalidate(false)
			for h.after(100 * time.Millisecond); !h.srv.Ready(); h.after(100 * time.Millisecond) {
				if time.Since(began) > 15*time.Second {
					t.Fatal("not back after 15 s")
				}
			}
			if n := h.srv.Stats().Identifies - before; n != 1 {
				t.Errorf("%d identifies for one session", n)
			}
		}
	})
}

func TestSpentBudgetWaits(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.IdentifyLimit(0, 0)
		h.srv.Invalidate(false)
		h.after(time.Hour)
		if s := h.srv.Stats(); s.Identifies != 1 {
			t.Errorf("identified without a budget: %+v", s)
		}
		if s := h.ch.Health(); s.State != channels.Disconnected || !strings.Contains(s.Detail, "no new session before") {
			t.Errorf("%+v", s)
		}
	})
}

func TestBackoffHasAnEnd(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Down(true)
		h.after(2 * time.Hour)
		h.srv.Down(false)
		h.after(61 * time.Second)
		if !h.srv.Ready() {
			t.Error("not back a minute after the platform was")
		}
	})
}

func TestBackFillComesFirst(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, anna, "first")
		h.one()
		h.srv.Expire()
		h.srv.Drop()
		var want []string
		for i := range 230 {
			text := fmt.Sprint("missed ", i)
			h.srv.Miss(general, anna, text)
			want = append(want, text)
		}
		h.after(300 * time.Millisecond)
		h.srv.Miss(general, anna, "last missed")
		want = append(want, "last missed")
		for !h.srv.Ready() {
			h.after(time.Millisecond)
		}
		h.srv.Say(general, anna, "live")
		want = append(want, "live")
		h.settle()
		list := h.taken()
		if got := words(list); got != strings.Join(want, ",") {
			t.Fatalf("%s", got)
		}
		for _, in := range list[:len(list)-1] {
			if !in.Late || in.Guild != town || in.Title == "" || len(in.Roles) != 1 || in.Address.Type != channels.Room {
				t.Fatalf("%+v", in)
			}
		}
		if n := len(h.srv.Calls("GET " + discordtest.RouteMember)); n != 1 {
			t.Errorf("asked %d times for the roles of one person", n)
		}
	})
}

// A comment and what is forwarded with it are known to belong together where both are at hand: read again, or waiting in the chat's line.
// source: https://docs.discord.com/developers/resources/message#message-snapshot-object (a forward is a message of its own)
func TestGesturesOfOneBurst(t *testing.T) {
	inBubble(t, func(h *host) {
		offer := h.srv.Say(side, bert, "We offer 50k")
		h.one()
		more := func(want string) {
			t.Helper()
			got := ""
			for _, in := range h.taken() {
				got += fmt.Sprintf("%s %v,", in.Sender.Name, in.More)
			}
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		burst := func(say func(string, string, string, ...discordtest.Option) string) {
			say(general, anna, "What do you think?")
			say(general, bert, "meanwhile")
			say(general, anna, "", discordtest.Forward(side, offer))
			say(general, bert, "that is all")
		}
		h.srv.Expire()
		h.srv.Drop()
		burst(h.srv.Miss)
		h.settle()
		more("Anna A. true,bert false,Anna A. false,bert false,")
		h.mu.Lock()
		h.refuse = func(channels.Inbound) error { return errors.New("busy") }
		h.mu.Unlock()
		h.srv.Say(general, bert, "live")
		burst(h.srv.Say)
		h.settle()
		h.mu.Lock()
		h.refuse = nil
		h.mu.Unlock()
		h.settle()
		more("bert false,Anna A. true,bert false,Anna A. false,bert false,")
		h.srv.Say(general, anna, "one by one")
		h.settle()
		more("Anna A. false,")
	})
}

// An event that comes before it is known what has to be read again waits for that, and what was read is not offered again.
func TestLiveEventsWaitForTheDisk(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, anna, "first")
		h.one()
		h.slow = 3 * time.Second
		h.srv.Expire()
		h.srv.Drop()
		h.srv.Miss(general, anna, "missed")
		for !h.srv.Ready() {
			h.after(time.Millisecond)
		}
		h.srv.Say(general, anna, "live")
		h.srv.Say(h.dm, anna, "new chat")
		h.after(time.Second)
		if list := h.taken(); len(list) > 0 {
			t.Errorf("too early: %s", words(list))
		}
		h.settle()
		var room []channels.Inbound
		for _, in := range h.taken() {
			if in.Address.Chat == general {
				room = append(room, in)
			}
		}
		if got := words(room); got != "missed,live" {
			t.Error(got)
		}
	})
}

func TestBackFillIsBounded(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, anna, "first")
		h.one()
		h.srv.Say(h.dm, anna, "old")
		h.one()
		h.stop()
		for range 501 {
			h.srv.Miss(general, anna, "missed")
		}
		h.srv.Miss(h.dm, anna, "too old")
		h.after(25 * time.Hour)
		for range 501 {
			h.srv.Miss(general, anna, "missed")
		}
		h.srv.Miss(h.dm, anna, "in time")
		h.open()
		h.start()
		defer h.stop()
		h.after(time.Minute)
		count := map[channels.Event]int{}
		var direct []string
		for _, in := range h.taken() {
			count[in.Event]++
			if in.Event == channels.Unreadable && (in.Reason == "" || !in.Late) {
				t.Errorf("%+v", in)
			}
			if in.Address.Type == channels.Direct {
				direct = append(direct, string(in.Event)+" "+in.Text)
			}
		}
		if count[channels.Message] != 501 || count[channels.Unreadable] != 2 {
			t.Errorf("%v", count)
		}
		if got := strings.Join(direct, ","); got != "message in time,unreadable " {
			t.Errorf("direct: %s", got)
		}
	})
}

func TestRefusedEventsKeepTheirOrder(t *testing.T) {
	inBubble(t, func(h *host) {
		h.refuse = func(in channels.Inbound) error {
			if in.Address.Chat == general {
				return errFull
			}
			return nil
		}
		for i := range 5 {
			h.srv.Say(general, anna, fmt.Sprint(i))
		}
		h.srv.Say(h.dm, anna, "other")
		if in := h.one(); in.Text != "other" {
			t.Errorf("a refused chat keeps another one waiting: %+v", in)
		}
		h.mu.Lock()
		h.refuse = nil
		h.mu.Unlock()
		h.settle()
		if got := words(h.taken()); got != "0,1,2,3,4" {
			t.Error(got)
		}
	})
}

func TestOverflowIsReadAgain(t *testing.T) {
	inBubble(t, func(h *host) {
		h.refuse = func(channels.Inbound) error { return errFull }
		var want []string
		for i := range 3 * maxWaiting {
			want = append(want, fmt.Sprint(i))
			h.srv.Say(general, anna, want[i])
		}
		h.settle()
		h.mu.Lock()
		h.refuse = nil
		h.mu.Unlock()
		h.after(time.Minute)
		if got := words(h.taken()); got != strings.Join(want, ",") {
			t.Error(got)
		}
	})
}

// What comes while a chat is read again is found by that reading, and not read a second time because too much of it came to be kept.
func TestOverflowOfAReadingIsReadOnce(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, anna, "first")
		h.one()
		h.mu.Lock()
		h.refuse = func(channels.Inbound) error { return errFull }
		h.mu.Unlock()
		h.srv.Expire()
		h.srv.Miss(general, anna, "missed")
		h.srv.Drop()
		h.settle()
		want := []string{"missed"}
		for i := range 3 * maxWaiting {
			want = append(want, fmt.Sprint(i))
			h.srv.Say(general, anna, want[i+1])
		}
		h.settle()
		h.mu.Lock()
		h.refuse = nil
		h.mu.Unlock()
		h.after(time.Minute)
		if got := words(h.taken()); got != strings.Join(want, ",") {
			t.Error(got)
		}
	})
}

func TestRunFinishesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		slow := make(chan struct{})
		h.refuse = func(channels.Inbound) error { <-slow; return nil }
		h.start()
		h.settle()
		h.srv.Say(general, anna, "slow")
		h.after(time.Second)
		go func() { time.Sleep(3 * time.Second); close(slow) }()
		began := time.Now()
		h.stop()
		if took := time.Since(began); took < 3*time.Second || took > 5*time.Second {
			t.Errorf("Run took %s to end", took)
		}
		if got := words(h.taken()); got != "slow" {
			t.Errorf("taken: %q", got)
		}
		if h.ch.Health().State != channels.Stopped {
			t.Errorf("%+v", h.ch.Health())
		}
	})
}

func TestGatewayWithoutBotQuestion(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Inject(discordtest.Fault{Method: http.MethodGet, Route: discordtest.RouteGatewayBot, Status: 404, Body: "404 page not found", Times: -1})
		h.srv.Invalidate(false)
		h.settle()
		if !h.srv.Ready() {
			t.Error("not connected by the plain question")
		}
	})
}

func TestBudget(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var b budget
	total := 0
	for end := now.Add(3 * day); now.Before(end); total++ {
		now = now.Add(b.wait(nil, now))
		b.spend(now)
		inDay := 0
		for _, at := range b.made {
			if now.Sub(at) < day {
				inDay++
			}
		}
		if inDay > identifyTotal {
			t.Fatalf("%d identifies in a day", inDay)
		}
	}
	if total < 2*identifyTotal {
		t.Errorf("only %d identifies in three days", total)
	}
}
