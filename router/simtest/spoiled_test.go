package simtest

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/policy"
	"parley/router/routertest"
	"parley/sessions"
)

// mostLived is how many seeds are lived to find what is to be spoiled.
const mostLived = 1000

// TestSimulationIsJudged spoils what came of good lives, in one way each, and looks whether the judge of the simulation names it.
func TestSimulationIsJudged(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	left, seed := slices.Concat(spoils, spoiledMinds, spoiledDeeds), uint64(1)
	for ; seed <= mostLived && len(left) > 0; seed++ {
		lived(t, seed, func(t *testing.T, r *rest) {
			if faults := r.copy().judge(); len(faults) > 0 {
				t.Fatalf("seed %d is no good life: %q", seed, faults)
			}
			left = slices.DeleteFunc(left, func(s spoil) bool {
				x := r.copy()
				if !s.spoil(x) {
					return false
				}
				x.index()
				if faults := x.judge(); !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, s.want) }) {
					t.Errorf("seed %d, %s: the judge names %q, and not %q", seed, s.name, faults, s.want)
				}
				return true
			})
		})
	}
	t.Logf("%d ways, %d lives", len(spoils)+len(spoiledMinds)+len(spoiledDeeds), seed-1)
	for _, s := range left {
		t.Errorf("in %d lives there was nothing to spoil: %s", mostLived, s.name)
	}
}

// spoil is one way to spoil a life; spoil is false when there is nothing of that kind in it.
type spoil struct {
	name, want string
	spoil      func(r *rest) bool
}

// copy gives a rest that can be changed.
func (r *rest) copy() *rest {
	w := r.w
	c := &world{t: w.t, s: w.s, plan: w.plan, keys: w.keys, policies: w.policies, changes: w.changes, asked: w.asked, receipts: maps.Clone(w.receipts),
		troubles: w.troubles, wrote: slices.Clone(w.wrote), awake: w.awake, acked: w.acked, moved: w.moved, thoughts: slices.Clone(w.thoughts), tries: slices.Clone(w.tries), counts: map[string]int{}}
	for _, x := range w.called {
		own := *x
		c.called = append(c.called, &own)
	}
	for _, p := range w.platforms {
		c.platforms = append(c.platforms, &site{w: c, ref: p.ref, like: p.like, shown: slices.Clone(p.shown)})
	}
	out := &rest{w: c, runs: slices.Clone(r.runs), deliveries: slices.Clone(r.deliveries), texts: maps.Clone(r.texts), parts: maps.Clone(r.parts), skipped: r.skipped, heard: maps.Clone(r.heard), notes: slices.Clone(r.notes), deleted: r.deleted, split: r.split, ofOld: r.ofOld, chains: r.chains}
	out.index()
	return out
}

var withheldBy = &policy.Verdict{Action: policy.Deny, Rule: "session override", Reason: "this session's own send policy is deny"}

// spoils are the ways, and what the judge says to them.
var spoils = []spoil{
	{"an answer is shown twice", "shown: ", func(r *rest) bool {
		d := r.some(sessions.Reply, whichever)
		return d != nil && r.showAgain(*d)
	}},
	{"an answer is shown twice and marked, and its one send was answered", "is marked as a repeat: each send had its answer", func(r *rest) bool {
		d := r.some(sessions.Reply, func(d sessions.Delivery) bool {
			return r.w.site(d.To).like.Name == routertest.Repeats.Name && !r.tried(d).ever
		})
		if d != nil {
			d.Repeat = true
		}
		return d != nil && r.showAgain(*d)
	}},
	{"an answer is missing", "is sent in 1 parts and 0 are shown", func(r *rest) bool {
		d := r.some(sessions.Reply, whichever)
		if d != nil {
			r.hide(*d)
		}
		return d != nil
	}},
	{"the row of an answer is missing", "has 0 replies", func(r *rest) bool {
		d := r.some(sessions.Reply, whichever)
		if d != nil {
			r.lose(*d)
		}
		return d != nil
	}},
	{"two answers change places", "order: ", func(r *rest) bool {
		a, b, ok := r.pair(func(a, b sessions.Delivery) bool { return a.Kind == sessions.Reply && b.Kind == sessions.Reply })
		if ok {
			r.swap(a, b)
		}
		return ok
	}},
	{"a turn begins beside another one of its session", "is at work", func(r *rest) bool {
		for i := range r.runs {
			b := &r.runs[i]
			for _, a := range r.runs {
				if (!r.split || a.Ended.After(r.w.moved.Add(time.Second))) && a.Kind == sessions.TurnRun && b.Kind == sessions.TurnRun && a.Key == b.Key && a.MergedInto == "" && b.MergedInto == "" && !a.Started.IsZero() && !a.Ended.After(b.Started) && a.Ended.Sub(a.Started) > time.Second {
					b.Started = a.Ended.Add(-time.Millisecond)
					return true
				}
			}
		}
		return false
	}},
	{"an exchange comes back to its target", "S12: ", func(r *rest) bool {
		for i := range r.runs {
			if run := &r.runs[i]; run.Kind == sessions.AskRun {
				back := *run.Chain
				back.Hops = append(slices.Clone(back.Hops), back.Target)
				run.Chain, r.chains = &back, maps.Clone(r.chains)
				r.chains[run.ID] = &back
				return true
			}
		}
		return false
	}},
	{"a chat speaks that was denied by its other id before it moved", "after the deny was acknowledged", func(r *rest) bool {
		for _, x := range r.w.policies {
			for _, c := range r.w.called {
				if x.old && c.what == "send" && r.w.keys[c.to] == x.key {
					again := *c
					again.begin, again.end = x.at+1, x.at+2
					r.w.called = append(r.w.called, &again)
					return true
				}
			}
		}
		return false
	}},
	{"an answer to a command comes before that to one before it", "order: ", func(r *rest) bool {
		a, b, ok := r.pair(func(a, b sessions.Delivery) bool {
			return answersCommand(a) && answersCommand(b) && b.Created.Sub(a.Created) > atOnce && len(r.w.troubles) == 1
		})
		if ok {
			r.swap(a, b)
		}
		return ok
	}},
	{"an answer is shown in another chat", "which is to go to", func(r *rest) bool {
		d := r.some(sessions.Reply, whichever)
		if d != nil {
			p, i := r.at(*d)
			p.shown[i].out.To = r.elsewhere(d.To)
		}
		return d != nil
	}},
	{"an answer goes to another chat", "K8: ", func(r *rest) bool {
		d := r.some(sessions.Reply, whichever)
		if d != nil {
			p, i := r.at(*d)
			d.To = r.elsewhere(d.To)
			p.shown[i].out.To = d.To
		}
		return d != nil
	}},
	{"an answer reaches a chat that is denied", "P4: ", func(r *rest) bool {
		x, c := r.denied()
		if c != nil {
			c.begin, c.end = x.at+1, x.at+1
		}
		return c != nil
	}},
	{"that a chat may be written to is said while it must not", "P4: ", func(r *rest) bool {
		x, c := r.denied()
		if c != nil {
			c.begin, c.end, c.text = x.at+1, x.at+1, "another.0 ⚙️ Send policy set to on."
		}
		return c != nil
	}},
	{"an answer is on its way when a deny is acknowledged", "P7: ", func(r *rest) bool {
		x, c := r.denied()
		if c != nil {
			c.begin, c.end = x.at-1, x.at+1
		}
		return c != nil
	}},
	{"an answer is withheld that nobody denied", "nobody had denied it", func(r *rest) bool {
		return r.endsAs(sessions.Withheld, withheldBy.Reason, withheldBy, func(d sessions.Delivery) bool { return !r.w.mayDeny(d.Session, d.Updated, r.ofOld[d.ID]) })
	}},
	{"an answer is withheld by a rule that lets it out", "no rule says so", func(r *rest) bool {
		return r.endsAs(sessions.Withheld, withheldBy.Reason, &policy.Verdict{Action: policy.Allow}, whichever)
	}},
	{"an answer failed that no platform rejected", "no platform has rejected it", func(r *rest) bool {
		return r.endsAs(sessions.DeliveryFail, "rejected: scripted", nil, whichever)
	}},
	{"an answer is held that surely arrived", "is held", func(r *rest) bool {
		return r.endsAs(sessions.Held, "it may have arrived", nil, func(d sessions.Delivery) bool { return !r.tried(d).ever })
	}},
	{"an answer is held after two tries that may have arrived, and a limit", "sent 2 times with an unknown end", func(r *rest) bool {
		return r.holds(3, func(cs contacts) { cs[1].how = string(channels.Limited) })
	}},
	{"an answer is held after two tries that may have arrived, and a restart", "sent 2 times with an unknown end", func(r *rest) bool {
		return r.holds(2, func(cs contacts) {
			r.w.wrote = append(r.w.wrote, wrote{at: cs[0].end + 2, what: wroteLast})
		})
	}},
	{"an answer is held after two tries that may have arrived, the last of which a crash cut off", "sent 2 times with an unknown end", func(r *rest) bool {
		return r.holds(2, func(cs contacts) {
			cs[1].how = howCut
			r.w.wrote = append(r.w.wrote, wrote{at: cs[1].end, what: wroteLast})
		})
	}},
	{"an answer is held after three tries that may have arrived, the first of which did not", "sent 2 times with an unknown end", func(r *rest) bool {
		return r.holds(3, func(cs contacts) {
			asked := *cs[0]
			asked.what, asked.how, asked.begin = "arrived", howAbsent, cs[0].end
			r.w.called = append(r.w.called, &asked)
		})
	}},
	{"an answer expired before its time", "its time was not over", func(r *rest) bool { return r.endsAs(sessions.Expired, "too late", nil, whichever) }},
	{"an answer was dropped", "nobody has dropped it", func(r *rest) bool { return r.endsAs(sessions.Dropped, "dropped by a person", nil, whichever) }},
	{"an answer is sent again although it was taken", "again although it was taken", func(r *rest) bool {
		clear(r.w.receipts)
		return r.callAgain(r.some(sessions.Reply, whichever), howTaken, true)
	}},
	{"an answer is sent again by the next process although its receipt is on disk", "its receipt is on disk", func(r *rest) bool {
		return r.callAgain(r.some(sessions.Reply, func(d sessions.Delivery) bool {
			p, i := r.at(d)
			return r.w.receipts[p.shown[i].id] > 0
		}), howTaken, false)
	}},
	{"an answer is sent again and nobody asked whether it arrived", "the platform was not asked", func(r *rest) bool {
		clear(r.w.receipts)
		return r.callAgain(r.some(sessions.Reply, func(d sessions.Delivery) bool { return r.w.site(d.To).like.Reconciles }), howCut, false)
	}},
	{"an answer is sent again where it is to be held", "although it is to be held", func(r *rest) bool {
		clear(r.w.receipts)
		return r.w.plan.hold && r.callAgain(r.some(sessions.Reply, func(d sessions.Delivery) bool { return r.w.site(d.To).like.Name == routertest.Repeats.Name }), howCut, false)
	}},
	{"a message ends as stopped although the stop came at another time", "was ended without a cause", func(r *rest) bool {
		return r.stop(func(run sessions.Run) bool {
			return !r.stoppedBy(run, run.Key) && slices.ContainsFunc(r.w.plan.letters, func(l letter) bool { return l.text == "/stop" && r.w.keys[l.to] == run.Key })
		})
	}},
	{"of two commands one is answered twice", "is answered with", func(r *rest) bool {
		a, b, ok := r.pair(func(a, b sessions.Delivery) bool {
			return a.Kind == sessions.Notice && b.Kind == sessions.Notice && a.Run == "" && b.Run == "" && a.Text != b.Text && !strings.Contains(a.Text+b.Text, "Too many")
		})
		if ok {
			r.lose(b)
			r.double(a)
		}
		return ok
	}},
	{"a report is announced twice", "N15: ", func(r *rest) bool {
		d := r.report(func(sessions.Chain) bool { return true })
		if d != nil {
			r.double(*d)
		}
		return d != nil
	}},
	{"a report is missing", "N15: ", func(r *rest) bool {
		d := r.report(func(sessions.Chain) bool { return true })
		if d != nil {
			r.lose(*d)
		}
		return d != nil
	}},
	{"the report of a sub-agent is missing that was deleted, and whose silence was only tried", "N15: ", func(r *rest) bool {
		d := r.report(func(c sessions.Chain) bool { return r.deleted[c.Target] && r.toldDeleted(c.Target) })
		if d != nil {
			key := r.byID[d.Run].Chain.Target
			r.lose(*d)
			silence := &attempted{Outcome: sessions.Outcome{Delete: &key, Status: sessions.Done, Result: string(agent.AnnounceSkip)}}
			r.w.tries = slices.Insert(r.w.tries, 0, silence)
		}
		return d != nil
	}},
	{"a sub-agent ends as stopped that nobody stopped", "was ended without a cause", func(r *rest) bool {
		for i := range r.runs {
			if run := &r.runs[i]; run.Kind == sessions.ChildRun && run.Status == sessions.Done && !r.mayStop(*run) {
				run.Status, run.Error = sessions.Stopped, "stopped by a person"
				return true
			}
		}
		return false
	}},
	{"what an exchange announces is posted twice", "S10: ", func(r *rest) bool {
		d := r.some(sessions.Announce, func(d sessions.Delivery) bool { return r.byID[d.Run].Chain.Kind == "ask" })
		if d != nil {
			r.double(*d)
		}
		return d != nil
	}},
	{"people are told twice of a late reply", "S15: ", func(r *rest) bool { return r.followUp(func(sessions.Run) int { return 2 }) }},
	{"nobody is told of a late reply", "S15: ", func(r *rest) bool {
		return r.followUp(func(run sessions.Run) int {
			if run.Chain.Error == "" {
				return 0
			}
			return 1
		})
	}},
	{"nobody is told of a late failure", "S15: ", func(r *rest) bool {
		return r.followUp(func(run sessions.Run) int {
			if run.Chain.Error != "" {
				return 0
			}
			return 1
		})
	}},
	{"an answer ends as stopped that nobody stopped", "nobody has stopped it", func(r *rest) bool {
		return r.endsAs(sessions.DeliveryStopped, "stopped by a person", nil, func(d sessions.Delivery) bool { return !r.mayStopSend(d) })
	}},
	{"an exchange has no announce step", "S10: ", func(r *rest) bool {
		n := len(r.runs)
		r.runs = slices.DeleteFunc(r.runs, func(x sessions.Run) bool { return x.Kind == sessions.AnnounceRun && x.Chain.Kind == "ask" })
		return len(r.runs) < n
	}},
	{"a reply does not reach who asked", "S13: ", func(r *rest) bool {
		return r.firstReply(func(sessions.Run) bool { return true }, func(sessions.Message) []sessions.Message { return nil })
	}},
	{"a reply does not reach who asked, whose step was silent", "S13: ", func(r *rest) bool {
		return r.firstReply(silent, func(sessions.Message) []sessions.Message { return nil })
	}},
	{"a reply reaches who asked twice", "S13: ", func(r *rest) bool {
		return r.firstReply(func(sessions.Run) bool { return true }, func(m sessions.Message) []sessions.Message { return []sessions.Message{m, m} })
	}},
	{"a post is made twice", "has 2 effects", func(r *rest) bool {
		d := r.some(sessions.Posted, whichever)
		if d != nil {
			r.double(*d)
		}
		return d != nil
	}},
	{"a post is missing", "nothing came of it", func(r *rest) bool {
		d := r.some(sessions.Posted, whichever)
		if d != nil {
			r.lose(*d)
		}
		return d != nil
	}},
	{"a note is missing", "nothing came of it", func(r *rest) bool {
		told := r.told("remember")
		n := len(r.notes)
		r.notes = r.notes[:0]
		return told && n > 0
	}},
	{"a message to another session is missing", "nothing came of it", func(r *rest) bool {
		told := r.told("sessions_send")
		n := len(r.runs)
		r.runs = slices.DeleteFunc(r.runs, func(x sessions.Run) bool { return x.Chain != nil && x.Chain.Kind == "ask" })
		return told && len(r.runs) < n
	}},
	{"an answer is shown with somebody else's words", "words: ", func(r *rest) bool { return r.reword(sessions.Reply, true, true, false) }},
	{"an answer is shown with somebody else's words where there is no markup", "words: ", func(r *rest) bool { return r.reword(sessions.Reply, false, true, false) }},
	{"an announcement is shown with somebody else's words", "words: ", func(r *rest) bool { return r.reword(sessions.Announce, true, false, false) }},
	{"an answer has somebody else's words", "says what the model did not", func(r *rest) bool { return r.reword(sessions.Reply, true, true, true) }},
	{"an announcement has somebody else's words", "says what the model did not", func(r *rest) bool { return r.reword(sessions.Announce, true, true, true) }},
	{"a post has somebody else's words", "says what the model did not", func(r *rest) bool { return r.reword(sessions.Posted, true, true, true) }},
	{"an answer is shown without its end", "words: ", func(r *rest) bool {
		d := r.some(sessions.Reply, whichever)
		if d != nil {
			p, i := r.at(*d)
			out := &p.shown[i].out
			out.Text, out.Plain = out.Text[:len(out.Text)-1], out.Plain[:len(out.Plain)-1]
		}
		return d != nil
	}},
	{"a run goes on for ever", "rest: ", func(r *rest) bool {
		r.runs[0].Status = sessions.Running
		return true
	}},
}
