package simtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/router/routertest"
	"parley/sessions"
)

// rest is what there is to see when nothing moves any more: what people, platforms and the model have of it is in the world, the rest
// is in the store.
type rest struct {
	w          *world
	runs       []sessions.Run      // oldest first
	deliveries []sessions.Delivery // oldest first
	texts      map[sessions.Key][]sessions.Message
	parts      map[sessions.Key][][]sessions.Message // the same, each transcript by itself
	skipped    []sessions.SkippedEvent
	heard      map[sessions.Key][]sessions.ContextLine // that waits to be told
	notes      []sessions.Note
	deleted    map[sessions.Key]bool // sub-agents whose sessions are gone
	byID       map[sessions.RunID]sessions.Run
	by         map[sessions.RunID][]sessions.Delivery
	rows       map[sessions.DeliveryID]sessions.Delivery
	answers    map[channels.MessageID]sessions.DeliveryID // of commands
	split      bool                                       // a chat that moved had two sessions
	ofOld      map[sessions.DeliveryID]bool               // of the session that the chat had that moved to another one
	runOfOld   map[sessions.RunID]bool                    // the same
	chains     map[sessions.RunID]*sessions.Chain         // with the keys of the store
	faults     []string
}

// wrong notes that something is not as it must be.
func (r *rest) wrong(id, format string, args ...any) {
	r.faults = append(r.faults, id+": "+fmt.Sprintf(format, args...))
}

// look gathers what there is to see.
func (w *world) look(h *host) *rest {
	r := &rest{w: w, texts: map[sessions.Key][]sessions.Message{}, parts: map[sessions.Key][][]sessions.Message{}, deleted: map[sessions.Key]bool{}, heard: map[sessions.Key][]sessions.ContextLine{},
		ofOld: map[sessions.DeliveryID]bool{}, runOfOld: map[sessions.RunID]bool{}, chains: map[sessions.RunID]*sessions.Chain{}}
	if h == nil {
		r.index()
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
	for i := range r.runs {
		r.chains[r.runs[i].ID] = r.runs[i].Chain
		r.runOfOld[r.runs[i].ID] = w.plan.moved != nil && r.runs[i].Key == w.keys[w.plan.moved.from]
		r.runs[i] = w.homeRun(r.runs[i])
	}
	for i := range r.deliveries {
		d := &r.deliveries[i]
		r.ofOld[d.ID] = w.plan.moved != nil && d.Session == w.keys[w.plan.moved.from]
		d.To, d.Session = w.home(d.To), w.homeKey(d.Session)
	}
	r.skipped, err = h.store.Skipped(ctx, 1000)
	must(err)
	for _, id := range []sessions.AgentID{"main", "helper"} {
		notes, err := h.store.Notes(ctx, sessions.NoteQuery{Agent: id, Limit: 200})
		must(err)
		r.notes = append(r.notes, notes...)
	}
	for _, key := range w.homes() {
		r.heard[key], err = h.store.ContextLines(ctx, key)
		must(err)
	}
	if m := w.plan.moved; m != nil {
		more, err := h.store.ContextLines(ctx, m.fresh)
		must(err)
		for _, l := range more {
			l.Key = w.homeKey(l.Key)
			r.heard[l.Key] = append(r.heard[l.Key], l)
		}
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
				key := w.homeKey(s.Key)
				r.split = r.split || key != s.Key
				r.texts[key] = append(r.texts[key], msgs...)
				r.parts[key] = append(r.parts[key], msgs)
			}
		}
	}
	slices.Reverse(r.runs)
	slices.Reverse(r.deliveries)
	for _, key := range slices.Sorted(maps.Keys(w.gone)) {
		x := w.gone[key]
		if _, there := r.texts[key]; there {
			continue
		}
		r.texts[key], r.parts[key], r.deleted[key] = x.texts, [][]sessions.Message{x.texts}, true
		for _, run := range slices.Backward(x.runs) {
			r.runs = append(r.runs, w.ended(run, x.at))
		}
	}
	r.index()
	return r
}

// index finds runs and deliveries by their ids.
func (r *rest) index() {
	r.byID, r.by, r.rows = map[sessions.RunID]sessions.Run{}, map[sessions.RunID][]sessions.Delivery{}, map[sessions.DeliveryID]sessions.Delivery{}
	for _, run := range r.runs {
		r.byID[run.ID] = run
	}
	for _, d := range r.deliveries {
		r.by[d.Run] = append(r.by[d.Run], d)
		r.rows[d.ID] = d
	}
}

// tell writes what is in the store into the history.
func (r *rest) tell() {
	for _, run := range r.runs {
		about := ""
		if c := run.Chain; c != nil {
			about = fmt.Sprintf("%s of %s, %s → %s, turn %d, cleanup %q, waited %v", c.Kind, c.Root, c.Requester, c.Target, c.Turn, c.Cleanup, c.Waited)
		}
		r.w.s.note("run %s %s in %s: %s, attempt %d, for %s, batch %q, result %q, error %q, %s", run.ID, run.Kind, run.Key, run.Status, run.Attempt, run.Source, run.MergedInto, run.Result, run.Error, about)
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
	r.judgeWords()
	r.judgeDeliveries()
	r.judgeTries()
	r.judgeOrder()
	r.judgeSilence()
	r.judgeExchanges()
	r.judgeReplies()
	r.judgeChildren()
	r.judgeEffects()
	r.judgeKeys()
	r.judgePrompts()
	r.judgeTranscripts()
	r.judgeReplyTo()
	r.judgeExpiry()
	r.judgeStatus()
	r.judgeTime()
	r.judgeDeeds()
	r.judgeGestures()
	r.judgeMoved()
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
	for run.MergedInto != "" {
		next, ok := r.byID[run.MergedInto]
		if !ok {
			break
		}
		run = next
	}
	return run
}

// judgeMessages: each message has one outcome.
func (r *rest) judgeMessages() {
	r.answers = map[channels.MessageID]sessions.DeliveryID{}
	for _, h := range haunts() {
		r.judgeCommands(h.to)
	}
	for _, l := range r.w.plan.letters {
		if l.isCommand() {
			continue
		}
		own, refused := r.own(l), r.refusedOne(l)
		switch {
		case len(own) == 1 && !refused:
			r.outcome(l, own[0], r.lead(own[0]))
		case len(own) == 0 && refused && r.w.plan.queue.Drop == sessions.DropNew && r.crowded(l):
			r.w.tally("outcome: refused")
		case len(own) == 0 && l.quiet && !refused: // talk
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
		} else if r.byID[run.MergedInto].MergedInto == "" && run.Status == sessions.Done && !slices.Contains(tokensOf([]string{replies[0].Text}, "w"), word) {
			r.wrong("message", "the answer %q does not know %s", replies[0].Text, word)
		} else if r.byID[run.MergedInto].MergedInto == "" && run.Status == sessions.Done {
			r.judgeEdited(run, lead, replies[0].Text)
		}
	case lead.Status == sessions.Failed && strings.HasSuffix(lead.Error, "would be too late") && lead.Ended.Sub(lead.Created) >= replyTTL:
	case lead.Status == sessions.Failed || lead.Status == sessions.TimedOut:
		if len(notices) != 1 || len(replies) != 0 {
			r.wrong("message", "%s failed (%s) and has %d notices and %d replies", l.text, lead.Error, len(notices), len(replies))
		}
		least := time.Duration(r.w.plan.timeout)*time.Second - time.Second
		if lead.Status == sessions.Failed && !strings.Contains(lead.Error, routertest.ErrScripted.Error()) || lead.Status == sessions.TimedOut && lead.Ended.Sub(lead.Created) < least {
			r.wrong("message", "%s is %s without a cause: %q", l.text, lead.Status, lead.Error)
		}
	case lead.Status == sessions.Stopped:
		r.stopped(l, lead)
	}
}

// stopped: a message ends without an answer only where somebody asked for that while it was there.
func (r *rest) stopped(l letter, lead sessions.Run) {
	q := r.w.plan.queue
	switch why := lead.Error; {
	case strings.HasPrefix(why, "dropped") && q.Drop == sessions.DropOld && r.crowded(l):
	case strings.HasPrefix(why, "interrupted") && q.Mode == sessions.Interrupt && r.written(lead, func(x letter) bool { return x.to == l.to && x.id != l.id && !x.isCommand() }):
	case strings.HasPrefix(why, "stopped by a person") && r.stoppedBy(lead, lead.Key):
	default:
		r.wrong("message", "%s was ended without a cause: %q", l.text, why)
	}
}

// stoppedBy reports whether somebody may have stopped a run in a session above it, or its own. Which of the commands it was the reason says,
// unless the host ended meanwhile.
func (r *rest) stoppedBy(run sessions.Run, top sessions.Key) bool {
	return r.written(run, func(x letter) bool {
		return r.w.keys[x.to] == top && (x.text == "/new" || x.text == "/stop" && !strings.HasSuffix(run.Error, "who started the session over"))
	})
}

// partners are the sessions whose stop ends a run: its own, both sides of its chain, those that this has passed through, and those above them.
func partners(run sessions.Run) []sessions.Key {
	keys := []sessions.Key{run.Key}
	for c := run.Chain; c != nil; c = c.Parent {
		keys = append(append(keys, c.Requester, c.Target), c.Hops...)
	}
	return keys
}

// stoppedWith reports whether somebody may have stopped a run in one of the sessions that take part in it.
func (r *rest) stoppedWith(run sessions.Run) bool {
	return slices.ContainsFunc(partners(run), func(k sessions.Key) bool { return r.stoppedBy(run, k) })
}

// written reports whether somebody wrote something of a kind that was accepted while a run was there.
func (r *rest) written(run sessions.Run, is func(letter) bool) bool {
	return slices.ContainsFunc(r.w.plan.letters, func(x letter) bool {
		at := r.w.asked[x.id]
		return is(x) && at != nil && at.meets(run.Created, run.Ended)
	})
}

// crowded reports whether people wrote more into a message's chat than may wait there.
func (r *rest) crowded(l letter) bool {
	n := 0
	for _, x := range r.w.plan.letters {
		if x.to == l.to && !x.isCommand() {
			n++
		}
	}
	return n > r.w.plan.queue.Cap
}

// answered is how the answer to a command begins.
var answered = map[string][]string{
	"/send off": {"⚙️ Send policy set to off."}, "/send on": {"⚙️ Send policy set to on."}, "/send inherit": {"⚙️ Send policy set to inherit."},
	"/new": {"✅ New session started"}, "/status": {"**parley test**"},
	"/stop": {"⚙️ Agent was aborted.", "⚙️ Nothing is running here.", "⚙️ Dropped ", "⚙️ Stopped ", "⚙️ Ended ", "⚙️ Cancelled ", "⚙️ I will not send the rest of my message.", "⚙️ My last message was already being sent."},
}

// judgeCommands: each command of a chat has its own answer, once. People write a command when the one before it is confirmed, so the answers
// were made in the order of the commands.
func (r *rest) judgeCommands(to channels.Address) {
	var commands []letter
	for _, l := range r.w.plan.letters {
		if l.isCommand() && l.to == to {
			commands = append(commands, l)
		}
	}
	slices.SortStableFunc(commands, func(a, b letter) int { return cmp.Compare(r.w.acked[a.id], r.w.acked[b.id]) })
	var have []sessions.Delivery
	for _, d := range r.deliveries {
		ofItself := strings.Contains(d.Text, "Too many messages are waiting") || strings.HasPrefix(d.Text, "⚠️ A report did not reach ") // nobody asked for these
		if d.Kind == sessions.Notice && d.Run == "" && d.To == to && !ofItself {
			have = append(have, d)
		}
	}
	if len(have) != len(commands) {
		r.wrong("message", "%d commands in %s have %d answers", len(commands), to, len(have))
	}
	for i, l := range commands[:min(len(commands), len(have))] {
		d, at := have[i], r.w.asked[l.id]
		r.answers[l.id] = d.ID
		fits := slices.ContainsFunc(answered[l.text], func(x string) bool { return strings.HasPrefix(d.Text, x) })
		if !fits || at == nil || !at.meets(d.Created, d.Created) || to.Type.Several() && d.ReplyTo != l.id && !(d.ReplyTo == "" && r.leftBehind(d)) {
			r.wrong("message", "%s %q in %s is answered with %q, made %s, behind %s", l.id, l.text, to, d.Text, d.Created, d.ReplyTo)
		}
	}
}
