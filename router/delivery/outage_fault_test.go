package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// asTelegram is how fast a bot may send there.
var asTelegram = channels.Pacing{PerSecond: 30, PerChatPerSecond: 1, PerGroupPerMinute: 20}

// announces commits n announcements to each chat, in turn.
func announces(g *routertest.Rig, n int, chats ...channels.Address) {
	g.T.Helper()
	for i := range n {
		var e sessions.Change
		for _, to := range chats {
			id := fmt.Sprintf("%s %d", to.Chat, i)
			e.Ops = append(e.Ops, sessions.EnqueueDelivery{ID: sessions.DeliveryID(id), Kind: sessions.Announce, To: to, Text: id,
				Expires: time.Now().Add(24 * time.Hour)})
		}
		if _, err := g.Router.Committer.Submit(g.T.Context(), e); err != nil {
			g.T.Fatal(err)
		}
	}
}

// strict fails when calls went faster than a platform allows.
func strict(t *testing.T, calls []channeltest.Call) {
	t.Helper()
	window := func(name string, calls []channeltest.Call, most int, in time.Duration) {
		for i := range calls {
			if j := i + most; j < len(calls) && calls[j].At.Sub(calls[i].At) < in-time.Millisecond {
				t.Fatalf("%s: %d messages within %s, %d are allowed in %s", name, most+1, calls[j].At.Sub(calls[i].At), most, in)
			}
		}
	}
	window("account", calls, 30, time.Second)
	chats := map[channels.ChatID][]channeltest.Call{}
	for _, c := range calls {
		chats[c.To.Chat] = append(chats[c.To.Chat], c)
	}
	for chat, calls := range chats {
		window("chat "+string(chat), calls, 1, time.Second)
		if calls[0].To.Type.Several() {
			window("group "+string(chat), calls, 20, time.Minute)
		}
	}
}

// inOrder fails unless each chat shows its announcements once and in the order of their making.
func inOrder(t *testing.T, calls []channeltest.Call) {
	t.Helper()
	next := map[channels.ChatID]int{}
	for _, c := range calls {
		if want := fmt.Sprintf("%s %d", c.To.Chat, next[c.To.Chat]); c.Out.Text != want {
			t.Fatalf("%q came instead of %q", c.Out.Text, want)
		}
		next[c.To.Chat]++
	}
}

// Five hundred announcements to one group and to forty chats: never faster than the platform allows, none lost or out of order, and
// the busy group delays nobody else.
func TestFaultPacedFlood(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.WithPacing(asTelegram))
		n := channeltest.Times(60, 500)
		chats := make([]channels.Address, 40)
		for i := range chats {
			chats[i] = routertest.Direct(fmt.Sprint("chat", i))
		}
		began := time.Now()
		announces(g, n, routertest.Group("busy"))
		announces(g, 3, chats...)
		for len(g.Fake.Shown(channels.Address{})) < n+3*len(chats) && time.Since(began) < 3*time.Hour {
			<-time.After(time.Second)
			synctest.Wait()
		}
		calls := g.Fake.Calls(channeltest.OpSend)
		if len(calls) != n+3*len(chats) {
			t.Fatalf("%d of %d were sent", len(calls), n+3*len(chats))
		}
		strict(t, calls)
		inOrder(t, calls)
		last := time.Time{}
		for _, c := range calls {
			if c.To.Type == channels.Direct {
				last = c.At
			}
		}
		if took := last.Sub(began); took > 15*time.Second {
			t.Errorf("120 messages to forty chats took %s beside a busy group", took)
		}
	})
}

// The host stands still with work in its outbox. After a minute all of it leaves, paced and in order; after 25 hours nothing does, and
// people can see what expired.
//
// proves: D8
func TestFaultOutage(t *testing.T) {
	for _, c := range []struct {
		away time.Duration
		sent bool
	}{{time.Minute, true}, {25 * time.Hour, false}} {
		t.Run(c.away.String(), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.WithPacing(asTelegram))
				n := channeltest.Times(11, 110)
				chats := []channels.Address{routertest.Direct("a"), routertest.Direct("b"), routertest.Group("g")}
				g.Router.Attach(routertest.Account, nil)
				announces(g, n, chats...)
				g.Stop()
				<-time.After(c.away)
				g.Start()
				for end := time.Now().Add(time.Hour); time.Now().Before(end); <-time.After(time.Second) {
					synctest.Wait()
					if counts, err := g.Store.CountDeliveries(t.Context(), sessions.DeliveryQuery{}); err != nil {
						t.Fatal(err)
					} else if counts[sessions.Pending]+counts[sessions.Sending] == 0 {
						break
					}
				}
				counts, err := g.Store.CountDeliveries(t.Context(), sessions.DeliveryQuery{})
				if err != nil {
					t.Fatal(err)
				}
				calls := g.Fake.Calls(channeltest.OpSend)
				strict(t, calls)
				inOrder(t, calls)
				want := map[sessions.DeliveryState]int{sessions.Expired: 3 * n}
				if c.sent {
					want = map[sessions.DeliveryState]int{sessions.Sent: 3 * n}
				}
				for state, n := range want {
					if counts[state] != n || len(calls) != want[sessions.Sent] {
						t.Errorf("%d calls, deliveries by state %v; want %d %s", len(calls), counts, n, state)
					}
				}
				list, err := g.Store.ListDeliveries(t.Context(), sessions.DeliveryQuery{State: sessions.Expired, Limit: 3 * n})
				if err != nil || !c.sent && (len(list) != 3*n || slices.ContainsFunc(list, func(d sessions.Delivery) bool { return !strings.Contains(d.Error, "expired") && d.Error == "" })) {
					t.Errorf("%d are listed as expired, %v", len(list), err)
				}
			})
		})
	}
}

// everyKind is a model that leaves a delivery of each kind that an agent can.
func everyKind(_ context.Context, p agent.Prompt) (agent.Answer, error) {
	s := routertest.StepOf(p)
	asked := func(word string) bool { return strings.Contains(s.Said, word) }
	switch {
	case s.Kind == "report":
		return routertest.Text("Status: fine\nResult: the report\nNotes: none"), nil
	case s.Kind == "child":
		return routertest.Text("done"), nil
	case len(s.Results) > 0:
		return routertest.Text(string(agent.NoReply)), nil
	case asked("delegate"):
		return routertest.Call("c1", "sessions_spawn", map[string]any{"task": "count"}), nil
	case asked("remind"):
		return routertest.Call("c1", "cron", map[string]any{"action": "add", "in": "1m", "message": "wake up"}), nil
	case asked("wake up"):
		return routertest.Text("the job"), nil
	case asked("post"):
		return routertest.Call("c1", "message", map[string]any{"to": "current", "text": "the post"}), nil
	}
	return routertest.Text("the answer"), nil
}

// lives is how long each of them may wait, by its words.
var lives = map[string]time.Duration{
	"the answer": time.Hour, "You are ": time.Hour, "the post": time.Hour, "with this code": time.Hour, "the job": 6 * time.Hour, "the report": 24 * time.Hour,
}

// outboxOfEachKind leaves a delivery of each kind waiting, and gives how long each may.
func outboxOfEachKind(g *routertest.Rig) map[sessions.DeliveryID]time.Duration {
	g.T.Helper()
	g.Router.Attach(routertest.Account, nil)
	for _, words := range []string{"remind me", "delegate it", "post it"} {
		g.Say(routertest.Group(words), routertest.Guest, words)
	}
	g.Until("the job, the report and the post wait", func() bool { return len(g.Deliveries()) == 3 })
	g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "hello")
	g.Say(routertest.Direct(routertest.Guest), routertest.Guest, "/whoami")
	g.Say(routertest.Direct("3003"), "3003", "let me in")
	g.Until("all wait", func() bool { return len(g.Deliveries()) == len(lives) })
	found := map[sessions.DeliveryID]time.Duration{}
	for _, d := range g.Deliveries() {
		for words, life := range lives {
			if strings.Contains(d.Text, words) {
				found[d.ID] = life
			}
		}
	}
	if len(found) != len(lives) {
		g.T.Fatalf("%d of %d kinds wait", len(found), len(lives))
	}
	return found
}

// The host is away for longer and longer, with a delivery of each kind in its outbox: what still may leave by its kind does, what may not is
// listed with a reason, and the owner is told how many.
//
// proves: D8
func TestFaultOutageByKind(t *testing.T) {
	for _, away := range []time.Duration{50 * time.Minute, 90 * time.Minute, 7 * time.Hour, 25 * time.Hour} {
		t.Run(away.String(), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
					s.Accounts[routertest.Account] = settings.Account{Access: policy.Access{DMPolicy: policy.DMPairing, AllowFrom: []string{routertest.Owner, routertest.Guest}, GroupPolicy: policy.GroupOpen}}
				})
				g.Model.Set(everyKind)
				waiting := outboxOfEachKind(g)
				g.Stop()
				<-time.After(away)
				g.Start()
				<-time.After(time.Minute)
				expired := 0
				for _, d := range g.Deliveries() {
					life, known := waiting[d.ID]
					want := sessions.Sent
					if away > life {
						want = sessions.Expired
						expired++
					}
					if !known || d.State != want || want == sessions.Expired && !strings.HasPrefix(d.Error, "not sent before ") {
						t.Errorf("%s %q, which may wait for %s, is %s after %s: %q", d.Kind, d.Text, life, d.State, away, d.Error)
					}
				}
				if n := len(g.Fake.Calls(channeltest.OpSend)); n != len(lives)-expired {
					t.Errorf("%d messages left, %d of %d have expired", n, expired, len(lives))
				}
				g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "/status")
				g.Until("the status", func() bool { return len(g.Fake.Texts(routertest.Direct(routertest.Owner))) == 1 })
				if said, want := g.Fake.Texts(routertest.Direct(routertest.Owner))[0], fmt.Sprintf("Deliveries: 0 pending, %d failed, 0 withheld", expired); !strings.Contains(said, want) {
					t.Errorf("the owner is told %q, not %q", said, want)
				}
			})
		})
	}
}
