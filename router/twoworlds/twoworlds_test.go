package twoworlds

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

const (
	scripts  = 42
	variants = 12 // of each
)

// run plays a script. With others, things happen in sessions that the caller does not see: before, between and after what it sees, and
// between its calls.
func (s *script) run(t *testing.T, others *drawer) *world {
	t.Helper()
	return in(t, s, func(w *world) {
		between := func() {
			if others == nil {
				return
			}
			for range max(others.IntN(5)-2, 0) {
				f := others.hidden(s, fmt.Sprint("h", w.made))
				w.step(false, func() { f(w) })
			}
		}
		for _, f := range s.steps {
			between()
			w.step(true, func() { f(w) })
		}
		for _, c := range s.calls {
			between()
			w.step(true, func() { w.call(s, c) })
		}
	})
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{8}-[0-9a-f-]{0,27}…`) // whole, or cut by a bound of the answer

// answers gives what a world's calls said. Ids that were drawn at random are numbered as they come.
func (w *world) answers() []string {
	known := map[string]string{}
	out := make([]string, len(w.log))
	for i, line := range w.log {
		out[i] = uuids.ReplaceAllStringFunc(line, func(id string) string {
			if cut, ok := strings.CutSuffix(id, "…"); ok {
				return fmt.Sprintf("%d characters of an id…", len(cut))
			}
			if known[id] == "" {
				known[id] = fmt.Sprint("id-", len(known))
			}
			return known[id]
		})
	}
	return out
}

// In worlds that differ only in what the caller may not see, every tool gives the same answers: rows, counts, flags, cut marks, numbers,
// order and refusals, also of keys that the caller names.
// source: CWE-203
//
// proves: V4, L6
func TestTwoWorlds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(scripts) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s := newScript(seed)
			alone := s.run(t, nil)
			want := alone.answers()
			for v := range uint64(variants) {
				w := s.run(t, &drawer{rand.New(rand.NewPCG(seed, 100+v))}) //nolint:gosec // a test that can be repeated
				if w.made == 0 {
					t.Fatalf("variant %d has nothing that is hidden", v)
				}
				for i, got := range w.answers() {
					if got != want[i] {
						t.Fatalf("seed %d, variant %d, call %d, visibility %+v, sandboxed %t: with hidden rows\n%s\nwithout\n%s", seed, v, i, s.rules, s.sandboxed, got, want[i])
					}
				}
			}
		})
	}
}
