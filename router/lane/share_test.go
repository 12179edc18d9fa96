package lane

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"parley/agent"
	"parley/sessions"
)

// A lane keeps its slot from a run to the next. When the next one is of a person who has their share already, it waits for one of theirs.
// source: CWE-770
func TestSlotBeyondAShare(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l *Set
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
			KeepShare(ctx)
			if n == 2 {
				l.mu.Lock()
				began++
				most = max(most, l.Main.By["guest"])
				l.mu.Unlock()
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
		if began != len(groups) || l.Main.Used != 0 {
			t.Errorf("%d runs, %d slots in use", began, l.Main.Used)
		}
	})
}
