package budget

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/agent"
	"parley/router/clock"
	"parley/sessions"
)

// ledgerOf is a ledger that says the same sum for whatever is asked.
type ledgerOf struct {
	sessions.Ledger
	asked atomic.Int64
	sum   sessions.Usage
	lifts []sessions.BudgetSuspension
}

func (l *ledgerOf) Spent(context.Context, sessions.SpentQuery) (sessions.Spent, error) {
	l.asked.Add(1)
	<-time.After(time.Millisecond)
	return sessions.Spent{Usage: l.sum}, nil
}

func (l *ledgerOf) Suspensions(context.Context, time.Time) ([]sessions.BudgetSuspension, error) {
	return l.lifts, nil
}

// Calls at the same time pass a bound by one of them at most, and go side by side as long as they are far from it. That holds for
// calls that cost more than their prompts suggest, as soon as one of the day did.
func TestBudgetParallel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ledger := &ledgerOf{sum: sessions.Usage{Input: 1000}}
		b := New(Config{Ledger: ledger})
		limits := []Limit{{Scope: "agent:a"}, {Scope: "session:s", Max: Amount{Tokens: 500_000}}, {Scope: "host", Max: Amount{Cost: 10_000_000}}}
		var wg sync.WaitGroup
		const dearest = 900 + 13*400
		settle, err := b.reserve(t.Context(), limits, Amount{Tokens: 1000, Cost: 10})
		if err != nil {
			t.Fatal(err)
		}
		settle(Amount{Tokens: dearest, Cost: 20})
		var total, calls, refused, beside, most atomic.Int64
		for i := range 400 {
			wg.Go(func() {
				<-time.After(time.Duration(i%7) * time.Millisecond)
				settle, err := b.reserve(t.Context(), limits, Amount{Tokens: 1000, Cost: 10})
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
				<-time.After(time.Second)
				beside.Add(-1)
				cost := int64(900 + 13*i) // mostly more than was thought
				total.Add(cost)
				calls.Add(1)
				settle(Amount{Tokens: cost, Cost: 20})
			})
		}
		wg.Wait()
		if sum := total.Load() + 1000 + dearest; sum < 500_000 || sum >= 500_000+dearest {
			t.Errorf("%d spent of 500000 in %d calls", sum, calls.Load())
		}
		if calls.Load()+refused.Load() != 400 || most.Load() < 50 {
			t.Errorf("%d calls, %d refused, %d side by side", calls.Load(), refused.Load(), most.Load())
		}
		if _, counted := b.Balances["agent:a"]; counted || len(b.Balances) != 2 {
			t.Errorf("%v", b.Balances)
		}
	})
}

// A call that waits for another one's end goes when its own time is over.
func TestBudgetWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := New(Config{Ledger: &ledgerOf{}})
		limits := []Limit{{Scope: "host", Max: Amount{Tokens: 100}}}
		settle, err := b.reserve(t.Context(), limits, Amount{Tokens: 200})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := b.reserve(ctx, limits, Amount{Tokens: 1}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		settle(Amount{Tokens: 10})
		if _, err := b.reserve(t.Context(), limits, Amount{Tokens: 1}); err != nil {
			t.Error(err)
		}
	})
}

// At midnight everything counts again; what is under way then counts on the day on which it ends. The ledger is asked once a day.
func TestBudgetMidnight(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ledger := &ledgerOf{sum: sessions.Usage{Input: 60}}
		b := New(Config{Ledger: ledger})
		limits := []Limit{{Scope: "host", Max: Amount{Tokens: 100}}}
		for range 2 {
			settle, err := b.reserve(t.Context(), limits, Amount{})
			if err != nil {
				t.Fatal(err)
			}
			settle(Amount{Tokens: 19})
		}
		long, err := b.reserve(t.Context(), limits, Amount{Tokens: 1})
		if err != nil {
			t.Fatal(err)
		}
		_, ends := clock.Day(time.Now())
		<-time.After(time.Until(ends))
		long(Amount{Tokens: 99})
		if p := b.Balances["host"]; p.spent != (Amount{Tokens: 99}) || p.Reserved != (Amount{}) || ledger.asked.Load() != 1 {
			t.Errorf("%+v, asked %d times", p, ledger.asked.Load())
		}
		ledger.sum = sessions.Usage{}
		<-time.After(24 * time.Hour)
		settle, err := b.reserve(t.Context(), limits, Amount{})
		if err != nil {
			t.Fatal(err)
		}
		settle(Amount{Tokens: 100})
		_, err = b.reserve(t.Context(), limits, Amount{})
		if e, ok := errors.AsType[*agent.BudgetError](err); !ok || !e.Until.Equal(ends.Add(48*time.Hour)) {
			t.Error(err)
		}
		ledger.lifts = []sessions.BudgetSuspension{{Scope: "agent:x"}, {Scope: "host", Until: time.Now().Add(time.Hour)}}
		for range 2 {
			if _, err := b.reserve(t.Context(), limits, Amount{}); err != nil {
				t.Error(err)
			}
			ledger.lifts = nil // it is known
		}
		<-time.After(time.Hour)
		if _, err := b.reserve(t.Context(), limits, Amount{}); err == nil {
			t.Error("a lift does not end")
		}
	})
}
