package discord_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/discord/discordtest"
)

// host is what a bot meets in a host: a supervisor, an inbox that keeps the texts of each chat, and a disk.
type host struct {
	testing.TB
	srv  *discordtest.Server
	disk *disk
	bot  bot
	halt func()
	err  chan error // what Run ended with

	mu     sync.Mutex
	taken  map[channels.ChatID][]string
	ids    map[string]bool
	lost   []string // reasons of unreadable events
	again  int      // offers of what was taken already
	refuse func(channels.Inbound) error
	change chan struct{}
}

// newHost gives a running bot to which anna and the house have written before.
func newHost(t testing.TB, srv *discordtest.Server) *host {
	t.Helper()
	furnish(srv)
	h := &host{
		TB: t, srv: srv, disk: newDisk(t), taken: map[channels.ChatID][]string{}, ids: map[string]bool{},
		change: make(chan struct{}),
	}
	h.disk.know(srv, srv.AddDM(anna), anna, channels.Direct)
	h.disk.know(srv, general, anna, channels.Room)
	h.start()
	t.Cleanup(h.stop)
	return h
}

// start makes a new bot of the account, as a host does that was started again.
func (h *host) start() {
	h.Helper()
	h.bot = open(h, h.srv, h.disk, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	h.err = make(chan error, 1)
	ended, run := h.err, h.bot
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended <- run.Run(ctx, h.inbox)
	}()
	h.halt = func() { cancel(); <-done }
}

func (h *host) stop() {
	if h.halt != nil {
		h.halt()
		h.halt = nil
	}
}

func (h *host) inbox(_ context.Context, in channels.Inbound) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() {
		close(h.change)
		h.change = make(chan struct{})
	}()
	if h.refuse != nil {
		if err := h.refuse(in); err != nil {
			return err
		}
	}
	switch in.Event {
	case channels.Unreadable:
		h.lost = append(h.lost, in.Reason)
	case channels.Message:
		if key := fmt.Sprint(in.Address.Chat, in.ID); h.ids[key] { // the store finds it out by the same key
			h.again++
		} else {
			h.ids[key] = true
			h.taken[in.Address.Chat] = append(h.taken[in.Address.Chat], in.Text)
		}
	}
	return nil
}

// until waits until done is true of what was taken. done is called under the lock.
func (h *host) until(what string, done func() bool) {
	h.Helper()
	bound := time.NewTimer(10 * time.Minute)
	defer bound.Stop()
	for {
		h.mu.Lock()
		ok, change := done(), h.change
		h.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-change:
		case <-bound.C:
			h.Fatalf("waited in vain for %s; %+v, %+v", what, h.srv.Stats(), h.bot.Health())
		}
	}
}

// arrives waits for a text in a chat.
func (h *host) arrives(chat, text string) {
	h.Helper()
	h.until(text, func() bool { return slices.Contains(h.taken[channels.ChatID(chat)], text) })
}

// connected waits until the gateway has a session with the bot.
func (h *host) connected() {
	h.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if err := h.srv.Wait(ctx, h.srv.Ready); err != nil {
		h.Fatalf("the bot is not back after ten minutes; %+v, %+v", h.srv.Stats(), h.bot.Health())
	}
}

// direct is the address of anna's chat.
func (h *host) direct() channels.Address {
	return channels.Address{Channel: "discord", Account: channels.DefaultAccount, Chat: channels.ChatID(h.srv.AddDM(anna)), Type: channels.Direct}
}

// virtual runs a test on a clock that leaps.
func virtual(t *testing.T, test func(t *testing.T, h *host)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newHost(t, discordtest.NewPiped(t))) })
}

var errDisk = errors.New("disk full")

// An inbox that refuses holds its chat up and no other; what it refused comes in order when it takes again, more than the adapter
// keeps in memory included.
func TestFaultDiscordRefusedInbox(t *testing.T) {
	t.Parallel()
	virtual(t, func(_ *testing.T, h *host) {
		h.connected()
		full := true
		h.mu.Lock()
		h.refuse = func(in channels.Inbound) error {
			if full && in.Address.Chat == general {
				return errDisk
			}
			return nil
		}
		h.mu.Unlock()
		const many = 300
		var want []string
		for i := range many {
			want = append(want, fmt.Sprint("held ", i))
			h.srv.Say(general, anna, want[i])
		}
		dm := h.srv.AddDM(anna)
		h.srv.Say(dm, anna, "not held")
		h.arrives(dm, "not held")
		time.Sleep(time.Minute)
		h.mu.Lock()
		full = false
		h.mu.Unlock()
		h.until("all of it", func() bool { return len(h.taken[general]) >= many })
		h.same(general, want)
	})
}

// same compares what was taken in a chat.
func (h *host) same(chat string, want []string) {
	h.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := h.taken[channels.ChatID(chat)]; !slices.Equal(got, want) {
		h.Errorf("chat %s: %d texts were taken, %d were written; in order: %.300q", chat, len(got), len(want), got)
	}
}

// What is missed for good is said: more than the adapter reads again, and what is older than a day.
func TestFaultDiscordLongGap(t *testing.T) {
	t.Parallel()
	virtual(t, func(_ *testing.T, h *host) {
		h.connected()
		h.stop()
		for i := range 510 {
			h.srv.Miss(general, anna, fmt.Sprint("missed ", i))
		}
		h.start()
		h.until("the reason", func() bool { return len(h.lost) > 0 })
		h.mu.Lock()
		defer h.mu.Unlock()
		if got := h.taken[general]; len(got) != 500 || got[0] != "missed 0" || got[499] != "missed 499" {
			h.Errorf("%d messages were read again", len(got))
		}
		if len(h.lost) != 1 || !strings.Contains(h.lost[0], "500") {
			h.Errorf("said: %q", h.lost)
		}
	})
}

// closing makes every connection end with a code.
func closing(code int) func(*discordtest.Server) {
	return func(s *discordtest.Server) {
		s.Next(slices.Repeat([]discordtest.Link{{Close: code}}, 100)...)
		s.Drop()
	}
}

// What only a person can mend ends Run with a state that says so, and nothing is tried after that.
func TestFaultDiscordRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		breaks func(*discordtest.Server)
		class  channels.Class
		state  channels.State
		hint   string
	}{
		"token at connect":   {func(s *discordtest.Server) { s.Revoke(true); s.Disconnect(discordtest.CloseSessionTimedOut) }, channels.Unauthorized, channels.Revoked, "token"},
		"token at resume":    {func(s *discordtest.Server) { s.Revoke(true); s.Drop() }, channels.Unauthorized, channels.Revoked, "token"},
		"intents at connect": {func(s *discordtest.Server) { s.Privileged(0); s.Disconnect(discordtest.CloseSessionTimedOut) }, channels.Rejected, channels.Refused, "Message Content"},
		"4010":               {closing(discordtest.CloseInvalidShard), channels.Rejected, channels.Refused, "shard"},
		"4011":               {closing(discordtest.CloseShardingRequired), channels.Rejected, channels.Refused, "shard"},
		"4012":               {closing(discordtest.CloseInvalidVersion), channels.Rejected, channels.Refused, "version"},
		"4013":               {closing(discordtest.CloseInvalidIntents), channels.Rejected, channels.Refused, "Intent"},
		"4014":               {closing(discordtest.CloseDisallowedIntents), channels.Rejected, channels.Refused, "Message Content"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			virtual(t, func(t *testing.T, h *host) {
				h.connected()
				c.breaks(h.srv)
				var err error
				select {
				case err = <-h.err:
				case <-time.After(10 * time.Minute):
					t.Fatal("Run goes on")
				}
				if got := channels.Classify(err).Class; got != c.class {
					t.Errorf("Run ended with %v", err)
				}
				health := h.bot.Health()
				if health.State != c.state || !health.State.Permanent() || !strings.Contains(health.Detail, c.hint) || discordtest.IsSecret(health.Detail+err.Error()) {
					t.Errorf("%+v", health)
				}
				synctest.Wait() // what was under way
				calls, links := len(h.srv.Calls()), h.srv.Stats().Connections
				time.Sleep(time.Hour)
				if len(h.srv.Calls()) != calls || h.srv.Stats().Connections != links {
					t.Error("something was tried all the same")
				}
			})
		})
	}
}

// While the platform asks to wait nothing is asked of it, whoever asks: a host that was started again neither.
func TestFaultDiscordRateLimit(t *testing.T) {
	t.Parallel()
	virtual(t, func(t *testing.T, h *host) {
		h.connected()
		to := h.direct()
		post := func() error {
			_, err := h.bot.Send(t.Context(), channels.Outbound{Key: "k", To: to, Text: "x", Plain: "x"})
			return err
		}
		count := func() int { return len(h.srv.Calls("POST " + discordtest.RouteMessages)) }
		h.srv.Inject(discordtest.TooManyRequests(string(to.Chat), 2500*time.Millisecond))
		first := channels.Classify(post())
		if first.Class != channels.Limited || first.RetryAfter != 2500*time.Millisecond {
			t.Errorf("%v", first)
		}
		time.Sleep(2400 * time.Millisecond)
		h.bot = open(h, h.srv, h.disk, slog.New(slog.DiscardHandler))
		if early := channels.Classify(post()); early.Class != channels.Limited || early.RetryAfter != 100*time.Millisecond || count() != 1 {
			t.Errorf("%v after %d calls", early, count())
		}
		time.Sleep(100 * time.Millisecond)
		if err := post(); err != nil || count() != 2 {
			t.Errorf("%v after %d calls", err, count())
		}
		f := discordtest.TooManyRequests(string(to.Chat), 10*time.Second)
		f.Global = true
		h.srv.Inject(f)
		_ = post()
		all := len(h.srv.Calls())
		if err := h.bot.Typing(t.Context(), to); channels.Classify(err).Class != channels.Limited || len(h.srv.Calls()) != all {
			t.Errorf("typing during a global limit: %v", err)
		}
		next := open(h, h.srv, h.disk, slog.New(slog.DiscardHandler))
		if err := next.Typing(t.Context(), to); channels.Classify(err).Class != channels.Limited || len(h.srv.Calls()) != all {
			t.Errorf("typing during a global limit, by the next process: %v", err)
		}
		h.srv.Inject(discordtest.Fault{Route: discordtest.RouteGatewayBot, Status: http.StatusTooManyRequests, RetryAfter: 90 * time.Second})
		time.Sleep(10 * time.Second)
		h.srv.Disconnect(discordtest.CloseSessionTimedOut)
		dm := h.srv.AddDM(anna)
		h.srv.Say(dm, anna, "after the limit")
		h.arrives(dm, "after the limit")
		asked := h.srv.Calls("GET " + discordtest.RouteGatewayBot)
		last := asked[len(asked)-2:]
		if gap := last[1].At.Sub(last[0].At); last[0].Status != http.StatusTooManyRequests || gap < 90*time.Second || gap > 2*time.Minute {
			t.Errorf("asked again after %s", gap)
		}
	})
}

// The bucket of a channel, as Discord counts it: nobody who goes by its headers is ever refused.
func TestFaultDiscordBucket(t *testing.T) {
	t.Parallel()
	virtual(t, func(t *testing.T, h *host) {
		h.connected()
		h.srv.Pace(5, 5*time.Second)
		to, shown, began := h.direct(), 0, time.Now()
		for n := 0; shown < 50; n++ {
			_, err := h.bot.Send(t.Context(), channels.Outbound{Key: fmt.Sprint(shown), To: to, Text: fmt.Sprint(shown), Plain: "x"})
			if err == nil {
				shown++
				continue
			}
			failed := channels.Classify(err)
			if failed.Class != channels.Limited || failed.RetryAfter <= 0 || n > 200 {
				t.Fatal(err)
			}
			time.Sleep(failed.RetryAfter)
		}
		if took := time.Since(began); took < 45*time.Second || took > 60*time.Second {
			t.Errorf("50 messages took %s", took)
		}
		for _, c := range h.srv.Calls("POST " + discordtest.RouteMessages) {
			if c.Status == http.StatusTooManyRequests {
				t.Error("a 429 although the headers said before that the bucket is empty")
			}
		}
	})
}

// Files of people are read although their addresses expired meanwhile; a line that breaks is nothing for ever.
func TestFaultDiscordExpiredFile(t *testing.T) {
	t.Parallel()
	virtual(t, func(t *testing.T, h *host) {
		h.connected()
		var media []channels.Media
		h.mu.Lock()
		h.refuse = func(in channels.Inbound) error {
			media = append(media, in.Media...)
			return nil
		}
		h.mu.Unlock()
		h.srv.Say(general, anna, "look", discordtest.Attach(discordtest.File{Name: "a.txt", Type: "text/plain", Data: []byte("data")}))
		h.arrives(general, "look")
		h.srv.ExpireLinks()
		if data, err := h.bot.Fetch(t.Context(), media[0], 100); err != nil || string(data) != "data" {
			t.Errorf("%q, %v", data, err)
		}
		h.srv.Inject(discordtest.Fault{Route: discordtest.RouteFile, Cut: true, Times: -1})
		if _, err := h.bot.Fetch(t.Context(), media[0], 100); channels.Classify(err).Class != channels.Transient {
			t.Errorf("cut: %v", err)
		}
	})
}

// file is something to send along.
func file(name, data string) channels.File {
	return channels.File{
		Kind: channels.Document, Name: name, MIME: "text/plain", Size: int64(len(data)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(data)), nil },
	}
}

// times is how often the fault tests of this package repeat what they do.
func times(few, all int) int { return channeltest.Times(few, all) }
