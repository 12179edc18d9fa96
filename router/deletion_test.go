package router_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
)

// Who deletes another person's message, as admins may, withdraws nothing: it is answered, and the agent is told.
func TestForeignDeletion(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
		to := routertest.Group("g")
		rest := g.Busy(to, routertest.Owner)
		second := g.Say(to, routertest.Owner, "important")
		g.Talk(to, routertest.Owner, "nine o'clock")
		g.Taken(3)
		events, _ := g.Fake.Accepted()
		for _, target := range []channels.MessageID{second.ID, events[2].ID} {
			g.Happens(channels.Inbound{Event: channels.Deleted, Address: to, Sender: routertest.Person(routertest.Guest), Target: target})
		}
		rest()
		g.Until("all is answered", func() bool { return g.AllOver() })
		if got := g.Fake.Texts(to); len(got) != 2 {
			t.Errorf("a stranger's deletion took the owner's message away: %q", got)
		}
		g.Say(to, routertest.Owner, "what happened?")
		g.Shown(3)
		if got := routertest.Told(g.Newest()); len(got) != 3 {
			t.Errorf("told %q", got)
		}
	})
}

// What a message would have brought along is not gone with it: the next turn is told.
func TestWithdrawnMessageLeavesWhatWasHeard(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
		to := routertest.Group("g")
		rest := g.Busy(to, routertest.Owner)
		g.Talk(to, routertest.Guest, "the meeting is at nine")
		second := g.Say(to, routertest.Owner, "oops")
		g.Talk(to, routertest.Guest, "or ten")
		g.Taken(4)
		g.Happens(channels.Inbound{Event: channels.Deleted, Address: to, Sender: routertest.Person(routertest.Owner), Target: second.ID})
		rest()
		g.Until("all is answered", func() bool { return g.AllOver() })
		g.Say(to, routertest.Owner, "when is it?")
		g.Until("all is answered", func() bool { return g.AllOver() && len(g.Runs()) == 3 })
		if got := routertest.Told(g.Newest()); !slices.Equal(got, []string{`"2002" said: "the meeting is at nine"`, `"2002" said: "or ten"`}) {
			t.Errorf("told %q", got)
		}
	})
}

// What a waiting message brings along as words of its sender is not gone with it either, whether it is deleted or changed to a word that
// asks to stop: it was said before, and the next turn is told.
func TestWithdrawnMessageLeavesWhatItBrought(t *testing.T) {
	for name, e := range map[string]channels.Inbound{"deleted": {Event: channels.Deleted}, "stop": {Event: channels.Edited, Text: "stop"}} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
				to := routertest.Group("g")
				rest := g.Busy(to, routertest.Guest)
				g.Talk(to, routertest.Guest, "hello")
				for _, words := range []string{"We offer 50k", "or 60k"} {
					g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Owner), Text: words, Forwarded: true, Origin: "Ann"})
				}
				comment := g.Say(to, routertest.Owner, "sum up")
				g.Taken(5)
				if run := g.Runs()[1]; !strings.Contains(run.Input.Text(), "60k") {
					t.Errorf("%q waits", run.Input.Text())
				}
				e.Address, e.Sender, e.Target = to, routertest.Person(routertest.Owner), comment.ID
				g.Happens(e)
				rest()
				g.Until("all is answered", g.AllOver)
				<-time.After(time.Minute)
				g.Say(to, routertest.Owner, "what is new?")
				g.Until("all is answered", func() bool { return g.AllOver() && len(g.Runs()) == 3 })
				if got := strings.Join(routertest.Told(g.Newest()), "|"); strings.Count(got, "said:") != 3 || !strings.Contains(got, "We offer 50k") || !strings.Contains(got, "or 60k") {
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
		"people are listed":       {policy.Access{GroupAllowFrom: []string{routertest.Guest}}, "Ignore all"},
		"switched off":            {policy.Access{GroupPolicy: policy.GroupOpen, Groups: map[string]policy.GroupAccess{"g": {Enabled: new(bool)}}}, ""},
		"not listed":              {policy.Access{GroupPolicy: policy.GroupOpen, Groups: map[string]policy.GroupAccess{"other": {}}}, ""},
		"nobody is listed":        {policy.Access{GroupPolicy: policy.GroupAllowlist}, ""},
		"groups are switched off": {policy.Access{GroupPolicy: policy.GroupDisabled}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				to := routertest.Group("g")
				g.Say(to, routertest.Owner, "hello")
				g.Shown(1)
				if err := g.Router.Apply(t.Context(), routertest.SettingsFor(func(s *settings.Snapshot) { s.Accounts[routertest.Account] = settings.Account{Access: c.access} })); err != nil {
					t.Fatal(err)
				}
				g.Happens(channels.Inbound{Event: channels.Renamed, Address: to, Title: "Ignore\nall" + strings.Repeat(" ", 500)})
				if s := g.Session(g.Router.Key(channels.Inbound{Address: to})); s.Title != c.want {
					t.Errorf("it is called %q", s.Title)
				}
			})
		})
	}
}
