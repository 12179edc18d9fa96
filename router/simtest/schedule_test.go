package simtest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"parley/sessions"
)

// scheduler decides who goes on next. Whoever is about to do something that others may see (a read or a write of the store, a
// commit, a call of a platform or of a model, the offer of an update) waits for its turn. When nobody moves any more, the seed picks
// one of those who wait: so a seed is one order of all that happens, whatever the runtime does, and other seeds are other orders.
type scheduler struct {
	mu      sync.Mutex
	rand    *rand.Rand // drawn from by the person who has the turn
	waiting []*turn
	came    chan struct{}
	began   time.Time
	lines   []string // the history, with ids as they are
	turns   int
	ties    int // turns that were another's just as well: the order of those two is not the seed's
}

// turn is somebody who waits to go on.
type turn struct {
	label string
	host  *host // nil = of the world outside
	on    chan struct{}
	from  [8]uintptr // the calls that led here: two of a process may be about to do the same thing for different reasons
}

// compare gives an order that does not depend on who came first.
func (t *turn) compare(b *turn) int {
	return cmp.Or(cmp.Compare(t.label, b.label), slices.Compare(t.from[:], b.from[:]))
}

func newScheduler(seed uint64) *scheduler {
	return &scheduler{rand: rand.New(rand.NewPCG(seed, 20)), came: make(chan struct{}, 1), began: time.Now()}
}

// run gives turns until over is closed. The time passes when no caller waits, and a little between turns.
func (s *scheduler) run(over <-chan struct{}) {
	for {
		synctest.Wait()
		t, pause := s.next()
		if t == nil {
			select {
			case <-s.came:
				continue
			case <-over:
				return
			}
		}
		if pause > 0 {
			time.Sleep(pause)
			synctest.Wait()
		}
		close(t.on)
	}
}

// next picks who goes on.
func (s *scheduler) next() (t *turn, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		return nil, 0
	}
	slices.SortStableFunc(s.waiting, (*turn).compare)
	i := s.rand.IntN(len(s.waiting))
	t = s.waiting[i]
	if i > 0 && s.waiting[i-1].compare(t) == 0 {
		s.ties++
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.turns++
	if os.Getenv("PARLEY_SIM_TURNS") != "" {
		s.lines = append(s.lines, fmt.Sprintf("%14.6f turn %d of %d: %s", time.Since(s.began).Seconds(), s.turns, len(s.waiting)+1, t.label))
	}
	if s.rand.IntN(3) == 0 {
		pause = time.Duration(1 + s.rand.IntN(3_000_000))
	}
	return t, pause
}

// wait waits for a turn; false when the process it belongs to has ended meanwhile.
func (s *scheduler) wait(h *host, label string) bool {
	if h.isDead() {
		return false
	}
	t := &turn{label: label, host: h, on: make(chan struct{})}
	runtime.Callers(3, t.from[:])
	s.mu.Lock()
	s.waiting = append(s.waiting, t)
	s.mu.Unlock()
	select {
	case s.came <- struct{}{}:
	default:
	}
	<-t.on
	return !h.isDead()
}

// forget lets everybody go who waits for a process that has ended.
func (s *scheduler) forget(h *host) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(t *turn) bool {
		if t.host != h {
			return false
		}
		close(t.on)
		return true
	})
}

// laneKey is what the session whose turns run in a context is kept by.
type laneKey struct{}

// inLane prepares the context of a session's turns.
func inLane(ctx context.Context, key sessions.Key) context.Context {
	return context.WithValue(ctx, laneKey{}, key)
}

// inLaneOf says which session's turns run in a context; "" = none.
func inLaneOf(ctx context.Context) sessions.Key {
	key, _ := ctx.Value(laneKey{}).(sessions.Key)
	return key
}

// upTo draws a number below n.
func (s *scheduler) upTo(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rand.IntN(n)
}

// chance is true so many times in a thousand.
func (s *scheduler) chance(perMille int) bool { return s.upTo(1000) < perMille }

// within draws a duration up to d; no two are the same.
func (s *scheduler) within(d time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return 1 + time.Duration(s.rand.Int64N(int64(d)))
}

// pick draws one of several.
func pick[T any](s *scheduler, of ...T) T { return of[s.upTo(len(of))] }

// naming writes the ids in texts as the numbers in which they come up: some depend on what the process did before.
type naming map[string]string

func (n naming) short(text string) string {
	var out strings.Builder
	done := 0
	for i := 0; i+36 <= len(text); i++ {
		if text[i+8] != '-' || !isID(text[i:i+36]) {
			continue
		}
		id := text[i : i+36]
		if n[id] == "" {
			n[id] = fmt.Sprintf("#%d", len(n)+1)
		}
		out.WriteString(text[done:i])
		out.WriteString(n[id])
		i += 35
		done = i + 1
	}
	out.WriteString(text[done:])
	return out.String()
}

func isID(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c < '0' || c > '9' && c < 'a' || c > 'f':
			return false
		}
	}
	return true
}

// note writes a line into the history.
func (s *scheduler) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%14.6f ", time.Since(s.began).Seconds())+strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "⏎"))
}

// history is all that happened, a line each, and how it names the ids.
func (s *scheduler) history() (string, naming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := naming{}
	return n.short(strings.Join(s.lines, "\n") + "\n"), n
}
