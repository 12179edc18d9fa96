package killtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// want is what must have come of a scenario, whenever its processes were killed.
type want struct {
	chains   []string                      // the steps of each chain that is left, "ask b, reply a, announce b"
	children []string                      // how each child ended: announced, reported (to a sub-agent), silent, withheld, failed
	shows    map[channels.Address][]string // what each chat shows, repeats left out, reports without their last line
	results  []string                      // what the tool calls were answered: the tool and the status
	notes    int                           // what the agents remember
	again    map[string]string             // results that a call may have when it is repeated after a kill, and what they stand for
}

// aftermath is all that there is to see when nothing moves any more.
type aftermath struct {
	*testing.T
	sc         *scenario
	platform   routertest.Platform
	runs       []sessions.Run      // oldest first
	deliveries []sessions.Delivery // oldest first
	texts      map[sessions.Key][]sessions.Message
	shown      []channeltest.Call
	calls      []channeltest.Call // all that reached the platform in this process, and what was shown before it
	notes      []sessions.Note
	lives      [][]asked
	began      time.Time // of the last process
}

// look gathers what a life has left, before it is stopped.
func (l *life) look() *aftermath {
	l.t.Helper()
	a := &aftermath{T: l.t, sc: l.sc, platform: l.platform, texts: transcripts(l.t, l.store), shown: l.fake.Shown(channels.Address{}), calls: l.fake.Calls(), began: l.began}
	a.lives = append(slices.Clone(l.from.lives), l.asked)
	var err error
	if a.runs, err = l.store.ListRuns(l.t.Context(), sessions.RunQuery{Limit: 1000}); err != nil {
		l.t.Fatal(err)
	}
	if a.deliveries, err = l.store.ListDeliveries(l.t.Context(), sessions.DeliveryQuery{Limit: 1000}); err != nil {
		l.t.Fatal(err)
	}
	if a.notes, err = l.store.Notes(l.t.Context(), sessions.NoteQuery{Agent: "main", Limit: 100}); err != nil {
		l.t.Fatal(err)
	}
	slices.Reverse(a.runs)
	slices.Reverse(a.deliveries)
	return a
}

// judge holds an aftermath against the contract and what the scenario wants.
func (a *aftermath) judge() {
	a.Helper()
	a.judgeChains()
	a.judgeModel()
	a.judgeTranscripts()
	a.judgeDeliveries()
	a.judgeReplies()
	a.judgeChildren()
	if n := len(a.notes); n != a.sc.want.notes {
		a.Errorf("%d notes, want %d", n, a.sc.want.notes)
	}
}

// same compares two lists whatever their order.
func (a *aftermath) same(what string, have, want []string) {
	a.Helper()
	have, want = slices.Sorted(slices.Values(have)), slices.Sorted(slices.Values(want))
	if !slices.Equal(have, want) {
		a.Errorf("%s: %q, want %q", what, have, want)
	}
}

// placeOf names a session for people: the chat, or what it is.
func placeOf(k sessions.Key) string {
	p, err := k.Parse()
	switch {
	case err != nil:
		return string(k)
	case sessions.IsSubagent(k):
		return "child"
	}
	return p.ID
}

// judgeChains: each chain's steps are there, once each, in their order; each began after the one before it had ended; a repeated
// tool call has begun no second one (S9, S14).
func (a *aftermath) judgeChains() {
	a.Helper()
	var roots []sessions.RunID
	chains := map[sessions.RunID][]sessions.Run{}
	sources := map[string]int{}
	for _, r := range a.runs {
		if !r.Status.Final() {
			a.Errorf("the %s run in %s is %s for ever", r.Kind, r.Key, r.Status)
		}
		if r.Chain == nil {
			continue
		}
		root := r.Chain.Root
		if chains[root] == nil {
			roots = append(roots, root)
		}
		chains[root] = append(chains[root], r)
		if r.ID == root {
			sources[r.Source]++
		}
	}
	for s, n := range sources {
		if n != 1 {
			a.Errorf("the call %s began %d chains", s, n)
		}
	}
	var have []string
	for _, root := range roots {
		var steps []string
		for i, r := range chains[root] {
			step := string(r.Kind) + " " + placeOf(r.Key)
			switch {
			case routertest.Merged(r):
				step += " (taken up)"
			case r.Status != sessions.Done:
				step += " (" + string(r.Status) + ")"
			}
			steps = append(steps, step)
			stopped := r.Kind == sessions.FollowUpRun && i > 0 && chains[root][i-1].Status == sessions.Stopped // its follow-up is in the commit of the stop
			if i > 0 && !routertest.Merged(r) && !stopped && r.Created.Before(chains[root][i-1].Ended) {
				a.Errorf("%s began before the step before it had ended", step)
			}
			// N9: the host may have been away when the run was to begin, and when it was to end.
			if took := r.Ended.Sub(r.Created); r.Status == sessions.TimedOut && (took < r.Timeout-time.Second || took > r.Timeout+down+time.Second) {
				a.Errorf("%s ended after %s, its limit is %s", step, took, r.Timeout)
			}
		}
		have = append(have, strings.Join(steps, ", "))
	}
	a.same("the chains", have, a.sc.want.chains)
}

// judgeModel: no process asks twice for a step, and none asks for a step whose answer it found in the transcript.
func (a *aftermath) judgeModel() {
	a.Helper()
	done := map[string]bool{}
	for key, msgs := range a.texts {
		for _, m := range msgs {
			if m.Role == sessions.Assistant && m.Time.Before(a.began) {
				done[routertest.Mark(string(key), m)] = true
			}
		}
	}
	marks := map[string]string{}
	for i, life := range a.lives {
		seen, empty := map[string]int{}, map[string]bool{}
		for _, x := range life {
			id := x.Step.String()
			if seen[id]++; seen[id] > 2 || seen[id] == 2 && !empty[id] { // an empty answer is asked for once more
				a.Errorf("process %d asked the model twice: %s", i+1, id)
			}
			empty[id] = x.empty
			if x.mark == "" {
				continue
			}
			if was := marks[x.mark]; was != "" && was != id {
				a.Errorf("the script has one answer for two steps, so they cannot be told apart: %s and %s", was, id)
			}
			marks[x.mark] = id
			if i == len(a.lives)-1 && done[x.mark] {
				a.Errorf("process %d asked the model again for a step that was finished: %s", i+1, id)
			}
		}
	}
}

// judgeTranscripts: what people wrote is there once, and each tool call has one result.
func (a *aftermath) judgeTranscripts() {
	a.Helper()
	said := map[string]int{}
	var results []string
	for key, msgs := range a.texts {
		calls := map[string]int{}
		for _, m := range msgs {
			for _, c := range m.ToolCalls() {
				calls[string(m.Run)+c.ID]++
			}
			switch {
			case m.Role == sessions.ToolResult:
				calls[string(m.Run)+m.ToolCallID] += 10
				result := m.ToolName + " " + routertest.StatusOf(m.Text())
				if was := a.sc.want.again[result]; was != "" && len(a.lives) > 1 {
					result = was
				}
				results = append(results, result)
			case m.Role == sessions.User && m.Provenance != nil && m.Provenance.Kind == sessions.ExternalUser:
				said[m.Provenance.Message]++
			}
		}
		for id, n := range calls {
			if n != 11 {
				a.Errorf("the tool call %s in %s has %d results, and stands there %d times", id, key, n/10, n%10)
			}
		}
	}
	for _, m := range a.sc.moves {
		if n := said[string(m.id)]; n != 1 && !strings.HasPrefix(m.text, "/") {
			a.Errorf("%q stands in the transcripts %d times", m.text, n)
		}
	}
	a.same("the results of the tool calls", results, a.sc.want.results)
}
