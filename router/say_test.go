package router_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/inbound"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// What is said to the host makes its session, has one answer, and none again when it is repeated, whether or not the host has started
// anew since or the session is deleted.
func TestSay(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		w := routertest.Me(false)
		w.Source, w.Title, w.Keep, w.Label = "api:ci:chat.send:1", "A hook", time.Hour, "x"
		first := g.Told(w)
		run := g.Answered(first)
		if p := run.Input.Provenance; run.Result != "echo: hello" || run.Label != "x" || p.Kind != sessions.ExternalUser || p.Sender != "ci" || p.Name != "CI" || p.Tool != "api" || p.Owner {
			t.Errorf("%+v, %+v", run, p)
		}
		if s := g.Session(routertest.HookKey); s.Title != "A hook" || s.ArchiveAt.IsZero() || s.Agent != "main" {
			t.Errorf("%+v", s)
		}
		for i := range 2 {
			again := g.Told(w)
			if !again.Duplicate || again.Run.ID != first.Run.ID || again.Run.Status != sessions.Done {
				t.Errorf("again, %d: %+v", i, again)
			}
			g.Stop()
			g.Start()
		}
		if err := g.Router.Delete(t.Context(), "", routertest.HookKey); err != nil {
			t.Fatal(err)
		}
		if again := g.Told(w); !again.Duplicate || again.Run.ID != first.Run.ID {
			t.Errorf("after the deletion: %+v", again)
		}
		if n := g.Model.Count(); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		if _, err := g.Store.Get(t.Context(), routertest.HookKey); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("the repeat made the session again: %v", err)
		}
		if d := g.Deliveries(); len(d) != 0 {
			t.Errorf("%+v", d)
		}
	})
}

// What is wrong with words is said, and nothing is queued.
func TestSayRefuses(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		for name, c := range map[string]struct {
			change func(*inbound.Request)
			want   error
			says   string
		}{
			"empty":     {func(w *inbound.Request) { w.Text = " \n" }, sessions.ErrBadRequest, "text is empty"},
			"no key":    {func(w *inbound.Request) { w.Session = "x" }, sessions.ErrBadRequest, "not a session key"},
			"no agent":  {func(w *inbound.Request) { w.Session = "agent:else:main" }, sessions.ErrBadRequest, `there is no agent "else"`},
			"unknown":   {func(w *inbound.Request) { w.Session = sessions.UnknownKey }, sessions.ErrBadRequest, "is reserved"},
			"sub-agent": {func(w *inbound.Request) { w.Session = sessions.SubagentKey("main", "x") }, sessions.ErrNotFound, "sub-agent"},
			"model":     {func(w *inbound.Request) { w.Model = "else/m" }, sessions.ErrBadRequest, "model: "},
			"stranger":  {func(w *inbound.Request) { w.Reply = routertest.Direct("777") }, sessions.ErrBadRequest, "has never written to this host"},
		} {
			w := routertest.Me(true)
			c.change(&w)
			if _, err := g.Router.Receiver.Submit(t.Context(), w); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if runs := g.Runs(); len(runs) != 0 {
			t.Errorf("%+v", runs)
		}
	})
}

// A command through the host is answered there and not in the chat; who is no owner is refused as in a chat, also where a list of the
// account names somebody by that name.
func TestSayCommand(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			a := s.Accounts[routertest.Account]
			a.Access.AllowFrom = []string{"*", "ci"}
			s.Accounts[routertest.Account] = a
		})
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hi")
		g.Shown(1)
		g.Idle(1)
		main := sessions.MainKey("main")
		before := g.Session(main)
		for _, c := range []struct {
			owner     bool
			text      string
			says      string
			policy    policy.Override
			fresh     bool
			duplicate bool
		}{
			{false, "/send off", "Only an owner can use /send.", "", false, false},
			{false, "/model mock/x", "Only people on my allow list", "", false, false},
			{false, "/whoami", "You are CI, allowed to talk to me, and wrote to the host itself", "", false, false},
			{true, "/send off", "Send policy set to off.", policy.Deny, false, false},
			{true, "/send off", "Send policy set to off.", policy.Deny, false, true},
			{true, "/new", "New session started", policy.Deny, true, false},
		} {
			w := routertest.Me(c.owner)
			w.Session, w.Text, w.Commands, w.Source = main, c.text, true, fmt.Sprint(c.owner, c.text)
			h := g.Told(w)
			if !strings.Contains(h.Answer, c.says) || h.Command == "" || h.Run.ID != "" || h.Duplicate != c.duplicate {
				t.Errorf("%s: %+v", c.text, h)
			}
			if s := g.Session(main); s.Settings.SendPolicy != c.policy || s.ID != before.ID != c.fresh || s.Settings.Model != "" {
				t.Errorf("%s: %+v", c.text, s)
			}
		}
		w := routertest.Me(true)
		w.Session, w.Text = main, "/send on"
		if run := g.Answered(g.Told(w)); run.Result != "echo: /send on" || g.Session(main).Settings.SendPolicy != policy.Deny {
			t.Errorf("without Commands it is no command: %+v", run)
		}
		if d := g.Deliveries(); len(d) != 1 {
			t.Errorf("%d deliveries", len(d))
		}
	})
}

// A command that causes a turn causes it as words do: its answer is in the transcript, and a repeat causes none.
func TestSayCommandWithTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Say(routertest.Group("g"), routertest.Owner, "hi")
		g.Shown(1)
		g.Idle(1)
		key := g.Runs()[0].Key
		for range 2 {
			w := routertest.Me(true)
			w.Session, w.Text, w.Commands, w.Source = key, "/new tell me", true, "s"
			if run := g.Answered(g.Told(w)); !strings.Contains(run.Result, "tell me") || !run.Reply.IsZero() || run.ReplyTo != "" || run.Input.Provenance.Sender != "ci" {
				t.Errorf("%+v", run)
			}
		}
		if n := len(g.Idle(2)); n != 2 || len(g.Deliveries()) != 1 {
			t.Errorf("%d runs, %d deliveries", n, len(g.Deliveries()))
		}
	})
}

// Turns of their own are not put into one with others that wait; the others are.
func TestAloneIsNotCollected(t *testing.T) {
	for _, mode := range []sessions.QueueMode{sessions.Collect, sessions.Steer, sessions.Interrupt, sessions.Followup} {
		t.Run(string(mode), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Messages.Queue.Mode = mode })
				release := g.Blocked()
				said := map[string]inbound.Submitted{}
				for _, name := range []string{"first alone", "a", "b", "second alone", "third alone", "c", "d"} {
					w := routertest.Me(true)
					w.Text, w.Exclusive = name, strings.Contains(name, "alone")
					said[name] = g.Told(w)
					g.Until("it is at work", func() bool { return g.Model.Count() > 0 })
				}
				release()
				for name, h := range said {
					run := g.Answered(h)
					alone := strings.Contains(name, "alone")
					if alone && (run.ID != h.Run.ID || run.Result != "echo: "+name) {
						t.Errorf("%s was answered by %s: %q", name, run.Input.Text(), run.Result)
					}
					if !alone && mode == sessions.Collect && (run.Input.Text() != "a" && run.Input.Text() != "c" || strings.Contains(run.Result, "alone")) {
						t.Errorf("%s was answered by %s: %q", name, run.Input.Text(), run.Result)
					}
				}
			})
		})
	}
}

// When too many wait, whoever speaks is told, and nothing that waits is dropped for it.
func TestSayWhenFull(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Messages.Queue.Queue = sessions.Queue{Mode: sessions.Collect, Cap: 2, Drop: sessions.DropOld}
		})
		release := g.Blocked()
		w := routertest.Me(true)
		w.Source = "first"
		g.Told(w)
		g.Until("it is at work", func() bool { return g.Model.Count() > 0 })
		for range 2 {
			w.Source = ""
			g.Told(w)
		}
		if _, err := g.Router.Receiver.Submit(t.Context(), w); !errors.Is(err, inbound.ErrQueueFull) || !strings.Contains(err.Error(), "messages.queue.cap") {
			t.Errorf("%v", err)
		}
		w.Source = "first" // was taken
		if h := g.Told(w); !h.Duplicate {
			t.Errorf("%+v", h)
		}
		release()
		for _, run := range g.Idle(3) {
			if run.Status != sessions.Done {
				t.Errorf("%s %s", run.Status, run.Error)
			}
		}
	})
}

// What words say about their turn holds for that turn: its prompt, its model, how it thinks. In a group's session they have a name.
func TestSayTurn(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		var asked []string
		g.Models = func(name string) (agent.Candidate, error) {
			asked = append(asked, name)
			return agent.Candidate{Model: g.Model, Name: "m", Label: name}, nil
		}
		g.Say(routertest.Group("g"), routertest.Owner, "hi")
		g.Shown(1)
		g.Idle(1)
		w := routertest.Me(true)
		w.Session, w.System, w.Model, w.Thinking, w.Timeout = g.Runs()[0].Key, "Answer in French.", "mock/other", "high", time.Minute
		run := g.Answered(g.Told(w))
		p := g.Model.Asked[len(g.Model.Asked)-1]
		if !strings.HasSuffix(p.System, "\n\nAnswer in French.") || p.Thinking != "high" || asked[len(asked)-1] != "mock/other" || run.Timeout != time.Minute {
			t.Errorf("%q, thinking %q, models %v", p.System[max(0, len(p.System)-60):], p.Thinking, asked)
		}
		if run.Input.Text() != "CI: hello" {
			t.Errorf("%q", run.Input.Text())
		}
		w.System, w.Model, w.Thinking = "", "", ""
		g.Answered(g.Told(w))
		if p = g.Model.Asked[len(g.Model.Asked)-1]; strings.Contains(p.System, "French") || p.Thinking != "" {
			t.Errorf("the next turn: %q", p.Thinking)
		}
	})
}

// The answer goes into the session's own chat as any answer, into that of another session as a post of the host, which that session
// knows of. Who may be written to is decided by the sessions of both.
func TestSayReply(t *testing.T) {
	for name, c := range map[string]struct {
		session sessions.Key
		deny    sessions.Key
		state   sessions.DeliveryState
		kind    sessions.DeliveryKind
		knows   bool // the chat's session has a message of the host
	}{
		"own chat":         {"agent:main:main", "", sessions.Sent, sessions.Reply, false},
		"own chat, denied": {"agent:main:main", "agent:main:main", sessions.Withheld, sessions.Reply, false},
		"other chat":       {routertest.HookKey, "", sessions.Sent, sessions.Announce, true},
		"denied there":     {routertest.HookKey, "agent:main:main", sessions.Withheld, sessions.Announce, true},
		"denied here":      {routertest.HookKey, routertest.HookKey, sessions.Withheld, sessions.Announce, true},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hi")
				g.Shown(1)
				g.Idle(1)
				w := routertest.Me(true)
				w.Session = c.session
				g.Answered(g.Told(w))
				if c.deny != "" {
					if _, err := g.Router.Patch(t.Context(), c.deny, sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil {
						t.Fatal(err)
					}
				}
				w.Reply, w.Text, w.Source = routertest.Direct(routertest.Owner), "the news", "once"
				g.Answered(g.Told(w))
				g.Told(w)
				g.Until("it is over", func() bool {
					d := g.Deliveries()
					return len(d) == 2 && d[1].State.Final()
				})
				d := g.Deliveries()[1]
				if d.State != c.state || d.Kind != c.kind || d.To != routertest.Direct(routertest.Owner) || d.Text != "echo: the news" {
					t.Errorf("%+v", d)
				}
				msgs := g.Transcript("agent:main:main")
				newest := msgs[len(msgs)-1]
				if (newest.Model == "parley/post") != c.knows || newest.Text() != "echo: the news" || len(newest.Deliveries()) != 1 || newest.Deliveries()[0].State != c.state {
					t.Errorf("%+v", newest)
				}
			})
		})
	}
}

// A turn for a chat of another session that fails is told there as well; one that has nothing to say says nothing.
func TestSayReplyEnds(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hi")
		g.Shown(1)
		g.Idle(1)
		w := routertest.Me(true)
		w.Reply = routertest.Direct(routertest.Owner)
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) { return routertest.Text("NO_REPLY"), nil })
		g.Answered(g.Told(w))
		g.Model.Set(func(context.Context, agent.Prompt) (agent.Answer, error) { return agent.Answer{}, errors.New("broken") })
		g.Answered(g.Told(w))
		calls := g.Shown(2)
		if got := calls[1].Out.Text; !strings.Contains(got, "went wrong") && !strings.Contains(got, "model") {
			t.Errorf("%q", got)
		}
		if d := g.Deliveries(); len(d) != 2 {
			t.Errorf("%d deliveries", len(d))
		}
	})
}
