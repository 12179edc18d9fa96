package simtest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// mostUnclear is how often a part is sent whose sends may each have arrived; then a person decides.
const mostUnclear = 3

// judgeShown: what was sent is shown in its chat, once, or more often where the platform does not know repeats and the row says so;
// nothing else is shown (S11).
func (r *rest) judgeShown() {
	times, parts := map[string]int{}, map[sessions.DeliveryID]int{}
	for _, p := range r.w.platforms {
		for _, x := range p.shown {
			d, ok := r.rows[deliveryOf(x.out.Key)]
			if !ok || d.To != x.out.To || settings.Ref(x.out.To) != p.ref {
				r.wrong("shown", "%s shows %q, which is to go to %q", x.out.To, x.out.Text, d.To)
				continue
			}
			if times[x.out.Key]++; times[x.out.Key] == 1 {
				parts[d.ID]++
				continue
			}
			r.w.tally("repeats")
			if !d.Repeat || p.like.Limits.Idempotent || times[x.out.Key] > mostUnclear {
				r.wrong("shown", "%s shows %q %d times; marked as a repeat %v, on a platform that %s", d.To, x.out.Text, times[x.out.Key], d.Repeat, p.like.Name)
			}
		}
	}
	for _, d := range r.deliveries {
		r.w.tally("delivery " + string(d.State))
		if home := r.w.keys[d.To]; home == "" || home != d.Session {
			r.wrong("K8", "the %s %q of %s goes to %s", d.Kind, d.Text, d.Session, d.To)
		}
		switch {
		case d.State == sessions.Sent && (parts[d.ID] != d.Part || d.Part == 0):
			r.wrong("shown", "the %s %q to %s is sent in %d parts and %d are shown", d.Kind, d.Text, d.To, d.Part, parts[d.ID])
		case d.State != sessions.Sent && d.State != sessions.Held && parts[d.ID] > d.Part && !d.Ambiguous:
			r.wrong("shown", "the %s %q to %s is %s with %d parts, %d are shown, and nothing says that it may have arrived", d.Kind, d.Text, d.To, d.State, d.Part, parts[d.ID])
		}
	}
}

// site is the platform of an address.
func (w *world) site(to channels.Address) *site {
	return w.platforms[slices.IndexFunc(w.platforms, func(p *site) bool { return p.ref == settings.Ref(to) })]
}

// judgeDeliveries: what does not end as sent has a cause that the world knows of, and so has the mark of a repeat (S11, N15).
func (r *rest) judgeDeliveries() {
	for _, d := range r.deliveries {
		calls := r.contacts(d.ID)
		x := r.doubts(d.ID, calls)
		if why := r.uncaused(d, calls, x); why != "" {
			r.wrong("shown", "the %s %q to %s is %s (%s): %s", d.Kind, d.Text, d.To, d.State, d.Error, why)
		}
		if why := r.unsure(d, calls, x.ever); d.Repeat && (why != "" || r.w.plan.hold) {
			r.wrong("shown", "the %s %q to %s is marked as a repeat: %s", d.Kind, d.Text, d.To, cmp.Or(why, "it is to be held"))
		}
	}
}

// contacts are the calls about one delivery.
type contacts []*contact

// contacts finds the calls about a delivery.
func (r *rest) contacts(id sessions.DeliveryID) (out contacts) {
	for _, c := range r.w.called {
		if c.delivery() == id {
			out = append(out, c)
		}
	}
	return out
}

// count gives how many there are of a kind that ended in one of these ways.
func (c contacts) count(what string, how ...string) (n int) {
	for _, x := range c {
		if x.what == what && slices.Contains(how, x.how) {
			n++
		}
	}
	return n
}

// uncaused says why a delivery must not have ended as it did; "" when it may have.
func (r *rest) uncaused(d sessions.Delivery, calls contacts, x doubts) string {
	switch {
	case d.State == sessions.Sent:
	case d.Error == "":
		return "there is no reason"
	case d.State == sessions.Withheld && (d.Verdict == nil || d.Verdict.Allowed()):
		return "no rule says so"
	case d.State == sessions.Withheld && !r.w.mayDeny(d.Session, d.Updated, r.ofOld[d.ID]):
		return "nobody had denied it"
	case d.State == sessions.DeliveryFail && calls.count("send", string(channels.Rejected)) == 0:
		return "no platform has rejected it"
	case d.State == sessions.Expired && d.Updated.Add(time.Second).Before(d.Expires):
		return "its time was not over"
	case d.State == sessions.Held && !r.w.plan.hold && x.n < mostUnclear:
		return fmt.Sprintf("it was sent %d times with an unknown end, and that is not often enough", x.n)
	case d.State == sessions.Held:
		return r.unsure(d, calls, x.n > 0)
	case d.State == sessions.Dropped:
		return "nobody has dropped it"
	case d.State == sessions.DeliveryStopped && !r.mayStopSend(d):
		return "nobody has stopped it"
	}
	return ""
}

// mayStopSend reports whether what a run has made may have been stopped before it left: somebody stopped a session that takes part in the run, or
// an agent the sub-agent that it reports about.
func (r *rest) mayStopSend(d sessions.Delivery) bool {
	run := r.byID[d.Run]
	run.Created, run.Ended, run.Error = d.Created, d.Updated, d.Error
	return r.mayStop(run)
}

// answersCommand reports whether a delivery is the answer to a command. It does not wait behind what agents say (contract X3).
func answersCommand(d sessions.Delivery) bool { return d.Kind == sessions.Notice && d.Run == "" }

// unsure says why it must be known whether a delivery's parts have arrived; "" when it need not be. tried: a try had an end that nobody knows.
func (r *rest) unsure(d sessions.Delivery, calls contacts, tried bool) string {
	like := r.w.site(d.To).like
	switch {
	case like.Limits.Idempotent:
		return "the platform knows repeats"
	case like.Reconciles && calls.count("arrived", string(channels.Transient)) == 0:
		return "the platform can be asked, and has answered"
	case !tried:
		return "each send had its answer"
	}
	return ""
}

// judgeTries: a part is sent again only where nobody can know that it arrived, and where it can be found out, that was tried (D4).
func (r *rest) judgeTries() {
	receipts := map[string]int{}
	for _, p := range r.w.platforms {
		for _, x := range p.shown {
			if at := r.w.receipts[x.id]; at > 0 {
				receipts[x.out.Key] = at
			}
		}
	}
	tries, asked := map[string]*contact{}, map[string]*contact{} // the newest one of each part, and the newest question about it
	for _, c := range r.w.called {
		key, _, _ := strings.Cut(c.text, " ")
		switch c.what {
		case "arrived":
			asked[key] = c
		case "send":
			if at := receipts[key]; at > 0 && at < c.begin {
				r.wrong("D4", "%q is sent to %s although its receipt is on disk", c.text, c.to)
			} else if why := r.notAgain(tries[key], asked[key], c); why != "" {
				r.wrong("D4", "%q is sent to %s again %s", c.text, c.to, why)
			}
			tries[key], asked[key] = c, nil
		}
	}
}

// notAgain says why a part must not be sent again as it was; "" when it may be, or was not sent before.
func (r *rest) notAgain(before, question, now *contact) string {
	if before == nil {
		return ""
	}
	same, like := before.host == now.host, r.w.site(now.to).like
	switch how := before.how; {
	case same && (how == howTaken || how == string(channels.Rejected)):
		return "although it was " + how
	case how == string(channels.Transient), how == string(channels.Limited), like.Limits.Idempotent:
	case like.Reconciles && (question == nil || question.how == howThere):
		return "and the platform was not asked"
	case like.Reconciles && question.how == howAbsent:
	case r.w.plan.hold:
		return "although it is to be held"
	}
	return ""
}

// lane is the session whose run made a delivery: one of two, while a chat that moved had two.
func (r *rest) lane(d sessions.Delivery) sessions.Key {
	key := r.byID[d.Run].Key
	if r.split && (r.runOfOld[d.Run] || r.madeInOld(d)) {
		key += " (old)"
	}
	return key
}

// madeInOld reports whether a delivery was made before the chat moved, by a turn about a message that was written in the old place. Its run may be in
// the queue of the other session by now.
func (r *rest) madeInOld(d sessions.Delivery) bool {
	run := r.byID[d.Run]
	return d.Created.Before(r.w.moved) && run.Kind == sessions.TurnRun && slices.ContainsFunc(r.w.plan.letters, func(l letter) bool {
		return string(l.id) == run.Source && l.to == r.w.plan.moved.from && r.w.plan.via(l).Address == l.to
	})
}

// judgeOrder: a chat shows what was made for it in that order, and the answers to its people in the order of their messages.
func (r *rest) judgeOrder() {
	for _, p := range r.w.platforms {
		seen := map[string]bool{}
		newest, last := map[channels.ChatID]shown{}, map[channels.ChatID]map[sessions.Key]shown{}
		for _, x := range p.shown {
			d, ok := r.rows[deliveryOf(x.out.Key)]
			if seen[x.out.Key] || !ok {
				continue
			}
			seen[x.out.Key] = true
			chat, lane := x.out.To.Chat, r.lane(d)
			if r.split { // two chats, until the platform said that they are one
				chat = x.raw
			}
			if answersCommand(d) {
				chat = "commands of " + chat // they come in their own order
			}
			if last[chat] == nil {
				last[chat] = map[sessions.Key]shown{}
			}
			top, before := newest[chat], last[chat][lane]
			switch {
			case before.out.Key != "" && lane != "" && r.behind(before, x):
				r.wrong("order", "chat %s shows %q behind %q", chat, x.out.Text, before.out.Text)
			case top.out.Key != "" && r.behind(top, x) && !r.mayOvertake(d, top) && !r.apart(d, r.rows[deliveryOf(top.out.Key)]):
				r.wrong("order", "chat %s shows %q behind %q, of another session", x.out.To.Chat, x.out.Text, top.out.Text)
			}
			if last[chat][lane] = x; top.out.Key == "" || !r.behind(top, x) {
				newest[chat] = x
			}
		}
	}
	r.judgeAnswers()
	r.judgeTurns()
}

// behind reports whether what is shown was made before, or is an earlier part than, what was shown earlier.
func (r *rest) behind(earlier, x shown) bool {
	a, b := deliveryOf(earlier.out.Key), deliveryOf(x.out.Key)
	if a != b {
		return r.rows[a].Seq > r.rows[b].Seq
	}
	return partOf(earlier.out.Key) > partOf(x.out.Key)
}

func partOf(key string) int {
	_, part, _ := strings.Cut(key, ".")
	n, _ := strconv.Atoi(part) // the host's own
	return n
}

// atOnce is how far apart two deliveries may have been made to come in either order: the one that was first may take a little longer
// from the disk to its queue.
const atOnce = 2 * time.Second

// mayOvertake reports whether a delivery may be shown behind one that was made later and by another session: both were made at once, or whoever
// made it was not told that it is on disk.
func (r *rest) mayOvertake(late sessions.Delivery, top shown) bool {
	d := r.rows[deliveryOf(top.out.Key)]
	if d.ID == late.ID {
		return false
	}
	return d.Created.Sub(late.Created) <= atOnce || r.w.troubled(late.Created.Add(-time.Second), top.on)
}

// apart reports whether two deliveries were first sent to two places that were not yet one chat: each place had an order of its own, and what was left
// of the older delivery goes to the new place behind the other.
func (r *rest) apart(a, b sessions.Delivery) bool {
	first := func(id sessions.DeliveryID) channels.Address {
		i := slices.IndexFunc(r.w.called, func(c *contact) bool { return c.what == "send" && c.delivery() == id })
		return whole(r.w.called[i].raw) // it was shown, so it was sent
	}
	return r.w.plan.moved != nil && a.Created.Before(r.w.moved) && b.Created.Before(r.w.moved) && first(a.ID) != first(b.ID)
}

// unknownPlace reports whether a call went to the new id of a chat that somebody used before the host had taken the word of the platform that it is
// that chat (the word may also come late, behind the first message): until then it has a session and a policy of its own.
func (r *rest) unknownPlace(c *contact) bool {
	m := r.w.plan.moved
	return m != nil && c.raw.Chat == m.to.Chat && c.begin < r.w.acked[movedID] && (r.w.freshDenied == 0 || c.begin < r.w.freshDenied)
}

// judgeAnswers: who wrote first is answered first.
func (r *rest) judgeAnswers() {
	first := map[string]int{} // of a delivery, when it was shown
	for _, p := range r.w.platforms {
		for _, x := range p.shown {
			if id, _, _ := strings.Cut(x.out.Key, "."); first[id] == 0 {
				first[id] = x.at
			}
		}
	}
	newest := map[channels.Address]int{}
	taken := slices.Clone(r.w.plan.letters)
	slices.SortFunc(taken, func(a, b letter) int { return cmp.Compare(r.w.acked[a.id], r.w.acked[b.id]) })
	for _, l := range taken {
		if r.w.acked[l.id] == 0 {
			r.wrong("message", "%s was never confirmed", l.id)
		}
		for _, run := range r.runs {
			if run.Kind != sessions.TurnRun || run.Source != string(l.id) || run.Status != sessions.Done {
				continue
			}
			if with, ok := r.byID[run.MergedInto]; ok && with.Status == sessions.Stopped {
				continue // a newer message interrupted it, and is answered in its place: what waited between the two comes first
			}
			for _, d := range r.by[r.lead(run).ID] {
				at, chat := first[string(d.ID)], l.to
				if d.Kind == sessions.Posted {
					continue
				}
				before := newest[chat]
				if r.split { // until they are one, each of the two sessions has its turn
					chat = r.w.plan.via(l).Address
					if before = newest[chat]; l.to == r.w.plan.moved.from && r.w.acked[l.id] > r.w.acked[movedID] {
						before = max(newest[r.w.plan.moved.from], newest[r.w.plan.moved.to])
					}
				}
				if at > 0 && at < before {
					r.wrong("order", "%s is answered before what was written before it", l.text)
				}
				newest[chat] = max(newest[chat], at)
			}
		}
	}
}

// judgeSilence: from the acknowledgement of a deny until somebody asks for the contrary nothing reaches the chats of the session, and
// nothing was still on its way when it was acknowledged (P4, P7), but that acknowledgement itself.
func (r *rest) judgeSilence() {
	var policies []ruled
	for _, x := range r.w.policies {
		if x.by == "" || r.acknowledges(x) {
			policies = append(policies, x)
		}
	}
	for _, c := range r.w.called {
		own := func(x ruled) bool { return x.as != "" && x.as == c.delivery() }
		var state ruled
		for _, x := range policies {
			switch {
			case x.key != r.w.keys[c.to]:
			case x.at < c.begin:
				state = x
			case x.to == "deny" && (x.at < c.end || c.end == 0) && !own(x) && !x.old:
				r.wrong("P7", "%s %q to %s was on its way when the deny was acknowledged", c.what, c.text, c.to)
			}
		}
		if state.to == "deny" && !own(state) && !r.unknownPlace(c) {
			r.wrong("P4", "%s %q reaches %s after the deny was acknowledged", c.what, c.text, c.to)
		}
	}
}

// acknowledges reports whether what looked like the answer to the newest command is: its own, or that of one before it, if nobody asked for the
// contrary between the two.
func (r *rest) acknowledges(x ruled) bool {
	denies := false
	for _, l := range r.w.plan.letters {
		if r.w.keys[l.to] != x.key || !strings.HasPrefix(l.text, "/send ") {
			continue
		}
		denies = l.text == "/send off" && (denies || r.answers[l.id] == x.as)
		if l.id == x.by {
			return denies
		}
	}
	return false
}

// delivery is what a call is about; "" = none.
func (c *contact) delivery() sessions.DeliveryID {
	if c.what != "send" && c.what != "arrived" {
		return ""
	}
	key, _, _ := strings.Cut(c.text, " ")
	return deliveryOf(key)
}

// part is the number of the part that a call is about.
func (c *contact) part() int {
	key, _, _ := strings.Cut(c.text, " ")
	return partOf(key)
}
