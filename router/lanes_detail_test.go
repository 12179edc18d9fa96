package router

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/sessions"
	"parley/tools"
)

// proves: N16
func TestPoolsAreApart(t *testing.T) {
	for _, blocked := range []string{"main", "child"} {
		t.Run(blocked, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c := child{}
				if blocked == "child" {
					c.work = slowly(time.Hour)
				}
				g := parent(t, c, func(s *Settings) {
					s.Agents.Defaults.MaxConcurrent = 1
					s.Agents.Defaults.Subagents.MaxConcurrent = 1
					s.Agents.Defaults.TimeoutSeconds = 7200
				})
				if blocked == "main" {
					g.model.set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
						if !strings.Contains(p.System, "sub-agent") {
							sleep(ctx, time.Hour)
						}
						return c.answer(ctx, p)
					})
				}
				began := time.Now()
				for i := range 2 {
					if blocked == "main" {
						g.say(groupChat(fmt.Sprint("busy", i)), guest, "work")
					} else {
						g.spawn(tools.SpawnRequest{Source: fmt.Sprint("s", i)})
					}
				}
				g.until("one is at work", func() bool { working, _ := g.r.Working(); return len(working) == 1 })
				if blocked == "main" {
					g.spawn(tools.SpawnRequest{Source: "s"})
				} else {
					g.say(groupChat("a"), guest, "hello")
				}
				g.shown(2)
				took := time.Since(began)
				synctest.Wait() // the lane that is done lets go a moment after its message is shown
				if working, _ := g.r.Working(); took > time.Minute || len(working) != 1 {
					t.Errorf("it waited %s, now at work: %v", took, working)
				}
			})
		})
	}
}

func TestDrainBeginsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{}, eachAlone)
		g.model.set(slowly(time.Minute))
		g.say(direct("a"), guest, "one")
		g.say(direct("a"), guest, "two")
		g.until("one is at work", func() bool { return g.model.count() == 1 && len(g.runs()) == 2 })
		began := time.Now()
		drained := make(chan time.Duration, 1)
		go func() {
			g.r.Drain(t.Context())
			drained <- time.Since(began)
		}()
		synctest.Wait()
		g.say(groupChat("b"), guest, "three")
		if took := <-drained; took < 50*time.Second {
			t.Errorf("drained after %s", took)
		}
		<-time.After(10 * time.Minute)
		var status []sessions.RunStatus
		for _, r := range g.runs() {
			status = append(status, r.Status)
		}
		if !slices.Equal(status, []sessions.RunStatus{sessions.Done, sessions.Queued, sessions.Queued}) || g.model.count() != 1 {
			t.Errorf("%v after %d model calls", status, g.model.count())
		}
		g.stop()
		g.model.set(nil)
		g.start()
		g.shown(3)
	})
}

func TestWokenWhileAtWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var n atomic.Int32
		var l *lanes
		l = newLanes(func(context.Context, sessions.Key, *sessions.Run) bool {
			if n.Add(1) == 1 {
				l.Wake(keyA, "") // what it is woken for was queued after this look into the store
			}
			return false
		}, agent.Defaults{})
		l.Start(t.Context())
		l.Wake(keyA, "")
		l.Stop()
		if n.Load() != 2 {
			t.Errorf("it looked %d times for work", n.Load())
		}
	})
}

// TestFirstWokenFirst: lanes come to their slot in the order in which they were woken, whatever order the runtime has their goroutines in.
func TestFirstWokenFirst(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var woken, came []sessions.Key
		l := newLanes(func(_ context.Context, key sessions.Key, _ *sessions.Run) bool {
			came = append(came, key) // one at a time
			return false
		}, agent.Defaults{MaxConcurrent: 1})
		l.Start(t.Context())
		for i := range 50 {
			key := sessions.Key(fmt.Sprintf("agent:main:fake:direct:%d", i))
			woken = append(woken, key)
			l.Wake(key, "")
		}
		l.Stop()
		if !slices.Equal(came, woken) {
			t.Errorf("they came as %q", came)
		}
	})
}

func TestSlots(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := &slotShare{Slots: &slots{}, Who: "anna"}
		s.Resize(1)
		s.Acquire(s.Enter(), t.Context().Done())
		given := make(chan int, 4)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 4 {
			go func() {
				if c := map[bool]context.Context{true: ctx, false: t.Context()}[i == 1]; s.Acquire(s.Enter(), c.Done()) {
					given <- i
				}
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		s.Resize(2)
		synctest.Wait()
		if len(given) != 1 || <-given != 0 {
			t.Fatal("a second slot is not given to the one that waited longest")
		}
		s.Resize(1) // two are at work: one has to end before the next one's turn
		s.Release()
		synctest.Wait()
		if len(given) != 0 {
			t.Fatal("more slots are given than there are")
		}
		s.Release()
		s.Resize(3)
		synctest.Wait()
		if len(given) != 2 || <-given == 1 {
			t.Errorf("%d more have a slot, want the two that still waited", len(given)+1)
		}
	})
}

// One person who writes to many chats takes half of the slots; who waits is served by person, and an owner at once.
// source: CWE-770
func TestSlotsAreSharedByPeople(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := &slots{}
		s.Resize(8)
		enter := func(who string) <-chan struct{} { return (&slotShare{Slots: s, Who: who}).Enter() }
		served := func(turn <-chan struct{}) bool {
			select {
			case <-turn:
				return true
			default:
				return false
			}
		}
		many := make([]<-chan struct{}, 40)
		for i := range many {
			many[i] = enter("guest")
		}
		if n := s.By["guest"]; n != 4 || s.Used != 4 || !served(many[3]) || served(many[4]) {
			t.Fatalf("one person has %d of 8 slots", n)
		}
		if (&slotShare{Slots: s, Who: "guest"}).Try() || !(&slotShare{Slots: s, Who: "bob"}).Try() {
			t.Error("a free slot is not for another person alone")
		}
		for range 3 {
			enter("bob")
		}
		if s.Used != 8 {
			t.Fatalf("%d of 8 slots are used", s.Used)
		}
		carla := enter("carla")
		if served(carla) || !served(enter(ofOwners)) {
			t.Error("an owner waits for guests")
		}
		(&slotShare{Slots: s, Who: ofOwners}).Release()
		if (&slotShare{Slots: s, Who: "guest"}).Release(); !served(carla) || served(many[4]) {
			t.Error("the person who has most is served before one who has none")
		}
		for range 3 {
			(&slotShare{Slots: s, Who: "guest"}).Release()
		}
		for range 4 {
			(&slotShare{Slots: s, Who: "bob"}).Release()
		}
		if s.By["guest"] != 4 || s.Used != 5 {
			t.Errorf("%d slots used, %d of them by the person who waits", s.Used, s.By["guest"])
		}
	})
}

// A person is the same one in every chat, by every linked id; what a run hands on counts for who began it.
func TestWhoseShareARunUses(t *testing.T) {
	set := &Settings{}
	set.Routes = sessions.Routes{Config: sessions.Config{IdentityLinks: map[string][]string{"anna": {"telegram:1", "discord:7"}}}}
	from := func(p sessions.Provenance) *sessions.Run {
		return &sessions.Run{Input: sessions.Message{Provenance: &p}}
	}
	telegram, discord := channels.Address{Channel: "telegram"}, channels.Address{Channel: "discord"}
	for _, c := range []struct {
		run  *sessions.Run
		want string
	}{
		{from(sessions.Provenance{Sender: "1", Address: telegram}), "anna"},
		{from(sessions.Provenance{Sender: "7", Address: discord}), "anna"},
		{from(sessions.Provenance{Sender: "8", Address: discord}), "discord:8"},
		{from(sessions.Provenance{Sender: "1", Address: telegram, Owner: true}), ofOwners},
		{&sessions.Run{Chain: &sessions.Chain{Asker: "anna", Requester: keyB}}, "anna"},
		{&sessions.Run{Chain: &sessions.Chain{Owner: true, Requester: keyB}}, ofOwners},
		{&sessions.Run{Chain: &sessions.Chain{Requester: keyB}}, "session " + string(keyB)},
		{&sessions.Run{}, "session " + string(keyA)},
	} {
		if got := set.Asker(keyA, c.run); got != c.want {
			t.Errorf("%+v: %q, want %q", c.run, got, c.want)
		}
	}
}

// A session's slot counts for the person whose run it is at, whoever wrote to the session first.
func TestSlotCountsForWhoAsked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l *lanes
		who := []string{ofOwners, "guest", "bob"}
		var got []map[string]int
		l = newLanes(func(_ context.Context, key sessions.Key, _ *sessions.Run) bool {
			l.SetRunning(key, sessions.RunID(fmt.Sprint(len(got))), who[len(got)])
			got = append(got, maps.Clone(l.Main.By))
			return len(got) < len(who)
		}, agent.Defaults{})
		l.Start(t.Context())
		l.Wake(keyA, ofOwners)
		l.Stop()
		for i, by := range got {
			if len(by) != 1 || by[who[i]] != 1 {
				t.Errorf("at a run of %q the slots count for %v", who[i], by)
			}
		}
		if len(got) != 3 || l.Main.Used != 0 || len(l.Main.By) != 0 {
			t.Errorf("%d runs; %d slots in use, %v", len(got), l.Main.Used, l.Main.By)
		}
	})
}

// An owner who writes to a session that waits in line for a guest waits for no guest any more.
func TestOwnerInAWaitingSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l *lanes
		end := make(chan struct{})
		at := make(chan sessions.Key, 10)
		l = newLanes(func(_ context.Context, key sessions.Key, _ *sessions.Run) bool {
			at <- key
			<-end
			return false
		}, agent.Defaults{MaxConcurrent: 8})
		l.Start(t.Context())
		for i := range 6 { // four are at work
			l.Wake(sessions.Key(fmt.Sprintf("agent:main:fake:direct:%d", i)), "guest")
		}
		synctest.Wait()
		if len(at) != 4 {
			t.Fatalf("%d sessions are at work", len(at))
		}
		l.Wake("agent:main:fake:direct:5", ofOwners)
		synctest.Wait()
		if len(at) != 5 {
			t.Error("the owner waits for the guest's other sessions")
		}
		close(end)
		l.Stop()
		if l.Main.Used != 0 || len(l.Main.By) != 0 {
			t.Errorf("%d slots in use, %v", l.Main.Used, l.Main.By)
		}
	})
}

// What waits of an earlier process counts for who asked for it, and where nobody knows, for its session.
func TestLanesOfAnEarlierProcess(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		begun, err := g.r.waitingLanes(t.Context(), []sessions.Key{keyA})
		if err != nil || begun[keyA].who != "session "+string(keyA) {
			t.Errorf("%q, %v", begun[keyA].who, err)
		}
	})
}

// What a turn does that began for an owner and answers a guest as well counts for the guest, as its rights do.
func TestWhoAsksInAMergedTurn(t *testing.T) {
	set := &Settings{Owners: policy.Owners{"telegram:1"}}
	run := func(sender string) *sessions.Run {
		return &sessions.Run{Input: sessions.Message{Provenance: &sessions.Provenance{Sender: sender, Owner: sender == "1", Address: channels.Address{Channel: "telegram"}}}}
	}
	for _, c := range []struct {
		run  *sessions.Run
		more []*sessions.Run
		want string
	}{
		{run("1"), nil, ofOwners},
		{run("1"), []*sessions.Run{run("1")}, ofOwners},
		{run("1"), []*sessions.Run{run("2")}, "telegram:2"},
		{run("3"), []*sessions.Run{run("1"), run("2")}, "telegram:3"},
		{run("1"), []*sessions.Run{{}}, "session " + string(keyA)},
	} {
		a := whom{owner: true}
		a.add(c.run.Input)
		for _, m := range c.more {
			a.add(m.Input)
		}
		x := &rights{set: set, asked: a}
		_, asked := x.decide("cron")
		if got := askerAmong(set, asked, keyA, c.run); got != c.want {
			t.Errorf("%+v: %q, want %q", a, got, c.want)
		}
	}
}
