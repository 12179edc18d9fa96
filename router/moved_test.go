package router

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// A chat's new place numbers its messages anew: one that has the number of one of ours in the old place is a person's all the same.
func TestMovedChatNumbersItsMessagesAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		old, now := groupChat("-5"), groupChat("-1005")
		g.say(old, owner, "hello")
		id := g.shown(1)[0].Receipt.ID
		synctest.Wait()
		g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.fake.Say(channels.Inbound{ID: id, Address: now, Sender: person(owner), Text: "are you there?", Mentioned: true})
		<-time.After(time.Minute)
		synctest.Wait()
		if got := g.fake.Texts(now); len(got) != 1 {
			t.Errorf("a message of a person was dropped: %q", got)
		}
	})
}

// What the configuration says about a chat's old id holds when it has a new one, after a restart and a reload, too, until the new one
// has an entry of its own. So do rules of the send policy, by both ids.
func TestMovedChatKeepsItsRules(t *testing.T) {
	old, now := groupChat("-5"), groupChat("-1005")
	section := func(groups map[string]policy.GroupAccess) func(*Settings) {
		return func(s *Settings) {
			a := s.Accounts[account]
			a.Access.Groups = groups
			s.Accounts[account] = a
		}
	}
	rules := func(rules ...policy.SendRule) func(*Settings) {
		return func(s *Settings) { s.Session.SendPolicy.Rules = rules }
	}
	off, any := policy.GroupAccess{Enabled: new(bool)}, policy.GroupAccess{}
	for name, c := range map[string]struct {
		set      func(*Settings)
		mute     bool // the group says something before it moves, and is answered
		answered bool // after it has moved
	}{
		"switched off":        {section(map[string]policy.GroupAccess{"-5": off, "*": any}), true, false},
		"other people":        {section(map[string]policy.GroupAccess{"-5": {AllowFrom: []string{owner}}, "*": any}), true, false},
		"listed alone":        {section(map[string]policy.GroupAccess{"-5": any}), false, true},
		"its own entry":       {section(map[string]policy.GroupAccess{"-5": off, "-1005": any}), true, true},
		"off by its own":      {section(map[string]policy.GroupAccess{"-5": any, "-1005": off}), false, false},
		"the new key":         {rules(policy.SendRule{Action: policy.Deny, Match: policy.SendMatch{KeyPrefix: "agent:main:fake:group:-1005"}}), false, false},
		"the old chat":        {rules(policy.SendRule{Action: policy.Deny, Match: policy.SendMatch{To: "-5"}}), true, false},
		"the old key":         {rules(policy.SendRule{Action: policy.Deny, Match: policy.SendMatch{RawKeyPrefix: "agent:main:fake:group:-5"}}), true, false},
		"the chat in between": {rules(policy.SendRule{Action: policy.Deny, Match: policy.SendMatch{To: "-7"}}), false, false},
		"allowed by old": {func(s *Settings) {
			s.Session.SendPolicy = policy.SendPolicy{Default: policy.Deny, Rules: []policy.SendRule{{Action: policy.Allow, Match: policy.SendMatch{To: "-5"}}}}
		}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, c.set)
				g.say(old, guest, "hello")
				<-time.After(time.Minute)
				synctest.Wait()
				if got := len(g.fake.Texts(old)); got != 0 == c.mute {
					t.Fatalf("%d answers before it moved", got)
				}
				g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: "-7"})
				g.happens(channels.Inbound{Event: channels.Moved, Address: groupChat("-7"), MovedTo: now.Chat})
				asks := func(when string, answers int) {
					t.Helper()
					g.say(now, guest, "hello")
					<-time.After(time.Minute)
					synctest.Wait()
					if !c.answered {
						answers = 0
					}
					if got := g.fake.Texts(now); len(got) != answers {
						t.Errorf("%s: %q", when, got)
					}
				}
				asks("moved", 1)
				g.stop()
				g.start()
				asks("after a restart", 2)
				if err := g.r.Apply(t.Context(), settingsFor(c.set)); err != nil {
					t.Fatal(err)
				}
				asks("after a reload", 3)
			})
		})
	}
}

// Words, tools and the need of a mention go by the old entry as well, and so does the explanation of the policy.
func TestMovedChatKeepsItsSettings(t *testing.T) {
	bubble(t, func(t *testing.T) {
		old, now := groupChat("-5"), groupChat("-1005")
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			a := s.Accounts[account]
			a.Access.Groups = map[string]policy.GroupAccess{"-5": {RequireMention: new(bool), SystemPrompt: "Talk about roses.", Tools: policy.Rights{Deny: []string{"message"}}}}
			s.Accounts[account] = a
			s.Session.SendPolicy.Rules = []policy.SendRule{{Action: policy.Allow, Match: policy.SendMatch{KeyPrefix: "fake:group:-1005"}}}
		})
		g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.talk(now, guest, "hello")
		g.shown(1)
		g.model.mu.Lock()
		p := g.model.asked[0]
		g.model.mu.Unlock()
		if !strings.Contains(p.System, "Talk about roses.") || slices.ContainsFunc(p.Tools, func(s tools.Spec) bool { return s.Name == "message" }) {
			t.Errorf("the group's entry does not hold: %s", p.System)
		}
		key := g.r.Key(channels.Inbound{Address: now})
		if x, err := g.r.Explain(t.Context(), key, now); err != nil || !strings.Contains(x.Verdict.Rule, "rules[0]") || !x.Steps[1].Matched {
			t.Errorf("%+v %v", x, err)
		}
	})
}

// Where the new place has a session already, that one is told which session the chat had before.
func TestMovedChatThatBeganAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		old, now := groupChat("-5"), groupChat("-1005")
		g.say(old, owner, "hello")
		g.shown(1)
		g.say(now, owner, "hello")
		g.shown(2)
		g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.say(now, owner, "what did I say?")
		g.shown(3)
		want := `This chat was another one before; what was said there is in the session "agent:main:fake:group:-5".`
		if got := told(g.newest()); !slices.Equal(got, []string{want}) {
			t.Errorf("told %q", got)
		}
	})
}

// A change of the policy by the chat's new key waits for what is on its way, too.
//
// proves: P7
func TestMovedChatFlips(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := writes(t, tenSeconds(), channeltest.Options{}, edits)
		old, now := groupChat("-5"), groupChat("-1005")
		g.say(old, guest, "write")
		g.ended(1)
		g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat})
		g.say(now, guest, "write")
		g.shown(2)
		<-time.After(2500 * time.Millisecond)
		g.fake.Script(channeltest.Step{Op: channeltest.OpEdit, Delay: 5 * time.Second})
		<-time.After(time.Second)
		deny, began := policy.Deny, time.Now()
		if _, err := g.r.Patch(t.Context(), g.r.Key(channels.Inbound{Address: now}), sessions.Patch{SendPolicy: &deny}); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) < time.Second {
			t.Error("the flip did not wait for the edit that was on its way")
		}
	})
}
