package killtest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/routertest"
	"parley/sessions"
)

// TestKillWhileBusy writes while a turn is running and takes an image at each commit: what SIGKILL would leave there. A new process
// goes on from each of them. Every message has one answer, alone or in a batch that the ledger names, in order, and none has two.
//
// proves: N15
func TestKillWhileBusy(t *testing.T) {
	t.Parallel()
	base := beginning(t)
	moves := []move{{id: "m1", to: routertest.ChatA, by: routertest.Guest, text: "one"}, {id: "m2", at: 4 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "two"},
		{id: "m3", at: 5 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "three"}, {id: "m4", at: 30 * time.Second, to: routertest.ChatA, by: routertest.Guest, text: "four"}}
	for _, m := range []sessions.QueueMode{sessions.Collect, sessions.Interrupt, sessions.Steer} {
		sc := &scenario{name: string(m), moves: moves, set: routertest.WithMode(m), answer: func(ctx context.Context, s routertest.Step) (agent.Answer, error) {
			if !channels.Sleep(ctx, 10*time.Second) {
				return agent.Answer{}, ctx.Err()
			}
			if m == sessions.Steer && len(s.Results) == 0 && strings.HasSuffix(s.Said, "one") {
				return routertest.Call("c1", "remember", map[string]any{"text": "a fact"}), nil
			}
			return routertest.Text("→ " + s.Said), nil
		}}
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			for _, im := range tellBusy(t, sc, base, true) {
				if routertest.Racing && im.n%8 > 0 {
					continue
				}
				t.Run(im.name(), func(t *testing.T) {
					t.Parallel()
					tellBusy(t, sc, im, false)
				})
			}
		})
	}
}

// tellBusy continues with a scenario from an image, and judges what comes of it.
func tellBusy(t *testing.T, sc *scenario, from *image, record bool) (images []*image) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := live(t, sc, from, routertest.Repeats, record)
		a := l.look()
		l.stop()
		a.judgeBatches()
		if t.Failed() {
			for _, r := range a.runs {
				t.Logf("run %s %s: %s, batch %q, attempt %d, %q %s", r.ID, r.Input.Text(), r.Status, r.MergedInto, r.Attempt, r.Result, r.Error)
			}
		}
		images, _ = l.distinct()
	})
	return images
}

// judgeBatches: each message has one answer, which the agent gave when it was shown all of its batch and nothing that had one.
func (a *aftermath) judgeBatches() {
	a.Helper()
	byID := map[sessions.RunID]sessions.Run{}
	for _, r := range a.runs {
		byID[r.ID] = r
	}
	batches := map[sessions.RunID][]string{}
	for _, r := range a.runs {
		lead := r
		for lead.MergedInto != "" {
			lead = byID[lead.MergedInto]
		}
		if lead.Status != sessions.Done || lead.Reply != r.Reply {
			a.Errorf("%s: %s, answered by %s, %s", r.Input.Text(), r.Status, lead.Input.Text(), lead.Status)
		}
		batches[lead.ID] = append(batches[lead.ID], strings.TrimPrefix(r.Input.Text(), routertest.Guest+": "))
	}
	for _, d := range a.deliveries {
		if d.Text == greeting {
			continue
		}
		if d.State != sessions.Sent {
			a.Errorf("%q is %s", d.Text, d.State)
		}
		batch := batches[d.Run]
		delete(batches, d.Run)
		var shown []string
		for _, life := range a.lives {
			for _, x := range life {
				if x.mark == routertest.Mark(x.Session, sessions.Message{Content: sessions.TextContent(d.Text)}) {
					shown = routertest.Unanswered(x.prompt)
				}
			}
		}
		if !slices.Equal(shown, batch) {
			a.Errorf("%q was given when the agent was shown %q, for %q", d.Text, shown, batch)
		}
	}
	said := map[string]int{}
	for _, msgs := range a.texts {
		for _, m := range msgs {
			if m.Role == sessions.User {
				said[m.Provenance.Message]++
			}
		}
	}
	for _, m := range a.sc.moves {
		if said[string(m.id)] != 1 {
			a.Errorf("%q stands in the transcript %d times", m.text, said[string(m.id)])
		}
	}
	for id, batch := range batches {
		if byID[id].Result != greeting {
			a.Errorf("%q has no answer of its own", batch)
		}
	}
}
