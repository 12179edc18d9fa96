package router

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels/channeltest"
	"parley/sessions"
	"parley/tools"
)

// TestStopSparesOtherSessionsWork stops a chat while the announce of an exchange waits behind its turn: it is announced all the same.
//
// proves: S11
func TestStopSparesOtherSessionsWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		inner := pingPong(1, 30)
		g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
			if strings.HasSuffix(lastUser(p), "long") || strings.Contains(p.System, "reply step") {
				if !sleep(ctx, time.Minute) {
					return agent.Answer{}, ctx.Err()
				}
			}
			return inner(ctx, p)
		})
		g.say(groupChat("b"), guest, "make a session here")
		g.shown(1)
		g.say(groupChat("a"), guest, "ask b")
		g.shown(2) // a has its answer, and its reply step is at work for a minute
		<-time.After(50 * time.Second)
		g.say(groupChat("b"), guest, "long")
		<-time.After(20 * time.Second) // the announce waits behind it
		g.say(groupChat("b"), guest, "/stop")
		<-time.After(10 * time.Minute)
		synctest.Wait()
		kinds := map[sessions.DeliveryKind]int{}
		for _, d := range g.deliveries() {
			kinds[d.Kind]++
		}
		if kinds[sessions.Announce] != 1 {
			t.Errorf("deliveries by kind: %v, want one announce", kinds)
		}
	})
}

// TestStoppedRequestIsMarked: the model is told, in this process and the next one alike, that what it is shown was stopped, also when
// the host died before the turn ended. What only a newer message interrupted is answered with that one.
func TestStoppedRequestIsMarked(t *testing.T) {
	const mark = "[host: the turn above was stopped by a person"
	for name, c := range map[string]struct {
		mode   sessions.QueueMode
		stop   func(*rig)
		marked bool
	}{
		"by a command": {sessions.Collect, func(g *rig) { g.asks(groupChat("a"), guest, "/stop") }, true},
		"and the host died": {sessions.Collect, func(g *rig) {
			if _, err := g.store.Submit(g.t.Context(), sessions.Effects{Stop: []sessions.Key{keyA}}); err != nil { // its lane is not told
				g.t.Fatal(err)
			}
		}, true},
		"by a newer message": {sessions.Interrupt, func(*rig) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{}, rule(sessions.Queue{Mode: c.mode}))
				g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
					if strings.HasSuffix(lastUser(p), "delete all") {
						return slowly(time.Hour)(ctx, p)
					}
					return text("ok"), nil
				})
				g.say(groupChat("a"), guest, "delete all")
				g.until("it is at work", func() bool { return g.model.count() == 1 })
				c.stop(g)
				if name == "and the host died" {
					g.stop()
					g.start()
				}
				g.say(groupChat("a"), guest, "how are you?")
				g.until("it is answered", func() bool { return g.model.count() == 2 && g.endedIn(keyA) })
				g.stop()
				g.start()
				g.say(groupChat("a"), guest, "again")
				g.until("it is answered", func() bool { return g.model.count() == 3 && g.endedIn(keyA) })
				before := agent.Repair(g.model.asked[1].Messages, agent.Target{})[0].Text()
				request, rest, marked := strings.Cut(before, mark)
				if marked != c.marked || marked && (!strings.HasSuffix(strings.TrimSpace(request), "delete all") || !strings.HasSuffix(rest, "how are you?")) {
					t.Errorf("marked %v, want %v: %s", marked, c.marked, before)
				}
				if now := agent.Repair(g.model.asked[2].Messages, agent.Target{})[0].Text(); now != before {
					t.Errorf("the next prompt begins with %s\nand not with %s", now, before)
				}
			})
		})
	}
}

// TestStoppedStartsNothing stops a turn while it is about to spawn a sub-agent, or to tell one something: nobody would stop those.
//
// proves: N15
func TestStoppedStartsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		x := newTree(t, 1)
		x.does("short", slowly(time.Second))
		x.does("long", slowly(time.Hour))
		child := x.spawn(tools.SpawnRequest{Source: "s1", Task: "short"})
		x.ended(1)
		x.model.set(func(ctx context.Context, _ agent.Prompt) (agent.Answer, error) {
			sleep(ctx, time.Hour)
			return agent.Answer{}, ctx.Err()
		})
		x.say(groupChat("a"), guest, "hello")
		var at sessions.Run
		x.until("a turn is at work", func() bool {
			runs, err := x.store.ListRuns(t.Context(), sessions.RunQuery{Key: keyA, Status: sessions.Running})
			if err != nil || len(runs) == 0 {
				return false
			}
			at = runs[0]
			return true
		})
		x.asks(groupChat("a"), guest, "/stop")
		from := tools.Caller{Session: x.session(keyA), Run: at}
		if run, err := x.r.Spawn(t.Context(), tools.SpawnRequest{Source: "s2", From: from, Agent: "main", Task: "long"}); !errors.Is(err, sessions.ErrStopped) {
			t.Errorf("spawned: %+v, %v", run, err)
		}
		if run, err := x.r.Steer(t.Context(), tools.SteerRequest{Source: "s3", From: from.Session, Run: at, Child: child.Key, Message: "long"}); !errors.Is(err, sessions.ErrStopped) {
			t.Errorf("told: %+v, %v", run, err)
		}
		if run, err := x.r.Ask(t.Context(), tools.AskRequest{Source: "s4", From: from, To: child.Key, Message: "long"}); !errors.Is(err, sessions.ErrStopped) {
			t.Errorf("asked: %+v, %v", run, err)
		}
		if made, err := x.r.Post(t.Context(), tools.PostRequest{Source: "s5", From: from, Session: keyA, To: groupChat("a"), Text: "late"}); !errors.Is(err, sessions.ErrStopped) {
			t.Errorf("posted: %+v, %v", made, err)
		}
		if all, err := x.store.ListRuns(t.Context(), sessions.RunQuery{Parent: keyA}); err != nil || len(all) != 1 {
			t.Errorf("at work although nobody can stop it: %+v, %v", all, err)
		}
		if again, err := x.r.Spawn(t.Context(), tools.SpawnRequest{Source: "s1", From: from, Agent: "main", Task: "short"}); err != nil || again.ID != child.ID {
			t.Errorf("what was spawned before: %+v, %v", again, err)
		}
	})
}
