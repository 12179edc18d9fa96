package delivery_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/channels/telegram"
	"parley/channels/telegram/telegramtest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

const (
	anna int64 = 1001
	bert int64 = 1002
	team int64 = -1001234567890
)

// botRig is a host with one bot more: the real adapter, at a server that plays Telegram.
type botRig struct {
	*routertest.Rig
	srv   *telegramtest.Server
	dir   string // the adapter's own
	leave func() // ends the adapter
}

var bot = settings.AccountRef{Channel: telegram.Kind, Account: channels.DefaultAccount}

func newBotRig(t *testing.T, tests ...func(*settings.Snapshot)) *botRig {
	t.Helper()
	srv := telegramtest.New(t)
	srv.AddGroup(team, "Team")
	srv.AddUser(telegramtest.User{ID: anna, Name: "Anna"})
	srv.AddUser(telegramtest.User{ID: bert, Name: "Bert"})
	with := func(s *settings.Snapshot) {
		s.Accounts[bot] = settings.Account{Pacing: asTelegram, Access: policy.Access{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}, GroupPolicy: policy.GroupOpen}}
	}
	g := &botRig{Rig: routertest.New(t, channeltest.Options{}, append([]func(*settings.Snapshot){with, routertest.EachAlone}, tests...)...), srv: srv, dir: t.TempDir()}
	g.connect()
	t.Cleanup(func() { g.leave() })
	return g
}

// connect starts the adapter, which knows of earlier ones what is in its files.
func (g *botRig) connect() {
	g.T.Helper()
	ch, err := telegram.New(telegram.Config{Token: channels.NewSecret(g.srv.Token())}, telegram.Deps{Client: g.srv.Client(), Holds: channels.NewHolds(g.dir, slog.New(slog.DiscardHandler)), Logger: slog.New(slog.DiscardHandler)})
	routertest.Check(g.T, err)
	ctx, cancel := context.WithCancel(g.T.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = ch.Run(ctx, g.Router.Receiver.Accept) // it ends with its context
	}()
	g.leave = func() { cancel(); <-done }
	g.Router.Attach(bot, ch)
	synctest.Wait()
}

// restart is the next process.
func (g *botRig) restart() {
	g.T.Helper()
	g.leave()
	g.Stop()
	g.Start()
	g.connect()
}

// chatOf is a chat at the bot.
func chatOf(id int64) channels.Address {
	a := channels.Address{Channel: telegram.Kind, Account: channels.DefaultAccount, Chat: channels.ChatID(strconv.FormatInt(id, 10)), Type: channels.Direct}
	if id < 0 {
		a.Type = channels.Group
	}
	return a
}

// callsFor are all calls about a chat, whatever they do there.
func (g *botRig) callsFor(chat int64) []telegramtest.Call {
	return slices.DeleteFunc(g.srv.Calls(), func(c telegramtest.Call) bool { return c.Chat != chat })
}

// A server that enforces its limits has nothing to refuse, however much is announced and asked at once: no call is answered with 429,
// and all of it arrives, once and in order.
func TestFaultFloodMeetsNoLimit(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newBotRig(t)
		g.srv.Pace(true)
		n, chats := channeltest.Times(60, 500), make([]channels.Address, 40)
		for i := range chats {
			id := int64(2000 + i)
			g.srv.AddUser(telegramtest.User{ID: id, Name: fmt.Sprint("person ", i)})
			g.srv.Say(id, id, "hello")
			chats[i] = chatOf(id)
		}
		announces(g.Rig, n, chatOf(team))
		announces(g.Rig, 3, chats...)
		want := n + 4*len(chats)
		for end := time.Now().Add(3 * time.Hour); g.srv.SentCount() < want && time.Now().Before(end); <-time.After(time.Second) {
			synctest.Wait()
		}
		if got := g.srv.SentCount(); got != want {
			t.Errorf("%d of %d messages arrived", got, want)
		}
		refused := 0
		for _, c := range g.srv.Calls() {
			if c.Status == http.StatusTooManyRequests {
				refused++
			}
		}
		if refused > 0 {
			t.Errorf("%d calls were refused with 429", refused)
		}
		next := map[int64]int{}
		for _, m := range g.srv.Sent() {
			if strings.HasPrefix(m.Text, "echo: ") {
				continue
			}
			if text := fmt.Sprintf("%d %d", m.Chat, next[m.Chat]); m.Text != text {
				t.Fatalf("%q came instead of %q", m.Text, text)
			}
			next[m.Chat]++
		}
		t.Logf("%d messages, %d calls, %d refused with 429", want, len(g.srv.Calls()), refused)
	})
}

// Telegram asks a chat to wait for as long as an answer may live at most, or less, or more: no call is made about that chat until then,
// others go on at once, and behind it all leaves in order. What cannot live so long is listed as expired; nothing else is. A host that is
// started again meanwhile keeps to it.
//
// proves: D8
func TestFaultLimitAndTimeToLive(t *testing.T) {
	for _, c := range []struct {
		seconds int
		ttl     time.Duration // of answers; 0 = as it is by itself, an hour
		expired []string
		restart bool
	}{
		{seconds: 3},
		{seconds: 491},
		{seconds: 3600, expired: []string{"echo: one"}},
		{seconds: 3600, ttl: 2 * time.Hour},
		{seconds: 3 * 3600, expired: []string{"echo: one", "echo: two"}},
		{seconds: 3600, expired: []string{"echo: one"}, restart: true},
		{seconds: 3600, ttl: 2 * time.Hour, restart: true},
		{seconds: 3 * 3600, expired: []string{"echo: one", "echo: two"}, restart: true},
	} {
		t.Run(fmt.Sprint(c.seconds, " s, ", c.ttl, ", again ", c.restart), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := newBotRig(t, func(s *settings.Snapshot) { s.Delivery.ReplyTTL = c.ttl })
				limit := telegramtest.TooManyRequests("sendMessage", c.seconds)
				limit.Chat = anna
				g.srv.Inject(limit)
				g.Model.Set(pondering)
				deadline, before := g.limited(time.Duration(c.seconds)*time.Second, c.restart)
				for _, call := range g.callsFor(anna)[before:] {
					if early := deadline.Sub(call.At); early > 0 {
						t.Errorf("%s was called %s before the deadline", call.Method, early)
					}
				}
				g.ended(deadline, c.expired)
			})
		})
	}
}

// pondering is a model that takes its time for some answers, so that people are shown that it is working.
func pondering(_ context.Context, p agent.Prompt) (agent.Answer, error) {
	said := routertest.LastUser(p)
	if said == "two" || said == "three" {
		<-time.After(10 * time.Second)
	}
	return routertest.Text("echo: " + said), nil
}

// limited has anna meet the limit with her first answer, and more written to her while it holds, over a restart or not. It gives the end of the limit and how
// many calls about her there were when it began, and returns when all is over.
func (g *botRig) limited(limit time.Duration, restart bool) (deadline time.Time, before int) {
	g.T.Helper()
	g.srv.Say(anna, anna, "one")
	g.Until("the first call", func() bool { return len(g.srv.Calls("sendMessage")) > 0 })
	first := g.srv.Calls("sendMessage")[0]
	if deadline, before = first.At.Add(limit), len(g.callsFor(anna)); first.Chat != anna || first.Status != http.StatusTooManyRequests {
		g.T.Fatalf("%+v", first)
	}
	_, err := g.Router.Committer.Submit(g.T.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery{ID: "announced", Kind: sessions.Announce, To: chatOf(anna), Text: "announced",
		Expires: time.Now().Add(g.Settings.Delivery.TTL(sessions.Announce))}}})
	routertest.Check(g.T, err)
	g.srv.Say(anna, anna, "two")
	for i := range 3 {
		asked := time.Now()
		g.srv.Say(bert, bert, "other")
		for len(g.srv.SentTo(bert)) <= i && time.Since(asked) < time.Minute {
			<-time.After(10 * time.Millisecond)
			synctest.Wait()
		}
		if took := time.Since(asked); took > time.Second {
			g.T.Errorf("another chat waited %s", took)
		}
		<-time.After(max(limit/4, time.Second))
		if restart && i == 0 {
			g.restart()
		}
	}
	g.srv.Say(anna, anna, "three")
	<-time.After(max(time.Until(deadline), 0) + time.Minute)
	synctest.Wait()
	return deadline, before
}

// ended wants all that was written to anna to be there in order, but for what is listed as expired.
func (g *botRig) ended(deadline time.Time, expired []string) {
	g.T.Helper()
	var want, shown, listed []string
	rows := 0
	for _, d := range g.Deliveries() {
		if d.To != chatOf(anna) {
			continue
		}
		rows++
		switch {
		case slices.Contains(expired, d.Text):
			if listed = append(listed, d.Text); d.State != sessions.Expired || !strings.Contains(d.Error, "not sent before") || d.Expires.After(deadline.Add(2*time.Second)) {
				g.T.Errorf("%q is %s, by %s: %q", d.Text, d.State, d.Expires.Sub(deadline), d.Error)
			}
		case d.State != sessions.Sent:
			g.T.Errorf("%q is %s: %q", d.Text, d.State, d.Error)
		default:
			want = append(want, d.Text)
		}
	}
	for _, m := range g.srv.SentTo(anna) {
		shown = append(shown, m.Text)
	}
	if rows != 4 || !slices.Equal(want, shown) || !slices.Equal(listed, expired) {
		g.T.Errorf("of %d deliveries %q were sent, and %q expired; shown: %q", rows, want, listed, shown)
	}
	n, err := g.Store.CountDeliveries(g.T.Context(), sessions.DeliveryQuery{})
	if err != nil || n[sessions.Expired] != len(expired) || n[sessions.Pending]+n[sessions.Sending] > 0 {
		g.T.Errorf("counted: %v, %v", n, err)
	}
}
