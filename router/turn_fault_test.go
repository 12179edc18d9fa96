package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/sessions"
)

// rigWith is newRig with something between router and store.
func rigWith(t *testing.T, o channeltest.Options, trace func(op, phase string), wrap func(sessions.Store) sessions.Store, fs ...func(*Settings)) *rig {
	g := &rig{t: t, dir: t.TempDir(), set: settingsFor(fs...), fake: channeltest.NewFake(o), model: &script{}, wrap: wrap}
	if trace != nil {
		g.look(trace)
	}
	g.start()
	return g
}

// commits notes what a store commits, for rigWith.
type commits struct {
	mu  sync.Mutex
	ops []string
}

func (c *commits) trace(op, phase string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if phase == "after-commit" {
		c.ops = append(c.ops, op)
	}
}

// of gives the commits whose names begin in one of these ways, in order.
func (c *commits) of(names ...string) (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, op := range c.ops {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(op, name) }) {
			out = append(out, op)
		}
	}
	return out
}

// wordsOf gives a prompt's messages as role:text.
func wordsOf(p agent.Prompt) (out []string) {
	for _, m := range p.Messages {
		out = append(out, string(m.Role)+":"+m.Text())
	}
	return out
}

func (g *rig) lastPrompt() []string {
	g.model.mu.Lock()
	defer g.model.mu.Unlock()
	return wordsOf(g.model.asked[len(g.model.asked)-1])
}

// slowAccept holds back the answer of the Accept of one message after its commit.

type slow struct {
	sessions.Store
	accept func(a sessions.Arrival)
	finish func()
	end    func(sessions.DeliveryID)
}

func (s slow) Accept(ctx context.Context, a sessions.Arrival) (sessions.Accepted, error) {
	acc, err := s.Store.Accept(ctx, a)
	if s.accept != nil {
		s.accept(a)
	}
	return acc, err
}

func (s slow) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (sessions.Accepted, error) {
	acc, err := s.Store.Finish(ctx, id, o)
	if s.finish != nil {
		s.finish()
	}
	return acc, err
}

func (s slow) EndDelivery(ctx context.Context, id sessions.DeliveryID, st sessions.DeliveryState, why string) error {
	err := s.Store.EndDelivery(ctx, id, st, why)
	if s.end != nil {
		s.end(id)
	}
	return err
}

type noSecondRecord struct {
	sessions.Store
	n *atomic.Int32
}

func (s noSecondRecord) Record(ctx context.Context, id sessions.RunID, m ...sessions.Message) error {
	if m[0].Role == sessions.ToolResult {
		s.n.Store(2)
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Store.Record(ctx, id, m...)
}

type badTyper struct{ *channeltest.Fake }

func (badTyper) Typing(context.Context, channels.Address) error { panic("in the adapter") }

func TestHistoryKeepsTheInputOfFailedTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.say(direct("a"), guest, "one")
		g.shown(1)
		bad, good := "nope/x", ""
		key := sessions.Key("agent:main:fake:direct:" + guest)
		_, _ = g.r.Patch(t.Context(), key, sessions.Patch{Model: &bad})
		g.say(direct("a"), guest, "two")
		g.shown(2)
		_, _ = g.r.Patch(t.Context(), key, sessions.Patch{Model: &good})
		g.say(direct("a"), guest, "three")
		g.shown(3)
		cached := g.lastPrompt()
		s, _ := g.store.Get(t.Context(), key)
		msgs, _ := g.store.Tail(t.Context(), s.ID, sessions.TailQuery{IncludeTool: true})
		var stored []string
		for _, m := range msgs[:len(msgs)-1] {
			stored = append(stored, string(m.Role)+":"+m.Text())
		}
		if fmt.Sprint(cached) != fmt.Sprint(stored) {
			t.Errorf("the model was shown\n%q\nthe store holds\n%q", cached, stored)
		}
	})
}

func TestStopSparesTheNextRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hold := make(chan struct{})
		g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store {
			return slow{Store: s, accept: func(a sessions.Arrival) {
				if a.In.Text == "/stop" {
					<-hold
				}
			}}
		}, func(s *Settings) { s.Agents.Defaults.MaxConcurrent = 1 })
		g.model.set(slowly(time.Minute))
		// the owner's two chats share the session main. A run of another session holds the only slot, "work" waits in the queue.
		g.say(groupChat("busy"), guest, "busy")
		g.until("busy", func() bool { return g.model.count() == 1 })
		g.say(direct("phone"), owner, "work")
		synctest.Wait()
		g.say(direct("phone"), owner, "/stop") // committed, its answer is on the way
		synctest.Wait()
		g.say(direct("desk"), owner, "new question")
		g.until("the new question is at work", func() bool { return g.model.count() == 2 })
		close(hold)
		<-time.After(30 * time.Minute)
		synctest.Wait()
		if n := len(g.fake.Shown(direct("desk"))); n != 1 {
			t.Errorf("the question after the /stop got %d answers", n)
		}
	})
}

func TestSpawnWithoutTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := last(p); {
			case strings.Contains(p.System, "announce step"):
				return text("Result: fine"), nil
			case strings.Contains(p.System, "sub-agent"):
				if !sleep(ctx, 30*time.Minute) {
					return agent.Answer{}, ctx.Err()
				}
				return text("done"), nil
			case m.Role == sessions.ToolResult:
				return text("NO_REPLY"), nil
			}
			return call("c1", "sessions_spawn", map[string]any{"task": "compute", "runTimeoutSeconds": 0}), nil
		})
		g.say(direct("a"), guest, "go")
		if got := g.shown(1)[0].Out.Text; !strings.Contains(got, "Status: success") {
			t.Errorf("%s", got)
		}
	})
}

func TestSpawnRepeatedAtTheLimit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var once atomic.Bool
		g := rigWith(t, channeltest.Options{}, nil, nil, func(s *Settings) { s.Agents.Defaults.Subagents.MaxChildrenPerAgent = 1 })
		_ = once.Load()
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := last(p); {
			case strings.Contains(p.System, "sub-agent"):
				sleep(ctx, time.Hour)
				return text("done"), nil
			case m.Role == sessions.ToolResult:
				return text("tool said: " + m.Text()), nil
			}
			return call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.look(func(string, string) {})
		g.stop()
		// the process dies between the spawn's commit and the record of its result
		var rec atomic.Int32
		g.wrap = func(s sessions.Store) sessions.Store { return noSecondRecord{s, &rec} }
		g.start()
		g.say(direct("a"), guest, "go")
		g.until("spawned", func() bool { return rec.Load() >= 2 })
		g.stop()
		g.wrap = nil
		g.start()
		for _, c := range g.shown(1) {
			if strings.Contains(c.Out.Text, "forbidden") {
				t.Errorf("the repeated call was told: %s", c.Out.Text)
			}
		}
	})
}

func TestAnnounceStepSaysNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := last(p); {
			case strings.Contains(p.System, "announce step"):
				return text("NO_REPLY"), nil
			case strings.Contains(p.System, "sub-agent"):
				return text("done"), nil
			case m.Role == sessions.ToolResult:
				return text("NO_REPLY"), nil
			}
			return call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.say(direct("a"), guest, "go")
		g.until("over", func() bool { return g.model.count() == 4 })
		if d := g.deliveries(); len(d) != 1 {
			t.Errorf("%d deliveries: neither announced nor ANNOUNCE_SKIP nor listed", len(d))
		}
	})
}

func TestReportSections(t *testing.T) {
	r := &Router{}
	got := r.report(sessions.Chain{Status: sessions.Done}, sessions.Run{}, "Result:\nThe server answered:\nstatus: 200\nbody: forty-two\nNotes: none")
	if !strings.Contains(got, "forty-two") {
		t.Errorf("words are lost:\n%s", got)
	}
}

func TestTimeoutStatus(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := last(p); {
			case strings.Contains(p.System, "announce step"):
				return text("Result: fine"), nil
			case strings.Contains(p.System, "sub-agent"):
				sleep(ctx, 30*time.Minute)
				return agent.Answer{}, ctx.Err()
			case m.Role == sessions.ToolResult:
				return text("NO_REPLY"), nil
			}
			return call("c1", "sessions_spawn", map[string]any{"task": "compute", "runTimeoutSeconds": 60}), nil
		})
		g.say(direct("a"), guest, "go")
		if got := g.shown(1)[0].Out.Text; !strings.Contains(got, "Status: timeout") {
			t.Errorf("%s", got)
		}
	})
}

func TestChildRightsInAsk(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, func(s *Settings) {
			s.Agents.List = []agent.Entry{{ID: "main", Default: true}, {ID: "helper"}}
			s.Agents.List[0].Tools.Deny = []string{"remember"}
			s.Agents.List[0].Subagents.AllowAgents = []string{"helper"}
		})
		child := sessions.SubagentKey("helper", "2957bd2a-0b79-45c1-9e6b-900b3c827dfe")
		for _, kind := range []sessions.RunKind{sessions.ChildRun, sessions.AskRun} {
			c := &sessions.Chain{Kind: chainSpawn, Requester: "agent:main:main"}
			if kind == sessions.AskRun {
				c.Kind = chainAsk
			}
			for _, x := range g.tools(sessions.Session{Key: child, SpawnedBy: "agent:main:main"}, sessions.Run{Kind: kind, Key: child, Agent: "helper", Chain: c}) {
				if x.Spec().Name == "remember" {
					t.Errorf("%s run of the child has a tool that its parent is denied", kind)
				}
			}
		}
	})
}

func TestErrorDetailsStayOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			switch m := last(p); {
			case strings.Contains(p.System, "announce step"):
				return text("Result: failed"), nil
			case strings.Contains(p.System, "sub-agent"):
				return agent.Answer{}, &agent.ModelError{Class: agent.Unreachable, Provider: "mock", Err: errors.New("dial tcp 10.1.2.3:443: refused")}
			case m.Role == sessions.ToolResult:
				return text("NO_REPLY"), nil
			}
			return call("c1", "sessions_spawn", map[string]any{"task": "compute"}), nil
		})
		g.say(groupChat("a"), guest, "go")
		if got := g.shown(1)[0].Out.Text; strings.Contains(got, "10.1.2.3") {
			t.Errorf("%s", got)
		}
	})
}

func TestHistoryOfRunsThatCameTooLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		g.set.Delivery.ReplyTTL = time.Minute
		g.model.set(slowly(2 * time.Minute))
		g.say(direct("a"), guest, "one")
		g.say(direct("a"), guest, "two") // waits longer than a reply may be late: its input is in the store, not in the cache
		<-time.After(10 * time.Minute)
		g.model.set(nil)
		n := len(g.fake.Shown(channels.Address{}))
		g.say(direct("a"), guest, "three")
		g.shown(n + 1)
		if !strings.Contains(fmt.Sprint(g.lastPrompt()), "two") {
			t.Errorf("the model was not shown what the store holds: %q (%d shown before)", g.lastPrompt(), n)
		}
	})
}

// lostRecord is a store that writes a turn's first message down, and whose answer to that is lost.
type lostRecord struct {
	sessions.Store
	lost *atomic.Int32
}

func (s lostRecord) Record(ctx context.Context, id sessions.RunID, m ...sessions.Message) error {
	err := s.Store.Record(ctx, id, m...)
	if err == nil && s.lost.Add(1) == 1 {
		return errors.New("the connection broke after the commit")
	}
	return err
}

// TestHistoryAfterALostAnswer loses the answer to a commit of what a turn says, which ends with it. The next turn of the same process is shown what is in the store.
//
// proves: T1
func TestHistoryAfterALostAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var lost atomic.Int32
		g := rigWith(t, channeltest.Options{}, nil, func(s sessions.Store) sessions.Store { return lostRecord{s, &lost} })
		g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
			if last(p).Role == sessions.User && last(p).Text() == "look" {
				a := call("c1", "sessions_list", map[string]any{})
				a.Content = append(sessions.TextContent("I look."), a.Content...)
				return a, nil
			}
			return text("answered"), nil
		})
		g.say(direct("a"), guest, "hello")
		g.shown(1)
		g.say(direct("a"), guest, "look")
		g.shown(2)
		g.say(direct("a"), guest, "and now?")
		g.shown(3)
		shown := g.lastPrompt()
		if lost.Load() != 1 || !slices.Contains(shown, "assistant:I look.") {
			t.Errorf("%d answers lost; the next turn is shown %q", lost.Load(), shown)
		}
	})
}
