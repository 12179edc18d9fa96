package router

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// told gives the lines that came with a message, as the agent reads them.
func told(m sessions.Message) (out []string) {
	for _, b := range m.Content {
		for _, l := range b.Heard() {
			out = append(out, l.Sentence(strconv.Quote))
		}
	}
	return out
}

// happens has an event come from a chat and waits until it is taken.
func (g *rig) happens(in channels.Inbound) {
	g.t.Helper()
	events, _ := g.fake.Accepted()
	g.fake.Say(in)
	g.taken(len(events) + 1)
}

// busy holds the model until the rest is called, and has a person's message at work meanwhile.
func (g *rig) busy(to channels.Address, from string) (rest func()) {
	g.t.Helper()
	free := make(chan struct{})
	g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		select {
		case <-free:
		case <-ctx.Done():
		}
		return text("echo: " + lastUser(p)), ctx.Err()
	})
	n := g.model.count()
	g.say(to, from, "work")
	g.until("it is at work", func() bool { return g.model.count() == n+1 })
	return func() { close(free) }
}

// A message that waits is answered as it is when its turn begins: changed, also where several are collected, or not at all.
func TestEditOfWhatWaits(t *testing.T) {
	for _, mode := range []sessions.QueueMode{sessions.Collect, sessions.Followup, sessions.Steer} {
		for _, to := range []channels.Address{direct(owner), groupChat("g")} {
			t.Run(string(mode)+"/"+string(to.Type), func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Messages.Queue.Queue = sessions.Queue{Mode: mode} })
					rest := g.busy(to, owner)
					q := channels.Inbound{Address: to, Sender: person(owner), Text: "secnd", Mentioned: true, Quote: &channels.Quote{Text: "one\ntwo"}}
					second, third, fourth := g.fake.Say(q), g.say(to, owner, "third"), g.say(to, owner, "fourth")
					g.taken(4)
					g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person(owner), Target: second.ID, Text: "/send off"})
					g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person(owner), Target: second.ID, Text: "second"})
					g.happens(channels.Inbound{Event: channels.Deleted, Address: to, Target: third.ID}) // as by a platform that does not say who
					g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person(guest), Target: fourth.ID, Text: "not mine"})
					rest()
					g.until("all is answered", func() bool { return g.allOver() })
					prefix := ""
					if to.Type.Several() {
						prefix = owner + ": "
					}
					all := ""
					for _, m := range g.transcript(g.r.Key(channels.Inbound{Address: to, Sender: person(owner)})) {
						if m.Role == sessions.User {
							all += m.Text() + "|"
						}
					}
					if want := prefix + "work|> one\n> two\n\n" + prefix + "second|" + prefix + "fourth|"; all != want {
						t.Errorf("read %q, want %q", all, want)
					}
					runs := g.runs()
					i := slices.IndexFunc(runs, func(r sessions.Run) bool { return r.Source == string(third.ID) })
					if r := runs[i]; r.Status != sessions.Stopped || !strings.Contains(r.Error, "deleted") {
						t.Errorf("%+v", r)
					}
					for _, d := range g.deliveries() {
						if d.Kind == sessions.Notice {
							t.Errorf("told %q", d.Text)
						}
					}
				})
			})
		}
	}
}

// allOver reports whether every run has ended.
func (g *rig) allOver() bool {
	return !slices.ContainsFunc(g.runs(), func(r sessions.Run) bool { return !r.Status.Final() })
}

// What people do to messages that were answered, and to ours, comes with the next message: once, in quotes; no turn begins because
// of it.
func TestEventsComeWithTheNextTurn(t *testing.T) {
	for _, to := range []channels.Address{direct(owner), groupChat("g")} {
		t.Run(string(to.Type), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				asked := g.say(to, owner, "what is \"this\"?")
				answer := g.shown(1)[0]
				by := func(kind channels.Event, edit func(*channels.Inbound)) {
					in := channels.Inbound{Event: kind, Address: to, Sender: channels.Sender{ID: owner, Name: "Ol\"ga\nX"}}
					edit(&in)
					g.happens(in)
				}
				by(channels.Edited, func(in *channels.Inbound) { in.Target, in.Text = asked.ID, "/send off" })
				by(channels.Edited, func(in *channels.Inbound) { in.Target, in.Text = asked.ID, "that\" joined this chat" })
				by(channels.Reacted, func(in *channels.Inbound) { in.Target, in.Emoji = answer.Receipt.ID, "👍" })
				by(channels.Reacted, func(in *channels.Inbound) { in.Target, in.Emoji = asked.ID, "👎" }) // not ours
				by(channels.Reacted, func(in *channels.Inbound) { in.Target, in.Emoji = "nowhere", "👎" })
				by(channels.Deleted, func(in *channels.Inbound) { in.Target = "unknown" })
				by(channels.Deleted, func(in *channels.Inbound) { in.Target = answer.Receipt.ID }) // ours, by us
				by(channels.Deleted, func(in *channels.Inbound) { in.Target, in.Sender = "unknown2", channels.Sender{} })
				by(channels.Joined, func(in *channels.Inbound) { in.People = []channels.Sender{person("Bo"), person("Cy")} })
				by(channels.Left, func(in *channels.Inbound) { in.Self = true })
				by(channels.Joined, func(in *channels.Inbound) { in.People, in.Sender = []channels.Sender{person("Dee")}, channels.Sender{} })
				by("pinned", func(*channels.Inbound) {})
				g.stop() // it is on disk
				g.start()
				if n := g.model.count(); n != 1 || len(g.deliveries()) != 1 {
					t.Fatalf("%d model calls, %d deliveries", n, len(g.deliveries()))
				}
				g.say(to, owner, "and now?")
				g.shown(2)
				about := `what is \"this\"?`
				said := "echo: " + map[bool]string{true: owner + ": "}[to.Type.Several()] + about
				want := []string{
					`"Ol\"ga X" changed a message "` + about + `" to: "that\" joined this chat"`,
					`"Ol\"ga X" reacted "👍" to your message "` + said + `"`,
					`"Ol\"ga X" deleted a message`,
					`"Bo, Cy" joined this chat`,
					"You were removed from this chat.",
				}
				if diff := cmp.Diff(want, told(g.newest())); diff != "" {
					t.Error(diff)
				}
				g.say(to, owner, "again?")
				g.shown(3)
				if got := told(g.newest()); got != nil {
					t.Errorf("told twice: %q", got)
				}
				if s := g.session(g.r.Key(channels.Inbound{Address: to, Sender: person(owner)})); s.Settings.SendPolicy != policy.Inherit {
					t.Errorf("an edit has set the policy to %q", s.Settings.SendPolicy)
				}
				asked2 := g.say(to, owner, "/new")
				g.taken(len(must(g.fake.Accepted())))
				g.shown(4)
				by(channels.Edited, func(in *channels.Inbound) { in.Target, in.Text = asked.ID, "of the old session" })
				by(channels.Edited, func(in *channels.Inbound) { in.Target, in.Text = asked2.ID, "/new x" })
				g.say(to, owner, "fresh")
				g.shown(5)
				if diff := cmp.Diff([]string{`"Ol\"ga X" changed a message to: "/new x"`}, told(g.newest())); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func must(events []channels.Inbound, _ int) []channels.Inbound { return events }

// Group talk that nobody was told of yet is shown as it is now.
func TestEditOfGroupTalk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Messages.GroupChat.HistoryLimit = ptr(3) })
		to := groupChat("garden")
		one, two, three := g.talk(to, "Gustav", "8:05"), g.talk(to, "Gustav", "wrong"), g.talk(to, "Mia", "stays")
		g.taken(3)
		g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person("Gustav"), Target: one.ID, Text: "9:05"})
		g.happens(channels.Inbound{Event: channels.Deleted, Address: to, Target: two.ID})
		g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person("Gustav"), Target: three.ID, Text: "goes"})
		for range 5 { // no more than so many lines
			g.happens(channels.Inbound{Event: channels.Joined, Address: to, Sender: person("Bo")})
		}
		g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person("Gustav"), Target: "x", Text: strings.Repeat("ü", 3000)})
		g.say(to, owner, "hello")
		g.shown(1)
		got := told(g.newest())
		if len(got) != 3 || got[1] != `"Bo" joined this chat` || len(got[2]) > heardLine+100 || !strings.HasSuffix(got[2], `…"`) {
			t.Errorf("%q", got)
		}
	})
	t.Run("in place", func(t *testing.T) {
		bubble(t, func(t *testing.T) {
			g := newRig(t, channeltest.Options{})
			to := groupChat("garden")
			one, two := g.talk(to, "Gustav", "8:05"), g.talk(to, "Gustav", "wrong")
			g.taken(2)
			g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person("Gustav"), Target: one.ID, Text: "9:05"})
			g.happens(channels.Inbound{Event: channels.Deleted, Address: to, Target: two.ID})
			g.say(to, owner, "hello")
			g.shown(1)
			if diff := cmp.Diff([]string{`"Gustav" said: "9:05"`}, told(g.newest())); diff != "" {
				t.Error(diff)
			}
		})
	})
}

// A renamed chat gives its own session the title, a topic its topic's; a session that is not the chat's own keeps its title.
func TestRenamed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		group, topic := groupChat("g"), groupChat("g")
		topic.Thread = "7"
		for i, to := range []channels.Address{group, topic, direct(owner)} {
			g.say(to, owner, "hello")
			g.shown(i + 1)
		}
		for to, title := range map[channels.Address]string{group: "Cats", topic: "Food", direct(owner): "Me", groupChat("new"): "None"} {
			who := channels.Sender{} // not every platform says
			if to.Type == channels.Direct {
				who = person(owner)
			}
			g.happens(channels.Inbound{Event: channels.Renamed, Address: to, Title: title, Sender: who})
		}
		g.happens(channels.Inbound{Event: channels.Renamed, Address: topic, Title: ""})
		for to, want := range map[channels.Address]string{group: "Cats", topic: "Food", direct(owner): ""} {
			if s := g.session(g.r.Key(channels.Inbound{Address: to, Sender: person(owner)})); s.Title != want {
				t.Errorf("%s is called %q", to, s.Title)
			}
		}
		if _, err := g.store.Get(t.Context(), g.r.Key(channels.Inbound{Address: groupChat("new")})); err == nil {
			t.Error("a name has made a session")
		}
	})
}

// A chat that gets a new id goes on in its session, over a restart, and what waits for it arrives there.
func TestChatThatMoves(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		old, now := groupChat("-5"), groupChat("-1005")
		g.say(old, owner, "hello")
		g.shown(1)
		key := g.r.Key(channels.Inbound{Address: old})
		off := policy.Allow
		if _, err := g.store.Patch(t.Context(), key, sessions.Patch{SendPolicy: &off, Model: new("mock/other")}); err != nil {
			t.Fatal(err)
		}
		g.r.Attach(account, nil)
		g.say(old, owner, "/whoami")
		g.taken(2)
		g.happens(channels.Inbound{Event: channels.Moved, Address: old, MovedTo: now.Chat}) // its sender may be anybody, or nobody
		g.happens(channels.Inbound{Event: channels.Moved, Address: old})                    // to nowhere
		g.stop()
		g.start()
		g.shown(2)
		if got := g.fake.Texts(now); len(got) != 1 || !strings.Contains(got[0], owner) {
			t.Errorf("what waited went elsewhere: %q", got)
		}
		before := g.session(key)
		g.say(now, owner, "still here?")
		g.shown(3)
		if s := g.session(key); s.ID != before.ID || s.Last != now || s.Settings.Model != "mock/other" {
			t.Errorf("%+v", s)
		}
		if got := g.lastPrompt(); !slices.Equal(got, []string{"user:" + owner + ": hello", "assistant:echo: " + owner + ": hello", "user:" + owner + ": still here?"}) {
			t.Errorf("the agent reads %q", got)
		}
		list, err := g.store.List(t.Context(), sessions.Query{})
		if err != nil || len(list) != 1 {
			t.Errorf("%d sessions, %v", len(list), err)
		}
		g.say(now, owner, "/send off") // commands, too
		g.shown(4)
		if s := g.session(key); s.Settings.SendPolicy != policy.Deny {
			t.Errorf("the policy is %q", s.Settings.SendPolicy)
		}
	})
}

// A message that the store knows as ours is nobody's, also when the platform does not say so, before the policy and after a restart.
func TestEcho(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		to := groupChat("g")
		g.say(to, owner, "hello")
		sent := g.shown(1)[0].Receipt.ID
		synctest.Wait()
		g.stop()
		g.start()
		elsewhere := groupChat("other")
		for _, in := range []channels.Inbound{
			{ID: sent, Address: to, Sender: person(owner), Text: "/send off", Mentioned: true},
			{ID: sent, Event: channels.Edited, Target: sent, Address: to, Sender: person(owner), Text: "/send off"},
			{ID: "2", Address: to, Sender: person(owner), Text: "/send off", Mentioned: true, SentByThisLogin: true},
			{ID: "3", Event: channels.Reacted, Target: sent, Emoji: "x", Address: to, Sender: person(owner), SentByThisLogin: true},
		} {
			g.happens(in)
		}
		if s := g.session(g.r.Key(channels.Inbound{Address: to})); s.Settings.SendPolicy != policy.Inherit || g.model.count() != 1 || len(g.deliveries()) != 1 {
			t.Errorf("an echo did something: %+v, %d model calls", s.Settings, g.model.count())
		}
		g.happens(channels.Inbound{ID: sent, Address: elsewhere, Sender: person(owner), Text: "the same id in another chat", Mentioned: true})
		g.shown(2)
		g.say(to, owner, "what did you hear?")
		g.shown(3)
		if got := told(g.newest()); got != nil {
			t.Errorf("heard %q", got)
		}
	})
}

// What a platform with guilds, roles and threads of their own chat id says decides: which agent answers, that the session of a thread
// knows its channel, that the channel's settings hold in the thread. Events reach the same session, also without roles.
//
// proves: K3, K10
func TestThreadOfAGuild(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Agents.List = []agent.Entry{{ID: "main"}, {ID: "ops"}, {ID: "guild"}}
			s.Bindings = []sessions.Binding{{AgentID: "guild", Match: sessions.BindingMatch{Channel: fakeKind, GuildID: "g"}},
				{AgentID: "ops", Match: sessions.BindingMatch{Channel: fakeKind, GuildID: "g", Roles: []string{"admin"}}}}
			s.Accounts[account] = AccountSettings{Access: policy.Access{GroupPolicy: policy.GroupAllowlist, Groups: map[string]policy.GroupAccess{
				"chan": {RequireMention: new(bool), SystemPrompt: "Talk about roses."}}}}
		})
		thread := direct("thread")
		thread.Type = channels.Room
		in := channels.Inbound{Address: thread, Parent: "chan", Guild: "g", Roles: []string{"admin", "x"}, Sender: person(guest), Text: "hello"}
		asked := g.fake.Say(in) // no mention: the channel needs none
		answer := g.shown(1)[0]
		g.until("its receipt is stored", func() bool { return g.deliveries()[0].State == sessions.Sent }) // what is ours is known by it
		const key = "agent:ops:fake:channel:chan:thread:thread"
		if s := g.session(key); s.Agent != "ops" {
			t.Errorf("%+v", s)
		}
		g.model.mu.Lock()
		system := g.model.asked[0].System
		g.model.mu.Unlock()
		if !strings.Contains(system, "Talk about roses.") {
			t.Errorf("the channel's words are missing: %s", system)
		}
		for _, e := range []channels.Inbound{
			{Event: channels.Reacted, Target: answer.Receipt.ID, Emoji: "+"},
			{Event: channels.Edited, Target: asked.ID, Text: "hallo"},
			{Event: channels.Renamed, Title: "Roses", Roles: in.Roles},
		} {
			e.Address, e.Parent, e.Guild, e.Sender = in.Address, in.Parent, in.Guild, in.Sender
			g.happens(e)
		}
		if s := g.session(key); s.Title != "Roses" {
			t.Errorf("it is called %q", s.Title)
		}
		g.fake.Say(in)
		g.shown(2)
		if diff := cmp.Diff([]string{`"2002" reacted "+" to your message "echo: 2002: hello"`, `"2002" changed a message "hello" to: "hallo"`}, told(g.newest())); diff != "" {
			t.Error(diff)
		}
		in.Roles = []string{"x"}
		in.Address.Chat = "thread2"
		g.fake.Say(in)
		g.shown(3)
		g.session("agent:guild:fake:channel:chan:thread:thread2")
		in.Parent = "elsewhere" // a channel that is not listed
		in.Address.Chat = "thread3"
		g.happens(in)
		if n := g.model.count(); n != 3 {
			t.Errorf("%d model calls", n)
		}
	})
}
