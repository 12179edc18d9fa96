package discord

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/discord/discordtest"
)

const (
	anna    = "200000000000000001"
	bert    = "200000000000000002"
	town    = "300000000000000001"
	general = "300000000000000002"
	side    = "300000000000000003"
	helpers = "300000000000000009"
)

// host is a bot on a stand-in, with what a host keeps about it.
type host struct {
	t    *testing.T
	srv  *discordtest.Server
	ch   *Channel
	logs *bytes.Buffer
	dm   string
	cfg  Config

	mu         sync.Mutex
	events     []channels.Inbound
	refuse     func(channels.Inbound) error
	last       map[channels.Address]channels.Position
	slow       time.Duration // of reading what is on disk
	identified func(context.Context, channels.UserID)
	halt       func() error
}

// inBubble runs a test in virtual time with a bot that is connected.
func inBubble(t *testing.T, test func(h *host)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		h.start()
		h.settle()
		defer h.stop()
		test(h)
	})
}

func newHost(t *testing.T) *host {
	srv := discordtest.NewPiped(t)
	srv.AddUser(discordtest.User{ID: anna, Name: "anna", Display: "Anna A."})
	srv.AddUser(discordtest.User{ID: bert, Name: "bert"})
	srv.AddGuild(town, "Town", anna, bert)
	srv.AddRole(town, helpers, "helpers", anna)
	srv.AddChannel(town, general, "general")
	srv.AddThread(general, side, "side talk", anna)
	h := &host{t: t, srv: srv, logs: &bytes.Buffer{}, dm: srv.AddDM(anna), last: map[channels.Address]channels.Position{}}
	h.cfg = Config{Token: channels.NewSecret(srv.Token()), APIURL: srv.APIURL()}
	h.open()
	return h
}

// open makes a new channel, as a host does that was started again.
func (h *host) open() {
	ch, err := New(h.cfg, Deps{Logger: slog.New(slog.NewTextHandler(h.logs, nil)), Client: h.srv.Client(), Seen: h.seen, Identified: h.identified})
	if err != nil {
		h.t.Fatal(err)
	}
	h.ch = ch
}

func (h *host) seen(context.Context) ([]channels.Position, error) {
	time.Sleep(h.slow)
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []channels.Position
	for _, p := range h.last {
		list = append(list, p)
	}
	return list, nil
}

func (h *host) inbox(ctx context.Context, in channels.Inbound) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refuse != nil {
		if err := h.refuse(in); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil { // as a store does
		return err
	}
	h.events = append(h.events, in)
	if p := h.last[in.Address]; in.Event == channels.Message && (len(in.ID) > len(p.ID) || in.ID > p.ID) {
		h.last[in.Address] = channels.Position{Address: in.Address, ID: in.ID, Time: in.Time}
	}
	return nil
}

func (h *host) start() {
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan error, 1)
	go func() { done <- h.ch.Run(ctx, h.inbox) }()
	h.halt = func() error { cancel(); return <-done }
}

func (h *host) stop() {
	h.t.Helper()
	if h.halt == nil {
		return
	}
	if err := h.halt(); err != nil {
		h.t.Errorf("Run: %v", err)
	}
	h.halt = nil
	if discordtest.IsSecret(h.logs.String()) {
		h.t.Errorf("the token is in the log:\n%s", h.logs)
	}
}

// settle lets everything happen that happens within d.
func (h *host) after(d time.Duration) { time.Sleep(d); synctest.Wait() }
func (h *host) settle()               { h.after(10 * time.Second) }

// taken gives what the inbox took so far, and forgets it.
func (h *host) taken() []channels.Inbound {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.events
	h.events = nil
	return list
}

// one gives the only event.
func (h *host) one() channels.Inbound {
	h.t.Helper()
	h.after(time.Second)
	list := h.taken()
	if len(list) != 1 {
		h.t.Fatalf("%d events, not one: %+v", len(list), list)
	}
	return list[0]
}

func words(list []channels.Inbound) string {
	var all []string
	for _, in := range list {
		all = append(all, in.Text)
	}
	return strings.Join(all, ",")
}

var errFull = errors.New("disk full")

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"no token":  {Config{}, "token: is missing"},
		"bad token": {Config{Token: channels.NewSecret("a b")}, "token: has characters"},
		"bad url":   {Config{Token: channels.NewSecret("Bot abc"), APIURL: "discord.com"}, "apiUrl: want an address"},
		"good":      {Config{Token: channels.NewSecret("Bot abc"), APIURL: "http://127.0.0.1:1/api/v9"}, ""},
	} {
		err := c.cfg.Validate()
		if got := ""; err != nil {
			if got = err.Error(); c.want == "" || !strings.Contains(got, c.want) {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
		} else if c.want != "" {
			t.Errorf("%s: no error, want %q", name, c.want)
		}
	}
}

func TestMessageInARoom(t *testing.T) {
	inBubble(t, func(h *host) {
		h.srv.Say(general, anna, "<@"+discordtest.BotID+"> look at <#"+general+">, <@"+bert+">")
		in := h.one()
		want := channels.Address{Channel: "discord", Account: "default", Chat: general, Type: channels.Room}
		switch {
		case in.Event != channels.Message, in.Address != want, in.Guild != town, in.Title != "#general · Town":
			t.Errorf("where: %+v", in)
		case in.Sender != (channels.Sender{ID: anna, Username: "anna", Name: "Anna A."}), len(in.Roles) != 1, in.Roles[0] != helpers:
			t.Errorf("who: %+v", in)
		case !in.Mentioned, !in.MentionsOthers, in.Late, in.SentByThisLogin:
			t.Errorf("for whom: %+v", in)
		case in.Text != "@parley_test look at #general, @bert", in.Addressed != "look at #general, @bert":
			t.Errorf("what: %q, %q", in.Text, in.Addressed)
		}
		h.srv.Say(side, bert, "psst")
		if in := h.one(); in.Parent != general || in.Title != "side talk · Town" || in.Address.Chat != side || in.Mentioned {
			t.Errorf("thread: %+v", in)
		}
		h.srv.Say(h.dm, anna, "hi")
		if in := h.one(); in.Address.Type != channels.Direct || in.Title != "" || in.Guild != "" {
			t.Errorf("direct: %+v", in)
		}
	})
}

func TestHealthIsTheHeartbeat(t *testing.T) {
	inBubble(t, func(h *host) {
		h.after(5 * time.Minute)
		now := h.ch.Health()
		if !now.Live(time.Now()) || now.Name != discordtest.BotName {
			t.Errorf("after five quiet minutes: %+v", now)
		}
		if age := time.Since(now.LastSeen); age > 42*time.Second {
			t.Errorf("the last heartbeat was acknowledged %s ago", age)
		}
	})
}

// ends are connections that end with a code.
func ends(code, times int) []discordtest.Link {
	return slices.Repeat([]discordtest.Link{{Close: code}}, times)
}

func TestRevokedAndRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*discordtest.Server)
		state channels.State
		class channels.Class
		says  string
	}{
		"token":   {func(s *discordtest.Server) { s.Revoke(true) }, channels.Revoked, channels.Unauthorized, "token"},
		"intent":  {func(s *discordtest.Server) { s.Privileged(0) }, channels.Refused, channels.Rejected, "Message Content Intent"},
		"shards":  {func(s *discordtest.Server) { s.Next(ends(4011, 100)...) }, channels.Refused, channels.Rejected, "sharding"},
		"version": {func(s *discordtest.Server) { s.Next(ends(4012, 100)...) }, channels.Refused, channels.Rejected, "version"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				c.spoil(h.srv)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				began := time.Now()
				err := h.ch.Run(ctx, h.inbox)
				if err == nil || channels.Classify(err).Class != c.class {
					t.Errorf("Run: %v", err)
				}
				if lasted := time.Since(began); lasted < verdictAfter || lasted > 10*time.Minute {
					t.Errorf("the account ended after %s", lasted)
				}
				if s := h.ch.Health(); s.State != c.state || !strings.Contains(s.Detail, c.says) {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// What the host finds by asking for abilities.
func TestAbilities(t *testing.T) {
	t.Parallel()
	ch, err := New(Config{Token: channels.NewSecret("x")}, Deps{})
	if err != nil {
		t.Fatal(err)
	}
	c := channels.Probe(ch)
	if c.Typer == nil || c.Editor == nil || c.Remover == nil || c.Reactor == nil || c.Fetcher == nil || c.Commander == nil || c.Reconciler == nil || c.Reporter == nil || c.Acknowledger == nil || c.Fader == nil {
		t.Errorf("%+v", c)
	}
	if c.Drafter != nil || c.Pairer != nil || c.Hooked != nil {
		t.Errorf("%+v", c)
	}
}
