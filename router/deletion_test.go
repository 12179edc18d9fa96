package router

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
)

// Who deletes somebody else's message, as admins may, withdraws nothing: it is answered, and the agent is told.
func TestForeignDeletion(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone)
		to := groupChat("g")
		rest := g.busy(to, owner)
		second := g.say(to, owner, "important")
		g.talk(to, owner, "nine o'clock")
		g.taken(3)
		events, _ := g.fake.Accepted()
		for _, target := range []channels.MessageID{second.ID, events[2].ID} {
			g.happens(channels.Inbound{Event: channels.Deleted, Address: to, Sender: person(guest), Target: target})
		}
		rest()
		g.until("all is answered", func() bool { return g.allOver() })
		if got := g.fake.Texts(to); len(got) != 2 {
			t.Errorf("a stranger's deletion took the owner's message away: %q", got)
		}
		g.say(to, owner, "what happened?")
		g.shown(3)
		if got := told(g.newest()); len(got) != 3 {
			t.Errorf("told %q", got)
		}
	})
}

// What a message would have brought along is not gone with it: the next turn is told.
func TestWithdrawnMessageLeavesWhatWasHeard(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone)
		to := groupChat("g")
		rest := g.busy(to, owner)
		g.talk(to, guest, "the meeting is at nine")
		second := g.say(to, owner, "oops")
		g.talk(to, guest, "or ten")
		g.taken(4)
		g.happens(channels.Inbound{Event: channels.Deleted, Address: to, Sender: person(owner), Target: second.ID})
		rest()
		g.until("all is answered", func() bool { return g.allOver() })
		g.say(to, owner, "when is it?")
		g.until("all is answered", func() bool { return g.allOver() && len(g.runs()) == 3 })
		if got := told(g.newest()); !slices.Equal(got, []string{`"2002" said: "the meeting is at nine"`, `"2002" said: "or ten"`}) {
			t.Errorf("told %q", got)
		}
	})
}

// What a waiting message brings along as words of its sender is not gone with it either, whether it is deleted or changed to a word that
// asks to stop: it was said before, and the next turn is told.
func TestWithdrawnMessageLeavesWhatItBrought(t *testing.T) {
	for name, e := range map[string]channels.Inbound{"deleted": {Event: channels.Deleted}, "stop": {Event: channels.Edited, Text: "stop"}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, eachAlone)
				to := groupChat("g")
				rest := g.busy(to, guest)
				g.talk(to, guest, "hello")
				for _, words := range []string{"We offer 50k", "or 60k"} {
					g.fake.Say(channels.Inbound{Address: to, Sender: person(owner), Text: words, Forwarded: true, Origin: "Ann"})
				}
				comment := g.say(to, owner, "sum up")
				g.taken(5)
				if run := g.runs()[1]; !strings.Contains(run.Input.Text(), "60k") {
					t.Errorf("%q waits", run.Input.Text())
				}
				e.Address, e.Sender, e.Target = to, person(owner), comment.ID
				g.happens(e)
				rest()
				g.until("all is answered", g.allOver)
				<-time.After(time.Minute)
				g.say(to, owner, "what is new?")
				g.until("all is answered", func() bool { return g.allOver() && len(g.runs()) == 3 })
				if got := strings.Join(told(g.newest()), "|"); strings.Count(got, "said:") != 3 || !strings.Contains(got, "We offer 50k") || !strings.Contains(got, "or 60k") {
					t.Errorf("told %q", got)
				}
			})
		})
	}
}

// A new name counts where the bot listens, and is one line.
func TestRenamedByNobodyKnown(t *testing.T) {
	for name, c := range map[string]struct {
		access policy.Access
		want   string
	}{
		"open":                    {policy.Access{GroupPolicy: policy.GroupOpen}, "Ignore all"},
		"listed by its id":        {policy.Access{Groups: map[string]policy.GroupAccess{"g": {}}}, "Ignore all"},
		"people are listed":       {policy.Access{GroupAllowFrom: []string{guest}}, "Ignore all"},
		"switched off":            {policy.Access{GroupPolicy: policy.GroupOpen, Groups: map[string]policy.GroupAccess{"g": {Enabled: new(bool)}}}, ""},
		"not listed":              {policy.Access{GroupPolicy: policy.GroupOpen, Groups: map[string]policy.GroupAccess{"other": {}}}, ""},
		"nobody is listed":        {policy.Access{GroupPolicy: policy.GroupAllowlist}, ""},
		"groups are switched off": {policy.Access{GroupPolicy: policy.GroupDisabled}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				to := groupChat("g")
				g.say(to, owner, "hello")
				g.shown(1)
				if err := g.r.Apply(t.Context(), settingsFor(func(s *Settings) { s.Accounts[account] = AccountSettings{Access: c.access} })); err != nil {
					t.Fatal(err)
				}
				g.happens(channels.Inbound{Event: channels.Renamed, Address: to, Title: "Ignore\nall" + strings.Repeat(" ", 500)})
				if s := g.session(g.r.Key(channels.Inbound{Address: to})); s.Title != c.want {
					t.Errorf("it is called %q", s.Title)
				}
			})
		})
	}
}
