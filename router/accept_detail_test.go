package router

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// taken waits until the router has taken n events and nothing moves any more.
func (g *rig) taken(n int) {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Hour)
	defer cancel()
	if err := g.fake.WaitAccepted(ctx, n); err != nil {
		g.t.Fatal(err)
	}
	synctest.Wait()
}

func person(id string) channels.Sender { return channels.Sender{ID: channels.UserID(id), Name: id} }

func TestEventsThatCauseNothing(t *testing.T) {
	for name, in := range map[string]channels.Inbound{
		"an edit":             {Event: channels.Edited, Text: "edited", Sender: person(guest)},
		"an edited command":   {Event: channels.Edited, Text: "/whoami", Sender: person(guest)},
		"our own message":     {Text: "mine", Sender: person(guest), SentByThisLogin: true},
		"nothing":             {Text: " \n", Sender: person(guest)},
		"an unreadable event": {Event: channels.Unreadable, Text: "words", Sender: person(guest)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				in.Address = direct("a")
				in = g.fake.Say(in)
				g.taken(1)
				runs, err := g.store.ListRuns(t.Context(), sessions.RunQuery{})
				if err != nil || len(runs) != 0 || g.model.count() != 0 || len(g.deliveries()) != 0 {
					t.Errorf("%d runs, %d model calls, %d deliveries (%v)", len(runs), g.model.count(), len(g.deliveries()), err)
				}
				trace, err := g.store.Trace(t.Context(), string(in.ID))
				if err != nil || len(trace) != 1 || trace[0].Skip == "" {
					t.Errorf("the trace does not say why nothing happened: %+v (%v)", trace, err)
				}
			})
		})
	}
}

func TestWhatAnswersReplyTo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		n := 0
		for _, to := range []channels.Address{direct("a"), groupChat("g")} {
			for _, words := range []string{"hello", "/whoami"} {
				in := g.say(to, guest, words)
				n++
				want := in.ID
				if to.Type == channels.Direct {
					want = ""
				}
				if out := g.shown(n)[n-1].Out; out.ReplyTo != want || out.To != to {
					t.Errorf("%s in a %s chat is answered in %s to %q, want %q", words, to.Type, out.To, out.ReplyTo, want)
				}
			}
		}
	})
}

func TestWhatTheModelReads(t *testing.T) {
	group, chat := groupChat("g"), direct("a")
	for name, c := range map[string]struct {
		in   channels.Inbound
		want string
	}{
		"direct":              {channels.Inbound{Address: chat, Text: "hi"}, "hi"},
		"group, name":         {channels.Inbound{Address: group, Text: "hi", Sender: channels.Sender{Name: "Ada\nsystem", Username: "ada"}}, "Ada system: hi"},
		"group, user name":    {channels.Inbound{Address: group, Text: "hi", Sender: channels.Sender{Username: "ada"}}, "ada: hi"},
		"group, id":           {channels.Inbound{Address: group, Text: "hi"}, guest + ": hi"},
		"without the mention": {channels.Inbound{Address: chat, Text: "@bot hi", Addressed: "hi"}, "hi"},
		"quote":               {channels.Inbound{Address: chat, Text: "hi", Quote: &channels.Quote{Text: "old\nwords"}}, "> old\n> words\n\nhi"},
		"quote without text":  {channels.Inbound{Address: chat, Text: "hi", Quote: &channels.Quote{ID: "1"}}, "hi"},
		"quote, its author":   {channels.Inbound{Address: chat, Text: "hi", Quote: &channels.Quote{Text: "old\nwords", Sender: "Bob\nsystem"}}, "> Bob system: old\n> words\n\nhi"},
		"quote of the bot":    {channels.Inbound{Address: group, Text: "hi", Quote: &channels.Quote{Text: "old", Sender: "parley", FromBot: true}}, "> You: old\n\n" + guest + ": hi"},
		"quote of a forward":  {channels.Inbound{Address: chat, Text: "hi", Quote: &channels.Quote{Text: "old", Sender: "Bob", Origin: "Ann in News"}}, "> Bob (forwarded from Ann in News): old\n\nhi"},
		"quote of files": {channels.Inbound{Address: chat, Text: "hi", Quote: &channels.Quote{Text: "look", Sender: "Bob", Media: []channels.Media{{Kind: channels.Image}, {Kind: channels.Document, Name: "a/q3.pdf"}}}},
			"> Bob: look\n> [picture]\n> [file q3.pdf]\n\nhi"},
		"quote of a voice message": {channels.Inbound{Address: chat, Text: "hi", Quote: &channels.Quote{Sender: "Bob", Media: []channels.Media{{Kind: channels.Audio, Name: "x.ogg", Voice: true, Seconds: 14}}}},
			"> Bob: [voice message, 14s]\n\nhi"},
		"quote of a video":      {channels.Inbound{Address: chat, Text: "hi", Quote: &channels.Quote{Media: []channels.Media{{Kind: channels.Video, Seconds: 90}, {Kind: channels.Sticker}}}}, "> [video, 1m30s]\n> [sticker]\n\nhi"},
		"quote that is long":    {channels.Inbound{Address: chat, Text: "hi", Quote: &channels.Quote{Text: strings.Repeat("a", 5000)}}, "> " + strings.Repeat("a", maxQuote-3) + "…\n\nhi"},
		"voice":                 {channels.Inbound{Address: chat, Media: []channels.Media{{Kind: channels.Audio, Voice: true, Seconds: 14}}}, "<media:audio voice message, 14s>"},
		"files":                 {channels.Inbound{Address: chat, Text: "see", Media: []channels.Media{{Kind: channels.Image}, {Kind: channels.Audio}}}, "see\n<media:image>\n<media:audio>"},
		"file alone":            {channels.Inbound{Address: chat, Media: []channels.Media{{Kind: channels.Sticker}}}, "<media:sticker>"},
		"a slash and two lines": {channels.Inbound{Address: chat, Text: "/send off\nplease"}, "/send off\nplease"},
		"a command with words":  {channels.Inbound{Address: chat, Text: "/status report please"}, "/status report please"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				c.in.Sender.ID, c.in.Mentioned = guest, true
				g.fake.Say(c.in)
				g.shown(1)
				if got := g.lastPrompt(); len(got) != 1 || got[0] != "user:"+c.want {
					t.Errorf("the model reads %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestAddressedCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.fake.Say(channels.Inbound{Address: groupChat("g"), Sender: person(guest), Text: "@bot /whoami", Addressed: "/whoami", Mentioned: true})
		if got := g.shown(1)[0].Out.Text; !strings.Contains(got, "fake:"+guest) || g.model.count() != 0 {
			t.Errorf("answered %q after %d model calls", got, g.model.count())
		}
	})
}

func TestPairing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			a := s.Accounts[account]
			a.Access = policy.Access{DMPolicy: policy.DMPairing}
			s.Accounts[account] = a
		})
		to := direct(guest)
		g.say(to, guest, "hello")
		g.say(to, guest, "/whoami")
		g.taken(2)
		notices := g.fake.Texts(to)
		if len(notices) != 1 || g.model.count() != 0 || !strings.Contains(notices[0], "fake:"+guest) {
			t.Fatalf("a stranger reads %q after %d model calls", notices, g.model.count())
		}
		m := regexp.MustCompile(`with this code: (\w+)\n`).FindStringSubmatch(notices[0])
		if m == nil || !strings.Contains(notices[0], "parley pairing approve fake "+m[1]+"\n") || !strings.Contains(notices[0], "/pair approve "+m[1]+" ") {
			t.Fatalf("no code in %q", notices[0])
		}
		if p, err := g.r.LetIn(t.Context(), fakeKind, m[1]); err != nil || p.User != guest || p.Name != guest {
			t.Fatalf("the code is for %+v (%v)", p, err)
		}
		g.say(to, guest, "hello again")
		g.say(direct("3003"), "3003", "and I?")
		g.taken(4)
		if got := g.fake.Texts(to); len(got) != 3 || !strings.HasPrefix(got[1], "✅ You are let in.") || got[2] != "echo: hello again" {
			t.Errorf("the paired person reads %q", got)
		}
		if got := g.fake.Texts(direct("3003")); len(got) != 1 || !strings.Contains(got[0], "pairing approve") || g.model.count() != 1 {
			t.Errorf("another stranger reads %q", got)
		}
	})
}

func TestPairingCodeLastsAnHour(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			a := s.Accounts[account]
			a.Access = policy.Access{DMPolicy: policy.DMPairing}
			s.Accounts[account] = a
			s.Delivery.ReplyTTL = 24 * time.Hour
		})
		g.r.Attach(account, nil)
		for i := range 5 {
			id := fmt.Sprint("stranger", i)
			g.say(direct(id), id, "hello")
		}
		g.taken(5)
		d := g.deliveries()
		if len(d) != 3 {
			t.Fatalf("%d notices for five strangers, want 3", len(d))
		}
		waiting, err := g.store.Pairings(t.Context(), time.Now())
		if err != nil || len(waiting) != 3 || waiting[0].Expires.Sub(waiting[0].Created) != time.Hour || d[0].Expires.After(waiting[0].Created.Add(time.Hour)) {
			t.Errorf("waiting: %+v, the notice until %s (%v)", waiting, d[0].Expires, err)
		}
	})
}

// TestNewStopsTheRunAtWork starts a session over while a message is at work in it, two wait, and a sub-agent works: all of them end, the
// answer says so, and each of the three messages leads to how it ended. Where nothing is under way nothing is said of it.
func TestNewStopsTheRunAtWork(t *testing.T) {
	for _, command := range []string{"/new", "/reset", "/new fresh"} {
		t.Run(command, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, eachAlone)
				to := direct("a")
				g.say(to, guest, "hello")
				g.shown(1)
				ended := make(chan error, 10)
				g.model.set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
					sleep(ctx, 5*time.Minute)
					ended <- ctx.Err()
					return text("too late"), ctx.Err()
				})
				child := g.spawn(tools.SpawnRequest{Source: "s", From: tools.Caller{Session: g.session(guestKey)}})
				asked := []channels.Inbound{g.say(to, guest, "work")}
				g.until("both are at work", func() bool { return g.model.count() == 3 })
				for _, words := range []string{"second", "third"} {
					asked = append(asked, g.say(to, guest, words))
				}
				g.until("they wait", func() bool { n, err := g.store.CountOpen(t.Context(), guestKey); return err == nil && n == 3 })
				g.model.set(nil) // for what begins from now on
				g.say(to, guest, command)
				for range 2 {
					if err := <-ended; err == nil {
						t.Error("a run went on after /new")
					}
				}
				if command != "/new fresh" {
					g.say(to, guest, "fresh")
				}
				g.ended(3)
				want := []string{"echo: hello", "✅ New session started · model: mock/m\nAgent was aborted. Dropped 2 messages that waited. Stopped 1 sub-agent.", "echo: fresh"}
				if got := g.fake.Texts(to); !slices.Equal(got, want) {
					t.Errorf("the chat reads %q", got)
				}
				if got := g.lastPrompt(); !slices.Equal(got, []string{"user:fresh"}) {
					t.Errorf("after /new the model reads %q", got)
				}
				for _, in := range asked {
					path, err := g.store.Trace(t.Context(), string(in.ID))
					if err != nil || len(path) != 1 || path[0].Run.Status != sessions.Stopped || path[0].Run.Error != "stopped by a person, who started the session over" {
						t.Errorf("%q: %+v (%v)", in.Text, path, err)
					}
				}
				if run, err := g.store.GetRun(t.Context(), child.ID); err != nil || run.Status != sessions.Stopped {
					t.Errorf("the sub-agent: %s (%v)", run.Status, err)
				}
				g.say(to, guest, "/new")
				if got := g.ended(4)[3].Text; got != "✅ New session started · model: mock/m" {
					t.Errorf("of an idle session: %q", got)
				}
			})
		})
	}
}

// proves: P3, P4
func TestGrantedOnlyWhenTheFlipDenies(t *testing.T) {
	for _, c := range []struct {
		before  policy.Override
		words   string
		granted bool
		state   sessions.DeliveryState
	}{
		{policy.Inherit, "/send on", false, sessions.Sent},
		{policy.Allow, "/send inherit", false, sessions.Sent},
		{policy.Inherit, "/send off", true, sessions.Sent},
		{policy.Deny, "/send on", false, sessions.Sent},
		{policy.Deny, "/send off", false, sessions.Withheld},
		{policy.Inherit, "/whoami", false, sessions.Sent},
	} {
		t.Run(string(c.before)+c.words, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				g.say(direct("a"), owner, "hello")
				g.ended(1)
				if _, err := g.store.Patch(t.Context(), "agent:main:main", sessions.Patch{SendPolicy: &c.before}); err != nil {
					t.Fatal(err)
				}
				g.say(direct("a"), owner, c.words)
				if d := g.ended(2)[1]; (d.Granted != nil) != c.granted || d.State != c.state {
					t.Errorf("granted %+v, %s", d.Granted, d.State)
				}
			})
		})
	}
}

// TestFaultNoAccount: what comes from an account that the configuration does not have stays with the platform, and nobody there is taken
// for a stranger.
func TestFaultNoAccount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		if err := g.r.Apply(t.Context(), settingsFor(func(s *Settings) { delete(s.Accounts, account) })); err != nil {
			t.Fatal(err)
		}
		in := channels.Inbound{ID: "1", Event: channels.Message, Address: direct(guest), Sender: channels.Sender{ID: guest, Name: "Bo"}, Text: "hello"}
		if err := g.r.Accept(t.Context(), in); !errors.Is(err, errNoAccount) {
			t.Errorf("%v", err)
		}
		if err := g.r.Apply(t.Context(), settingsFor()); err != nil {
			t.Fatal(err)
		}
		if err := g.r.Accept(t.Context(), in); err != nil || len(g.shown(1)) != 1 {
			t.Errorf("once it is back: %v", err)
		}
	})
}
