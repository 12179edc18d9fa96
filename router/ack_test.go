package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// reactions are the reactions that reached the platform, as chat/message=emoji, the answers between them.
func (g *rig) reactions() (out []string) {
	synctest.Wait()
	for _, c := range g.fake.Calls(channeltest.OpReact, channeltest.OpSend) {
		if c.Op == channeltest.OpSend {
			out = append(out, "answer")
			continue
		}
		out = append(out, fmt.Sprintf("%s/%s=%s", c.To.Chat, c.ID, c.Text))
	}
	return out
}

func acking(scope string, remove bool) func(*Settings) {
	return func(s *Settings) {
		s.Messages.AckReaction, s.Messages.AckReactionScope, s.Messages.RemoveAckAfterReply = "👀", scope, remove
	}
}

// A message that is taken gets a reaction, once, and loses it when its answer is there, also when that is after a restart.
func TestAckReaction(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, acking("", true))
		g.model.set(slowly(time.Second)) // a reaction may come behind an answer that takes no time
		to := groupChat("garden")
		in := g.say(to, owner, "hello")
		g.talk(to, guest, "not for the bot")
		g.shown(1)
		g.fake.Say(in) // once more
		want := []string{"garden/" + string(in.ID) + "=👀", "answer", "garden/" + string(in.ID) + "="}
		<-time.After(5 * time.Second)
		if diff := cmp.Diff(want, g.reactions()); diff != "" {
			t.Fatal(diff)
		}
		g.model.set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			sleep(ctx, time.Second)
			return text("NO_REPLY"), nil
		})
		in = g.say(to, owner, "say nothing")
		want = append(want, "garden/"+string(in.ID)+"=👀", "garden/"+string(in.ID)+"=")
		<-time.After(5 * time.Second)
		if diff := cmp.Diff(want, g.reactions()); diff != "" {
			t.Fatal(diff)
		}
		g.model.set(slowly(time.Second))
		g.fake.Script(channeltest.Step{Err: &channels.Error{Class: channels.Limited, RetryAfter: time.Minute, Err: errors.New("wait")}})
		in = g.say(to, owner, "hello again")
		want = append(want, "garden/"+string(in.ID)+"=👀", "answer")
		<-time.After(5 * time.Second)
		if diff := cmp.Diff(want, g.reactions()); diff != "" {
			t.Fatal(diff)
		}
		g.stop()
		g.start()
		g.shown(2)
		if diff := cmp.Diff(append(want, "answer", "garden/"+string(in.ID)+"="), g.reactions()); diff != "" {
			t.Error(diff)
		}
	})
}

// What is stopped loses its reaction as well: the message at work, and those that wait.
func TestAckReactionOfWhatIsStopped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, acking(sessions.AckAll, true))
		g.model.set(slowly(time.Hour))
		to := direct(owner)
		first := g.say(to, owner, "one")
		synctest.Wait()
		second := g.say(to, owner, "two")
		g.say(to, owner, "/stop")
		g.shown(1)
		g.until("the reactions are gone", func() bool {
			got := g.reactions()
			return slices.Contains(got, owner+"/"+string(first.ID)+"=") && slices.Contains(got, owner+"/"+string(second.ID)+"=")
		})
	})
}

func TestAckReactionScope(t *testing.T) {
	access := open("garden", "*")
	no := false
	access.Groups["always"] = policy.GroupAccess{RequireMention: &no}
	for scope, want := range map[string][]string{
		"":                   {"garden"},
		sessions.AckMentions: {"garden"},
		sessions.AckGroups:   {"garden", "always"},
		sessions.AckDirect:   {owner},
		sessions.AckAll:      {"garden", "always", owner},
	} {
		t.Run(scope, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, acking(scope, false), func(s *Settings) { s.Accounts[account] = AccountSettings{Access: access} })
				for i, to := range []channels.Address{groupChat("garden"), groupChat("always"), direct(owner)} {
					g.say(to, owner, "hello")
					g.shown(i + 1)
				}
				var got []string
				synctest.Wait()
				for _, c := range g.fake.Calls(channeltest.OpReact) {
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, acking(sessions.AckAll, true), func(s *Settings) {
			s.Session.SendPolicy = policy.SendPolicy{Rules: []policy.SendRule{{Match: policy.SendMatch{ChatType: channels.Group}, Action: policy.Deny}}}
		})
		g.say(groupChat("garden"), owner, "hello")
		g.say(direct(owner), owner, "hello")
		g.until("both are answered", func() bool {
			return len(g.deliveries()) == 2 && len(g.fake.Calls(channeltest.OpReact)) == 2
		})
		for _, c := range g.fake.Calls() {
			if c.To.Type == channels.Group {
				t.Errorf("%s reached a denied chat", c.Op)
			}
		}
	})
}

// A chat that refuses the reaction is not asked again, another one is; a platform that hangs holds up no message.
func TestAckReactionThatFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, acking(sessions.AckGroups, true))
		refuse := &channels.Error{Class: channels.Unsupported, Err: errors.New("REACTION_INVALID")}
		g.fake.Script(channeltest.Step{Op: channeltest.OpReact, Chat: "garden", Times: -1, Err: refuse})
		for i := range 3 {
			g.say(groupChat("garden"), owner, "hello")
			g.shown(i + 1)
		}
		synctest.Wait()
		if got := g.fake.Calls(channeltest.OpReact); len(got) != 1 {
			t.Fatalf("asked %d times: %+v", len(got), got)
		}
		g.fake.Script(channeltest.Step{Op: channeltest.OpReact, Chat: "else", Times: -1, Wait: make(chan struct{})})
		began := time.Now()
		for i := range 2 {
			g.say(groupChat("else"), owner, "hello")
			g.shown(i + 4)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the answers waited %s for a reaction", took)
		}
		g.until("each call was given up", func() bool { return len(g.fake.Calls(channeltest.OpReact)) == 5 })
	})
}

// What waits for a platform is bounded, and so is what is remembered of refusals; the first one of an account and emoji is told.
func TestAckBounds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var a acks
		a.Add(account, func(context.Context) { t.Error("called before the start") })
		a.Start(t.Context())
		free, made := make(chan struct{}), 0
		for range maxAcks + 10 {
			a.Add(account, func(context.Context) { <-free; made++ })
		}
		close(free)
		a.Wg.Wait()
		if made != maxAcks || len(a.Queues) != 0 {
			t.Errorf("%d calls, %d queues are left", made, len(a.Queues))
		}
		var f refusals
		for i := range maxRefusals + 10 {
			if first := f.Note(groupChat(fmt.Sprint(i)), "🦖"); first != (i == 0 || i == maxRefusals) || len(f.M) > maxRefusals {
				t.Fatalf("refusal %d: first %v, %d kept", i, first, len(f.M))
			}
		}
		if last := groupChat(fmt.Sprint(maxRefusals)); !f.Known(last, "🦖") || !f.Known(last, "") || f.Known(last, "👀") || f.Known(groupChat("x"), "") {
			t.Error("what is known is wrong")
		}
		if !f.Note(groupChat("x"), "👀") {
			t.Error("another emoji is another refusal")
		}
	})
}

// A command that is queued behind the turn at work loses its reaction as well.
func TestAckReactionOfACommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, acking(sessions.AckAll, true))
		in := g.say(direct(owner), owner, "/compact")
		g.shown(1)
		want := []string{owner + "/" + string(in.ID) + "=👀", owner + "/" + string(in.ID) + "="}
		got := slices.DeleteFunc(g.reactions(), func(s string) bool { return s == "answer" }) // which takes no time here
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
