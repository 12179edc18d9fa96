package router

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/sessions"
)

// rest is what there is to see when nothing moves any more: what people, platforms and the model have of it is in the world, the rest
// is in the store.
type rest struct {
	w          *world
	runs       []sessions.Run      // oldest first
	deliveries []sessions.Delivery // oldest first
	texts      map[sessions.Key][]sessions.Message
	skipped    []sessions.SkippedEvent
	notes      []sessions.Note
	byID       map[sessions.RunID]sessions.Run
	by         map[sessions.RunID][]sessions.Delivery
	faults     []string
}

// wrong notes that something is not as it must be.
func (r *rest) wrong(id, format string, args ...any) {
	r.faults = append(r.faults, id+": "+fmt.Sprintf(format, args...))
}

// look gathers what there is to see.
func (w *world) look(h *host) *rest {
	r := &rest{w: w, texts: map[sessions.Key][]sessions.Message{}, byID: map[sessions.RunID]sessions.Run{}, by: map[sessions.RunID][]sessions.Delivery{}}
	if h == nil {
		return r
	}
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			w.t.Error(err)
		}
	}
	var err error
	r.runs, err = h.store.ListRuns(ctx, sessions.RunQuery{Limit: 5000})
	must(err)
	r.deliveries, err = h.store.ListDeliveries(ctx, sessions.DeliveryQuery{Limit: 5000})
	must(err)
	r.skipped, err = h.store.Skipped(ctx, 1000)
	must(err)
	for _, id := range []sessions.AgentID{"main", "helper"} {
		notes, err := h.store.Notes(ctx, id, "", 200)
		must(err)
		r.notes = append(r.notes, notes...)
	}
	for _, archived := range []bool{false, true} {
		list, err := h.store.List(ctx, sessions.Query{Archived: archived, Limit: 1000})
		must(err)
		for _, s := range list {
			all, err := h.store.Transcripts(ctx, s.Key, 100)
			must(err)
			for _, x := range slices.Backward(all) {
				msgs, err := h.store.Tail(ctx, x.ID, sessions.TailQuery{Limit: 1000, IncludeTool: true})
				must(err)
				r.texts[s.Key] = append(r.texts[s.Key], msgs...)
			}
		}
	}
	slices.Reverse(r.runs)
	slices.Reverse(r.deliveries)
	for _, run := range r.runs {
		r.byID[run.ID] = run
	}
	for _, key := range slices.Sorted(maps.Keys(w.gone)) {
		x := w.gone[key]
		if _, there := r.texts[key]; there {
			continue
		}
		r.texts[key] = x.texts
		for _, run := range slices.Backward(x.runs) {
			r.runs, r.byID[run.ID] = append(r.runs, run), run
		}
	}
	for _, d := range r.deliveries {
		r.by[d.Run] = append(r.by[d.Run], d)
	}
	return r
}

// rows writes what is in the store into the history.
func (r *rest) rows() {
	for _, run := range r.runs {
		about := ""
		if c := run.Chain; c != nil {
			about = fmt.Sprintf("%s of %s, %s → %s, turn %d, cleanup %q, waited %v", c.Kind, c.Root, c.Requester, c.Target, c.Turn, c.Cleanup, c.Waited)
		}
		r.w.s.note("run %s %s in %s: %s, attempt %d, for %s, batch %q, result %q, error %q, %s", run.ID, run.Kind, run.Key, run.Status, run.Attempt, run.Source, run.Batch, run.Result, run.Error, about)
	}
	for _, d := range r.deliveries {
		r.w.s.note("delivery %s %s of %s, run %q, to %s: %s, part %d, repeat %v, %q, error %q", d.ID, d.Kind, d.Session, d.Run, d.To, d.State, d.Part, d.Repeat, d.Text, d.Error)
	}
}

// judge holds what there is to see against the contract.
func (r *rest) judge() []string {
	r.judgeRest()
	r.judgeMessages()
	r.judgeShown()
	r.judgeOrder()
	r.judgeSilence()
	r.judgeExchanges()
	r.judgeReplies()
	r.judgeChildren()
	r.judgeEffects()
	r.judgeKeys()
	return r.faults
}

// judgeRest: nothing is unfinished.
func (r *rest) judgeRest() {
	for _, run := range r.runs {
		if !run.Status.Final() {
			r.wrong("rest", "the %s run %s in %s is %s for ever", run.Kind, run.ID, run.Key, run.Status)
		}
	}
	for _, d := range r.deliveries {
		if !d.State.Final() {
			r.wrong("rest", "the %s %q to %s is %s for ever", d.Kind, d.Text, d.To, d.State)
		}
	}
}

// lead is the run whose turn answered a run's message.
func (r *rest) lead(run sessions.Run) sessions.Run {
	for run.Batch != "" {
		next, ok := r.byID[run.Batch]
		if !ok {
			break
		}
		run = next
	}
	return run
}

// judgeMessages: each message has one outcome.
func (r *rest) judgeMessages() {
	for _, l := range r.w.plan.letters {
		if l.isCommand() {
			r.judgeCommand(l)
			continue
		}
		var own []sessions.Run
		for _, run := range r.runs {
			if run.Kind == sessions.TurnRun && run.Source == string(l.id) {
				own = append(own, run)
			}
		}
		refused := slices.ContainsFunc(r.skipped, func(x sessions.SkippedEvent) bool { return x.ID == l.id })
		switch {
		case len(own) == 1 && !refused:
			r.outcome(l, own[0], r.lead(own[0]))
		case len(own) == 0 && refused && r.w.plan.queue.Drop == sessions.DropNew:
			r.w.tally("outcome: refused")
		default:
			r.wrong("message", "%s %q became %d runs, refused %v", l.id, l.text, len(own), refused)
		}
	}
}

// outcome looks at what became of a message. Where a turn came in place of one that was interrupted it need not know what that one was
// at: another session may have had an answer between the two.
func (r *rest) outcome(l letter, run, lead sessions.Run) {
	word, out := strings.Fields(l.text)[0], r.by[lead.ID]
	r.w.tally("outcome: " + string(lead.Status))
	replies := slices.DeleteFunc(slices.Clone(out), func(d sessions.Delivery) bool { return d.Kind != sessions.Reply })
	notices := slices.DeleteFunc(slices.Clone(out), func(d sessions.Delivery) bool { return d.Kind != sessions.Notice })
	out = append(slices.Clone(replies), notices...) // what a tool has posted is none of it
	if lead.Reply != l.to || run.Reply != l.to {
		r.wrong("message", "%s of %s is answered in %s", l.text, l.to, lead.Reply)
	}
	switch {
	case lead.Status == sessions.Done && strings.TrimSpace(lead.Result) == "NO_REPLY":
		if len(out) > 0 {
			r.wrong("message", "%s is answered with silence, and %q", l.text, out[0].Text)
		}
	case lead.Status == sessions.Done:
		if len(replies) != 1 || len(notices) != 0 {
			r.wrong("message", "%s has %d replies and %d notices", l.text, len(replies), len(notices))
		} else if r.byID[run.Batch].Batch == "" && run.Status == sessions.Done && !slices.Contains(tokensOf([]string{replies[0].Text}, "w"), word) {
			r.wrong("message", "the answer %q does not know %s", replies[0].Text, word)
		}
	case lead.Status == sessions.Failed && strings.HasPrefix(lead.Error, "it waited"):
	case lead.Status == sessions.Failed || lead.Status == sessions.TimedOut:
		if len(notices) != 1 || len(replies) != 0 || lead.Error == "" {
			r.wrong("message", "%s failed (%s) and has %d notices and %d replies", l.text, lead.Error, len(notices), len(replies))
		}
	case lead.Status == sessions.Stopped:
		r.stopped(l, lead)
	}
}

// stopped: a message ends without an answer only where somebody asked for that.
func (r *rest) stopped(l letter, lead sessions.Run) {
	q := r.w.plan.queue
	asked := slices.ContainsFunc(r.w.plan.letters, func(x letter) bool {
		return (x.text == "/stop" || x.text == "/new") && r.w.keys[x.to] == r.w.keys[l.to]
	})
	switch why := lead.Error; {
	case strings.HasPrefix(why, "dropped") && q.Drop == sessions.DropOld:
	case strings.HasPrefix(why, "interrupted") && q.Mode == sessions.Interrupt:
	case why != "" && asked:
	default:
		r.wrong("message", "%s was ended without a cause: %q", l.text, why)
	}
}

// judgeCommand: a command has its answer, once.
func (r *rest) judgeCommand(l letter) {
	n := 0
	for _, d := range r.deliveries {
		if d.Kind == sessions.Notice && d.Run == "" && d.To == l.to {
			n++
		}
	}
	var all int
	for _, x := range r.w.plan.letters {
		if x.isCommand() && x.to == l.to {
			all++
		}
	}
	full := 0
	for _, d := range r.deliveries {
		if d.To == l.to && strings.Contains(d.Text, "Too many messages are waiting") {
			full++
		}
	}
	if n-full != all {
		r.wrong("message", "%d commands in %s have %d answers", all, l.to, n-full)
	}
}

// judgeShown: what was sent is shown in its chat, once, or more often where the platform does not know repeats and the row says so;
// nothing else is shown (S11).
func (r *rest) judgeShown() {
	rows, times, parts := map[sessions.DeliveryID]sessions.Delivery{}, map[string]int{}, map[sessions.DeliveryID]int{}
	for _, d := range r.deliveries {
		rows[d.ID] = d
	}
	for _, p := range r.w.platforms {
		for _, x := range p.shown {
			id, _, _ := strings.Cut(x.out.Key, ".")
			d, ok := rows[sessions.DeliveryID(id)]
			if !ok || d.To != x.out.To || Ref(x.out.To) != p.ref {
				r.wrong("shown", "%s shows %q, which is to go to %q", x.out.To, x.out.Text, d.To)
				continue
			}
			if times[x.out.Key]++; times[x.out.Key] == 1 {
				parts[d.ID]++
			} else if r.w.tally("repeats"); !d.Repeat || p.like.name != repeats.name && !d.Repeat {
				r.wrong("shown", "%s shows %q %d times; marked as a repeat %v, on a platform that %s", d.To, x.out.Text, times[x.out.Key], d.Repeat, p.like.name)
			}
			if p.like.limits.Idempotent && times[x.out.Key] > 1 {
				r.wrong("shown", "%s shows %q twice on a platform that knows repeats", d.To, x.out.Text)
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
		case d.State != sessions.Sent && d.State != sessions.Held && parts[d.ID] > d.Part && !d.Unclear:
			r.wrong("shown", "the %s %q to %s is %s with %d parts, %d are shown, and nothing says that it may have arrived", d.Kind, d.Text, d.To, d.State, d.Part, parts[d.ID])
		case d.State == sessions.Withheld && d.Verdict == nil:
			r.wrong("shown", "the %s %q to %s is withheld without a reason", d.Kind, d.Text, d.To)
		case d.State != sessions.Sent && d.State != sessions.Withheld && d.Error == "":
			r.wrong("shown", "the %s %q to %s is %s without a reason", d.Kind, d.Text, d.To, d.State)
		}
	}
}

// lane is the session whose run made a delivery.
func (r *rest) lane(d sessions.Delivery) sessions.Key { return r.byID[d.Run].Key }

// judgeOrder: a chat shows what one session says in its order, and the answers to its people in the order of their messages.
func (r *rest) judgeOrder() {
	for _, p := range r.w.platforms {
		seen := map[string]bool{}
		newest := map[channels.ChatID]map[sessions.Key]shown{}
		rank := map[string]int{}
		for i, d := range r.deliveries {
			rank[string(d.ID)] = i
		}
		for _, x := range p.shown {
			id, part, _ := strings.Cut(x.out.Key, ".")
			if seen[x.out.Key] || len(part) > 1 {
				continue
			}
			seen[x.out.Key] = true
			chat := x.out.To.Chat
			if newest[chat] == nil {
				newest[chat] = map[sessions.Key]shown{}
			}
			lane := r.lane(r.deliveries[rank[id]])
			before, ok := newest[chat][lane]
			was, _, _ := strings.Cut(before.out.Key, ".")
			if ok && lane != "" && (rank[was] > rank[id] || was == id && before.out.Key > x.out.Key) {
				r.wrong("order", "chat %s shows %q behind %q", chat, x.out.Text, before.out.Text)
			}
			newest[chat][lane] = x
		}
	}
	r.judgeAnswers()
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
			for _, d := range r.by[r.lead(run).ID] {
				at := first[string(d.ID)]
				if d.Kind == sessions.Posted {
					continue
				}
				if at > 0 && at < newest[l.to] {
					r.wrong("order", "%s is answered before what was written before it", l.text)
				}
				newest[l.to] = max(newest[l.to], at)
			}
		}
	}
}

// judgeSilence: from the acknowledgement of a deny until somebody asks for the contrary nothing reaches the chats of the session, and
// nothing was still on its way when it was acknowledged (P4, P7).
func (r *rest) judgeSilence() {
	w := r.w
	for _, c := range w.called {
		if isPolicyAnswer(afterKey(c.text)) {
			continue
		}
		state := ""
		for _, x := range w.policies {
			if x.key != w.keys[c.to] {
				continue
			}
			if x.at < c.begin {
				state = x.to
			} else if x.to == "deny" && (x.at < c.end || c.end == 0) {
				r.wrong("P7", "%s %q to %s was on its way when the deny was acknowledged", c.what, c.text, c.to)
			}
		}
		if state == "deny" {
			r.wrong("P4", "%s %q reaches %s after the deny was acknowledged", c.what, c.text, c.to)
		}
	}
}

// afterKey is the text of a send without the key of its delivery.
func afterKey(text string) string {
	_, text, _ = strings.Cut(text, " ")
	return text
}
