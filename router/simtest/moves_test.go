package simtest

import (
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/router/routertest"
	"parley/sessions"
)

// relocated is a chat that gets a new id at some time. In the world it is always what it was: what comes from the host is taken back to that.
type relocated struct {
	at       time.Duration
	from, to channels.Address
	was, now string       // the person of a direct chat
	fresh    sessions.Key // of the new id
	split    bool         // somebody writes by the new id before the platform says that it is the same chat
	deny     sessions.Key // is denied right before it moves; "" = none
}

// movedID is the event that says so.
const movedID = channels.MessageID("moved")

// moves draws whether a chat gets a new id, and which of its messages come by that.
func (w *world) moves(p *plan, busy []haunt) {
	s := w.s
	var may []haunt
	for _, h := range busy {
		if h.to == routertest.Group("b") || h.to.Type == channels.Direct && h.to.Account == second.Account {
			may = append(may, h)
		}
	}
	if len(may) == 0 || !s.chance(400) {
		return
	}
	h := pick(s, may...)
	m := &relocated{at: s.within(p.letters[len(p.letters)-1].at), from: h.to, to: h.to, split: s.chance(300)}
	m.to.Chat += "-new"
	if h.to.Type == channels.Direct {
		m.was, m.now = h.people[0], string(m.to.Chat)
	}
	m.fresh = routed(p.settings(), channels.Inbound{Address: m.to, Sender: channels.Sender{ID: channels.UserID(m.now)}})
	p.moved = m
	if m.split { // there are two sessions, and two policies, until then
		key := w.keyOf(m.from)
		p.flips = slices.DeleteFunc(p.flips, func(f flipped) bool { return f.key == key })
		m.deny = pick(s, "", key, m.fresh)
		for i := range p.letters {
			if l := &p.letters[i]; l.to == m.from && l.isCommand() {
				l.text = "/status"
			}
		}
	}
	p.deeds = append(p.deeds, letter{id: movedID, at: m.at, to: m.from, by: m.now, text: "moved", event: channels.Moved})
	if m.deny != "" {
		p.deeds = append(p.deeds, letter{id: "denied", at: m.at - 1, to: m.from, text: "deny", event: denied})
	}
}

// denied is no event of a platform: somebody denies the chat, by the API.
const denied channels.Event = "denied"

// via gives an event as it comes from the platform at its time.
func (p *plan) via(l letter) channels.Inbound {
	in, m := l.inbound(), p.moved
	if m == nil || l.to != m.from {
		return in
	}
	early := time.Duration(0)
	if m.split {
		early = 20 * time.Second
	}
	switch {
	case l.event == channels.Moved:
		in.MovedTo, in.Sender = m.to.Chat, channels.Sender{ID: channels.UserID(m.now)}
	case l.event == channels.Edited && m.from.Type.Several(): // its message is in the old place
	case l.at > m.at-early:
		in.Address = m.to
		if string(in.Sender.ID) == m.was {
			in.Sender.ID = channels.UserID(m.now)
		}
	}
	return in
}

// home gives the address that the chat of the world has.
func (w *world) home(at channels.Address) channels.Address {
	if m := w.plan.moved; m != nil && whole(at) == m.to {
		return m.from
	}
	return at
}

func whole(at channels.Address) channels.Address {
	at.Thread = ""
	return at
}

// homeKey gives the key of the chat's session in the world.
func (w *world) homeKey(key sessions.Key) sessions.Key {
	if m := w.plan.moved; m != nil && key == m.fresh {
		return w.keys[m.from]
	}
	return key
}

// homeRun gives a run as the world knows it.
func (w *world) homeRun(run sessions.Run) sessions.Run {
	run.Key, run.Reply, run.Chain = w.homeKey(run.Key), w.home(run.Reply), w.homeChain(run.Chain)
	return run
}

func (w *world) homeChain(of *sessions.Chain) *sessions.Chain {
	if of == nil {
		return nil
	}
	c := *of
	c.Requester, c.Target, c.Origin, c.Hops, c.Parent = w.homeKey(c.Requester), w.homeKey(c.Target), w.home(c.Origin), slices.Clone(c.Hops), w.homeChain(c.Parent)
	for i := range c.Hops {
		c.Hops[i] = w.homeKey(c.Hops[i])
	}
	return &c
}

// apiKey is the key by which the API is asked to change a session's policy: that of the chat's session now. ok is false in the moment in which
// nobody knows.
func (w *world) apiKey(key sessions.Key) (now sessions.Key, ok bool) {
	m := w.plan.moved
	if m == nil || key != w.keys[m.from] {
		return key, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.acked[movedID] > 0:
		return m.fresh, true
	case w.asked[movedID] != nil:
		return key, false
	}
	return key, true
}

// denies denies a session until that is acknowledged, or there is none.
func (w *world) denies(key sessions.Key) {
	deny := policy.Deny
	x := w.asks(w.homeKey(key), true)
	for time.Since(w.s.began) < mostOffered {
		w.s.wait(nil, "deny "+string(key))
		if h := w.now.Load(); h != nil && !h.isDead() {
			_, err := h.r.Patch(h.ctx, key, sessions.Patch{SendPolicy: &deny})
			w.s.wait(nil, "denied "+string(key))
			switch {
			case err == nil && !h.isDead():
				w.closes(&x.stretch)
				w.tally("denied before it moves")
				at := w.clock()
				w.mu.Lock()
				w.deniedFirst = w.acked[movedID] == 0
				if key == w.plan.moved.fresh {
					w.freshDenied = at
				}
				w.mu.Unlock()
				return
			case err != nil && strings.Contains(err.Error(), sessions.ErrNotFound.Error()):
				return
			}
		}
		<-time.After(time.Second + w.s.within(time.Second))
	}
}

// judgeMoved: once the host has confirmed that a chat has a new id nothing is begun at the old one.
func (r *rest) judgeMoved() {
	m, since := r.w.plan.moved, r.w.acked[movedID]
	if m == nil || since == 0 {
		return
	}
	r.w.tally("chats that moved")
	if r.split {
		r.w.tally("chats that moved and had two sessions")
	}
	sent := map[sessions.DeliveryID]bool{} // to the old id: there it is to be looked for
	for _, c := range r.w.called {
		old := whole(c.raw) == m.from
		if old && c.what == "send" && c.begin < since {
			sent[c.delivery()] = true
		}
		if c.begin > since && old && !(c.what == "arrived" && sent[c.delivery()]) {
			r.wrong("moved", "%s %q goes to %s, which is %s by then", c.what, c.text, c.raw, m.to)
		}
	}
	for _, d := range r.deliveries {
		if d.To == m.from {
			r.w.tally("moved delivery " + string(d.State))
		}
	}
}

// judgeTurns: a session has one turn at a time. The two turns of a chat with two sessions go on when these become one, and no other begins
// beside them.
func (r *rest) judgeTurns() {
	isTurn := func(x sessions.Run) bool {
		return x.Kind == sessions.TurnRun && !x.Started.IsZero() && (x.Status != sessions.Done || x.MergedInto == "") // not taken up by another one
	}
	for _, b := range r.runs {
		if !isTurn(b) || r.split && !b.Started.After(r.w.moved) {
			continue
		}
		for _, a := range r.runs {
			if a.Key == b.Key && isTurn(a) && a.Started.Before(b.Started) && b.Started.Before(a.Ended) {
				r.wrong("order", "the turn of %s begins while that of %s is at work", b.Source, a.Source)
			}
		}
	}
}
