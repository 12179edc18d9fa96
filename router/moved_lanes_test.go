package router_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/inbound"
	"parley/router/routertest"
	"parley/sessions"
)

// A group moves while its old session is at work, to a place that has a session already, and the host restarts: the turn continues in the
// new session's lane, and writes to the old session's transcript. What waits for the old session begins behind it. It begins also when a
// person stops the turn before a lane has taken it up again.
//
// source: zeroclaw-labs/zeroclaw#6350
func TestMovedChatHasOneWriterOfItsTranscript(t *testing.T) {
	for name, stops := range map[string]bool{"the turn ends": false, "the turn is stopped while it waits": true} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				old, now := routertest.Group("b"), routertest.Group("b-new")
				hear(g, now, routertest.Guest, "hello")
				release := g.Blocked()
				g.Settings.Agents.Defaults.MaxConcurrent = 4 // after the restart; the guest's other chats have all of these that the guest may have
				for _, other := range []string{"c", "d"} {
					g.Say(routertest.Group(other), routertest.Guest, "work")
					<-time.After(2 * time.Second)
				}
				g.Say(old, routertest.Guest, "at work")
				<-time.After(2 * time.Second)
				synctest.Wait()
				g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
				beside := g.Told(inbound.Request{Sender: routertest.Person("ci"), Via: "api", Session: routertest.KeyB, Text: "beside"})
				g.Stop()
				g.Start()
				<-time.After(time.Minute)
				synctest.Wait()
				want := []string{"2002: at work", "echo: 2002: at work", "beside", "echo: beside"}
				if stops {
					want = []string{"2002: at work", "beside", "echo: beside"}
					if _, _, err := g.Router.StopSession(t.Context(), "test", "agent:main:fake:group:b-new"); err != nil {
						t.Fatal(err)
					}
					synctest.Wait()
					if run, err := g.Store.GetRun(t.Context(), beside.Run.ID); err != nil || run.Status != sessions.Running {
						t.Errorf("behind the stopped turn: %+v %v", run, err)
					}
				}
				release()
				<-time.After(time.Minute)
				synctest.Wait()
				if run := g.Answered(beside); run.Status != sessions.Done {
					t.Errorf("%+v", run)
				}
				var said []string
				for _, m := range g.Transcript(routertest.KeyB) {
					said = append(said, m.Text())
				}
				if !slices.Equal(said, want) {
					t.Errorf("transcript %q", said)
				}
			})
		})
	}
}

// The turn that a chat's old session was at, and that the new session's queue has, ends with the old session's work: its abort, its new
// beginning and its deletion. Nothing of it is posted, and the chat goes on.
//
// proves: X1
func TestMovedChatStopsWithItsOldSession(t *testing.T) {
	for name, stop := range map[string]func(g *routertest.Rig) error{
		"abort": func(g *routertest.Rig) error {
			_, _, err := g.Router.StopSession(g.T.Context(), "test", routertest.KeyB)
			return err
		},
		"new": func(g *routertest.Rig) error {
			_, _, err := g.Router.Reset(g.T.Context(), "test", routertest.KeyB)
			return err
		},
		"deletion": func(g *routertest.Rig) error { return g.Router.Delete(g.T.Context(), "test", routertest.KeyB) },
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				old, now := routertest.Group("b"), routertest.Group("b-new")
				hear(g, now, routertest.Guest, "hello")
				release := g.Blocked()
				g.Say(old, routertest.Guest, "at work")
				<-time.After(2 * time.Second)
				synctest.Wait()
				g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
				if err := stop(g); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if runs := g.Runs(); !g.AllOver() || runs[len(runs)-1].Status != sessions.Stopped && runs[0].Status != sessions.Stopped {
					t.Errorf("%+v", runs)
				}
				release()
				hear(g, now, routertest.Guest, "and now?")
				if got := append(g.Fake.Texts(now), g.Fake.Texts(old)...); !slices.Equal(got, []string{"echo: 2002: hello", "echo: 2002: and now?"}) {
					t.Errorf("shown %q", got)
				}
			})
		})
	}
}

// A group becomes a supergroup that has a session already, while a sub-agent is at work for the old one: /stop in the chat ends it, and the
// chat hears nothing of it. Before, the answer was that nothing is running.
//
// proves: X1
func TestStopReachesSubAgentsOfTheFormerSession(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		old, now := routertest.Group("b"), routertest.Group("b-new")
		g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch step := routertest.StepOf(p); {
			case step.Kind == "child":
				<-ctx.Done()
				return agent.Answer{}, ctx.Err()
			case step.Kind == "turn" && len(step.Results) == 0 && strings.HasSuffix(step.Said, "compute"):
				return routertest.Delegate("c1", "compute"), nil
			}
			return routertest.Text("ok"), nil
		})
		hear(g, now, routertest.Guest, "hello")
		hear(g, old, routertest.Guest, "compute")
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.Stop()
		g.Start()
		hear(g, now, routertest.Guest, "/stop")
		if runs := g.Runs(); !g.AllOver() || !slices.ContainsFunc(runs, func(r sessions.Run) bool { return r.Kind == sessions.ChildRun && r.Status == sessions.Stopped }) {
			t.Errorf("%+v", runs)
		}
		if got := g.Fake.Texts(now); !slices.Equal(got, []string{"ok", "⚙️ Stopped 1 sub-agent."}) {
			t.Errorf("shown %q", got)
		}
	})
}

// A job that posts into a group is at work when the group gets a new id: /stop in the group ends it all the same.
//
// proves: X1
func TestStopReachesJobsOfTheFormerChat(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		old, now := routertest.Group("b"), routertest.Group("b-new")
		hear(g, now, routertest.Guest, "hello")
		hear(g, old, routertest.Guest, "hello")
		g.Model.Set(routertest.Repeating(9 * time.Minute))
		due := time.Now().Add(time.Hour)
		if err := g.Router.Scheduler.AddJob(t.Context(), "job", sessions.Job{ID: "j", Agent: "main", Name: "slow", Message: "do it", At: due, Next: due, Created: time.Now(), To: old}); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour + 2*time.Second)
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		hear(g, now, routertest.Guest, "/stop")
		if got := g.Fake.Texts(now); got[len(got)-1] != "⚙️ Stopped 1 scheduled job." {
			t.Errorf("shown %q", got)
		}
	})
}
