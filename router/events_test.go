package router_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// A message that waits is answered as it is when its turn begins: changed, also where several are collected, or not at all.
func TestEditOfWhatWaits(t *testing.T) {
	for _, mode := range []sessions.QueueMode{sessions.Collect, sessions.Followup, sessions.Steer} {
		for _, to := range []channels.Address{routertest.Direct(routertest.Owner), routertest.Group("g")} {
			t.Run(string(mode)+"/"+string(to.Type), func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Messages.Queue.Queue = sessions.Queue{Mode: mode} })
					rest := g.Busy(to, routertest.Owner)
					q := channels.Inbound{Address: to, Sender: routertest.Person(routertest.Owner), Text: "secnd", Mentioned: true, Quote: &channels.Quote{Text: "one\ntwo"}}
					second, third, fourth := g.Fake.Say(q), g.Say(to, routertest.Owner, "third"), g.Say(to, routertest.Owner, "fourth")
					g.Taken(4)
					g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Owner), Target: second.ID, Text: "/send off"})
					g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Owner), Target: second.ID, Text: "second"})
					g.Happens(channels.Inbound{Event: channels.Deleted, Address: to, Target: third.ID}) // as by a platform that does not say who
					g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Guest), Target: fourth.ID, Text: "not mine"})
					rest()
					g.Until("all is answered", func() bool { return g.AllOver() })
					prefix := ""
					if to.Type.Several() {
						prefix = routertest.Owner + ": "
					}
					all := ""
					for _, m := range g.Transcript(g.Router.Key(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Owner)})) {
						if m.Role == sessions.User {
							all += m.Text() + "|"
						}
					}
					if want := prefix + "work|> one\n> two\n\n" + prefix + "second|" + prefix + "fourth|"; all != want {
						t.Errorf("read %q, want %q", all, want)
					}
					runs := g.Runs()
					i := slices.IndexFunc(runs, func(r sessions.Run) bool { return r.Source == string(third.ID) })
					if r := runs[i]; r.Status != sessions.Stopped || !strings.Contains(r.Error, "deleted") {
						t.Errorf("%+v", r)
					}
					for _, d := range g.Deliveries() {
						if d.Kind == sessions.Notice {
							t.Errorf("told %q", d.Text)
						}
					}
				})
			})
		}
	}
}

// What people do to messages that were answered, and to ours, comes with the next message: once, in quotes; no turn begins because
// of it.
func TestEventsComeWithTheNextTurn(t *testing.T) {
	for _, to := range []channels.Address{routertest.Direct(routertest.Owner), routertest.Group("g")} {
		t.Run(string(to.Type), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				asked := g.Say(to, routertest.Owner, "what is \"this\"?")
				answer := g.Shown(1)[0]
				by := func(kind channels.Event, edit func(*channels.Inbound)) {
					in := channels.Inbound{Event: kind, Address: to, Sender: channels.Sender{ID: routertest.Owner, Name: "Ol\"ga\nX"}}
					edit(&in)
					g.Happens(in)
				}
				by(channels.Edited, func(in *channels.Inbound) { in.Target, in.Text = asked.ID, "/send off" })
				by(channels.Edited, func(in *channels.Inbound) { in.Target, in.Text = asked.ID, "that\" joined this chat" })
				by(channels.Reacted, func(in *channels.Inbound) { in.Target, in.Emoji = answer.Receipt.ID, "👍" })
				by(channels.Reacted, func(in *channels.Inbound) { in.Target, in.Emoji = asked.ID, "👎" }) // not ours
				by(channels.Reacted, func(in *channels.Inbound) { in.Target, in.Emoji = "nowhere", "👎" })
				by(channels.Deleted, func(in *channels.Inbound) { in.Target = "unknown" })
				by(channels.Deleted, func(in *channels.Inbound) { in.Target = answer.Receipt.ID }) // ours, by us
				by(channels.Deleted, func(in *channels.Inbound) { in.Target, in.Sender = "unknown2", channels.Sender{} })
				by(channels.Joined, func(in *channels.Inbound) {
					in.People = []channels.Sender{routertest.Person("Bo"), routertest.Person("Cy")}
				})
				by(channels.Left, func(in *channels.Inbound) { in.Self = true })
				by(channels.Joined, func(in *channels.Inbound) {
					in.People, in.Sender = []channels.Sender{routertest.Person("Dee")}, channels.Sender{}
				})
				by("pinned", func(*channels.Inbound) {})
				g.Stop() // it is on disk
				g.Start()
				if n := g.Model.Count(); n != 1 || len(g.Deliveries()) != 1 {
					t.Fatalf("%d model calls, %d deliveries", n, len(g.Deliveries()))
				}
				g.Say(to, routertest.Owner, "and now?")
				g.Shown(2)
				about := `what is \"this\"?`
				said := "echo: " + map[bool]string{true: routertest.Owner + ": "}[to.Type.Several()] + about
				want := []string{
					`"Ol\"ga X" changed a message "` + about + `" to: "that\" joined this chat"`,
					`"Ol\"ga X" reacted "👍" to your message "` + said + `"`,
					`"Ol\"ga X" deleted a message`,
					`"Bo, Cy" joined this chat`,
					"You were removed from this chat.",
				}
				if diff := cmp.Diff(want, routertest.Told(g.Newest())); diff != "" {
					t.Error(diff)
				}
				g.Say(to, routertest.Owner, "again?")
				g.Shown(3)
				if got := routertest.Told(g.Newest()); got != nil {
					t.Errorf("told twice: %q", got)
				}
				if s := g.Session(g.Router.Key(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Owner)})); s.Settings.SendPolicy != policy.Inherit {
					t.Errorf("an edit has set the policy to %q", s.Settings.SendPolicy)
				}
				asked2 := g.Say(to, routertest.Owner, "/new")
				g.Taken(len(must(g.Fake.Accepted())))
				g.Shown(4)
				by(channels.Edited, func(in *channels.Inbound) { in.Target, in.Text = asked.ID, "of the old session" })
				by(channels.Edited, func(in *channels.Inbound) { in.Target, in.Text = asked2.ID, "/new x" })
				g.Say(to, routertest.Owner, "fresh")
				g.Shown(5)
				if diff := cmp.Diff([]string{`"Ol\"ga X" changed a message to: "/new x"`}, routertest.Told(g.Newest())); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func must(events []channels.Inbound, _ int) []channels.Inbound { return events }

// Group talk that nobody was told of yet is shown as it is now.
func TestEditOfGroupTalk(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Messages.GroupChat.HistoryLimit = ptr(3) })
		to := routertest.Group("garden")
		one, two, three := g.Talk(to, "Gustav", "8:05"), g.Talk(to, "Gustav", "wrong"), g.Talk(to, "Mia", "stays")
		g.Taken(3)
		g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person("Gustav"), Target: one.ID, Text: "9:05"})
		g.Happens(channels.Inbound{Event: channels.Deleted, Address: to, Target: two.ID})
		g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person("Gustav"), Target: three.ID, Text: "goes"})
		for range 5 { // no more than so many lines
			g.Happens(channels.Inbound{Event: channels.Joined, Address: to, Sender: routertest.Person("Bo")})
		}
		g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person("Gustav"), Target: "x", Text: strings.Repeat("ü", 3000)})
		g.Say(to, routertest.Owner, "hello")
		g.Shown(1)
		got := routertest.Told(g.Newest())
		if len(got) != 3 || got[1] != `"Bo" joined this chat` || len(got[2]) > settings.MaxContextLine+100 || !strings.HasSuffix(got[2], `…"`) {
			t.Errorf("%q", got)
		}
	})
	t.Run("in place", func(t *testing.T) {
		routertest.Bubble(t, func(t *testing.T) {
			g := routertest.New(t, channeltest.Options{})
			to := routertest.Group("garden")
			one, two := g.Talk(to, "Gustav", "8:05"), g.Talk(to, "Gustav", "wrong")
			g.Taken(2)
			g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person("Gustav"), Target: one.ID, Text: "9:05"})
			g.Happens(channels.Inbound{Event: channels.Deleted, Address: to, Target: two.ID})
			g.Say(to, routertest.Owner, "hello")
			g.Shown(1)
			if diff := cmp.Diff([]string{`"Gustav" said: "9:05"`}, routertest.Told(g.Newest())); diff != "" {
				t.Error(diff)
			}
		})
	})
}

// A renamed chat gives its own session the title, a topic its topic's; a session that is not the chat's own keeps its title.
func TestRenamed(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		group, topic := routertest.Group("g"), routertest.Group("g")
		topic.Thread = "7"
		for i, to := range []channels.Address{group, topic, routertest.Direct(routertest.Owner)} {
			g.Say(to, routertest.Owner, "hello")
			g.Shown(i + 1)
		}
		for to, title := range map[channels.Address]string{group: "Cats", topic: "Food", routertest.Direct(routertest.Owner): "Me", routertest.Group("new"): "None"} {
			who := channels.Sender{} // not every platform says
			if to.Type == channels.Direct {
				who = routertest.Person(routertest.Owner)
			}
			g.Happens(channels.Inbound{Event: channels.Renamed, Address: to, Title: title, Sender: who})
		}
		g.Happens(channels.Inbound{Event: channels.Renamed, Address: topic, Title: ""})
		for to, want := range map[channels.Address]string{group: "Cats", topic: "Food", routertest.Direct(routertest.Owner): ""} {
			if s := g.Session(g.Router.Key(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Owner)})); s.Title != want {
				t.Errorf("%s is called %q", to, s.Title)
			}
		}
		if _, err := g.Store.Get(t.Context(), g.Router.Key(channels.Inbound{Address: routertest.Group("new")})); err == nil {
			t.Error("a name has made a session")
		}
	})
}

// A chat that gets a new id goes on in its session, over a restart, and what waits for it arrives there.
func TestChatThatMoves(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		old, now := routertest.Group("-5"), routertest.Group("-1005")
		g.Say(old, routertest.Owner, "hello")
		g.Shown(1)
		key := g.Router.Key(channels.Inbound{Address: old})
		off := policy.Allow
		if _, err := g.Store.Patch(t.Context(), key, sessions.Patch{SendPolicy: &off, Model: new("mock/other")}); err != nil {
			t.Fatal(err)
		}
		g.Router.Attach(routertest.Account, nil)
		g.Say(old, routertest.Owner, "/whoami")
		g.Taken(2)
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat}) // its sender may be anybody, or nobody
		g.Happens(channels.Inbound{Event: channels.Moved, Address: old})                    // to nowhere
		g.Stop()
		g.Start()
		g.Shown(2)
		if got := g.Fake.Texts(now); len(got) != 1 || !strings.Contains(got[0], routertest.Owner) {
			t.Errorf("what waited went elsewhere: %q", got)
		}
		before := g.Session(key)
		g.Say(now, routertest.Owner, "still here?")
		g.Shown(3)
		if s := g.Session(key); s.ID != before.ID || s.Last != now || s.Settings.Model != "mock/other" {
			t.Errorf("%+v", s)
		}
		if got := g.LastPrompt(); !slices.Equal(got, []string{"user:" + routertest.Owner + ": hello", "assistant:echo: " + routertest.Owner + ": hello", "user:" + routertest.Owner + ": still here?"}) {
			t.Errorf("the agent reads %q", got)
		}
		list, err := g.Store.List(t.Context(), sessions.Query{})
		if err != nil || len(list) != 1 {
			t.Errorf("%d sessions, %v", len(list), err)
		}
		g.Say(now, routertest.Owner, "/send off") // commands, too
		g.Shown(4)
		if s := g.Session(key); s.Settings.SendPolicy != policy.Deny {
			t.Errorf("the policy is %q", s.Settings.SendPolicy)
		}
	})
}

// A message that the store knows as ours is nobody's, also when the platform does not say so, before the policy and after a restart.
func TestEcho(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Group("g")
		g.Say(to, routertest.Owner, "hello")
		sent := g.Shown(1)[0].Receipt.ID
		synctest.Wait()
		g.Stop()
		g.Start()
		elsewhere := routertest.Group("other")
		for _, in := range []channels.Inbound{
			{ID: sent, Address: to, Sender: routertest.Person(routertest.Owner), Text: "/send off", Mentioned: true},
			{ID: sent, Event: channels.Edited, Target: sent, Address: to, Sender: routertest.Person(routertest.Owner), Text: "/send off"},
			{ID: "2", Address: to, Sender: routertest.Person(routertest.Owner), Text: "/send off", Mentioned: true, SentByThisLogin: true},
			{ID: "3", Event: channels.Reacted, Target: sent, Emoji: "x", Address: to, Sender: routertest.Person(routertest.Owner), SentByThisLogin: true},
		} {
			g.Happens(in)
		}
		if s := g.Session(g.Router.Key(channels.Inbound{Address: to})); s.Settings.SendPolicy != policy.Inherit || g.Model.Count() != 1 || len(g.Deliveries()) != 1 {
			t.Errorf("an echo did something: %+v, %d model calls", s.Settings, g.Model.Count())
		}
		g.Happens(channels.Inbound{ID: sent, Address: elsewhere, Sender: routertest.Person(routertest.Owner), Text: "the same id in another chat", Mentioned: true})
		g.Shown(2)
		g.Say(to, routertest.Owner, "what did you hear?")
		g.Shown(3)
		if got := routertest.Told(g.Newest()); got != nil {
			t.Errorf("heard %q", got)
		}
	})
}

// What a platform with guilds, roles and threads of their own chat id says decides: which agent answers, that the session of a thread
// knows its channel, that the channel's settings hold in the thread. Events reach the same session, also without roles.
//
// proves: K3, K10
func TestThreadOfAGuild(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Agents.List = []agent.Entry{{ID: "main"}, {ID: "ops"}, {ID: "guild"}}
			s.Bindings = []sessions.Binding{{AgentID: "guild", Match: sessions.BindingMatch{Channel: routertest.Kind, GuildID: "g"}},
				{AgentID: "ops", Match: sessions.BindingMatch{Channel: routertest.Kind, GuildID: "g", Roles: []string{"admin"}}}}
			s.Accounts[routertest.Account] = settings.Account{Access: policy.Access{GroupPolicy: policy.GroupAllowlist, Groups: map[string]policy.GroupAccess{
				"chan": {RequireMention: new(bool), SystemPrompt: "Talk about roses."}}}}
		})
		thread := routertest.Direct("thread")
		thread.Type = channels.Room
		in := channels.Inbound{Address: thread, Parent: "chan", Guild: "g", Roles: []string{"admin", "x"}, Sender: routertest.Person(routertest.Guest), Text: "hello"}
		asked := g.Fake.Say(in) // no mention: the channel needs none
		answer := g.Shown(1)[0]
		g.Until("its receipt is stored", func() bool { return g.Deliveries()[0].State == sessions.Sent }) // what is ours is known by it
		const key = "agent:ops:fake:channel:chan:thread:thread"
		if s := g.Session(key); s.Agent != "ops" {
			t.Errorf("%+v", s)
		}
		g.Model.Mu.Lock()
		system := g.Model.Asked[0].System
		g.Model.Mu.Unlock()
		if !strings.Contains(system, "Talk about roses.") {
			t.Errorf("the channel's words are missing: %s", system)
		}
		for _, e := range []channels.Inbound{
			{Event: channels.Reacted, Target: answer.Receipt.ID, Emoji: "+"},
			{Event: channels.Edited, Target: asked.ID, Text: "hallo"},
			{Event: channels.Renamed, Title: "Roses", Roles: in.Roles},
		} {
			e.Address, e.Parent, e.Guild, e.Sender = in.Address, in.Parent, in.Guild, in.Sender
			g.Happens(e)
		}
		if s := g.Session(key); s.Title != "Roses" {
			t.Errorf("it is called %q", s.Title)
		}
		g.Fake.Say(in)
		g.Shown(2)
		if diff := cmp.Diff([]string{`"2002" reacted "+" to your message "echo: 2002: hello"`, `"2002" changed a message "hello" to: "hallo"`}, routertest.Told(g.Newest())); diff != "" {
			t.Error(diff)
		}
		in.Roles = []string{"x"}
		in.Address.Chat = "thread2"
		g.Fake.Say(in)
		g.Shown(3)
		g.Session("agent:guild:fake:channel:chan:thread:thread2")
		in.Parent = "elsewhere" // a channel that is not listed
		in.Address.Chat = "thread3"
		g.Happens(in)
		if n := g.Model.Count(); n != 3 {
			t.Errorf("%d model calls", n)
		}
	})
}
