package delivery_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

func acking(scope string, remove bool) func(*settings.Snapshot) {
	return func(s *settings.Snapshot) {
		s.Messages.AckReaction, s.Messages.AckReactionScope, s.Messages.RemoveAckAfterReply = "👀", scope, remove
	}
}

// A message that is taken gets a reaction, once, and loses it when its answer is there, also when that is after a restart.
func TestAckReaction(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, acking("", true))
		g.Model.Set(routertest.Slowly(time.Second)) // a reaction may come behind an answer that takes no time
		to := routertest.Group("garden")
		in := g.Say(to, routertest.Owner, "hello")
		g.Talk(to, routertest.Guest, "not for the bot")
		g.Shown(1)
		g.Fake.Say(in) // once more
		want := []string{"garden/" + string(in.ID) + "=👀", "answer", "garden/" + string(in.ID) + "="}
		<-time.After(5 * time.Second)
		if diff := cmp.Diff(want, g.Reactions()); diff != "" {
			t.Fatal(diff)
		}
		g.Model.Set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			channels.Sleep(ctx, time.Second)
			return routertest.Text("NO_REPLY"), nil
		})
		in = g.Say(to, routertest.Owner, "say nothing")
		want = append(want, "garden/"+string(in.ID)+"=👀", "garden/"+string(in.ID)+"=")
		<-time.After(5 * time.Second)
		if diff := cmp.Diff(want, g.Reactions()); diff != "" {
			t.Fatal(diff)
		}
		g.Model.Set(routertest.Slowly(time.Second))
		g.Fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: time.Minute, Err: errors.New("wait")}})
		in = g.Say(to, routertest.Owner, "hello again")
		want = append(want, "garden/"+string(in.ID)+"=👀", "answer")
		<-time.After(5 * time.Second)
		if diff := cmp.Diff(want, g.Reactions()); diff != "" {
			t.Fatal(diff)
		}
		g.Stop()
		g.Start()
		g.Shown(2)
		if diff := cmp.Diff(append(want, "answer", "garden/"+string(in.ID)+"="), g.Reactions()); diff != "" {
			t.Error(diff)
		}
	})
}

// What is stopped loses its reaction as well: the message at work, and those that wait.
func TestAckReactionOfWhatIsStopped(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, acking(sessions.AckAll, true))
		g.Model.Set(routertest.Slowly(time.Hour))
		to := routertest.Direct(routertest.Owner)
		first := g.Say(to, routertest.Owner, "one")
		synctest.Wait()
		second := g.Say(to, routertest.Owner, "two")
		g.Say(to, routertest.Owner, "/stop")
		g.Shown(1)
		g.Until("the reactions are gone", func() bool {
			got := g.Reactions()
			return slices.Contains(got, routertest.Owner+"/"+string(first.ID)+"=") && slices.Contains(got, routertest.Owner+"/"+string(second.ID)+"=")
		})
	})
}

func TestAckReactionScope(t *testing.T) {
	access := routertest.OpenGroup("garden", "*")
	no := false
	access.Groups["always"] = policy.GroupAccess{RequireMention: &no}
	for scope, want := range map[string][]string{
		"":                   {"garden"},
		sessions.AckMentions: {"garden"},
		sessions.AckGroups:   {"garden", "always"},
		sessions.AckDirect:   {routertest.Owner},
		sessions.AckAll:      {"garden", "always", routertest.Owner},
	} {
		t.Run(scope, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, acking(scope, false), func(s *settings.Snapshot) { s.Accounts[routertest.Account] = settings.Account{Access: access} })
				for i, to := range []channels.Address{routertest.Group("garden"), routertest.Group("always"), routertest.Direct(routertest.Owner)} {
					g.Say(to, routertest.Owner, "hello")
					g.Shown(i + 1)
				}
				var got []string
				synctest.Wait()
				for _, c := range g.Fake.Calls(channeltest.OpReact) {
					got = append(got, string(c.To.Chat))
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// Reactions are under the send policy: a denied chat sees none, set or taken away.
//
// proves: P4
func TestAckReactionObeysThePolicy(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, acking(sessions.AckAll, true), func(s *settings.Snapshot) {
			s.Session.SendPolicy = policy.SendPolicy{Rules: []policy.SendRule{{Match: policy.SendMatch{ChatType: channels.Group}, Action: policy.Deny}}}
		})
		g.Say(routertest.Group("garden"), routertest.Owner, "hello")
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hello")
		g.Until("both are answered", func() bool {
			return len(g.Deliveries()) == 2 && len(g.Fake.Calls(channeltest.OpReact)) == 2
		})
		for _, c := range g.Fake.Calls() {
			if c.To.Type == channels.Group {
				t.Errorf("%s reached a denied chat", c.Op)
			}
		}
	})
}

// A chat that refuses the reaction is not asked again, another one is; a platform that hangs holds up no message.
func TestAckReactionThatFails(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, acking(sessions.AckGroups, true))
		refuse := &channels.Error{Class: channels.Unsupported, Err: errors.New("REACTION_INVALID")}
		g.Fake.Script(channeltest.Step{Op: channeltest.OpReact, Chat: "garden", Times: -1, Err: refuse})
		for i := range 3 {
			g.Say(routertest.Group("garden"), routertest.Owner, "hello")
			g.Shown(i + 1)
		}
		synctest.Wait()
		if got := g.Fake.Calls(channeltest.OpReact); len(got) != 1 {
			t.Fatalf("asked %d times: %+v", len(got), got)
		}
		g.Fake.Script(channeltest.Step{Op: channeltest.OpReact, Chat: "else", Times: -1, Wait: make(chan struct{})})
		began := time.Now()
		for i := range 2 {
			g.Say(routertest.Group("else"), routertest.Owner, "hello")
			g.Shown(i + 4)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the answers waited %s for a reaction", took)
		}
		g.Until("each call was given up", func() bool { return len(g.Fake.Calls(channeltest.OpReact)) == 5 })
	})
}

// A command that is queued behind the running turn loses its reaction as well.
func TestAckReactionOfACommand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, acking(sessions.AckAll, true))
		in := g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "/compact")
		g.Shown(1)
		want := []string{routertest.Owner + "/" + string(in.ID) + "=👀", routertest.Owner + "/" + string(in.ID) + "="}
		got := slices.DeleteFunc(g.Reactions(), func(s string) bool { return s == "answer" }) // which takes no time here
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
