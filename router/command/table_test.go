package command_test

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
	"parley/router/command"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// writer is somebody who writes commands, and what the table says about them.
type writer struct {
	name   string
	sender channels.Sender
	edit   func(*channels.Inbound)
	// may gives the classes of commands that they may use; nil = theirs are none.
	may  []command.Who
	text bool // what they write is text for the agent
	bots bool // the account lets bots in
	open bool // the groups are open to everybody
}

func writers() []writer {
	return []writer{
		{name: "owner", sender: routertest.Person(routertest.Owner), may: []command.Who{command.OwnerOnly, command.Allowed, command.Anyone}},
		{name: "owner in an open group", sender: routertest.Person(routertest.Owner), may: []command.Who{command.OwnerOnly, command.Allowed, command.Anyone}, open: true},
		{name: "allowed", sender: routertest.Person(routertest.Guest), may: []command.Who{command.Allowed, command.Anyone}},
		{name: "allowed in an open group", sender: routertest.Person(routertest.Guest), may: []command.Who{command.Allowed, command.Anyone}, open: true},
		{name: "visitor", sender: routertest.Person("3003"), may: []command.Who{command.Anyone}, open: true},
		{name: "stranger", sender: routertest.Person("3003")},
		{name: "bot", sender: channels.Sender{ID: routertest.Owner, Bot: true}},
		{name: "bot that is let in", sender: channels.Sender{ID: routertest.Guest, Bot: true}, bots: true, text: true},
		{name: "forwarded by an owner", sender: routertest.Person(routertest.Owner), edit: func(in *channels.Inbound) { in.Forwarded = true }, text: true},
		{name: "edited by an owner", sender: routertest.Person(routertest.Owner), edit: func(in *channels.Inbound) { in.Event = channels.Edited }},
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
	topic := routertest.Group("t")
	topic.Thread = "7"
	room := routertest.Direct("r")
	room.Type = channels.Room
	for _, w := range writers() {
		for kind, to := range map[string]channels.Address{"direct": routertest.Direct(string(w.sender.ID)), "group": routertest.Group("g"), "topic": topic, "channel": room} {
			if routertest.Racing && (kind == "group" || kind == "channel") {
				continue // they run without the race detector
			}
			if w.open && kind == "direct" {
				continue // there is nothing open about it
			}
			t.Run(w.name+"/"+kind, func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) { newTableRig(t, w, to).all() })
			})
		}
	}
}

type tableRig struct {
	*routertest.Rig
	w      writer
	to     channels.Address
	key    sessions.Key
	events int
}

func newTableRig(t *testing.T, w writer, to channels.Address) *tableRig {
	t.Helper()
	g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
		a := policy.Access{DMPolicy: policy.DMAllowlist, AllowFrom: []string{routertest.Guest}, GroupPolicy: policy.GroupAllowlist, AllowBots: w.bots}
		if w.open {
			a.GroupPolicy = policy.GroupOpen
		}
		s.Accounts[routertest.Account] = settings.Account{Access: a}
		s.Messages.GroupChat.MaxBotTurns = 1000
	})
	x := &tableRig{Rig: g, w: w, to: to}
	in := channels.Inbound{Address: to, Sender: w.sender}
	in.Sender.Bot = false
	x.key = g.Router.Key(in)
	_, err := g.Store.Submit(t.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: x.key, Agent: "main", Last: to}}})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *tableRig) all() {
	for _, c := range x.Router.CommandTable.All {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			x.one(c, strings.TrimSpace("/"+name+" "+examples[c.Name]))
		}
	}
}

// one writes a command, twice with the same id, and judges what came of it.
func (x *tableRig) one(c command.Command, words string) {
	x.T.Helper()
	for _, undo := range []sessions.Patch{{SendPolicy: new(policy.Inherit), Model: new(""), Thinking: new(""), Activation: new(""), Queue: new(sessions.Queue{}), Footer: new("")}} {
		if _, err := x.Store.Patch(x.T.Context(), x.key, undo); err != nil {
			x.T.Fatal(err)
		}
	}
	before, runs, shown := x.Session(x.key), len(x.turns()), len(x.Deliveries())
	in := channels.Inbound{Address: x.to, Sender: x.w.sender, Text: words, Mentioned: x.to.Type.Several()}
	if x.w.edit != nil {
		x.w.edit(&in)
	}
	in = x.Fake.Say(in)
	x.events++
	x.Taken(x.events)
	x.quiet()
	if err := x.Router.Receiver.Accept(x.T.Context(), in); err != nil {
		x.T.Fatal(err)
	}
	x.quiet()

	after, answers, turns := x.Session(x.key), x.Deliveries()[shown:], len(x.turns())-runs
	changed := before.ID != after.ID || !reflect.DeepEqual(before.Settings, after.Settings)
	group := x.to.Type.Several()
	here := c.Where == command.Anywhere || group == (c.Where == command.GroupsOnly)
	switch may := slices.Contains(x.w.may, c.Who); {
	case x.w.text:
		if turns != 1 || changed || len(answers) != 1 || !strings.HasSuffix(answers[0].Text, words) {
			x.T.Errorf("%s: %d turns, changed %t, answered %s; want the agent to read it", words, turns, changed, textsOf(answers))
		}
	case x.w.may == nil:
		if turns != 0 || changed || len(answers) != 0 {
			x.T.Errorf("%s: %d turns, changed %t, answered %s; want nothing at all", words, turns, changed, textsOf(answers))
		}
	case !may || !here:
		wrong := turns != 0 || changed || len(answers) != 1
		if !wrong {
			text := answers[0].Text + " "
			wrong = !strings.Contains(text, "/"+c.Name+" ") && !strings.Contains(text, "/"+c.Name+". ") || strings.Count(text, ". ") > 2 || may && strings.Count(text, ". ") != 1
		}
		if wrong {
			x.T.Errorf("%s: %d turns, changed %t, answered %s; want a sentence that says why not, and for the lack of a right one that says how to get it", words, turns, changed, textsOf(answers))
		}
	default:
		if turns != 0 || len(answers) != 1 || changed != slices.Contains(changing, c.Name) || strings.HasPrefix(answers[0].Text, "Only ") {
			x.T.Errorf("%s: %d turns, changed %t, answered %s", words, turns, changed, textsOf(answers))
		}
	}
}

// turns are the runs that a person's message began.
func (x *tableRig) turns() (out []sessions.Run) {
	for _, r := range x.Runs() {
		if r.Kind == sessions.TurnRun {
			out = append(out, r)
		}
	}
	return out
}

// quiet waits until every run has ended and every delivery is final.
func (x *tableRig) quiet() {
	x.T.Helper()
	x.Until("all is done", func() bool {
		for _, r := range x.Runs() {
			if !r.Status.Final() {
				return false
			}
		}
		return !slices.ContainsFunc(x.Deliveries(), func(d sessions.Delivery) bool { return !d.State.Final() })
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
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		menu := map[string]string{}
		for _, c := range g.Router.CommandTable.Commands() {
			menu[c.Name] = c.Description
		}
		seen := map[string]bool{}
		for _, c := range g.Router.CommandTable.All {
			about, native := menu[c.Name]
			if native != c.Native || native && strings.HasSuffix(about, " (owners)") != (c.Who == command.OwnerOnly) || len(about) > 256 || !command.IsName(c.Name) || len(c.Name) > 32 {
				t.Errorf("/%s in the menu: %t, %q", c.Name, native, about)
			}
			if c.About == "" || c.Run == nil || !slices.Contains([]command.Who{command.OwnerOnly, command.Allowed, command.Anyone}, c.Who) {
				t.Errorf("/%s: the row is not whole", c.Name)
			}
			for _, name := range append([]string{c.Name}, c.Aliases...) {
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
	routertest.Bubble(t, func(t *testing.T) {
		down := &faulty{}
		g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { down.Store = s; return down })
		g.Router.CommandTable.All = append(g.Router.CommandTable.All,
			command.Command{Name: "broken", Who: command.Anyone, Run: func(context.Context, *command.Table, command.Call) (command.Result, error) {
				return command.Result{Text: "half an answer", Change: &sessions.Change{Session: &sessions.Target{Ops: []sessions.SessionOp{sessions.PatchSession{Model: new("x")}}}}}, errors.New("no such thing")
			}},
			command.Command{Name: "panics", Who: command.Anyone, Run: func(context.Context, *command.Table, command.Call) (command.Result, error) {
				panic("oops")
			}},
			command.Command{Name: "reads", Who: command.Anyone, Run: func(context.Context, *command.Table, command.Call) (command.Result, error) {
				down.get = errors.New("the connection is gone")
				return command.Result{}, down.get
			}})
		for _, cmd := range []string{"/broken", "/panics"} {
			if got := g.Asks(routertest.Direct(routertest.Owner), routertest.Owner, cmd); got != "⚠️ That command failed. The details are in the log." {
				t.Errorf("%s: %q", cmd, got)
			}
		}
		if m := g.Session("agent:main:main").Settings.Model; m != "" {
			t.Errorf("a command that failed has set the model to %q", m)
		}
		in := channels.Inbound{ID: "once", Event: channels.Message, Address: routertest.Direct(routertest.Owner), Sender: channels.Sender{ID: routertest.Owner}, Text: "/reads", Time: time.Now()}
		if err := g.Router.Receiver.Accept(t.Context(), in); err == nil {
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

// In an open group the refusal and /whoami name the list that counts there; a group that is listed by its id is as open as the others.
func TestWhoIsOnTheList(t *testing.T) {
	for name, c := range map[string]struct {
		access policy.Access
		want   string // "" = on the list
	}{
		"no list":       {policy.Access{GroupPolicy: policy.GroupOpen}, "groupAllowFrom"},
		"a listed id":   {policy.Access{GroupPolicy: policy.GroupOpen, Groups: map[string]policy.GroupAccess{"-5": {}}}, "groupAllowFrom"},
		"of the people": {policy.Access{GroupPolicy: policy.GroupOpen, AllowFrom: []string{"7"}}, "allowFrom"},
		"of groups":     {policy.Access{GroupPolicy: policy.GroupOpen, AllowFrom: []string{routertest.Guest}, GroupAllowFrom: []string{"7"}}, "groupAllowFrom"},
		"by id":         {policy.Access{Groups: map[string]policy.GroupAccess{"-5": {}}}, ""},
		"named":         {policy.Access{GroupPolicy: policy.GroupOpen, AllowFrom: []string{routertest.Guest}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) { s.Accounts[routertest.Account] = settings.Account{Access: c.access} })
				says := func(text string) string { return g.Asks(routertest.Group("-5"), routertest.Guest, text) }
				add := "Ask an owner to add `fake:2002` to `" + c.want + "` of the account `fake/default`."
				who, refused := says("/whoami"), says("/think high")
				if listed := strings.Contains(who, ", on my allow list."); listed != (c.want == "") || !listed && !strings.HasSuffix(who, "You are not on my allow list. "+add) {
					t.Errorf("%q", who)
				}
				if no := "Only people on my allow list can use /think here. " + add; (refused == no) != (c.want != "") {
					t.Errorf("%q", refused)
				}
			})
		})
	}
}
