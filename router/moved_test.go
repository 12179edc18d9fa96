package router_test

import (
	"context"
	"errors"
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
	"parley/router/toolhost"
	"parley/sessions"
	"parley/tools"
)

// A chat's new place numbers its messages again: one that has the number of one of ours in the old place is a person's all the same.
func TestMovedChatNumbersItsMessagesAnew(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		old, now := routertest.Group("-5"), routertest.Group("-1005")
		g.Say(old, routertest.Owner, "hello")
		id := g.Shown(1)[0].Receipt.ID
		synctest.Wait()
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.Fake.Say(channels.Inbound{ID: id, Address: now, Sender: routertest.Person(routertest.Owner), Text: "are you there?", Mentioned: true})
		<-time.After(time.Minute)
		synctest.Wait()
		if got := g.Fake.Texts(now); len(got) != 1 {
			t.Errorf("a message of a person was dropped: %q", got)
		}
	})
}

// What the configuration says about a chat's old id holds when it has a new one, after a restart and a reload, too, until the new one
// has an entry of its own. So do rules of the send policy, by both ids.
func TestMovedChatKeepsItsRules(t *testing.T) {
	old, now := routertest.Group("-5"), routertest.Group("-1005")
	section := func(groups map[string]policy.GroupAccess) func(*settings.Snapshot) {
		return func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Access.Groups = groups
			s.Accounts[routertest.Account] = a
		}
	}
	rules := func(rules ...policy.SendRule) func(*settings.Snapshot) {
		return func(s *settings.Snapshot) { s.Session.SendPolicy.Rules = rules }
	}
	off, any := policy.GroupAccess{Enabled: new(bool)}, policy.GroupAccess{}
	for name, c := range map[string]struct {
		set      func(*settings.Snapshot)
		mute     bool // the group says something before it moves, and is answered
		answered bool // after it has moved
	}{
		"switched off":        {section(map[string]policy.GroupAccess{"-5": off, "*": any}), true, false},
		"other people":        {section(map[string]policy.GroupAccess{"-5": {AllowFrom: []string{routertest.Owner}}, "*": any}), true, false},
		"listed alone":        {section(map[string]policy.GroupAccess{"-5": any}), false, true},
		"its own entry":       {section(map[string]policy.GroupAccess{"-5": off, "-1005": any}), true, true},
		"off by its own":      {section(map[string]policy.GroupAccess{"-5": any, "-1005": off}), false, false},
		"the new key":         {rules(policy.SendRule{Action: policy.Deny, Match: policy.SendMatch{KeyPrefix: "agent:main:fake:group:-1005"}}), false, false},
		"the old chat":        {rules(policy.SendRule{Action: policy.Deny, Match: policy.SendMatch{To: "-5"}}), true, false},
		"the old key":         {rules(policy.SendRule{Action: policy.Deny, Match: policy.SendMatch{RawKeyPrefix: "agent:main:fake:group:-5"}}), true, false},
		"the chat in between": {rules(policy.SendRule{Action: policy.Deny, Match: policy.SendMatch{To: "-7"}}), false, false},
		"allowed by old": {func(s *settings.Snapshot) {
			s.Session.SendPolicy = policy.SendPolicy{Default: policy.Deny, Rules: []policy.SendRule{{Action: policy.Allow, Match: policy.SendMatch{To: "-5"}}}}
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, c.set)
				g.Say(old, routertest.Guest, "hello")
				<-time.After(time.Minute)
				synctest.Wait()
				if got := len(g.Fake.Texts(old)); got != 0 == c.mute {
					t.Fatalf("%d answers before it moved", got)
				}
				g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: "-7"})
				g.Happens(channels.Inbound{Event: channels.Moved, Address: routertest.Group("-7"), MovedTo: now.Chat})
				asks := func(when string, answers int) {
					t.Helper()
					g.Say(now, routertest.Guest, "hello")
					<-time.After(time.Minute)
					synctest.Wait()
					if !c.answered {
						answers = 0
					}
					if got := g.Fake.Texts(now); len(got) != answers {
						t.Errorf("%s: %q", when, got)
					}
				}
				asks("moved", 1)
				g.Stop()
				g.Start()
				asks("after a restart", 2)
				if err := g.Router.Apply(t.Context(), routertest.SettingsFor(c.set)); err != nil {
					t.Fatal(err)
				}
				asks("after a reload", 3)
			})
		})
	}
}

// Words, tools and the need of a mention go by the old entry as well, and so does the explanation of the policy.
func TestMovedChatKeepsItsSettings(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		old, now := routertest.Group("-5"), routertest.Group("-1005")
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Access.Groups = map[string]policy.GroupAccess{"-5": {RequireMention: new(bool), SystemPrompt: "Talk about roses.", Tools: policy.Rights{Deny: []string{"message"}}}}
			s.Accounts[routertest.Account] = a
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Allow, Match: policy.SendMatch{KeyPrefix: "fake:group:-1005"}}}
		})
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.Talk(now, routertest.Guest, "hello")
		g.Shown(1)
		g.Model.Mu.Lock()
		p := g.Model.Asked[0]
		g.Model.Mu.Unlock()
		if !strings.Contains(p.System, "Talk about roses.") || slices.ContainsFunc(p.Tools, func(s tools.Spec) bool { return s.Name == "message" }) {
			t.Errorf("the group's entry does not hold: %s", p.System)
		}
		key := g.Router.Key(channels.Inbound{Address: now})
		if x, err := g.Router.Explain(t.Context(), key, now); err != nil || !strings.Contains(x.Verdict.Rule, "rules[0]") || !x.Steps[1].Matched {
			t.Errorf("%+v %v", x, err)
		}
	})
}

// Where the new place has a session already, that one is told which session the chat had before.
func TestMovedChatThatBeganAnew(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		old, now := routertest.Group("-5"), routertest.Group("-1005")
		g.Say(old, routertest.Owner, "hello")
		g.Shown(1)
		g.Say(now, routertest.Owner, "hello")
		g.Shown(2)
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.Say(now, routertest.Owner, "what did I say?")
		g.Shown(3)
		want := `This chat replaces an earlier one; the earlier messages are in the session "agent:main:fake:group:-5".`
		if got := routertest.Told(g.Newest()); !slices.Equal(got, []string{want}) {
			t.Errorf("told %q", got)
		}
	})
}

// A change of the policy by the chat's new key waits for what is on its way, too.
//
// proves: P7
func TestMovedChatFlips(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, routertest.Edits)
		old, now := routertest.Group("-5"), routertest.Group("-1005")
		g.Say(old, routertest.Guest, "write")
		g.Ended(1)
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.Say(now, routertest.Guest, "write")
		g.Shown(2)
		<-time.After(2500 * time.Millisecond)
		g.Fake.Script(channeltest.Step{Op: channeltest.OpEdit, Delay: 5 * time.Second})
		<-time.After(time.Second)
		deny, began := policy.Deny, time.Now()
		if _, err := g.Router.Patch(t.Context(), g.Router.Key(channels.Inbound{Address: now}), sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) < time.Second {
			t.Error("the flip did not wait for the edit that was on its way")
		}
	})
}

// The message that an answer is for has no id in the group's new place, where another message may have that number: an answer that was at
// work when the group moved refers to none, shown while it is written or at once.
//
// source: https://core.telegram.org/method/messages.migrateChat
func TestAnswerToMovedChatRefersToNothing(t *testing.T) {
	for name, set := range map[string]func(*settings.Snapshot){"at once": routertest.WithStreaming(channels.Streaming{}), "as it is written": routertest.Edits} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				old, now := routertest.Group("-5"), routertest.Group("-1005")
				g := routertest.Writes(t, routertest.TenSeconds(), channeltest.Options{}, set)
				g.Say(old, routertest.Guest, "write")
				g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
				g.Ended(1)
				if sent := g.Fake.Calls(channeltest.OpSend); len(sent) != 1 || sent[0].Out.To != now || sent[0].Out.ReplyTo != "" {
					t.Errorf("%+v", sent)
				}
			})
		})
	}
}

// Who names a chat by what it was, an operator, a job or a tool, writes to where it is now, and what is denied there is denied.
func TestFormerAddressIsFollowed(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		old, now := routertest.Group("-5"), routertest.Group("-1005")
		g.Say(old, routertest.Owner, "hello")
		g.Shown(1)
		synctest.Wait()
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		<-time.After(time.Minute)
		synctest.Wait()
		before := len(g.Fake.Texts(now))
		sent, err := g.Router.ToolHost.Send(t.Context(), toolhost.SendRequest{Source: "a", To: old, Text: "by its old name"})
		<-time.After(time.Minute)
		synctest.Wait()
		if got := g.Fake.Texts(now); err != nil || sent.Delivery.To != now || len(got) != before+1 || got[before] != "by its old name" {
			t.Errorf("sent to %s: %v, %q", sent.Delivery.To, err, got)
		}
		if to, err := g.Router.Scheduler.ChatOf(t.Context(), "main", old.String()); err != nil || to != now {
			t.Errorf("a job's chat: %s, %v", to, err)
		}
		g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if len(p.Messages) > 0 && strings.Contains(p.Messages[len(p.Messages)-1].Text(), "post") {
				return routertest.Call("c1", "message", map[string]any{"to": old.String(), "text": "by the tool"}), nil
			}
			return routertest.Text("done"), nil
		})
		g.Say(now, routertest.Owner, "post")
		<-time.After(time.Minute)
		synctest.Wait()
		if got := g.Fake.Texts(now); !slices.Contains(got, "by the tool") {
			t.Errorf("the tool's text is not there: %q", got)
		}
		if _, err := g.Router.Patch(t.Context(), sent.Delivery.Session, sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil {
			t.Fatal(err)
		}
		if x, err := g.Router.Explain(t.Context(), "", old); err != nil || x.To != now || x.Verdict.Allowed() {
			t.Errorf("explained %+v, %v", x, err)
		}
		if _, err := g.Router.ToolHost.Send(t.Context(), toolhost.SendRequest{Source: "b", To: old, Text: "no"}); !errors.As(err, new(*policy.BlockedError)) {
			t.Errorf("a denied chat by its old name: %v", err)
		}
	})
}
