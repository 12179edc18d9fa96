package simtest

import (
	"slices"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// some finds a delivery that was sent in one part, and is what is said.
func (r *rest) some(kind sessions.DeliveryKind, is func(d sessions.Delivery) bool) *sessions.Delivery {
	for i := range r.deliveries {
		if d := &r.deliveries[i]; d.Kind == kind && d.State == sessions.Sent && d.Part == 1 && !d.Repeat && is(*d) {
			return d
		}
	}
	return nil
}

func whichever(sessions.Delivery) bool { return true }

// at finds where a delivery is shown.
func (r *rest) at(d sessions.Delivery) (p *site, i int) {
	p = r.w.site(d.To)
	return p, slices.IndexFunc(p.shown, func(x shown) bool { return deliveryOf(x.out.Key) == d.ID })
}

// showAgain shows a delivery once more.
func (r *rest) showAgain(d sessions.Delivery) bool {
	p, i := r.at(d)
	p.shown = append(p.shown, p.shown[i])
	return true
}

// hide takes a delivery off its platform.
func (r *rest) hide(d sessions.Delivery) {
	p := r.w.site(d.To)
	p.shown = slices.DeleteFunc(p.shown, func(x shown) bool { return deliveryOf(x.out.Key) == d.ID })
}

// lose has a delivery never have been.
func (r *rest) lose(d sessions.Delivery) {
	r.hide(d)
	r.deliveries = slices.DeleteFunc(r.deliveries, func(x sessions.Delivery) bool { return x.ID == d.ID })
}

// double makes a delivery again, under another id, and shows it.
func (r *rest) double(d sessions.Delivery) {
	p, i := r.at(d)
	x, again := p.shown[i], d
	again.ID = "another"
	x.out.Key = "another.0"
	p.shown = slices.Insert(p.shown, i+1, x)
	r.deliveries = slices.Insert(r.deliveries, slices.IndexFunc(r.deliveries, func(x sessions.Delivery) bool { return x.ID == d.ID })+1, again)
}

// swap has two deliveries be shown in the place of one another.
func (r *rest) swap(a, b sessions.Delivery) {
	p, i := r.at(a)
	_, j := r.at(b)
	x, y := &p.shown[i], &p.shown[j]
	x.out, y.out, x.id, y.id = y.out, x.out, y.id, x.id
}

// pair finds two deliveries of a chat, the older one first, that are what is said.
func (r *rest) pair(is func(a, b sessions.Delivery) bool) (a, b sessions.Delivery, ok bool) {
	for i, a := range r.deliveries {
		for _, b := range r.deliveries[i+1:] {
			if a.To == b.To && a.State == sessions.Sent && b.State == sessions.Sent && a.Part == 1 && b.Part == 1 && is(a, b) {
				return a, b, true
			}
		}
	}
	return a, b, false
}

// endsAs has an answer end otherwise than as sent.
func (r *rest) endsAs(state sessions.DeliveryState, why string, v *policy.Verdict, is func(d sessions.Delivery) bool) bool {
	d := r.some(sessions.Reply, is)
	if d != nil {
		r.hide(*d)
		d.State, d.Part, d.Error, d.Verdict = state, 0, why, v
	}
	return d != nil
}

// denied finds a deny that was acknowledged, and a send that is not its acknowledgement.
func (r *rest) denied() (ruled, *contact) {
	for _, x := range r.w.policies {
		if x.to != "deny" || x.by != "" || x.old {
			continue
		}
		for _, c := range r.w.called {
			if c.what == "send" && r.w.keys[c.to] == x.key {
				return x, c
			}
		}
	}
	return ruled{}, nil
}

// report finds what was announced of a sub-agent.
func (r *rest) report(is func(c sessions.Chain) bool) *sessions.Delivery {
	return r.some(sessions.Announce, func(d sessions.Delivery) bool {
		c := r.byID[d.Run].Chain
		return c != nil && c.Kind == "spawn" && is(*c)
	})
}

// toldDeleted reports whether a process was told that a sub-agent's session is deleted.
func (r *rest) toldDeleted(key sessions.Key) bool {
	return slices.ContainsFunc(r.w.tries, func(x *attempted) bool { return x.done && x.Delete != nil && *x.Delete == key })
}

// told reports whether a call of a tool was answered with an effect that it has.
func (r *rest) told(tool string) bool {
	for _, msgs := range r.texts {
		if slices.ContainsFunc(msgs, func(m sessions.Message) bool { return m.ToolName == tool && hasEffect(m) }) {
			return true
		}
	}
	return false
}

// firstReply finds the first reply step of an exchange, and forgets or repeats in its requester's transcript what it was told.
func (r *rest) firstReply(is func(run sessions.Run) bool, change func(m sessions.Message) []sessions.Message) bool {
	for _, run := range r.runs {
		if run.Kind != sessions.ReplyRun || run.Chain.Turn != 1 || !is(run) {
			continue
		}
		var out []sessions.Message
		changed := false
		for _, m := range r.texts[run.Chain.Requester] {
			if m.Role != sessions.Assistant && slices.Contains(tokensOf([]string{m.Text()}, "r"), run.Chain.Round1) {
				changed = true
				out = append(out, change(m)...)
				continue
			}
			out = append(out, m)
		}
		if r.texts[run.Chain.Requester] = out; changed {
			return true
		}
	}
	return false
}

// stop has a message end as stopped by a person, without an answer.
func (r *rest) stop(is func(run sessions.Run) bool) bool {
	for i := range r.runs {
		run := &r.runs[i]
		if run.Kind != sessions.TurnRun || run.Status != sessions.Done || run.MergedInto != "" || len(r.by[run.ID]) != 1 || !is(*run) {
			continue
		}
		r.lose(r.by[run.ID][0])
		run.Status, run.Error = sessions.Stopped, "stopped by a person"
		return true
	}
	return false
}

// callAgain has a delivery be sent once more in the end, after a send that ended somehow, by the same process or a later one.
func (r *rest) callAgain(d *sessions.Delivery, how string, same bool) bool {
	if d == nil {
		return false
	}
	for _, c := range slices.Backward(r.w.called) {
		if c.what == "send" && c.delivery() == d.ID {
			again := *c
			again.begin, again.end = 1<<30, 1<<30
			if !same {
				again.host = nil
			}
			c.how = how
			r.w.called = append(r.w.called, &again)
			return true
		}
	}
	return false
}

// tried counts the tries of a delivery whose end nobody knows.
func (r *rest) tried(d sessions.Delivery) doubts { return r.doubts(d.ID, r.contacts(d.ID)) }

// holds has an answer be held after so many sends with an unknown end, each of which is written down, and changes something about them.
func (r *rest) holds(n int, change func(contacts)) bool {
	d := r.some(sessions.Reply, func(d sessions.Delivery) bool { return len(r.contacts(d.ID)) == 1 && !r.tried(d).ever })
	if d == nil || r.w.plan.hold {
		return false
	}
	first := r.contacts(d.ID)[0]
	r.w.wrote = slices.DeleteFunc(r.w.wrote, func(x wrote) bool { return x.id == d.ID })
	sends := contacts{first}
	first.how, first.begin, first.end = string(channels.Ambiguous), 1<<30, 1<<30+4
	for i := 1; i < n; i++ {
		again := *first
		again.begin, again.end = first.begin+i*10, first.end+i*10
		r.w.called, sends = append(r.w.called, &again), append(sends, &again)
	}
	for _, c := range sends {
		r.w.wrote = append(r.w.wrote, wrote{at: c.begin - 1, what: wroteBegin, id: d.ID}, wrote{at: c.end + 1, what: wroteEnd, id: d.ID})
	}
	change(sends)
	r.hide(*d)
	d.State, d.Part, d.Error = sessions.Held, 0, "it may have arrived"
	return true
}

// reword puts somebody else's words behind what is shown of a delivery, with markup or without, and behind what its row says.
func (r *rest) reword(kind sessions.DeliveryKind, text, plain, row bool) bool {
	const more = " and here are words of somebody else's chat"
	d := r.some(kind, whichever)
	if d == nil {
		return false
	}
	p, i := r.at(*d)
	if out := &p.shown[i].out; text {
		out.Text += more
	}
	if out := &p.shown[i].out; plain {
		out.Plain += more
	}
	if row {
		d.Text += more
	}
	return true
}

// elsewhere is another chat of the same account.
func (r *rest) elsewhere(to channels.Address) channels.Address {
	all := haunts()
	return all[slices.IndexFunc(all, func(h haunt) bool { return h.to.Account == to.Account && h.to != to })].to
}

// followUp has a follow-up that people must get be there so many times.
func (r *rest) followUp(times func(sessions.Run) int) bool {
	for i, run := range r.runs {
		if run.Kind != sessions.FollowUpRun || times(run) == 1 || len(r.by[run.ID]) == 0 {
			continue
		}
		exchange := slices.DeleteFunc(slices.Clone(r.runs), func(x sessions.Run) bool {
			return !x.IsExchange() || x.Chain.Root != run.Chain.Root || x.Kind == sessions.FollowUpRun
		})
		if !r.mustTell(exchange) {
			continue
		}
		r.runs = slices.Delete(r.runs, i, i+1)
		if times(run) == 0 {
			for _, d := range r.by[run.ID] {
				r.lose(d)
			}
		}
		for n := range times(run) {
			again := run
			again.ID += sessions.RunID(rune('a' + n))
			r.runs = slices.Insert(r.runs, i, again)
		}
		return true
	}
	return false
}
