package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/router/turn"
	"parley/sessions"
	"parley/tools"
)

// TestHistoryEqualsTheStore compares what every turn is shown with what the store gives when it has ended, over turns of all kinds: where the
// summary reaches, and what came after it.
func TestHistoryEqualsTheStore(t *testing.T) {
	for _, limit := range []int{4, 7, 1000} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{}, routertest.EachAlone, func(s *settings.Snapshot) {
					s.Agents.Defaults.HistoryLimit, s.Agents.Defaults.Compaction.Off = limit, true
				})
				ids := func(msgs []sessions.Message) (out []string) {
					for _, m := range msgs {
						out = append(out, m.ID[:8]+" "+string(m.Role)+" "+m.Text())
					}
					return out
				}
				turn, sums := 0, 0
				var shown []string // with the last call of the turn before
				summed, step := false, false
				compare := func(ctx context.Context) error {
					s, err := g.Store.Get(ctx, "agent:main:fake:direct:"+routertest.Guest)
					if err != nil {
						return err
					}
					sum, ok, err := g.Store.Summary(ctx, s.ID)
					if err != nil {
						return err
					}
					stored, err := g.Store.Tail(ctx, s.ID, sessions.TailQuery{Limit: 1000, After: sum.Upto, IncludeTool: true})
					if err != nil {
						return err
					}
					if step && len(stored) > 0 && len(shown) > 0 && shown[0] != ids(stored[:1])[0] {
						shown = shown[1:] // the turn's input, which its own summary covers
					}
					if sums = max(sums, sum.Number); len(shown) > len(stored) || !slices.Equal(shown, ids(stored[:len(shown)])) || ok != summed || len(shown) > limit {
						t.Errorf("turn %d was shown (a summary: %t)\n%q, the store holds %v and\n%q", turn, summed, shown, sum, ids(stored))
					}
					return nil
				}
				g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if routertest.Last(p).Role != sessions.ToolResult {
						if err := compare(ctx); err != nil {
							return agent.Answer{}, err
						}
						turn++
					}
					step = routertest.Last(p).Role == sessions.ToolResult
					summed = agent.IsSummary(p.Messages[0])
					shown = ids(slices.DeleteFunc(slices.Clone(p.Messages), func(m sessions.Message) bool {
						return m.Provenance != nil && m.Provenance.Kind == sessions.InternalSystem // the summary, what is under way
					}))
					newest, err := g.Store.Tail(ctx, g.Session("agent:main:fake:direct:"+routertest.Guest).ID, sessions.TailQuery{Limit: 1, IncludeTool: true})
					if err != nil || !slices.Equal(shown[len(shown)-1:], ids(newest)) {
						t.Errorf("turn %d: the newest that is shown is %q, and in the store %q: %v", turn, shown[len(shown)-1], ids(newest), err)
					}
					if step {
						return routertest.Text("noted"), nil
					}
					switch turn % 4 {
					case 1:
						return routertest.Call("c1", "remember", map[string]any{"text": "a fact"}), nil
					case 2:
						return agent.Answer{}, errors.New("scripted")
					case 3:
						return routertest.Text("NO_REPLY"), nil
					}
					return routertest.Text("words"), nil
				})
				for i := range 24 {
					g.Say(routertest.Direct("a"), routertest.Guest, fmt.Sprint("m", i))
				}
				g.Idle(24)
				routertest.Check(t, compare(t.Context()))
				if turn != 24 || (sums > 5) != (limit < 24) {
					t.Errorf("%d turns, %d summaries", turn, sums)
				}
			})
		})
	}
}

func TestResumedTurnSeesItsStepsOnce(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		answer := func(end func(context.Context) (agent.Answer, error)) func(context.Context, agent.Prompt) (agent.Answer, error) {
			return func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
				if routertest.Last(p).Role != sessions.ToolResult {
					return routertest.Call("c1", "remember", map[string]any{"text": "a fact"}), nil
				}
				return end(ctx)
			}
		}
		g.Model.Set(answer(func(ctx context.Context) (agent.Answer, error) {
			<-ctx.Done()
			return agent.Answer{}, ctx.Err()
		}))
		g.Say(routertest.Direct("a"), routertest.Guest, "note this")
		g.Until("the tool has run", func() bool { return g.Model.Count() == 2 })
		before := g.LastPrompt()
		g.Stop()
		g.Model.Set(answer(func(context.Context) (agent.Answer, error) { return routertest.Text("noted"), nil }))
		g.Start()
		g.Shown(1)
		if got := g.LastPrompt(); len(got) != 3 || !slices.Equal(got, before) {
			t.Errorf("the resumed turn is shown\n%q, was shown\n%q", got, before)
		}
		g.Say(routertest.Direct("a"), routertest.Guest, "and this")
		g.Shown(2)
		if got := g.LastPrompt(); len(got) != 7 {
			t.Errorf("the turn after it is shown\n%q", got)
		}
		notes, err := g.Store.Notes(t.Context(), sessions.NoteQuery{Agent: "main", Limit: 10})
		if err != nil || len(notes) != 2 {
			t.Errorf("%d notes of two turns (%v)", len(notes), err)
		}
	})
}

// tried is a store in which a run has been tried so often already.
type tried struct {
	sessions.Store
	attempt int
}

func (s tried) Accept(ctx context.Context, a sessions.Arrival) (sessions.Accepted, error) {
	acc, err := s.Store.Accept(ctx, a)
	acc.Claimed.Attempt = s.attempt
	return acc, err
}

func TestAttemptsAreBounded(t *testing.T) {
	for attempt, want := range map[int]string{turn.MaxAttempts: "echo: hello", turn.MaxAttempts + 1: "could not answer"} {
		t.Run(fmt.Sprint(attempt), func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.NewWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return tried{s, attempt} })
				g.Say(routertest.Direct("a"), routertest.Guest, "hello")
				d := g.Ended(1)[0]
				run := g.Idle(1)[0]
				failed := attempt > turn.MaxAttempts
				if !strings.Contains(d.Text, want) || (d.Kind == sessions.Notice) != failed || (run.Status == sessions.Failed) != failed || failed && g.Model.Count() != 0 {
					t.Errorf("%s %q, the run is %s after %d model calls", d.Kind, d.Text, run.Status, g.Model.Count())
				}
			})
		})
	}
}

func TestTooOldToBeAnswered(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Agents.Defaults.MaxConcurrent = 1
			s.Delivery.ReplyTTL = time.Minute
		})
		g.Model.Set(routertest.Slowly(50 * time.Second))
		for i, id := range []string{"a", "b", "c"} {
			g.Say(routertest.Group(id), routertest.Guest, "hello")
			g.Taken(i + 1)
		}
		list := g.Idle(3)
		if list[0].Status != sessions.Done || list[1].Status != sessions.Done || list[2].Status != sessions.Failed || !strings.Contains(list[2].Error, "1m40s") {
			t.Errorf("%s, %s, %s (%s)", list[0].Status, list[1].Status, list[2].Status, list[2].Error)
		}
		if d := g.Deliveries(); len(d) != 2 || g.Model.Count() != 2 {
			t.Errorf("%d deliveries, %d model calls", len(d), g.Model.Count())
		}
	})
}

// proves: N9
func TestDeadlineIsKeptOverARestart(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.Parent(t, routertest.Child{Work: routertest.Slowly(time.Hour)})
		began := time.Now()
		run := g.Spawn(tools.SpawnRequest{Source: "s", Timeout: 100})
		<-time.After(time.Minute)
		g.Stop()
		g.Start()
		g.Idle(3)
		run, err := g.Store.GetRun(t.Context(), run.ID)
		if took := run.Ended.Sub(began); err != nil || run.Status != sessions.TimedOut || run.Attempt != 2 || took < 99*time.Second || took > 101*time.Second {
			t.Errorf("%s after %s, attempt %d (%v)", run.Status, took, run.Attempt, err)
		}
	})
}
