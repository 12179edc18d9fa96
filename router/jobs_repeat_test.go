package router_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/cron"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// crowded is a store that has as many jobs as there may be when it is full.
type crowded struct {
	sessions.Store
	full *atomic.Bool
}

func (s crowded) ListJobs(ctx context.Context, id sessions.AgentID) ([]sessions.Job, error) {
	jobs, err := s.Store.ListJobs(ctx, id)
	for s.full.Load() && len(jobs) < cron.MaxJobs {
		jobs = append(jobs, sessions.Job{ID: "other", Off: true})
	}
	return jobs, err
}

// TestRepeatOfAJob: what is asked for again with its source is answered as it was the first time, also when it could not be made any more.
func TestRepeatOfAJob(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var full atomic.Bool
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return crowded{s, &full} })
		g.Say(routertest.Group("a"), routertest.Guest, "hello")
		g.Shown(1)
		at := time.Now().Add(time.Hour)
		ask := func(source, to string) (sessions.Job, error) {
			return g.Router.Scheduler.MakeJob(t.Context(), source, sessions.Job{Name: "Plants", Message: "x", At: at}, to)
		}
		once, err := ask("api:k", routertest.Group("a").String())
		if err != nil || once.To != routertest.Group("a") {
			t.Fatal(once, err)
		}
		full.Store(true)
		if _, err := ask("api:other", ""); !errors.Is(err, sessions.ErrBadRequest) || !strings.Contains(err.Error(), "1000 jobs") {
			t.Errorf("one too many: %v", err)
		}
		for _, when := range []string{"while there are as many as may be", "when it is over"} {
			again, err := ask("api:k", "an address that is none")
			if err != nil || again.ID != once.ID || !again.At.Equal(at) || again.Name != once.Name || again.Created.Sub(once.Created).Abs() > time.Millisecond {
				t.Errorf("%s: %+v, %v", when, again, err)
			}
			<-time.After(2 * time.Hour)
		}
		if _, err := g.Store.GetJob(t.Context(), once.ID); !errors.Is(err, sessions.ErrNotFound) || len(g.Begun(once.ID)) != 1 {
			t.Errorf("%v, %v", err, g.Begun(once.ID))
		}
	})
}

// TestRunJobAtOnce: of many who ask for a turn of a job at the same time one gets it, and the others are told which one it is.
func TestRunJobAtOnce(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := spokenIn(t)
		g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, time.Minute)
			return routertest.Text("done"), ctx.Err()
		})
		j := g.Make(sessions.Job{At: time.Now().Add(time.Hour)})
		runs, refused := make(chan sessions.RunID, 10), make(chan error, 10)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				run, err := g.Router.Scheduler.RunJob(t.Context(), "", j.ID)
				if err != nil {
					refused <- err
					return
				}
				runs <- run.ID
			})
		}
		wg.Wait()
		synctest.Wait()
		if len(runs) != 1 {
			t.Fatalf("%d turns", len(runs))
		}
		id := string(<-runs)
		for range len(refused) {
			if err := <-refused; !errors.Is(err, sessions.ErrConflict) || !strings.Contains(err.Error(), "run "+id+" is ") {
				t.Errorf("%v, want the run %s", err, id)
			}
		}
	})
}

// TestLastChat: the chat outside that wrote last to the main session, and never a page of the host.
func TestLastChat(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		page := settings.AccountRef{Channel: "page", Account: channels.DefaultAccount}
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Owners = policy.Owners{"fake:" + routertest.Owner, "fake:3003", "page:" + routertest.Owner}
			s.Accounts[page] = s.Accounts[routertest.Account]
		})
		g.Router.Attach(page, channeltest.NewFake(channeltest.Options{Limits: channels.Limits{Inside: true}}).Full())
		say := func(kind channels.Kind, from string) {
			t.Helper()
			<-time.After(time.Minute)
			at := routertest.Direct(from)
			at.Channel = kind
			in := channels.Inbound{Address: at, ID: channels.MessageID(time.Now().String()), Event: channels.Message, Sender: channels.Sender{ID: channels.UserID(from)}, Text: "hello", Time: time.Now()}
			if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		last := func(want channels.Address, words string) {
			t.Helper()
			to, err := g.Router.Scheduler.ChatOf(t.Context(), "main", cron.LastChat)
			if to != want || (err == nil) != (words == "") || err != nil && (!errors.Is(err, sessions.ErrBadRequest) || !strings.Contains(err.Error(), words)) {
				t.Errorf("%s, %v; want %s, %q", to, err, want, words)
			}
		}
		last(channels.Address{}, "no owner has written to the main session of main yet, so there is no last chat; to become an owner: parley pairing approve CHANNEL CODE --owner")
		say("page", routertest.Owner)
		last(channels.Address{}, "only the page has written to the main session of main")
		say("fake", routertest.Owner)
		last(routertest.Direct(routertest.Owner), "")
		say("fake", "3003")
		say("page", routertest.Owner)
		last(routertest.Direct("3003"), "")
		say("fake", routertest.Owner)
		say("page", routertest.Owner)
		last(routertest.Direct(routertest.Owner), "")
	})
}

// A reminder comes in the chat where it was asked for, and an announcement in the last chat of its session, also after the owner looked at the page of
// the host and wrote there.
// source: openclaw/openclaw#88044, openclaw/openclaw#54327, mozilla-ai/clawbolt#545
//
// proves: S10
func TestThePageIsNoLastChat(t *testing.T) {
	for name, asked := range map[string]string{"asked for on the platform": "fake", "asked for on the page": "page"} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				page := settings.AccountRef{Channel: "page", Account: channels.DefaultAccount}
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
					s.Owners = append(s.Owners, "page:"+routertest.Owner)
					s.Accounts[page] = s.Accounts[routertest.Account]
					s.Session.AgentToAgent.MaxPingPongTurns = 0
				})
				inside := channeltest.NewFake(channeltest.Options{Limits: channels.Limits{Inside: true}})
				g.Router.Attach(page, inside.Full())
				g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
					m := routertest.Last(p)
					switch {
					case strings.Contains(m.Text(), "remind me"):
						return routertest.Call("c1", "cron", map[string]any{"action": "add", "message": "time is up", "in": "1h"}), nil
					case strings.Contains(m.Text(), "ask main"):
						return routertest.Call("c2", "sessions_send", map[string]any{"sessionKey": "main", "message": "all well?", "timeoutSeconds": 0}), nil
					case strings.Contains(p.System, "announce step"):
						return routertest.Text("announced"), nil
					}
					return routertest.Text("says " + m.Text()), nil
				})
				write := func(kind channels.Kind, text string) {
					t.Helper()
					at := routertest.Direct(routertest.Owner)
					at.Channel = kind
					in := channels.Inbound{Address: at, ID: channels.MessageID(time.Now().String()), Event: channels.Message, Sender: channels.Sender{ID: routertest.Owner}, Text: text, Time: time.Now()}
					if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
						t.Fatal(err)
					}
					<-time.After(time.Minute)
				}
				write("fake", "hello")
				write(channels.Kind(asked), "remind me")
				write("page", "hello")
				if asked == "page" {
					write("fake", "hello")
				}
				<-time.After(2 * time.Hour)
				write("page", "hello")
				g.Say(routertest.Group("a"), routertest.Owner, "ask main")
				<-time.After(time.Minute)
				count := func(calls []channeltest.Call, text string) (n int) {
					for _, c := range calls {
						if strings.Contains(c.Out.Text, text) && c.Out.To.Type == channels.Direct {
							n++
						}
					}
					return n
				}
				there, here := g.Fake.Calls(channeltest.OpSend), inside.Calls(channeltest.OpSend)
				if n, m := count(there, "time is up"), count(here, "time is up"); (n > 0) != (asked == "fake") || (m > 0) != (asked == "page") {
					t.Errorf("the reminder is posted on the platform %d times, on the page %d times", n, m)
				}
				if n, m := count(there, "announced"), count(here, "announced"); n != 1 || m != 0 {
					t.Errorf("the announcement is posted on the platform %d times, on the page %d times", n, m)
				}
			})
		})
	}
}
