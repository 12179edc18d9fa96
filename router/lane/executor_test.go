package lane

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"parley/agent"
	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/route"
)

func TestWokenWhileAtWork(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var n atomic.Int32
		var l *Executor
		l = New(func(context.Context, sessions.Key, *sessions.Run) bool {
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
		l := New(func(_ context.Context, key sessions.Key, _ *sessions.Run) bool {
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
		s := &slotShare{&slots{}, "anna"}
		s.resize(1)
		s.acquire(s.enter(), t.Context().Done())
		given := make(chan int, 4)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 4 {
			go func() {
				if c := map[bool]context.Context{true: ctx, false: t.Context()}[i == 1]; s.acquire(s.enter(), c.Done()) {
					given <- i
				}
			}()
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		s.resize(2)
		synctest.Wait()
		if len(given) != 1 || <-given != 0 {
			t.Fatal("a second slot is not given to the one that waited longest")
		}
		s.resize(1) // two are running: one has to end before the next one's turn
		s.release()
		synctest.Wait()
		if len(given) != 0 {
			t.Fatal("more slots are given than there are")
		}
		s.release()
		s.resize(3)
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
		s.resize(8)
		enter := func(who string) <-chan struct{} { return (&slotShare{s, who}).enter() }
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
		if n := s.by["guest"]; n != 4 || s.used != 4 || !served(many[3]) || served(many[4]) {
			t.Fatalf("one person has %d of 8 slots", n)
		}
		if (&slotShare{s, "guest"}).try() || !(&slotShare{s, "bob"}).try() {
			t.Error("a free slot is not for another person alone")
		}
		for range 3 {
			enter("bob")
		}
		if s.used != 8 {
			t.Fatalf("%d of 8 slots are used", s.used)
		}
		carla := enter("carla")
		if served(carla) || !served(enter(settings.OfOwners)) {
			t.Error("an owner waits for guests")
		}
		(&slotShare{s, settings.OfOwners}).release()
		if (&slotShare{s, "guest"}).release(); !served(carla) || served(many[4]) {
			t.Error("the person who has most is served before one who has none")
		}
		for range 3 {
			(&slotShare{s, "guest"}).release()
		}
		for range 4 {
			(&slotShare{s, "bob"}).release()
		}
		if s.by["guest"] != 4 || s.used != 5 {
			t.Errorf("%d slots used, %d of them by the person who waits", s.used, s.by["guest"])
		}
	})
}

// A person is the same one in every chat, by every linked id; what a run hands on counts for who began it.
func TestWhoseShareARunUses(t *testing.T) {
	set := &settings.Snapshot{}
	set.Routes = route.Table{Config: sessions.Config{IdentityLinks: map[string][]string{"anna": {"telegram:1", "discord:7"}}}}
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
		{&sessions.Run{Chain: &sessions.Chain{Asker: "anna", Requester: keyB}}, "anna"},
		{&sessions.Run{Chain: &sessions.Chain{Owner: true, Requester: keyB}}, settings.OfOwners},
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
		var l *Executor
		who := []string{settings.OfOwners, "guest", "bob"}
		var got []map[string]int
		l = New(func(_ context.Context, key sessions.Key, _ *sessions.Run) bool {
			l.SetRunning(key, sessions.RunID(fmt.Sprint(len(got))), who[len(got)])
			got = append(got, maps.Clone(l.main.by))
			return len(got) < len(who)
		}, agent.Defaults{})
		l.Start(t.Context())
		l.Wake(keyA, settings.OfOwners)
		l.Stop()
		for i, by := range got {
			if len(by) != 1 || by[who[i]] != 1 {
				t.Errorf("at a run of %q the slots count for %v", who[i], by)
			}
		}
		if len(got) != 3 || l.main.used != 0 || len(l.main.by) != 0 {
			t.Errorf("%d runs; %d slots in use, %v", len(got), l.main.used, l.main.by)
		}
	})
}

// A lane keeps its slot from a run to the next. When the next one is of a person who has their share already, it waits for one of theirs.
// source: CWE-770
func TestSlotBeyondAShare(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l *Executor
		most, began, end := 0, 0, make(chan bool)
		groups := []sessions.Key{"agent:main:fake:group:1", "agent:main:fake:group:2", "agent:main:fake:group:3"}
		runs := map[sessions.Key]int{}
		l = New(func(ctx context.Context, key sessions.Key, _ *sessions.Run) bool {
			l.mu.Lock()
			runs[key]++
			n := runs[key]
			l.mu.Unlock()
			who := string(key) // the first run of each group is of another person
			if n == 2 {
				who = "guest"
			}
			l.SetRunning(key, sessions.RunID(fmt.Sprint(key, n)), who)
			RegainSlot(ctx)
			if n == 2 {
				l.main.mu.Lock() // another lane may be at its slot
				began++
				most = max(most, l.main.by["guest"])
				l.main.mu.Unlock()
				<-end
			}
			return n < 2
		}, agent.Defaults{MaxConcurrent: 4})
		l.Start(t.Context())
		for _, key := range groups {
			l.Wake(key, string(key))
		}
		synctest.Wait()
		if began != 2 || most != 2 {
			t.Errorf("%d runs of one guest are at work, with %d of 4 slots", began, most)
		}
		for range groups {
			end <- true
		}
		l.Stop()
		if began != len(groups) || l.main.used != 0 {
			t.Errorf("%d runs, %d slots in use", began, l.main.used)
		}
	})
}

// An owner who writes to a session that waits in line for a guest waits for no guest any more.
func TestOwnerInAWaitingSession(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var l *Executor
		end := make(chan struct{})
		at := make(chan sessions.Key, 10)
		l = New(func(_ context.Context, key sessions.Key, _ *sessions.Run) bool {
			at <- key
			<-end
			return false
		}, agent.Defaults{MaxConcurrent: 8})
		l.Start(t.Context())
		for i := range 6 { // four are running
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
		if l.main.used != 0 || len(l.main.by) != 0 {
			t.Errorf("%d slots in use, %v", l.main.used, l.main.by)
		}
	})
}
