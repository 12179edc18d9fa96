package router_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/policy"
	"parley/router/chain"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// ledger is a store that writes down what becomes of every run, also of those that are deleted later.
type ledger struct {
	sessions.Store
	*book
}

type book struct {
	writing sync.Mutex
	made    map[sessions.RunID]sessions.Run
	order   []sessions.RunID
	ends    map[sessions.RunID][]sessions.Outcome
	next    map[sessions.RunID]sessions.RunID // the run that an end made
	ups     map[string]int                    // by message: how often it was merged
	stopped map[sessions.RunID]bool
}

func (b *book) add(acc sessions.Accepted) {
	if id := acc.Run.ID; id != "" && b.made[id].ID == "" {
		b.made[id], b.order = acc.Run, append(b.order, id)
	}
	for _, s := range acc.Stopped {
		b.stopped[s.ID] = true
	}
}

func (l ledger) Submit(ctx context.Context, e sessions.Change) (sessions.Accepted, error) {
	acc, err := l.Store.Submit(ctx, e)
	l.writing.Lock()
	defer l.writing.Unlock()
	if err == nil {
		l.add(acc)
	}
	return acc, err
}

func (l ledger) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	acc, err := l.Store.Finish(ctx, id, o)
	l.writing.Lock()
	defer l.writing.Unlock()
	if err == nil {
		l.add(acc)
		l.ends[id], l.next[id] = append(l.ends[id], o), acc.Run.ID
	}
	return acc, err
}

func (l ledger) MergeQueued(ctx context.Context, id sessions.RunID, q sessions.MergeQuery) ([]sessions.Message, error) {
	taken, err := l.Store.MergeQueued(ctx, id, q)
	l.writing.Lock()
	defer l.writing.Unlock()
	for _, m := range taken {
		l.ups[m.ID]++
	}
	return taken, err
}

// forest makes random trees of sub-agents and answers for all their agents.
type forest struct {
	*routertest.Rig
	book
	mu    sync.Mutex
	rand  *rand.Rand
	nodes int
}

// pick gives one of several words.
func (f *forest) pick(words ...string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return words[f.rand.IntN(len(words))]
}

func (f *forest) upTo(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.rand.IntN(n)
}

// said turns a word into an answer.
func said(ctx context.Context, word string) (agent.Answer, error) {
	switch word {
	case "error":
		return agent.Answer{}, errors.New("scripted")
	case "timeout":
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}
	return routertest.Text(word), nil
}

func (f *forest) answer(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
	if !channels.Sleep(ctx, time.Duration(f.upTo(20_000))*time.Millisecond) {
		return agent.Answer{}, ctx.Err()
	}
	switch {
	case strings.Contains(p.System, "announce step"):
		return said(ctx, f.pick("Result: fine", "ANNOUNCE_SKIP", "", "error", "words"))
	case strings.Contains(p.System, "has ended"):
		return said(ctx, f.pick("It is done.", "NO_REPLY", "ANNOUNCE_SKIP", "", "error"))
	case !strings.Contains(p.System, "You are a sub-agent"):
		return routertest.Text("echo: " + routertest.LastUser(p)), nil
	}
	if strings.Contains(p.System, "You may start") && routertest.Last(p).Role == sessions.User && f.upTo(2) == 0 {
		return f.plant("c"), nil
	}
	if routertest.Last(p).Role != sessions.User && f.upTo(3) > 0 { // it has delegated, and may rest
		return routertest.Resting(fmt.Sprint("r", len(p.Messages))), nil
	}
	return said(ctx, f.pick("done", "done", "done", "", "error", "timeout", "ANNOUNCE_SKIP"))
}

// plant starts up to three sub-agents at once.
func (f *forest) plant(id string) agent.Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	var a agent.Answer
	for i := range 1 + f.rand.IntN(3) {
		if f.nodes++; f.nodes > 12 {
			break
		}
		b := routertest.Delegate(fmt.Sprint(id, i), fmt.Sprint("task ", f.nodes), "runTimeoutSeconds", 30+f.rand.IntN(60), "cleanup", []string{"keep", "delete"}[f.rand.IntN(2)])
		a.Content = append(a.Content, b.Content...)
	}
	if len(a.Content) == 0 {
		return routertest.Text("nothing to delegate")
	}
	a.Stop = "toolUse"
	return a
}

// TestEveryChildIsAccountedFor grows random trees of sub-agents, up to three deep, whose agents succeed, fail, say nothing, run out
// of time, skip and are stopped, over a restart, and follows every run of a sub-agent to its one end.
//
// proves: N15
func TestEveryChildIsAccountedFor(t *testing.T) {
	for seed := range uint64(40) {
		if routertest.Racing && seed%8 > 0 {
			continue // all of them run without the race detector
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				f := &forest{rand: rand.New(rand.NewPCG(seed, 1)), book: book{made: map[sessions.RunID]sessions.Run{}, ends: map[sessions.RunID][]sessions.Outcome{},
					next: map[sessions.RunID]sessions.RunID{}, ups: map[string]int{}, stopped: map[sessions.RunID]bool{}}}
				f.Rig = routertest.Parent(t, routertest.Child{}, func(s *settings.Snapshot) {
					s.Agents.Defaults.Subagents = agent.Subagents{MaxSpawnDepth: 3, MaxConcurrent: 1 + f.upTo(8), Announce: f.pick("direct", "requester")}
				})
				f.Wrap = func(s sessions.Store) sessions.Store { return ledger{s, &f.book} }
				f.Stop()
				f.Model.Set(f.answer)
				f.Start()
				o := policy.Override(f.pick("", "", string(policy.Deny)))
				if _, err := f.Router.Patch(t.Context(), routertest.KeyA, sessions.Patch{SendPolicy: &o}); err != nil {
					t.Fatal(err)
				}
				f.grow()
				f.account()
			})
		})
	}
}

// grow plants trees, stops some of what grows, restarts the host once, and waits until nothing moves.
func (f *forest) grow() {
	for i := range 1 + f.upTo(3) {
		f.nodes++
		f.Spawn(tools.SpawnRequest{Source: fmt.Sprint("s", i), Task: fmt.Sprint("tree ", i), Timeout: 60 + f.upTo(60), Cleanup: f.pick("keep", "delete")})
	}
	restart := f.upTo(6)
	for i := range 6 {
		<-time.After(time.Duration(f.upTo(20_000)) * time.Millisecond)
		var keys []sessions.Key
		for _, run := range f.Runs() {
			if run.Kind == sessions.ChildRun && !run.Status.Final() {
				keys = append(keys, run.Key)
			}
		}
		if len(keys) > 0 && f.upTo(3) == 0 {
			if _, err := f.Router.ToolHost.Cancel(f.T.Context(), fmt.Sprint("stop", i), keys[f.upTo(len(keys))]); err != nil {
				f.T.Fatal(err)
			}
		}
		if i == restart {
			f.Stop()
			f.Start()
		}
	}
	<-time.After(time.Hour)
	synctest.Wait()
}

// account follows every run of a sub-agent to its end.
func (f *forest) account() {
	posts := map[sessions.RunID][]sessions.Delivery{}
	for _, d := range f.Deliveries() {
		if !d.State.Final() {
			f.T.Errorf("a delivery is still %s", d.State)
		}
		posts[d.Run] = append(posts[d.Run], d)
	}
	spawned, fates := 0, map[string]int{}
	for _, id := range f.order {
		run := f.made[id]
		if run.Kind == sessions.ChildRun {
			if run.ID == run.Chain.Root {
				spawned++
			}
			fates[f.fate(run, posts)]++
		}
	}
	for _, id := range f.order {
		run := f.made[id]
		if run.Kind != sessions.ChildRun || run.ID != run.Chain.Root || fates["listed"] > 0 {
			continue // what was stopped below a session may leave it
		}
		if _, err := f.Store.Get(f.T.Context(), run.Key); errors.Is(err, sessions.ErrNotFound) != (run.Chain.Cleanup == "delete") {
			f.T.Errorf("cleanup is %s: %v", run.Chain.Cleanup, err)
		}
	}
	f.T.Logf("%d sub-agents: %v", spawned, fates)
	if spawned == 0 || fates["lost"] > 0 {
		f.T.Errorf("%d sub-agents: %v", spawned, fates)
	}
}

// fate says how a sub-agent's run ended, and complains when that is not one way exactly.
func (f *forest) fate(run sessions.Run, posts map[sessions.RunID][]sessions.Delivery) string {
	ends, next, up := f.ends[run.ID], f.next[run.ID], f.ups[run.Input.ID]
	row, err := f.Store.GetRun(f.T.Context(), run.ID)
	if err == nil && !row.Status.Final() || len(ends) > 1 || up > 1 || len(posts[run.ID]) > 0 {
		f.T.Errorf("run %s of %s is %s, has %d ends, was taken up %d times and posted %d times", run.ID, run.Key, row.Status, len(ends), up, len(posts[run.ID]))
	}
	switch {
	case up == 1 && len(ends) == 0:
		return "taken up"
	case len(ends) == 0 && f.stopped[run.ID], len(ends) == 1 && ends[0].Status == sessions.Stopped:
		if err != nil || row.Status != sessions.Stopped || row.Error == "" || next != "" {
			f.T.Errorf("a stopped run is not listed: %s %q, next %s (%v)", row.Status, row.Error, next, err)
		}
		return "listed"
	case len(ends) == 0:
		return "lost"
	case strings.TrimSpace(ends[0].Result) == "ANNOUNCE_SKIP":
		if next != "" {
			f.T.Errorf("a skipped result goes on as %s", f.made[next].Kind)
		}
		return "skipped"
	}
	after := f.made[next]
	if run.Chain.Parent != nil {
		if after.Kind != sessions.ChildRun || after.Key != run.Chain.Requester {
			f.T.Errorf("a nested result goes on as %q in %s; %s, %s", after.Kind, after.Key, ends[0].Status, ends[0].Error)
			return "lost"
		}
		return "handed up"
	}
	return f.wording(run, ends[0].Status, after, posts[next])
}

// wording follows a result through its announce or result step.
func (f *forest) wording(run sessions.Run, status sessions.RunStatus, step sessions.Run, posts []sessions.Delivery) string {
	ends := f.ends[step.ID]
	if f.stopped[step.ID] || len(ends) == 1 && ends[0].Status == sessions.Stopped {
		if row, err := f.Store.GetRun(f.T.Context(), step.ID); err != nil || row.Status != sessions.Stopped || row.Error == "" || len(posts) > 0 {
			f.T.Errorf("a stopped %s step is %s %q and has %d posts (%v)", step.Kind, row.Status, row.Error, len(posts), err)
		}
		return "listed"
	}
	if len(ends) != 1 || step.Kind != sessions.AnnounceRun && step.Kind != sessions.ResultRun {
		f.T.Errorf("a result goes on as %q, which has %d ends", step.Kind, len(ends))
		return "lost"
	}
	word := strings.TrimSpace(ends[0].Result)
	if word == "ANNOUNCE_SKIP" || word == "NO_REPLY" && step.Kind == sessions.ResultRun {
		if len(posts) != 0 {
			f.T.Errorf("%s, and %d posts", word, len(posts))
		}
		return "skipped"
	}
	if len(posts) != 1 {
		f.T.Errorf("the %s step said %q; there are %d posts", step.Kind, word, len(posts))
		return "lost"
	}
	own := step.Kind == sessions.ResultRun && word != ""
	if d := posts[0]; d.Session != routertest.KeyA || !own && (!strings.HasPrefix(d.Text, "Status: "+chain.StatusWord(status)+"\n") || !strings.Contains(d.Text, "`"+string(run.Key)+"`")) {
		f.T.Errorf("posted for %s, %s: %s", d.Session, status, d.Text)
	}
	if after := f.made[f.next[step.ID]]; (after.Kind == sessions.PostRun) != (step.Kind == sessions.AnnounceRun) || after.ID != "" && len(f.ends[after.ID]) != 1 {
		f.T.Errorf("the %s step goes on as %q", step.Kind, after.Kind)
	}
	return string(posts[0].State)
}
