package router

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"
)

// scheduler decides who goes on next. Whoever is about to do something that others may see (a read or a write of the store, a
// commit, a call of a platform or of a model, the offer of an update) waits for its turn. When nobody moves any more, the seed picks
// one of those who wait: so a seed is one order of all that happens, whatever the runtime does, and other seeds are other orders.
type scheduler struct {
	mu      sync.Mutex
	rand    *rand.Rand // drawn from by whoever has the turn
	waiting []*turn
	came    chan struct{}
	began   time.Time
	lines   []string          // the history
	names   map[string]string // ids as the history has them
	turns   int
}

// turn is somebody who waits to go on.
type turn struct {
	label string
	host  *host // nil = of the world outside
	on    chan struct{}
}

func newScheduler(seed uint64) *scheduler {
	return &scheduler{rand: rand.New(rand.NewPCG(seed, 20)), came: make(chan struct{}, 1), began: time.Now(), names: map[string]string{}}
}

// run gives turns until over is closed. The time passes when nobody waits, and a little between turns.
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
	slices.SortStableFunc(s.waiting, func(a, b *turn) int { return cmp.Compare(a.label, b.label) })
	i := s.rand.IntN(len(s.waiting))
	t = s.waiting[i]
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

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// named writes the ids in a text as the numbers in which they were first seen: they are new in each run of a seed.
func (s *scheduler) named(text string) string {
	return anyID.ReplaceAllStringFunc(text, func(id string) string {
		n, ok := s.names[id]
		if !ok {
			n = fmt.Sprintf("#%d", len(s.names)+1)
			s.names[id] = n
		}
		return n
	})
}

// known writes the ids in a text as the history has them, without giving new numbers.
func (s *scheduler) known(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return anyID.ReplaceAllStringFunc(text, func(id string) string { return cmp.Or(s.names[id], "#new") })
}

// note writes a line into the history.
func (s *scheduler) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := s.named(fmt.Sprintf(format, args...))
	s.lines = append(s.lines, fmt.Sprintf("%14.6f %s", time.Since(s.began).Seconds(), strings.ReplaceAll(line, "\n", "⏎")))
}

// history is all that happened, a line each.
func (s *scheduler) history() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n") + "\n"
}
