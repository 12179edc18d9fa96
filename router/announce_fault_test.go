package router_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// busy is a session that works half of the time, and has many sub-agents.
type busy struct {
	*forest
	turns [][2]time.Time // when it was at what people asked
}

// answer has sub-agents take up to eight seconds, a fifth of them for ever; what people ask takes five.
func (b *busy) answer(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	switch {
	case strings.Contains(p.System, "has ended"):
		return said(ctx, b.pick("It is done.", "It is done.", "It is done.", "It is done.", "NO_REPLY", "ANNOUNCE_SKIP", "error"))
	case strings.Contains(p.System, "You are a sub-agent"):
		took := time.Duration(b.upTo(8_000)) * time.Millisecond
		if strings.HasSuffix(routertest.TaskOf(p), "0") || strings.HasSuffix(routertest.TaskOf(p), "5") {
			took = time.Hour
		}
		if !channels.Sleep(ctx, took) {
			return agent.Answer{}, ctx.Err()
		}
		return said(ctx, b.pick("done", "done", "done", "done", "done", "error", "ANNOUNCE_SKIP"))
	}
	began := time.Now()
	over := channels.Sleep(ctx, 5*time.Second)
	b.mu.Lock()
	b.turns = append(b.turns, [2]time.Time{began, time.Now()})
	b.mu.Unlock()
	if !over {
		return agent.Answer{}, ctx.Err()
	}
	return routertest.Text("echo: " + routertest.LastUser(p)), nil
}

// idle is when the session had nothing to do for people, at or after a time.
func (b *busy) idleAt(t time.Time) time.Time {
	for _, x := range b.turns {
		if !x[0].After(t) && x[1].After(t) {
			t = x[1]
		}
	}
	return t
}

// TestFaultAnnounces starts thousands of sub-agents below a session that is running half of the time. A fifth of them run out of time, a
// tenth is running when its process ends. Each completion is one announcement or one suppression on record, and what is announced is
// shown within two seconds once the session has time.
func TestFaultAnnounces(t *testing.T) {
	n := channeltest.Times(200, 10_000)
	routertest.Bubble(t, func(t *testing.T) {
		b := &busy{forest: &forest{rand: rand.New(rand.NewPCG(2, 2)), book: book{made: map[sessions.RunID]sessions.Run{}, ends: map[sessions.RunID][]sessions.Outcome{},
			next: map[sessions.RunID]sessions.RunID{}, ups: map[string]int{}, stopped: map[sessions.RunID]bool{}}}}
		const atOnce = 40
		b.Rig = routertest.Parent(t, routertest.Child{}, toRequester, routertest.EachAlone, func(s *settings.Snapshot) {
			s.Agents.Defaults.Subagents.MaxConcurrent, s.Agents.Defaults.Subagents.MaxChildrenPerAgent = atOnce, 2*n
		})
		b.Wrap = func(s sessions.Store) sessions.Store { return ledger{s, &b.book} }
		b.Stop()
		b.Model.Set(b.answer)
		b.Start()
		hit, restarts := map[sessions.RunID]bool{}, 0
		for i := range n {
			b.Spawn(tools.SpawnRequest{Source: fmt.Sprint("s", i), Task: fmt.Sprint("task ", i), Timeout: 10})
			if i%atOnce == atOnce-1 { // the next ones when these have begun; people go on asking
				b.Say(routertest.Group("a"), routertest.Guest, fmt.Sprint("question ", i))
				<-time.After(time.Second)
				if len(hit) < n/10 {
					b.restart(hit)
					restarts++
				}
				<-time.After(9 * time.Second)
			}
		}
		<-time.After(time.Hour)
		synctest.Wait()
		b.settled(n, len(hit), restarts)
	})
}

// restart ends the process and begins the next one. hit gets the sub-agents that were running.
func (b *busy) restart(hit map[sessions.RunID]bool) {
	b.T.Helper()
	at, err := b.Store.ListRuns(b.T.Context(), sessions.RunQuery{Status: sessions.Running, Limit: 1000})
	if err != nil {
		b.T.Fatal(err)
	}
	for _, run := range at {
		if run.Kind == sessions.ChildRun {
			hit[run.ID] = true
		}
	}
	b.Stop()
	b.Start()
}

// settled counts what became of n sub-agents.
func (b *busy) settled(n, hit, restarts int) {
	posts := map[sessions.RunID][]sessions.Delivery{}
	for before := int64(0); ; {
		list, err := b.Store.ListDeliveries(b.T.Context(), sessions.DeliveryQuery{Limit: 1000, Before: before})
		if err != nil {
			b.T.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		for _, d := range list {
			posts[d.Run] = append(posts[d.Run], d)
		}
		before = list[len(list)-1].Seq
	}
	slices.SortFunc(b.turns, func(x, y [2]time.Time) int { return x[0].Compare(y[0]) })
	fates, ended, waits, all := map[string]int{}, map[sessions.RunStatus]int{}, []time.Duration(nil), 0
	for _, id := range b.order {
		run := b.made[id]
		if run.Kind != sessions.ChildRun {
			continue
		}
		all++
		fates[b.fate(run, posts)]++
		row, err := b.Store.GetRun(b.T.Context(), id)
		if err != nil {
			b.T.Fatal(err)
		}
		ended[row.Status]++
		for _, d := range posts[b.next[id]] {
			waits = append(waits, d.Receipts[0].At.Sub(b.idleAt(row.Ended)))
		}
	}
	slices.Sort(waits)
	p99 := waits[len(waits)*99/100]
	b.T.Logf("%d sub-agents, %v, %d at work in %d restarts: %v; p99 of an announcement %s, the longest %s", all, ended, hit, restarts, fates, p99, waits[len(waits)-1])
	sum := 0
	for v := range maps.Values(fates) {
		sum += v
	}
	if all != n || sum != n || fates["sent"]+fates["skipped"] != n {
		b.T.Errorf("%d of %d sub-agents have an end on record", fates["sent"]+fates["skipped"], n)
	}
	if p99 > 2*time.Second || ended[sessions.TimedOut] < n/5 || hit < n/10 {
		b.T.Errorf("p99 %s; %d timed out, %d were hit", p99, ended[sessions.TimedOut], hit)
	}
}
