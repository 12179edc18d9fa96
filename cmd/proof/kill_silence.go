package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"parley/gateway/prooftest"
	"parley/sessions"
)

// silence is a deny that the configuration has for one place. It is written while the host is down, because of what a kill left there: what
// was being sent, or waits, may not leave when the next life takes it up. That life has it in force from its start on. It is taken out of
// the file in the same way.
type silence struct {
	at    *place
	to    string // the address
	texts []sessions.DeliveryID
	flip  int // in the crowd's log
	lives int
}

// silences are those of a run.
type silences struct {
	now     []*silence
	all     []*silence
	pending []int // changes in the crowd's log that no life has begun with
}

// mostSilent is after how many lives a silence ends though a text that it is for is not decided: those that end at random are short, and
// what may have arrived is tried again after up to a second.
const mostSilent = 5

// Of how many places in which a kill left something one is denied, and how many texts that may be at most: nine of ten answers are to be shown.
const (
	silenceEvery = 14
	mostSilenced = 3
)

// silence changes the denies of the configuration while the host is down. Those whose texts are decided end, and some of the places in
// which the last life left a little are denied, where nothing but the configuration decides: no setting of the session, no answer to
// /send that was granted, and nobody who is about to change the policy. Without more, all end. What is switched off stays so.
func (r *run) silence(more bool) error {
	r.silences.now = slices.DeleteFunc(r.silences.now, func(s *silence) bool {
		s.lives++
		if more && s.lives < mostSilent && slices.ContainsFunc(r.ledger.open, func(d sessions.Delivery) bool { return slices.Contains(s.texts, d.ID) }) {
			return false
		}
		r.change(s.at, false)
		s.at.policy.Unlock()
		return true
	})
	for _, at := range r.w.places {
		s := silence{at: at}
		for _, d := range r.ledger.open {
			if placeOf(d) == at.Place && string(d.Session) == at.Session {
				s.to, s.texts = d.To.String(), append(s.texts, d.ID)
			}
		}
		if !more || len(s.texts) == 0 || len(s.texts) > mostSilenced || r.ledger.own[sessions.Key(at.Session)] || r.dice.IntN(silenceEvery) > 0 || !at.policy.TryLock() {
			continue
		}
		s.flip = r.change(at, true)
		r.silences.now, r.silences.all = append(r.silences.now, &s), append(r.silences.all, &s)
	}
	next := settings{off: r.w.says.off} // an error that a reload left there is mended
	for _, s := range r.silences.now {
		next.denied = append(next.denied, s.to)
	}
	return r.w.write(next)
}

// change notes a change of the configuration in the crowd's log.
func (r *run) change(at *place, deny bool) (n int) {
	n = r.crowd.changing(prooftest.Flip{Place: at.Place, Deny: deny, Asked: time.Now()})
	r.silences.pending = append(r.silences.pending, n)
	return n
}

// inForce notes that a host that was started has the changes of its configuration in force: at its first transaction, before which it
// sends nothing. The calls of the one that was killed are over by then. What it gives is closed when that is noted, or the host has ended.
func (r *run) inForce(ctx context.Context, p *process) <-chan struct{} {
	done := make(chan struct{})
	if len(r.silences.pending) == 0 {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		_ = until(ctx, time.Minute, "the host begins", func() bool { return p.ended() || p.begun() }) // if not, nothing is said to be in force
		if !p.begun() {
			return
		}
		for _, n := range r.silences.pending {
			r.crowd.changed(n)
		}
		r.silences.pending = nil
	}()
	return done
}

// silenced counts the denies that came into force, and the texts that they were for and withheld. A run of all fail-points with enough
// kills for them fails when there is no such text.
func (r *run) silenced(h *prooftest.History) {
	texts := map[string]bool{}
	for _, s := range r.silences.all {
		if h.Flips[s.flip].Acked.IsZero() {
			continue
		}
		r.fig.Silenced++
		for _, id := range s.texts {
			texts[string(id)] = true
		}
	}
	for _, d := range h.Listed {
		if texts[d.ID] && d.State == "withheld" && strings.HasPrefix(d.Rule, "session.sendPolicy.rules[") {
			r.fig.Kept++
		}
	}
	if r.fig.Kept == 0 && r.At == nil && r.Platform == "" && r.Kills >= judgedFrom() {
		r.fig.Missed = append(r.fig.Missed, "no text that a kill left was withheld by a deny set while the host was down")
	}
}
