package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

const hookKey sessions.Key = "agent:main:hook:h1"

// told says something through the host and fails the test when that does not work.
func (g *rig) told(w Words) Heard {
	g.t.Helper()
	h, err := g.r.Say(g.t.Context(), w)
	if err != nil {
		g.t.Fatal(err)
	}
	return h
}

// answered waits for the answer to words.
func (g *rig) answered(h Heard) sessions.Run {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Hour)
	defer cancel()
	run, err := g.r.Outcome(ctx, h.Run.ID)
	if err != nil {
		g.t.Fatal(err)
	}
	return run
}

// blocked has the model wait before each answer until release.
func (g *rig) blocked() (release func()) {
	gate := make(chan struct{})
	g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		select {
		case <-gate:
			return text("echo: " + lastUser(p)), nil
		case <-ctx.Done():
			return agent.Answer{}, ctx.Err()
		}
	})
	return func() { close(gate) }
}

func me(owner bool) Words {
	return Words{Sender: channels.Sender{ID: "ci", Name: "CI"}, Owner: owner, Via: "api", Session: hookKey, Text: "hello"}
}

// What is said to the host makes its session, has one answer, and none again when it is repeated, whether or not the host has started
// anew since or the session is deleted.
func TestSay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		w := me(false)
		w.Source, w.Title, w.Keep, w.Label = "api:ci:chat.send:1", "A hook", time.Hour, "x"
		first := g.told(w)
		run := g.answered(first)
		if p := run.Input.Provenance; run.Result != "echo: hello" || run.Label != "x" || p.Kind != sessions.ExternalUser || p.Sender != "ci" || p.Name != "CI" || p.Tool != "api" || p.Owner {
			t.Errorf("%+v, %+v", run, p)
		}
		if s := g.session(hookKey); s.Title != "A hook" || s.ArchiveAt.IsZero() || s.Agent != "main" {
			t.Errorf("%+v", s)
		}
		for i := range 2 {
			again := g.told(w)
			if !again.Duplicate || again.Run.ID != first.Run.ID || again.Run.Status != sessions.Done {
				t.Errorf("again, %d: %+v", i, again)
			}
			g.stop()
			g.start()
		}
		if err := g.r.Delete(t.Context(), "", hookKey); err != nil {
			t.Fatal(err)
		}
		if again := g.told(w); !again.Duplicate || again.Run.ID != first.Run.ID {
			t.Errorf("after the deletion: %+v", again)
		}
		if n := g.model.count(); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		if _, err := g.store.Get(t.Context(), hookKey); !errors.Is(err, sessions.ErrNotFound) {
			t.Errorf("the repeat made the session again: %v", err)
		}
		if d := g.deliveries(); len(d) != 0 {
			t.Errorf("%+v", d)
		}
	})
}

// What is wrong with words is said, and nothing is queued.
func TestSayRefuses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		for name, c := range map[string]struct {
			change func(*Words)
			want   error
			says   string
		}{
			"empty":     {func(w *Words) { w.Text = " \n" }, ErrWords, "no text"},
			"no key":    {func(w *Words) { w.Session = "x" }, ErrWords, "not a session key"},
			"no agent":  {func(w *Words) { w.Session = "agent:else:main" }, ErrWords, `there is no agent "else"`},
			"unknown":   {func(w *Words) { w.Session = sessions.UnknownKey }, ErrWords, "nobody's"},
			"sub-agent": {func(w *Words) { w.Session = sessions.SubagentKey("main", "x") }, sessions.ErrNotFound, "sub-agent"},
			"model":     {func(w *Words) { w.Model = "else/m" }, ErrWords, "model: "},
			"stranger":  {func(w *Words) { w.Reply = direct("777") }, ErrWords, "has never written to this host"},
		} {
			w := me(true)
			c.change(&w)
			if _, err := g.r.Say(t.Context(), w); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if runs := g.runs(); len(runs) != 0 {
			t.Errorf("%+v", runs)
		}
	})
}

// A command through the host is answered there and not in the chat; who is no owner is refused as in a chat, also where a list of the
// account names somebody by that name.
func TestSayCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			a := s.Accounts[account]
			a.Access.AllowFrom = []string{"*", "ci"}
			s.Accounts[account] = a
		})
		g.say(direct(owner), owner, "hi")
		g.shown(1)
		g.idle(1)
		main := sessions.MainKey("main")
		before := g.session(main)
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
			w := me(c.owner)
			w.Session, w.Text, w.Commands, w.Source = main, c.text, true, fmt.Sprint(c.owner, c.text)
			h := g.told(w)
			if !strings.Contains(h.Answer, c.says) || h.Command == "" || h.Run.ID != "" || h.Duplicate != c.duplicate {
				t.Errorf("%s: %+v", c.text, h)
			}
			if s := g.session(main); s.Settings.SendPolicy != c.policy || s.ID != before.ID != c.fresh || s.Settings.Model != "" {
				t.Errorf("%s: %+v", c.text, s)
			}
		}
		w := me(true)
		w.Session, w.Text = main, "/send on"
		if run := g.answered(g.told(w)); run.Result != "echo: /send on" || g.session(main).Settings.SendPolicy != policy.Deny {
			t.Errorf("without Commands it is no command: %+v", run)
		}
		if d := g.deliveries(); len(d) != 1 {
			t.Errorf("%d deliveries", len(d))
		}
	})
}

// A command that causes a turn causes it as words do: its answer is in the transcript, and a repeat causes none.
func TestSayCommandWithTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.say(groupChat("g"), owner, "hi")
		g.shown(1)
		g.idle(1)
		key := g.runs()[0].Key
		for range 2 {
			w := me(true)
			w.Session, w.Text, w.Commands, w.Source = key, "/new tell me", true, "s"
			if run := g.answered(g.told(w)); !strings.Contains(run.Result, "tell me") || !run.Reply.IsZero() || run.ReplyTo != "" || run.Input.Provenance.Sender != "ci" {
				t.Errorf("%+v", run)
			}
		}
		if n := len(g.idle(2)); n != 2 || len(g.deliveries()) != 1 {
			t.Errorf("%d runs, %d deliveries", n, len(g.deliveries()))
		}
	})
}

// Turns of their own are not put into one with others that wait; the others are.
func TestAloneIsNotCollected(t *testing.T) {
	for _, mode := range []sessions.QueueMode{sessions.Collect, sessions.Steer, sessions.Interrupt, sessions.Followup} {
		t.Run(string(mode), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Messages.Queue.Mode = mode })
				release := g.blocked()
				said := map[string]Heard{}
				for _, name := range []string{"first alone", "a", "b", "second alone", "third alone", "c", "d"} {
					w := me(true)
					w.Text, w.Alone = name, strings.Contains(name, "alone")
					said[name] = g.told(w)
					g.until("it is at work", func() bool { return g.model.count() > 0 })
				}
				release()
				for name, h := range said {
					run := g.answered(h)
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Messages.Queue.Queue = sessions.Queue{Mode: sessions.Collect, Cap: 2, Drop: sessions.DropOld}
		})
		release := g.blocked()
		w := me(true)
		w.Source = "first"
		g.told(w)
		g.until("it is at work", func() bool { return g.model.count() > 0 })
		for range 2 {
			w.Source = ""
			g.told(w)
		}
		if _, err := g.r.Say(t.Context(), w); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "messages.queue.cap") {
			t.Errorf("%v", err)
		}
		w.Source = "first" // was taken
		if h := g.told(w); !h.Duplicate {
			t.Errorf("%+v", h)
		}
		release()
		for _, run := range g.idle(3) {
			if run.Status != sessions.Done {
				t.Errorf("%s %s", run.Status, run.Error)
			}
		}
	})
}

// What words say about their turn holds for that turn: its prompt, its model, how it thinks. In a group's session they have a name.
func TestSayTurn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		var asked []string
		g.models = func(name string) (agent.Candidate, error) {
			asked = append(asked, name)
			return agent.Candidate{Model: g.model, Name: "m", Label: name}, nil
		}
		g.say(groupChat("g"), owner, "hi")
		g.shown(1)
		g.idle(1)
		w := me(true)
		w.Session, w.System, w.Model, w.Thinking, w.Timeout = g.runs()[0].Key, "Answer in French.", "mock/other", "high", time.Minute
		run := g.answered(g.told(w))
		p := g.model.asked[len(g.model.asked)-1]
		if !strings.HasSuffix(p.System, "\n\nAnswer in French.") || p.Thinking != "high" || asked[len(asked)-1] != "mock/other" || run.Timeout != time.Minute {
			t.Errorf("%q, thinking %q, models %v", p.System[max(0, len(p.System)-60):], p.Thinking, asked)
		}
		if run.Input.Text() != "CI: hello" {
			t.Errorf("%q", run.Input.Text())
		}
		w.System, w.Model, w.Thinking = "", "", ""
		g.answered(g.told(w))
		if p = g.model.asked[len(g.model.asked)-1]; strings.Contains(p.System, "French") || p.Thinking != "" {
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
		"other chat":       {hookKey, "", sessions.Sent, sessions.Announce, true},
		"denied there":     {hookKey, "agent:main:main", sessions.Withheld, sessions.Announce, true},
		"denied here":      {hookKey, hookKey, sessions.Withheld, sessions.Announce, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				g.say(direct(owner), owner, "hi")
				g.shown(1)
				g.idle(1)
				w := me(true)
				w.Session = c.session
				g.answered(g.told(w))
				if c.deny != "" {
					if _, err := g.r.Patch(t.Context(), c.deny, sessions.Patch{SendPolicy: new(policy.Deny)}); err != nil {
						t.Fatal(err)
					}
				}
				w.Reply, w.Text, w.Source = direct(owner), "the news", "once"
				g.answered(g.told(w))
				g.told(w)
				g.until("it is over", func() bool {
					d := g.deliveries()
					return len(d) == 2 && d[1].State.Final()
				})
				d := g.deliveries()[1]
				if d.State != c.state || d.Kind != c.kind || d.To != direct(owner) || d.Text != "echo: the news" {
					t.Errorf("%+v", d)
				}
				msgs := g.transcript("agent:main:main")
				newest := msgs[len(msgs)-1]
				if (newest.Model == postModel) != c.knows || newest.Text() != "echo: the news" || len(newest.Deliveries) != 1 || newest.Deliveries[0].State != c.state {
					t.Errorf("%+v", newest)
				}
			})
		})
	}
}

// A turn for a chat of another session that fails is told there as well; one that has nothing to say says nothing.
func TestSayReplyEnds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.say(direct(owner), owner, "hi")
		g.shown(1)
		g.idle(1)
		w := me(true)
		w.Reply = direct(owner)
		g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) { return text("NO_REPLY"), nil })
		g.answered(g.told(w))
		g.model.set(func(context.Context, agent.Prompt) (agent.Answer, error) { return agent.Answer{}, errors.New("broken") })
		g.answered(g.told(w))
		calls := g.shown(2)
		if got := calls[1].Out.Text; !strings.Contains(got, "went wrong") && !strings.Contains(got, "model") {
			t.Errorf("%q", got)
		}
		if d := g.deliveries(); len(d) != 2 {
			t.Errorf("%d deliveries", len(d))
		}
	})
}
