package discord_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"parley/channels/discord/discordtest"
)

// end is one way in which a connection ends.
type end struct {
	name string
	do   func(*discordtest.Server)
	deaf bool // the bot can find out only by a heartbeat that is not answered
}

// ends are all ways in which a connection to Discord ends that a bot has to come back from.
func ends() []end {
	list := []end{
		{"TCP cut (1006)", (*discordtest.Server).Drop, false},
		{"op 7", (*discordtest.Server).Reconnect, false},
		{"op 9, resumable", func(s *discordtest.Server) { s.Invalidate(true) }, false},
		{"op 9", func(s *discordtest.Server) { s.Invalidate(false) }, false},
		{"session forgotten", func(s *discordtest.Server) { s.Expire(); s.Drop() }, false},
		{"no HELLO", next(discordtest.Link{NoHello: true}), false},
		{"no READY", next(discordtest.Link{NoReady: true}), false},
		{"closed after HELLO", next(discordtest.Link{Close: discordtest.CloseUnknown}, discordtest.Link{Close: discordtest.CloseNoStatus}), false},
		{"upgrade refused", next(discordtest.Link{Status: 503}, discordtest.Link{Status: 520}), false},
		{"resume refused for ever", next(again, again, again, again, again, again), false},
		{"more missed than kept", func(s *discordtest.Server) {
			s.Drop()
			s.Replay(1)
			for i := range 3 {
				s.Say(garden, bert, fmt.Sprint("elsewhere ", i))
			}
		}, false},
		{"no ACK", (*discordtest.Server).Silence, true},
		{"guilds before READY", func(s *discordtest.Server) { s.Next(discordtest.Link{GuildsFirst: true}); s.Invalidate(false) }, false},
	}
	for _, code := range []int{1000, 1001, discordtest.CloseNoStatus, 1011, 1012, 4000, 4001, 4002, 4003, 4005, 4007, 4008, 4009} {
		list = append(list, end{fmt.Sprint("close ", code), func(s *discordtest.Server) { s.Disconnect(code) }, false})
	}
	return list
}

var again = discordtest.Link{Again: true}

// next cuts the line and says what the following connections meet.
func next(links ...discordtest.Link) func(*discordtest.Server) {
	return func(s *discordtest.Server) {
		s.Next(links...)
		s.Drop()
	}
}

// Connections end in every way that there is, hundreds of times. The bot comes back, in time, without spending the day's IDENTIFYs,
// without trying to resume for ever, and without losing, doubling or reordering a message.
func TestFaultDiscordFlap(t *testing.T) {
	n := times(80, 1000)
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, discordtest.NewPiped(t))
		h.srv.IdentifyLimit(1000, 5*time.Second)
		dm, list := h.srv.AddDM(anna), ends()
		wants := map[string][]string{}
		var back []time.Duration
		grown := 0
		for i := range n {
			h.connected()
			if i%3 == 0 { // a gateway that never holds a connection is waited for longer, see TestFaultDiscordNeverHolds
				time.Sleep(31 * time.Second)
			}
			how, began := list[i%len(list)], time.Now()
			how.do(h.srv)
			for _, chat := range []string{dm, general} {
				text := fmt.Sprintf("%d: %s", i, how.name)
				wants[chat] = append(wants[chat], text)
				h.srv.Say(chat, anna, text)
			}
			h.arrives(dm, wants[dm][i])
			h.arrives(general, wants[general][i])
			h.connected()
			h.srv.Replay(1000)
			if took := time.Since(began); !how.deaf {
				back = append(back, took)
			} else if took > 2*41250*time.Millisecond+15*time.Second {
				t.Errorf("%s: back after %s", how.name, took)
			}
			if i == len(list) {
				synctest.Wait()
				grown = -runtime.NumGoroutine()
			}
		}
		h.same(dm, wants[dm])
		h.same(general, wants[general])
		synctest.Wait()
		if grown += runtime.NumGoroutine(); grown > 5 {
			t.Errorf("%d goroutines more than after the first round", grown)
		}
		slices.Sort(back)
		p99, most, stats := back[len(back)*99/100], back[len(back)-1], h.srv.Stats()
		t.Logf("%d ends: back after %s (median), %s (p99), %s (most); %+v; %d offered again", n, back[len(back)/2], p99, most, stats, h.again)
		bound := 15 * time.Second
		if n < 1000 { // the slowest of a few is no p99
			bound = 20 * time.Second
		}
		if p99 > bound {
			t.Errorf("back after %s (p99), %s (most)", p99, most)
		}
		if stats.Vain > 3 {
			t.Errorf("%d RESUMEs in a row led to nothing", stats.Vain)
		}
		if len(h.lost) > 0 {
			t.Errorf("said to be lost: %q", h.lost)
		}
	})
}

// A gateway that takes every RESUME and ends the connection at once is not asked again and again, and nothing is lost meanwhile.
func TestFaultDiscordNeverHolds(t *testing.T) {
	t.Parallel()
	virtual(t, func(t *testing.T, h *host) {
		h.connected()
		began, before := time.Now(), h.srv.Stats().Resumes
		var want []string
		for n := 0; time.Since(began) < time.Hour; n++ {
			h.srv.Drop()
			want = append(want, fmt.Sprint("word ", n))
			h.srv.Say(general, anna, want[n])
			h.connected()
		}
		if n := h.srv.Stats().Resumes - before; n < 60 || n > 200 {
			t.Errorf("%d RESUMEs in an hour", n)
		}
		h.arrives(general, want[len(want)-1])
		h.same(general, want)
		time.Sleep(time.Minute)
		began = time.Now()
		h.srv.Drop()
		h.connected()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("back after %s although the connection had lasted", took)
		}
	})
}

// Three RESUMEs that lead to nothing are enough.
func TestFaultDiscordResumeForEver(t *testing.T) {
	t.Parallel()
	virtual(t, func(t *testing.T, h *host) {
		h.connected()
		synctest.Wait()
		before := h.srv.Stats()
		h.srv.Next(slices.Repeat([]discordtest.Link{again}, 20)...)
		h.srv.Drop()
		h.srv.Say(general, anna, "kept in the session that cannot be resumed")
		h.arrives(general, "kept in the session that cannot be resumed")
		if after := h.srv.Stats(); after.Resumes-before.Resumes != 3 || after.Identifies-before.Identifies != 1 {
			t.Errorf("%+v, before %+v", after, before)
		}
	})
}

// A bot that is thrown out at once, day after day, does not use up a day's IDENTIFYs: Discord resets the token of one that does. The
// server counts; one too many is a violation.
func TestFaultDiscordIdentifyBudget(t *testing.T) {
	t.Parallel()
	virtual(t, func(t *testing.T, h *host) {
		h.connected()
		limit := times(30, 1000)
		h.srv.IdentifyLimit(limit, 5*time.Second)
		h.srv.Heartbeat(20 * time.Minute)
		began, before := time.Now(), h.srv.Stats().Identifies
		for time.Since(began) < 48*time.Hour {
			h.srv.Invalidate(false)
			if err := h.srv.Wait(t.Context(), h.srv.Ready); err != nil {
				t.Fatal(err)
			}
		}
		if n := h.srv.Stats().Identifies - before; n > 2*limit+1 || n < limit {
			t.Errorf("%d IDENTIFYs in two days, %d are allowed in one", n, limit)
		}
	})
}

// A bot that hears nothing any more is not called live, and finds it out by itself.
func TestFaultDiscordDeaf(t *testing.T) {
	t.Parallel()
	virtual(t, func(t *testing.T, h *host) {
		h.connected()
		time.Sleep(10 * time.Minute)
		if !h.bot.Health().Live(time.Now()) {
			t.Errorf("idle and healthy: %+v", h.bot.Health())
		}
		h.srv.Next(slices.Repeat([]discordtest.Link{{NoHello: true}}, 8)...)
		h.srv.Silence()
		h.srv.Say(general, anna, "heard at last")
		time.Sleep(84 * time.Second) // two heartbeats
		if health := h.bot.Health(); health.Live(time.Now()) {
			t.Errorf("deaf and still live: %+v", health)
		}
		h.arrives(general, "heard at last")
		if health := h.bot.Health(); !health.Live(time.Now()) {
			t.Errorf("back and not live: %+v", health)
		}
	})
}

// The same over real connections of this machine.
func TestFaultDiscordOverSockets(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Run("flap", func(t *testing.T) {
		h := newHost(t, discordtest.New(t))
		for i, how := range []func(){h.srv.Drop, h.srv.Reconnect, func() { h.srv.Disconnect(discordtest.CloseNoStatus) }, func() { h.srv.Disconnect(discordtest.CloseRateLimited) }} {
			h.connected()
			how()
			h.srv.Say(general, anna, fmt.Sprint("flap ", i))
			h.arrives(general, fmt.Sprint("flap ", i))
		}
		h.same(general, []string{"flap 0", "flap 1", "flap 2", "flap 3"})
		if stats := h.srv.Stats(); stats.Identifies != 1 || stats.Resumed == 0 {
			t.Errorf("%+v", stats)
		}
	})
	goleak.VerifyNone(t, before)
}
