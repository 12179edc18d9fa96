package router

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
)

// ledgerOf is a ledger that says the same sum for whatever is asked.
type ledgerOf struct {
	sessions.Ledger
	asked atomic.Int64
	sum   sessions.Usage
	lifts []sessions.Lift
}

func (l *ledgerOf) Spent(context.Context, sessions.SpentQuery) (sessions.Spent, error) {
	l.asked.Add(1)
	time.Sleep(time.Millisecond)
	return sessions.Spent{Usage: l.sum}, nil
}

func (l *ledgerOf) Lifts(context.Context, time.Time) ([]sessions.Lift, error) { return l.lifts, nil }

// Calls at the same time pass a bound by one of them at most, and go side by side as long as they are far from it. That holds for
// calls that cost more than their prompts suggest, as soon as one of the day did.
func TestBudgetParallel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ledger := &ledgerOf{sum: sessions.Usage{Input: 1000}}
		b := newBudgets(ledger)
		limits := []limit{{scope: "agent:a"}, {scope: "session:s", most: amount{tokens: 500_000}}, {scope: "host", most: amount{cost: 10_000_000}}}
		var wg sync.WaitGroup
		const dearest = 900 + 13*400
		settle, err := b.afford(t.Context(), limits, amount{tokens: 1000, cost: 10})
		if err != nil {
			t.Fatal(err)
		}
		settle(amount{tokens: dearest, cost: 20})
		var total, calls, refused, beside, most atomic.Int64
		for i := range 400 {
			wg.Go(func() {
				time.Sleep(time.Duration(i%7) * time.Millisecond)
				settle, err := b.afford(t.Context(), limits, amount{tokens: 1000, cost: 10})
				if e, ok := errors.AsType[*agent.BudgetError](err); ok {
					if e.Scope != "session:s" || e.Until.Before(time.Now()) {
						t.Error(e)
					}
					refused.Add(1)
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), beside.Add(1)))
				time.Sleep(time.Second)
				beside.Add(-1)
				cost := int64(900 + 13*i) // mostly more than was thought
				total.Add(cost)
				calls.Add(1)
				settle(amount{tokens: cost, cost: 20})
			})
		}
		wg.Wait()
		if sum := total.Load() + 1000 + dearest; sum < 500_000 || sum >= 500_000+dearest {
			t.Errorf("%d spent of 500000 in %d calls", sum, calls.Load())
		}
		if calls.Load()+refused.Load() != 400 || most.Load() < 50 {
			t.Errorf("%d calls, %d refused, %d side by side", calls.Load(), refused.Load(), most.Load())
		}
		if _, counted := b.purses["agent:a"]; counted || len(b.purses) != 2 {
			t.Errorf("%v", b.purses)
		}
	})
}

// A call that waits for another one's end goes when its own time is over.
func TestBudgetWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBudgets(&ledgerOf{})
		limits := []limit{{scope: "host", most: amount{tokens: 100}}}
		settle, err := b.afford(t.Context(), limits, amount{tokens: 200})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := b.afford(ctx, limits, amount{tokens: 1}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		settle(amount{tokens: 10})
		if _, err := b.afford(t.Context(), limits, amount{tokens: 1}); err != nil {
			t.Error(err)
		}
	})
}

// At midnight everything counts anew; what is under way then counts on the day on which it ends. The ledger is asked once a day.
func TestBudgetMidnight(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ledger := &ledgerOf{sum: sessions.Usage{Input: 60}}
		b := newBudgets(ledger)
		limits := []limit{{scope: "host", most: amount{tokens: 100}}}
		for range 2 {
			settle, err := b.afford(t.Context(), limits, amount{})
			if err != nil {
				t.Fatal(err)
			}
			settle(amount{tokens: 19})
		}
		long, err := b.afford(t.Context(), limits, amount{tokens: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, ends := today(time.Now())
		time.Sleep(time.Until(ends))
		long(amount{tokens: 99})
		if p := b.purses["host"]; p.spent != (amount{tokens: 99}) || p.held != (amount{}) || ledger.asked.Load() != 1 {
			t.Errorf("%+v, asked %d times", p, ledger.asked.Load())
		}
		ledger.sum = sessions.Usage{}
		time.Sleep(24 * time.Hour)
		settle, err := b.afford(t.Context(), limits, amount{})
		if err != nil {
			t.Fatal(err)
		}
		settle(amount{tokens: 100})
		_, err = b.afford(t.Context(), limits, amount{})
		if e, ok := errors.AsType[*agent.BudgetError](err); !ok || !e.Until.Equal(ends.Add(48*time.Hour)) {
			t.Error(err)
		}
		ledger.lifts = []sessions.Lift{{Scope: "agent:x"}, {Scope: "host", Until: time.Now().Add(time.Hour)}}
		for range 2 {
			if _, err := b.afford(t.Context(), limits, amount{}); err != nil {
				t.Error(err)
			}
			ledger.lifts = nil // it is known
		}
		time.Sleep(time.Hour)
		if _, err := b.afford(t.Context(), limits, amount{}); err == nil {
			t.Error("a lift does not end")
		}
	})
}

// texts gives what is shown, n messages in all.
func (g *rig) texts(n int) (out []string) {
	g.t.Helper()
	for _, c := range g.shown(n) {
		out = append(out, c.Out.Text)
	}
	synctest.Wait()
	return out
}

// wants compares what is shown.
func (g *rig) wants(want ...string) {
	g.t.Helper()
	g.deliveries()
	got := g.texts(len(want))
	for i, w := range want {
		if !strings.Contains(got[i], w) {
			g.t.Fatalf("message %d is %q, want %q in it; all: %q", i, got[i], w, got)
		}
	}
	if n := len(g.deliveries()); n != len(want) {
		g.t.Fatalf("%d deliveries, want %d", n, len(want))
	}
}

const noMore = "has used up its budget for today"

// Each bound stops what it is for, and nothing else. Its chat is told once; then the runs say why, and nothing leaves.
func TestBudgetScopes(t *testing.T) {
	for _, c := range []struct {
		name   string
		set    func(*Settings)
		others bool // other chats go on
	}{
		{"session tokens", func(s *Settings) { s.Agents.Defaults.Budget.SessionTokens = 30 }, true},
		{"session cost", func(s *Settings) { s.Agents.Defaults.Budget.SessionCost = 0.00003 }, true},
		{"agent tokens", func(s *Settings) { s.Agents.List = []agent.Entry{{ID: "main", Budget: &agent.Budget{AgentTokens: 20}}} }, false},
		{"agent cost", func(s *Settings) { s.Agents.Defaults.Budget.AgentCost = 0.000021 }, false},
		{"host tokens", func(s *Settings) { s.Models.DayTokens = 16 }, false},
		{"host cost", func(s *Settings) { s.Models.DayCost = 0.00002 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, c.set)
				g.priced(1)
				for range 4 {
					g.say(direct(guest), guest, "hi")
					g.deliveries()
				}
				g.wants("echo: hi", "echo: hi", noMore)
				if g.model.count() != 2 {
					t.Errorf("%d calls", g.model.count())
				}
				runs, err := g.store.ListRuns(t.Context(), sessions.RunQuery{Limit: 2})
				if err != nil || runs[0].Status != sessions.Failed || runs[0].Error != runs[1].Error || !strings.Contains(runs[0].Error, "budget of") {
					t.Errorf("%+v, %v", runs, err)
				}
				g.say(direct("3003"), "3003", "hello")
				if last := map[bool]string{true: "echo: hello", false: noMore}[c.others]; last != "" {
					g.wants("echo: hi", "echo: hi", noMore, last)
				}
			})
		})
	}
}

// priced has each call of the script cost so many millionths of a dollar a token.
func (g *rig) priced(each float64) {
	g.models = func(name string) (agent.Candidate, error) {
		return agent.Candidate{Model: g.model, Name: "m", Label: name, Facts: agent.ModelFacts{Input: each, Output: each}}, nil
	}
}

// After a restart the sums of the day are those of the ledger, and nobody is told again. A new day begins at zero; an owner lifts a
// budget until then.
func TestBudgetLives(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) { s.Agents.Defaults.Budget.AgentTokens = 15 })
		say := func(text string) {
			g.say(direct(guest), guest, text)
			g.deliveries()
		}
		say("one")
		say("two")
		want := []string{"echo: one", noMore}
		g.wants(want...)
		g.stop()
		g.start()
		say("three")
		if n := len(g.deliveries()); n != 2 || g.model.count() != 1 {
			t.Fatalf("%d deliveries, %d calls", n, g.model.count())
		}

		say("/usage lift agent")
		g.say(direct(owner), owner, "/usage lift")
		g.deliveries()
		say("four")
		say("five")
		g.wantsLast("Only an owner", "of this agent is lifted until 00:00", "echo: four", "echo: five")

		_, ends := today(time.Now())
		time.Sleep(time.Until(ends))
		say("six")
		say("seven")
		g.wantsLast("echo: six", noMore)
	})
}

// wantsLast compares the newest deliveries.
func (g *rig) wantsLast(want ...string) {
	g.t.Helper()
	all := g.deliveries()
	for i, d := range all[len(all)-len(want):] {
		if !strings.Contains(d.Text, want[i]) {
			g.t.Fatalf("%q, want %q in it", d.Text, want[i])
		}
	}
}

// The ledger has every call once: those whose answer is silence, tries that broke off, answers that nobody waited for any more or
// that came for a session that is gone.
func TestMeter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.priced(2)
		var counted atomic.Int64
		asked := make(chan struct{}, 10)
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			counted.Add(15)
			switch lastUser(p) {
			case "silence":
				return text("NO_REPLY"), nil
			case "breaks":
				p.Spent(sessions.Usage{Input: 10, Output: 5})
				return agent.Answer{}, &agent.ModelError{Class: agent.Broken, Tries: 1, Err: errors.New("cut")}
			case "late": // the whole answer arrives, and nobody waits for it any more
				asked <- struct{}{}
				<-ctx.Done()
			case "gone", "gone at work":
				if err := g.store.Delete(context.Background(), "agent:main:fake:direct:"+guest); err != nil {
					return agent.Answer{}, err
				}
			}
			a := text("fine")
			if lastUser(p) == "gone at work" {
				a.Content = append(a.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: "c", Name: "session_status", Arguments: []byte("{}")})
			}
			return a, nil
		})
		for _, words := range []string{"hello", "silence", "breaks", "late", "gone", "gone at work"} {
			g.say(direct(guest), guest, words)
			if words == "late" {
				<-asked
				g.say(direct(guest), guest, "/stop")
			}
			g.deliveries()
		}
		sum, err := g.store.Spent(t.Context(), sessions.SpentQuery{})
		if err != nil || int64(sum.Usage.Total()) != counted.Load() || sum.Calls != 6 || sum.Usage.Cost != 2*counted.Load() {
			t.Errorf("%+v, %v; the model counted %d", sum, err, counted.Load())
		}
		mine, err := g.store.Spent(t.Context(), sessions.SpentQuery{Payer: "agent:main:fake:direct:" + guest})
		if err != nil || mine != sum {
			t.Errorf("%+v, %v", mine, err)
		}
	})
}

// Sub-agents use the budget of the session above all. When it is used up, their chat is told once; what they have brought is
// posted, and those that have nothing say so on their rows.
func TestBudgetBelow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Agents.Defaults.Budget.SessionTokens = 300
			s.Agents.Defaults.Subagents.MaxChildrenPerAgent, s.Agents.Defaults.Subagents.MaxConcurrent = 100, 50
		})
		g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if u := lastUser(p); u != "go" || len(p.Messages) > 1 {
				return text("done"), nil
			}
			a := agent.Answer{Stop: "toolUse", Usage: sessions.Usage{Input: 10, Output: 5}}
			for i := range 40 {
				a.Content = append(a.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: "c" + string(rune('A'+i)), Name: "sessions_spawn", Arguments: []byte(`{"task":"count"}`)})
			}
			return a, nil
		})
		g.say(direct(guest), guest, "go")
		g.until("all have ended", func() bool {
			runs, err := g.store.ListRuns(t.Context(), sessions.RunQuery{Limit: 200})
			if err != nil || len(runs) < 41 {
				return false
			}
			for _, r := range runs {
				if !r.Status.Final() {
					return false
				}
			}
			return true
		})
		if n := g.model.count(); n != 20 {
			t.Errorf("%d calls of 15 tokens, the budget is 300", n)
		}
		told, reports := 0, 0
		for _, d := range g.deliveries() {
			switch {
			case strings.HasPrefix(d.Text, "This session "+noMore):
				told++
			case strings.Contains(d.Text, "Status: success"):
				reports++
			case strings.Contains(d.Text, "budget"):
				t.Errorf("%q", d.Text)
			}
			if d.To != direct(guest) {
				t.Error(d.To)
			}
		}
		children, err := g.store.ListRuns(t.Context(), sessions.RunQuery{Parent: "agent:main:fake:direct:" + guest, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, r := range children {
			if r.Status == sessions.Done {
				done++
			} else if !strings.Contains(r.Error, "budget of session:agent:main:fake:direct:"+guest) {
				t.Errorf("%+v", r)
			}
		}
		if told != 1 || len(children) != 40 || done == 0 || reports < done/2 {
			t.Errorf("told %d times; %d children, %d done, %d reports", told, len(children), done, reports)
		}
	})
}

// /usage shows the day and the bounds, to an owner the host as well; the figures below replies are as chosen.
func TestUsageCommand(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Agents.Defaults.Budget = agent.Budget{SessionTokens: 1000, AgentCost: 0.1}
			s.Accounts[account] = named(s.Accounts[account])
		})
		g.priced(100)
		ask := func(from, text string) string {
			g.say(direct(from), from, text)
			all := g.deliveries()
			return all[len(all)-1].Text
		}
		for _, c := range []struct{ from, say, want, not string }{
			{guest, "hi", "echo: hi", "·"},
			{guest, "/usage", "This session: 15 tokens (10 in, 5 out) in 1 calls, $0.002; of 1.0k tokens (1%) a day", "host"},
			{guest, "/usage full", "· 1.2k in, 300 out, $0.004", ""},
			{guest, "hi", "echo: hi\n\n· 10 in, 5 out, $0.002", ""},
			{guest, "/usage tokens", "· 1.2k in, 300 out", "$"},
			{guest, "hi", "echo: hi\n\n· 10 in, 5 out", "$"},
			{guest, "/usage off", "no figures", ""},
			{guest, "hi", "echo: hi", "·"},
			{guest, "/usage nonsense", "Usage: /usage", ""},
			{owner, "/usage", "This agent: 60 tokens (40 in, 20 out) in 4 calls, $0.006; of $0.10 (6%) a day", "This session: 60"},
			{owner, "/usage", "This host: 60 tokens (40 in, 20 out) in 4 calls, $0.006\n", ""},
			{owner, "/usage", "- `mock/m`: 60 tokens", ""},
			{owner, "/usage lift", "No budget is used up", ""},
			{owner, "/usage lift host", "There is no budget for this host", ""},
			{owner, "/usage lift session", "not used up, so nothing is lifted", ""},
			{owner, "/usage lift " + string(guestKey), "not used up, so nothing is lifted", ""},
			{owner, "/usage", "This session", "lifted"},
			{owner, "/usage lift everything", "Usage: /usage", ""},
		} {
			if got := ask(c.from, c.say); !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
				t.Errorf("%s: %q, want %q", c.say, got, c.want)
			}
		}
		msgs, err := g.store.Tail(t.Context(), g.sessionOf(guest).ID, sessions.TailQuery{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range msgs {
			if strings.Contains(m.Text(), "·") {
				t.Errorf("the figures are in the transcript: %q", m.Text())
			}
		}
	})
}

func named(a AccountSettings) AccountSettings {
	a.Access.AllowFrom = []string{"*", guest}
	return a
}

func (g *rig) sessionOf(who string) sessions.Session {
	g.t.Helper()
	s, err := g.store.Get(g.t.Context(), sessions.Key("agent:main:fake:direct:"+who))
	if err != nil {
		g.t.Fatal(err)
	}
	return s
}
