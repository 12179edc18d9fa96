package router_test

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
	"parley/router"
	"parley/router/lane"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// proves: N16
func TestPoolsAreApart(t *testing.T) {
	for _, blocked := range []string{"main", "child"} {
		t.Run(blocked, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				c := routertest.Child{}
				if blocked == "child" {
					c.Work = routertest.Slowly(time.Hour)
				}
				g := routertest.Parent(t, c, func(s *router.Settings) {
					s.Agents.Defaults.MaxConcurrent = 1
					s.Agents.Defaults.Subagents.MaxConcurrent = 1
					s.Agents.Defaults.TimeoutSeconds = 7200
				})
				if blocked == "main" {
					g.Model.Set(func(ctx context.Context, p agent.Prompt) (agent.Answer, error) {
						if !strings.Contains(p.System, "sub-agent") {
							channels.Sleep(ctx, time.Hour)
						}
						return c.Answer(ctx, p)
					})
				}
				began := time.Now()
				for i := range 2 {
					if blocked == "main" {
						g.Say(routertest.Group(fmt.Sprint("busy", i)), routertest.Guest, "work")
					} else {
						g.Spawn(tools.SpawnRequest{Source: fmt.Sprint("s", i)})
					}
				}
				g.Until("one is at work", func() bool { working, _ := g.Router.Working(); return len(working) == 1 })
				if blocked == "main" {
					g.Spawn(tools.SpawnRequest{Source: "s"})
				} else {
					g.Say(routertest.Group("a"), routertest.Guest, "hello")
				}
				g.Shown(2)
				took := time.Since(began)
				synctest.Wait() // the lane that is done lets go a moment after its message is shown
				if working, _ := g.Router.Working(); took > time.Minute || len(working) != 1 {
					t.Errorf("it waited %s, now at work: %v", took, working)
				}
			})
		})
	}
}

func TestDrainBeginsNothing(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
		g.Model.Set(routertest.Slowly(time.Minute))
		g.Say(routertest.Direct("a"), routertest.Guest, "one")
		g.Say(routertest.Direct("a"), routertest.Guest, "two")
		g.Until("one is at work", func() bool { return g.Model.Count() == 1 && len(g.Runs()) == 2 })
		began := time.Now()
		drained := make(chan time.Duration, 1)
		go func() {
			g.Router.Drain(t.Context())
			drained <- time.Since(began)
		}()
		synctest.Wait()
		g.Say(routertest.Group("b"), routertest.Guest, "three")
		if took := <-drained; took < 50*time.Second {
			t.Errorf("drained after %s", took)
		}
		<-time.After(10 * time.Minute)
		var status []sessions.RunStatus
		for _, r := range g.Runs() {
			status = append(status, r.Status)
		}
		if !slices.Equal(status, []sessions.RunStatus{sessions.Done, sessions.Queued, sessions.Queued}) || g.Model.Count() != 1 {
			t.Errorf("%v after %d model calls", status, g.Model.Count())
		}
		g.Stop()
		g.Model.Set(nil)
		g.Start()
		g.Shown(3)
	})
}

func TestWokenWhileAtWork(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var n atomic.Int32
		var l *lane.Set
		l = lane.New(func(context.Context, sessions.Key, *sessions.Run) bool {
			if n.Add(1) == 1 {
				l.Wake(routertest.KeyA, "") // what it is woken for was queued after this look into the store
			}
			return false
		}, agent.Defaults{})
		l.Start(t.Context())
		l.Wake(routertest.KeyA, "")
		l.Stop()
		if n.Load() != 2 {
			t.Errorf("it looked %d times for work", n.Load())
		}
	})
}

// TestFirstWokenFirst: lanes come to their slot in the order in which they were woken, whatever order the runtime has their goroutines in.
func TestFirstWokenFirst(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var woken, came []sessions.Key
		l := lane.New(func(_ context.Context, key sessions.Key, _ *sessions.Run) bool {
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
	routertest.Bubble(t, func(t *testing.T) {
		s := &lane.SlotShare{Slots: &lane.Slots{}, Who: "anna"}
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
	routertest.Bubble(t, func(t *testing.T) {
		s := &lane.Slots{}
		s.Resize(8)
		enter := func(who string) <-chan struct{} { return (&lane.SlotShare{Slots: s, Who: who}).Enter() }
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
		if (&lane.SlotShare{Slots: s, Who: "guest"}).Try() || !(&lane.SlotShare{Slots: s, Who: "bob"}).Try() {
			t.Error("a free slot is not for another person alone")
		}
		for range 3 {
			enter("bob")
		}
		if s.Used != 8 {
			t.Fatalf("%d of 8 slots are used", s.Used)
		}
		carla := enter("carla")
		if served(carla) || !served(enter(settings.OfOwners)) {
			t.Error("an owner waits for guests")
		}
		(&lane.SlotShare{Slots: s, Who: settings.OfOwners}).Release()
		if (&lane.SlotShare{Slots: s, Who: "guest"}).Release(); !served(carla) || served(many[4]) {
			t.Error("the person who has most is served before one who has none")
		}
		for range 3 {
			(&lane.SlotShare{Slots: s, Who: "guest"}).Release()
		}
		for range 4 {
			(&lane.SlotShare{Slots: s, Who: "bob"}).Release()
		}
		if s.By["guest"] != 4 || s.Used != 5 {
			t.Errorf("%d slots used, %d of them by the person who waits", s.Used, s.By["guest"])
		}
	})
}

// A person is the same one in every chat, by every linked id; what a run hands on counts for who began it.
func TestWhoseShareARunUses(t *testing.T) {
	set := &router.Settings{}
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
		{from(sessions.Provenance{Sender: "1", Address: telegram, Owner: true}), settings.OfOwners},
		{&sessions.Run{Chain: &sessions.Chain{Asker: "anna", Requester: routertest.KeyB}}, "anna"},
		{&sessions.Run{Chain: &sessions.Chain{Owner: true, Requester: routertest.KeyB}}, settings.OfOwners},
		{&sessions.Run{Chain: &sessions.Chain{Requester: routertest.KeyB}}, "session " + string(routertest.KeyB)},
		{&sessions.Run{}, "session " + string(routertest.KeyA)},
	} {
		if got := set.Asker(routertest.KeyA, c.run); got != c.want {
			t.Errorf("%+v: %q, want %q", c.run, got, c.want)
		}
	}
}

// A session's slot counts for the person whose run it is at, whoever wrote to the session first.
func TestSlotCountsForWhoAsked(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		var l *lane.Set
		who := []string{settings.OfOwners, "guest", "bob"}
		var got []map[string]int
		l = lane.New(func(_ context.Context, key sessions.Key, _ *sessions.Run) bool {
			l.SetRunning(key, sessions.RunID(fmt.Sprint(len(got))), who[len(got)])
			got = append(got, maps.Clone(l.Main.By))
			return len(got) < len(who)
		}, agent.Defaults{})
		l.Start(t.Context())
		l.Wake(routertest.KeyA, settings.OfOwners)
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
	routertest.Bubble(t, func(t *testing.T) {
		var l *lane.Set
		end := make(chan struct{})
		at := make(chan sessions.Key, 10)
		l = lane.New(func(_ context.Context, key sessions.Key, _ *sessions.Run) bool {
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
		l.Wake("agent:main:fake:direct:5", settings.OfOwners)
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
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		begun, err := g.Router.WaitingLanes(t.Context(), []sessions.Key{routertest.KeyA})
		if err != nil || begun[routertest.KeyA].Who() != "session "+string(routertest.KeyA) {
			t.Errorf("%q, %v", begun[routertest.KeyA].Who(), err)
		}
	})
}
