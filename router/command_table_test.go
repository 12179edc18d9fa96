package router

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
)

// writer is somebody who writes commands, and what the table says about them.
type writer struct {
	name   string
	sender channels.Sender
	edit   func(*channels.Inbound)
	// may gives the classes of commands that they may use; nil = theirs are none.
	may  []who
	text bool // what they write is text for the agent
	bots bool // the account lets bots in
	open bool // the groups are open to everybody
}

func writers() []writer {
	return []writer{
		{name: "owner", sender: person(owner), may: []who{ownerOnly, allowed, anyone}},
		{name: "owner in an open group", sender: person(owner), may: []who{ownerOnly, allowed, anyone}, open: true},
		{name: "allowed", sender: person(guest), may: []who{allowed, anyone}},
		{name: "allowed in an open group", sender: person(guest), may: []who{allowed, anyone}, open: true},
		{name: "visitor", sender: person("3003"), may: []who{anyone}, open: true},
		{name: "stranger", sender: person("3003")},
		{name: "bot", sender: channels.Sender{ID: owner, Bot: true}},
		{name: "bot that is let in", sender: channels.Sender{ID: guest, Bot: true}, bots: true, text: true},
		{name: "forwarded by an owner", sender: person(owner), edit: func(in *channels.Inbound) { in.Forwarded = true }, text: true},
		{name: "edited by an owner", sender: person(owner), edit: func(in *channels.Inbound) { in.Event = channels.Edited }},
	}
}

// examples are the arguments with which a command changes something; the others are used bare.
var examples = map[string]string{"send": "on", "model": "mock/other", "think": "high", "activation": "always", "queue": "followup", "usage": "tokens"}

// changing are the commands that change a session's settings, or give it a new id.
var changing = []string{"send", "model", "think", "new", "activation", "queue", "usage"}

// TestCommandTable has everybody write every command in every kind of chat: what happens is what the table says. A command is
// answered exactly once, also when the platform repeats it; it changes something only where it may; strangers are not answered.
//
// proves: P3
func TestCommandTable(t *testing.T) {
	topic := groupChat("t")
	topic.Thread = "7"
	room := direct("r")
	room.Type = channels.Room
	for _, w := range writers() {
		for kind, to := range map[string]channels.Address{"direct": direct(string(w.sender.ID)), "group": groupChat("g"), "topic": topic, "channel": room} {
			if racing && (kind == "group" || kind == "channel") {
				continue // they run without the race detector
			}
			if w.open && kind == "direct" {
				continue // there is nothing open about it
			}
			t.Run(w.name+"/"+kind, func(t *testing.T) {
				bubble(t, func(t *testing.T) { newTableRig(t, w, to).all() })
			})
		}
	}
}

type tableRig struct {
	*rig
	w      writer
	to     channels.Address
	key    sessions.Key
	events int
}

func newTableRig(t *testing.T, w writer, to channels.Address) *tableRig {
	t.Helper()
	g := newRig(t, channeltest.Options{}, func(s *Settings) {
		a := policy.Access{DMPolicy: policy.DMAllowlist, AllowFrom: []string{guest}, GroupPolicy: policy.GroupAllowlist, AllowBots: w.bots}
		if w.open {
			a.GroupPolicy = policy.GroupOpen
		}
		s.Accounts[account] = AccountSettings{Access: a}
		s.Messages.GroupChat.MaxBotTurns = 1000
	})
	x := &tableRig{rig: g, w: w, to: to}
	in := channels.Inbound{Address: to, Sender: w.sender}
	in.Sender.Bot = false
	x.key = g.r.Key(in)
	_, err := g.store.Submit(t.Context(), sessions.Effects{Session: &sessions.Session{Key: x.key, Agent: "main", Last: to}})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *tableRig) all() {
	for _, c := range x.r.commands {
		for _, name := range append([]string{c.name}, c.aliases...) {
			x.one(c, strings.TrimSpace("/"+name+" "+examples[c.name]))
		}
	}
}

// one writes a command, twice with the same id, and judges what came of it.
func (x *tableRig) one(c command, words string) {
	x.t.Helper()
	for _, undo := range []sessions.Patch{{SendPolicy: new(policy.Inherit), Model: new(""), Thinking: new(""), Activation: new(""), Queue: new(sessions.Queue{}), Footer: new("")}} {
		if _, err := x.store.Patch(x.t.Context(), x.key, undo); err != nil {
			x.t.Fatal(err)
		}
	}
	before, runs, shown := x.session(x.key), len(x.turns()), len(x.deliveries())
	in := channels.Inbound{Address: x.to, Sender: x.w.sender, Text: words, Mentioned: x.to.Type.Several()}
	if x.w.edit != nil {
		x.w.edit(&in)
	}
	in = x.fake.Say(in)
	x.events++
	x.taken(x.events)
	x.quiet()
	if err := x.r.Accept(x.t.Context(), in); err != nil {
		x.t.Fatal(err)
	}
	x.quiet()

	after, answers, turns := x.session(x.key), x.deliveries()[shown:], len(x.turns())-runs
	changed := before.ID != after.ID || !reflect.DeepEqual(before.Settings, after.Settings)
	group := x.to.Type.Several()
	here := c.where == anywhere || group == (c.where == groupsOnly)
	switch may := slices.Contains(x.w.may, c.who); {
	case x.w.text:
		if turns != 1 || changed || len(answers) != 1 || !strings.HasSuffix(answers[0].Text, words) {
			x.t.Errorf("%s: %d turns, changed %t, answered %s; want the agent to read it", words, turns, changed, textsOf(answers))
		}
	case x.w.may == nil:
		if turns != 0 || changed || len(answers) != 0 {
			x.t.Errorf("%s: %d turns, changed %t, answered %s; want nothing at all", words, turns, changed, textsOf(answers))
		}
	case !may || !here:
		if turns != 0 || changed || len(answers) != 1 || !strings.Contains(answers[0].Text, "/"+c.name+" ") && !strings.HasSuffix(answers[0].Text, "/"+c.name+".") || strings.Count(answers[0].Text, ".") != 1 {
			x.t.Errorf("%s: %d turns, changed %t, answered %s; want one sentence that says why not", words, turns, changed, textsOf(answers))
		}
	default:
		if turns != 0 || len(answers) != 1 || changed != slices.Contains(changing, c.name) || strings.HasPrefix(answers[0].Text, "Only ") {
			x.t.Errorf("%s: %d turns, changed %t, answered %s", words, turns, changed, textsOf(answers))
		}
	}
}

// turns are the runs that a person's message began.
func (x *tableRig) turns() (out []sessions.Run) {
	for _, r := range x.runs() {
		if r.Kind == sessions.TurnRun {
			out = append(out, r)
		}
	}
	return out
}

// quiet waits until every run has ended and every delivery is final.
func (x *tableRig) quiet() {
	x.t.Helper()
	x.until("all is done", func() bool {
		for _, r := range x.runs() {
			if !r.Status.Final() {
				return false
			}
		}
		return !slices.ContainsFunc(x.deliveries(), func(d sessions.Delivery) bool { return !d.State.Final() })
	})
}

func textsOf(ds []sessions.Delivery) string {
	var out []string
	for _, d := range ds {
		out = append(out, d.Text)
	}
	return fmt.Sprintf("%q", out)
}

// TestMenuIsPartOfTheTable publishes what belongs into a platform's menu, and marks what only owners may use.
func TestMenuIsPartOfTheTable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		menu := map[string]string{}
		for _, c := range g.r.Commands() {
			menu[c.Name] = c.Description
		}
		seen := map[string]bool{}
		for _, c := range g.r.commands {
			about, native := menu[c.name]
			if native != c.native || native && strings.HasSuffix(about, " (owners)") != (c.who == ownerOnly) || len(about) > 256 || !isName(c.name) || len(c.name) > 32 {
				t.Errorf("/%s in the menu: %t, %q", c.name, native, about)
			}
			if c.about == "" || c.run == nil || !slices.Contains([]who{ownerOnly, allowed, anyone}, c.who) {
				t.Errorf("/%s: the row is not whole", c.name)
			}
			for _, name := range append([]string{c.name}, c.aliases...) {
				if seen[name] {
					t.Errorf("/%s is there twice", name)
				}
				seen[name] = true
			}
		}
		for _, name := range []string{"help", "commands", "status", "whoami", "new", "reset", "stop", "send", "queue", "model", "think", "export", "sessions", "subagents", "agents"} {
			if !seen[name] {
				t.Errorf("/%s is missing", name)
			}
		}
	})
}

// A command that fails is answered: the platform would send it again for ever. While the store is down it is not: then it is to come
// again.
func TestCommandThatFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		down := &faulty{}
		g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { down.Store = s; return down })
		g.r.commands = append(g.r.commands,
			command{name: "broken", who: anyone, run: func(context.Context, *Router, commandCall) (string, sessions.Effects, error) {
				return "half an answer", sessions.Effects{Patch: &sessions.Patch{Model: new("x")}}, errors.New("no such thing")
			}},
			command{name: "panics", who: anyone, run: func(context.Context, *Router, commandCall) (string, sessions.Effects, error) { panic("oops") }},
			command{name: "reads", who: anyone, run: func(context.Context, *Router, commandCall) (string, sessions.Effects, error) {
				down.get = errors.New("the connection is gone")
				return "", sessions.Effects{}, down.get
			}})
		for _, cmd := range []string{"/broken", "/panics"} {
			if got := g.asks(direct(owner), owner, cmd); got != "⚠️ That did not work; the details are in the log." {
				t.Errorf("%s: %q", cmd, got)
			}
		}
		if m := g.session("agent:main:main").Settings.Model; m != "" {
			t.Errorf("a command that failed has set the model to %q", m)
		}
		in := channels.Inbound{ID: "once", Event: channels.Message, Address: direct(owner), Sender: channels.Sender{ID: owner}, Text: "/reads", Time: time.Now()}
		if err := g.r.Accept(t.Context(), in); err == nil {
			t.Error("taken although the store is down")
		}
	})
}

// faulty is a store that cannot be read.
type faulty struct {
	sessions.Store
	get error
}

func (f *faulty) Get(ctx context.Context, key sessions.Key) (sessions.Session, error) {
	if f.get != nil {
		return sessions.Session{}, f.get
	}
	return f.Store.Get(ctx, key)
}
