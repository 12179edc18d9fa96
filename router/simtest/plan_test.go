package simtest

import (
	"fmt"
	"slices"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/policy"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/route"
	"parley/tools"
)

// plan is what a seed draws before anything happens.
type plan struct {
	queue    sessions.Queue
	turns    int // most reply steps of an exchange
	subs     agent.Subagents
	timeout  int
	long     int // longest message of the platforms; 0 = any
	hold     bool
	tells    bool // people are told of late replies and failures
	letters  []letter
	deeds    []letter // what is no message: changes of one, and what the account's owner writes
	flips    []flipped
	moved    *relocated
	restarts []time.Duration

	// How often, in a thousand.
	crash, panics, slow, sending, thinking int
	crashes                                int // at most
}

// letter is something that somebody writes.
type letter struct {
	id   channels.MessageID
	at   time.Duration
	to   channels.Address
	by   string
	text string

	forwarded, quiet bool // somebody else wrote it; it is not meant for the bot
	byHand           bool // on a device of the account itself
	event            channels.Event
	target           channels.MessageID
}

func (l letter) isCommand() bool { return l.text[0] == '/' }

// flipped is a change of a session's send policy by the API.
type flipped struct {
	at  time.Duration
	key sessions.Key
	to  policy.Override
}

// second is the account beside the default one. Its chats have an agent of their own.
var second = settings.AccountRef{Channel: routertest.Kind, Account: "two"}

const visitor = "3003"

// haunt is a chat of the simulation and the people in it.
type haunt struct {
	to     channels.Address
	people []string
}

func haunts() []haunt {
	at := func(a channels.Address, ref settings.AccountRef) channels.Address {
		a.Account = ref.Account
		return a
	}
	return []haunt{
		{routertest.Direct(routertest.Guest), []string{routertest.Guest}},
		{routertest.Direct(routertest.Owner), []string{routertest.Owner}},
		{routertest.ChatA, []string{routertest.Guest, routertest.Owner}},
		{routertest.Group("b"), []string{routertest.Guest, routertest.Owner, visitor}},
		{at(routertest.Direct(visitor), second), []string{visitor}},
		{at(routertest.Group("c"), second), []string{routertest.Owner, visitor}},
	}
}

func (l letter) inbound() channels.Inbound {
	in := channels.Inbound{Event: channels.Message, ID: l.id, Address: l.to, Sender: channels.Sender{ID: channels.UserID(l.by), Name: l.by}, Text: l.text,
		Mentioned: l.to.Type.Several() && !l.quiet, Forwarded: l.forwarded, Time: routertest.Epoch.Add(l.at)}
	switch {
	case l.byHand:
		in.SentByThisLogin, in.ByHand, in.Sender.ID = true, true, "the account"
	case l.event != "":
		in.Event, in.Target = l.event, l.target
	}
	return in
}

func (p *plan) settings() *settings.Snapshot {
	return routertest.SettingsFor(func(s *settings.Snapshot) {
		s.Session.AgentToAgent.MaxPingPongTurns, s.Session.AgentToAgent.FollowUp = p.turns, p.tells
		s.Messages.Queue.Queue = p.queue
		s.Agents.Defaults.Subagents = p.subs
		s.Agents.Defaults.TimeoutSeconds = p.timeout
		s.Agents.List = []agent.Entry{{ID: "main", Default: true, Model: "mock/main", Subagents: agent.EntrySubagents{AllowAgents: []string{"*"}}}, {ID: "helper", Model: "mock/helper"}}
		s.Bindings = []sessions.Binding{{AgentID: "helper", Match: sessions.BindingMatch{Channel: routertest.Kind, AccountID: second.Account}}}
		s.Tools.Sessions.Visibility = tools.VisibleAll
		s.Tools.AgentToAgent = tools.AgentToAgent{Enabled: true, Allow: []string{"*"}}
		s.Delivery.Hold = p.hold
		s.Accounts[second] = s.Accounts[routertest.Account]
	})
}

// draw makes the plan of a seed.
func (w *world) draw() *plan {
	s := w.s
	p := &plan{
		queue: sessions.Queue{Mode: pick(s, sessions.Collect, sessions.Collect, sessions.Followup, sessions.Steer, sessions.Interrupt), Cap: pick(s, 2, 2, 5, 20),
			Drop: pick(s, sessions.DropSummarize, sessions.DropSummarize, sessions.DropOld, sessions.DropNew)},
		turns: s.upTo(6), timeout: pick(s, 60, 300, 600), hold: s.chance(150), tells: s.chance(700), long: pick(s, 0, 0, 60, 200),
		subs:  agent.Subagents{MaxSpawnDepth: 1 + s.upTo(3), MaxConcurrent: 1 + s.upTo(8), Announce: pick(s, "direct", "direct", "requester")},
		crash: pick(s, 0, 5, 15, 30), panics: pick(s, 0, 10, 30), slow: pick(s, 0, 0, 10), sending: pick(s, 0, 50, 400), thinking: pick(s, 0, 50, 150), crashes: 1 + s.upTo(4),
	}
	now, chats := time.Duration(0), haunts()
	busy := chats[:2+s.upTo(len(chats)-1)]
	for i := range 4 + s.upTo(8) {
		now += s.within(pick(s, 300*time.Millisecond, 300*time.Millisecond, 5*time.Second, time.Minute))
		at := pick(s, busy...)
		l := letter{id: channels.MessageID(fmt.Sprintf("m%d", i)), at: now, to: at.to, by: pick(s, at.people...), text: fmt.Sprintf("w%d please", i)}
		if before := len(p.letters) - 1; before >= 0 && !p.letters[before].isCommand() && s.chance(160) {
			w.gesture(&p.letters[before], &l)
			now = l.at
		} else if s.chance(180) {
			l.text = w.command(at, &l)
		}
		p.letters = append(p.letters, l)
	}
	w.deeds(p, busy)
	for range s.upTo(3) {
		key := w.keyOf(pick(s, chats[0], chats[4]).to)
		at := s.within(now + time.Minute)
		p.flips = append(p.flips, flipped{at, key, policy.Deny}, flipped{at + s.within(2*time.Minute), key, pick(s, policy.Allow, policy.Inherit)})
	}
	if s.chance(300) {
		p.restarts = append(p.restarts, s.within(now+time.Minute))
	}
	w.moves(p, busy)
	return p
}

// command draws a command that fits the chat.
func (w *world) command(at haunt, l *letter) string {
	if slices.Contains(at.people, routertest.Owner) {
		l.by = routertest.Owner
		return pick(w.s, "/stop", "/new", "/send off", "/send on", "/send inherit", "/send off", "/send on")
	}
	return pick(w.s, "/stop", "/status")
}

// keyOf is the session of a chat.
func (w *world) keyOf(to channels.Address) sessions.Key {
	return w.keys[to]
}

// route finds the session of each chat.
func (w *world) route() {
	set := (&plan{}).settings()
	for _, h := range haunts() {
		l := letter{to: h.to, by: h.people[0]}
		w.keys[h.to] = routed(set, l.inbound())
		w.pens[h.to] = make(chan struct{}, 1)
	}
}

// routed finds the session that an event goes to.
func routed(set *settings.Snapshot, in channels.Inbound) sessions.Key {
	ids, first := set.Agents.IDs()
	routes := route.Table{Agents: ids, Default: first, Bindings: set.Bindings, Config: set.Session, Owners: set.Owners}
	key, _, _ := routes.Key(in)
	return key
}
