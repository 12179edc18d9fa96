package router_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
)

// TestQueueAtRandom draws modes, caps, rules, arrivals in two chats of one session and restarts, and holds what comes of them
// against what must be so in each: every message is shown to the agent of exactly one answer, in the order of arrival; the ledger
// names the turn that answered it, in its own chat, or that it was dropped; each turn has one answer, which refers to its newest
// message. A failure names its seed.
func TestQueueAtRandom(t *testing.T) {
	for seed := range uint64(24) {
		if routertest.Racing && seed%8 > 0 {
			continue
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) { storm(t, rand.New(rand.NewPCG(seed, 4))) })
		})
	}
}

// storm is one draw.
func storm(t *testing.T, r *rand.Rand) {
	q := sessions.Queue{
		Mode: []sessions.QueueMode{sessions.Collect, sessions.Collect, sessions.Followup, sessions.Steer, sessions.Interrupt}[r.IntN(5)],
		Cap:  []int{2, 5, 20}[r.IntN(3)], Drop: []sessions.DropRule{sessions.DropSummarize, sessions.DropSummarize, sessions.DropOld, sessions.DropNew}[r.IntN(4)],
		DebounceMs: new([]int{0, 500, 1000}[r.IntN(3)]),
	}
	g := routertest.New(t, channeltest.Options{}, routertest.WithQueue(q), func(s *settings.Snapshot) { s.Session.DMScope = sessions.DMMain })
	var mu sync.Mutex // of r, which the model draws from as well
	drawn := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(n)
	}
	g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
		steps := drawn(3)
		if !channels.Sleep(ctx, time.Duration(drawn(3000))*time.Millisecond) {
			return agent.Answer{}, ctx.Err()
		}
		if steps == 0 && routertest.Last(p).Role == sessions.User {
			return routertest.Call("", "remember", map[string]any{"text": "a fact"}), nil
		}
		return routertest.Text(strings.Join(routertest.Unanswered(p), "|")), nil
	})
	var chats [2][]string
	n := 6 + drawn(10)
	for i := range n {
		<-time.After(time.Duration(drawn([]int{50, 1500, 6000}[drawn(3)])) * time.Millisecond)
		if drawn(6) == 0 {
			g.Stop()
			g.Start()
		}
		c := drawn(8) / 7
		words := fmt.Sprint("m", i)
		chats[c] = append(chats[c], words)
		g.Say(routertest.Direct(fmt.Sprint("chat", c)), routertest.Guest, words)
	}
	all := func() (n int) { accepted, _ := g.Fake.Accepted(); return len(accepted) }
	g.Until("all are taken", func() bool { return all() == n })
	g.Idle(0)
	judgeQueue(t, g, q, chats)
}

// judgeQueue holds a session that has come to its rest against the rules.
func judgeQueue(t *testing.T, g *routertest.Rig, q sessions.Queue, chats [2][]string) {
	t.Helper()
	runs, byID := g.Said(), map[sessions.RunID]sessions.Run{}
	for _, run := range g.Runs() {
		byID[run.ID] = run
	}
	answered := map[sessions.RunID][]string{} // the messages of each turn that has an answer, by the ledger
	var gone int
	for _, run := range g.Runs() {
		lead := run
		for lead.MergedInto != "" {
			lead = byID[lead.MergedInto]
		}
		switch {
		case lead.Status == sessions.Done && lead.Reply == run.Reply:
			answered[lead.ID] = append(answered[lead.ID], run.Input.Text())
		case q.Drop == sessions.DropOld && run.ID == lead.ID && strings.HasPrefix(run.Error, "dropped"):
			gone++
		case q.Drop == sessions.DropOld && strings.HasPrefix(lead.Error, "dropped"): // what came in its place gave way itself
		default:
			t.Errorf("%s: %s %q, answered by %q, %s, to %s", run.Input.Text(), run.Status, run.Error, lead.Input.Text(), lead.Status, lead.Reply)
		}
	}
	listed, err := g.Store.Skipped(t.Context(), 100)
	if err != nil || len(listed) > 0 && q.Drop != sessions.DropNew {
		t.Errorf("%d are refused, %v", len(listed), err)
	}
	if total := len(chats[0]) + len(chats[1]); len(runs)+len(listed) != total {
		t.Errorf("%d messages became runs and %d are listed, of %d", len(runs), len(listed), total)
	}
	replies := map[sessions.RunID]int{}
	for _, d := range g.Deliveries() {
		if d.Kind != sessions.Reply {
			continue
		}
		replies[d.Run]++
		words := strings.Split(d.Text, "|")
		for _, w := range answered[d.Run] {
			if !slices.Contains(words, w) && q.Mode != sessions.Interrupt { // another chat's turn may come before the one that follows
				t.Errorf("the answer %q does not know %s", d.Text, w)
			}
		}
	}
	for id, words := range answered {
		if replies[id] != 1 {
			t.Errorf("the turn for %v has %d answers", words, replies[id])
		}
	}
	// In the order of arrival, each once.
	var order []string
	for _, d := range g.Deliveries() {
		if d.Kind == sessions.Reply {
			order = append(order, strings.Split(d.Text, "|")...)
		}
	}
	var arrived []string // as the host took them: over a restart the platform may give them in another order
	for _, run := range g.Runs() {
		arrived = append(arrived, run.Input.Text())
	}
	number := func(w string) int { return slices.Index(arrived, w) }
	if !slices.IsSortedFunc(order, func(a, b string) int { return number(a) - number(b) }) || len(slices.Compact(slices.Clone(order))) != len(order) || len(order) != len(runs)-gone {
		t.Errorf("answered %v: not each once, in order, but for %d dropped", order, gone)
	}
	if t.Failed() {
		t.Logf("%+v", q)
		for _, run := range g.Runs() {
			t.Logf("%s %s %s: %s, batch %s, %q %s, attempt %d, %s", run.ID[:4], run.Reply.Chat, run.Input.Text(), run.Status, run.MergedInto, run.Result, run.Error, run.Attempt, run.Created.Format("05.000"))
		}
	}
}
