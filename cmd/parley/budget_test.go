package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"parley/agent/modeltest"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// change replaces a piece of the configuration.
func (w *world) change(old, by string) {
	w.t.Helper()
	path := filepath.Join(w.dir, "config.yaml")
	b, err := os.ReadFile(path)
	if err != nil || strings.Count(string(b), old) != 1 {
		w.t.Fatalf("%q stands %d times in the configuration (%v)", old, strings.Count(string(b), old), err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), old, by, 1)), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// ledger stops the host and reads what its ledger sums up.
func (p *process) ledger(q sessions.SpentQuery) sessions.Spent {
	p.t.Helper()
	p.stop()
	return p.spent(q)
}

// spent reads the ledger of a host that has ended.
func (p *process) spent(q sessions.SpentQuery) sessions.Spent {
	p.t.Helper()
	s, err := sqlstore.Open(p.t.Context(), sqlstore.Config{Dir: filepath.Join(p.w.dir, "state")})
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	sum, err := s.Spent(p.t.Context(), q)
	if err != nil {
		p.t.Fatal(err)
	}
	return sum
}

// TestMeter has the host talk, keep silent, have sub-agents, sum up, be cut off and try another model: the ledger sums up to what the
// model's server counted, to the token and to the millionth of a dollar.
func TestMeter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("    dmPolicy: allowlist", "")
	w.change("apiKey: x}", "apiKey: x, models: {mock-1: {input: 3, output: 15, cacheRead: 0.3}, mock-2: {input: 3, output: 15, cacheRead: 0.3}}}")
	w.change("model: mock/mock-1}", "model: mock/mock-1, fallbacks: [mock/mock-2]}")
	p := &puppet{words: reports("all is counted")}
	var asked atomic.Int64
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		n := int(asked.Add(1))
		a := words("They greeted each other.")
		if !strings.Contains(r.System, "You keep the memory") {
			a = p.answer(r)
		}
		if strings.Contains(string(r.Raw), "cut me off") && r.Model == "mock-1" {
			a = modeltest.Reply{Text: []string{"I was about to"}, Fault: modeltest.Cut}
		}
		a.EarlyUsage, a.Usage = true, modeltest.Usage{Input: 1000 + n, Output: 10 + n, CacheRead: 100 + n}
		return a
	})
	host := w.start()
	w.tg.Say(owner, owner, say("hello"))
	w.sent(owner, 1)
	w.tg.Say(owner, owner, "use session_status {}") // and then NO_REPLY
	w.quiet()
	w.tg.Say(owner, owner, program(spawn(say("one")), spawn(program(use("session_status", map[string]any{}), say("two"))), say("started")))
	w.sent(owner, 4)
	w.quiet()
	w.tg.Say(owner, owner, say("cut me off"))
	w.sent(owner, 5)
	w.tg.Say(owner, owner, "words "+strings.Repeat("and more words ", 200))
	w.sent(owner, 6)
	w.tg.Say(owner, owner, "/compact")
	if said := w.sent(owner, 7)[6].Text; !strings.Contains(said, "Compacted") {
		t.Error(said)
	}
	w.quiet()
	want := w.model.Counted()
	calls := w.model.Count()
	sum := host.ledger(sessions.SpentQuery{})
	cost := int64(3*(want.Input-want.CacheRead) + 15*want.Output)
	if got := sum.Usage; calls < 10 || sum.Calls != calls || got.Input != want.Input || got.Output != want.Output || got.CacheRead != want.CacheRead {
		t.Errorf("the ledger has %+v of %d calls, the server counted %+v of %d", got, sum.Calls, want, calls)
	}
	if off := sum.Usage.Cost - cost - int64(want.CacheRead*3/10); off < -int64(calls) || off > int64(calls) { // each call's is rounded
		t.Errorf("it cost %d, off by %d", sum.Usage.Cost, off)
	}
}

// TestBudgetStopsSubagents asks for a hundred sub-agents with a budget for a part of them: the calls stop at the bound, give or take
// one, the chat is told once, and an owner lifts the bound.
func TestBudgetStopsSubagents(t *testing.T) {
	t.Parallel()
	const bound, each = 4000, 110
	tn := newTown(t, setup{Defaults: fmt.Sprintf("budget: {sessionTokens: %d}, subagents: {maxChildrenPerAgent: 100, maxConcurrent: 20},", bound)})
	host := tn.start()
	tn.words = reports("ANNOUNCE_SKIP")
	var spawns []string
	for i := range 100 {
		spawns = append(spawns, spawn(say(fmt.Sprint("done ", i))))
	}
	p := tn.hereA()
	p.tell(program(together(spawns...), say("all are started")))
	tn.shows(p, 1)
	tn.quiet()
	c := tn.model.Counted()
	if total := c.Input + c.Output; total < bound || total >= bound+each {
		t.Errorf("%d tokens were used, the bound is %d and a call takes %d", total, bound, each)
	}
	p.tell(say("hello?"))
	tn.quiet()
	notices := 0
	for _, text := range p.texts() {
		if strings.Contains(text, "exhausted its budget for today") {
			notices++
		} else if text != "all are started" && !strings.HasPrefix(text, "Status: success\n\nResult:\ndone") { // what the host posts costs nothing
			t.Errorf("the chat shows %q", text)
		}
	}
	if notices != 1 {
		t.Errorf("the chat is told %d times: %q", notices, p.texts())
	}
	shown := len(p.texts())
	p.tell("/usage lift")
	p.tell(say("I am back"))
	if texts := tn.shows(p, shown+2); !strings.Contains(texts[shown], "is lifted: it has no limit until") || texts[shown+1] != "I am back" {
		t.Errorf("%q", texts[shown:])
	}
	tn.quiet()
	c = tn.model.Counted()
	if sum := host.ledger(sessions.SpentQuery{BilledTo: atA}); sum.Usage.Total() != c.Input+c.Output {
		t.Errorf("the session paid %d, the server counted %d", sum.Usage.Total(), c.Input+c.Output)
	}
}

// TestBudgetStopsALoopOfAgents has two agents that never let a message rest, with a budget for each session: both stop at their bound, give or
// take one call, and what the ledger says that each paid is what the server counted.
func TestBudgetStopsALoopOfAgents(t *testing.T) {
	t.Parallel()
	const bound, each = 2000, 110
	tn := newTown(t, setup{Defaults: fmt.Sprintf("budget: {sessionTokens: %d},", bound)})
	host := tn.start()
	tn.words = func(call) modeltest.Reply { return words("and what do you say to that?") } // to every reply, and to the chat
	a, b := tn.hereA(), tn.hereB()
	tn.meet(a, b)
	for i := range 24 { // in three lots: those that come together may be taken up in one turn
		if i%8 == 0 {
			tn.quiet()
		}
		ask := askFor(atB, say(fmt.Sprint("question ", i)), 0)
		if i%2 > 0 {
			ask = askFor(atA, say(fmt.Sprint("question ", i)), 0)
			b.tell(program(ask)) // and says nothing itself
			continue
		}
		a.tell(program(ask))
	}
	tn.quiet()
	used := tn.model.Counted()
	host.stop()
	paid := 0
	for _, payer := range []sessions.Key{atA, atB} {
		spent := host.spent(sessions.SpentQuery{BilledTo: payer}).Usage.Total()
		if spent < bound || spent >= bound+each {
			t.Errorf("%s paid %d tokens, the bound is %d and a call takes %d", payer, spent, bound, each)
		}
		paid += spent
	}
	if paid != used.Input+used.Output {
		t.Errorf("the sessions paid %d, the server counted %d", paid, used.Input+used.Output)
	}
}
