package simtest

import (
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/router/routertest"

	"github.com/google/uuid"
)

// fromEnv reads a number from the environment.
func fromEnv(name string, def int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return def
	}
	return n
}

// fewSeeds are lived in a plain test run; with the race detector, which makes the database ten times as slow, fewer.
const fewSeeds = 52

// mostFailed is how many failing seeds are shown before the others are left out.
const mostFailed = 10

// TestSimulation lets a small world live on virtual time: people, platforms, a model, and a host that crashes, all drawn from a seed,
// and holds what there is to see in the end against the contract. In the environment PARLEY_SIM_SEEDS is how many seeds, and
// PARLEY_SIM_FROM the first; PARLEY_SIM_SEED is one, whose whole history is printed. Each seed is lived on one processor, so many
// seeds are best shared among processes. A line has the figures of all, with -v one after each seed of those until then; histories is a sum over all that happened: the same seeds
// give the same one.
//
// proves: N15, S9, S10, S11, S12, S13, S14, P4, P7, K8, D3, D4
func TestSimulation(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if one := fromEnv("PARLEY_SIM_SEED", -1); one >= 0 {
		simulate(t, uint64(one), true)
		return
	}
	few := fewSeeds
	if routertest.Racing {
		few = 4
	}
	from, n := fromEnv("PARLEY_SIM_FROM", 1), fromEnv("PARLEY_SIM_SEEDS", few)
	total, failed := map[string]int{}, 0
	figures := func() {
		t.Logf("simulation: from=%d seeds=%d failed=%d messages=%d children=%d exchanges=%d crashes=%d store-faults=%d platform-faults=%d model-faults=%d flips=%d updates-repeated=%d commits=%d repeats=%d histories=%d",
			from, total["seeds"], failed, total["messages"], total["children"], total["exchanges"], sum(total, "crashes"), sum(total, "store faults", "slow commits"),
			sum(total, "transient", "limited", "ambiguous", "hanging", "rejected", "platform down"), sum(total, "failing models", "slow models"), sum(total, "flips"),
			total["repeated updates"], total["commits"], total["repeats"], total["histories"])
	}
	for seed := from; seed < from+n && failed < mostFailed; seed++ {
		out := simulate(t, uint64(seed), false)
		for k, v := range out.counts {
			total[k] += v
		}
		total["seeds"]++
		total["histories"] += int(crc32.ChecksumIEEE([]byte(out.history)))
		if out.failed {
			failed++
		}
		if testing.Verbose() { // whoever reads along has them when the process is cut off
			figures()
		}
	}
	if n >= 500 {
		for _, k := range slices.Sorted(maps.Keys(total)) {
			t.Logf("%8d  %s", total[k], k)
		}
	}
	if n >= 500 && failed == 0 {
		for _, k := range events {
			if total[k] == 0 {
				t.Errorf("%d seeds, and never: %s", n, k)
			}
		}
	}
	if !testing.Verbose() {
		figures()
	}
}

// sum adds up what begins with one of some words.
func sum(counts map[string]int, words ...string) (n int) {
	for k, v := range counts {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(k, w) }) {
			n += v
		}
	}
	return n
}

// events must come up in many seeds: what never happens is not tested.
var events = []string{
	"ambiguous sends that arrived", "ambiguous sends that did not", "announcements", "child announced", "child failed", "child listed", "child reported", "child silent", "child stopped",
	"chats that moved", "chats that moved and had two sessions", "child withheld", "control ", "control ANNOUNCE_SKIP", "control NO_REPLY", "control REPLY_SKIP", "crashes after-commit", "crashes before-commit", "delivery failed", "denied before it moves",
	"delivery held", "delivery sent", "delivery stopped", "delivery withheld", "edits of what is being answered", "edits of what waits", "edits told later", "exchanges", "exchanges stopped", "fades", "failing models", "flips at a start", "flips by the API", "flips by people", "follow-ups", "follow-ups after a stop", "follow-ups on a failure", "gestures in one turn", "hanging sends that arrived",
	"hanging sends that did not", "limited sends", "outcome: aborted", "outcome: done", "outcome: failed", "outcome: refused", "outcome: timeout", "platform down",
	"questions what arrived", "refused offers", "refused starts", "rejected sends", "reordered updates", "repeated updates", "repeats", "reply steps", "restarts",
	"slow commits", "slow models", "store faults after-commit", "store faults before-commit", "talk", "tool message", "tool remember", "tool sessions_send", "tool sessions_spawn",
	"tool sessions_yield", "tool subagents", "transient sends", "typing", "waits in vain", "written by hand", "loops refused",
}

// TestSimulationRepeats lives seeds twice: what happens is the same to the letter.
func TestSimulationRepeats(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	from, n := fromEnv("PARLEY_SIM_FROM", 1), min(fromEnv("PARLEY_SIM_SEEDS", 6), 5000)
	if n < 1 {
		t.Fatal("PARLEY_SIM_SEEDS: there is nothing to live")
	}
	defer func() { t.Logf("%d seeds from %d on, each lived twice", n, from) }()
	for seed := from; seed < from+n; seed++ {
		a, b := simulate(t, uint64(seed), false), simulate(t, uint64(seed), false)
		if a.history != b.history {
			t.Errorf("seed %d is not the same twice:\n%s", seed, parts(a.history, b.history))
		}
	}
}

// parts shows where two histories begin to differ.
func parts(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			from := max(0, i-5)
			return strings.Join(x[from:min(len(x), i+4)], "\n") + "\n--- and\n" + strings.Join(y[from:min(len(y), i+4)], "\n")
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

// simulated is what came of a seed.
type simulated struct {
	history string
	counts  map[string]int
	failed  bool
}

// simulate lets the world of a seed live.
func simulate(t *testing.T, seed uint64, aloud bool) (out simulated) {
	t.Run(fmt.Sprint(seed), func(t *testing.T) {
		defer func() { // the end of a bubble that failed ends its test
			if aloud || t.Failed() {
				fmt.Fprintf(os.Stderr, "seed %d:\n%s", seed, out.history)
			}
			if t.Failed() {
				t.Logf("again with: PARLEY_SIM_SEED=%d go test ./router/simtest -run '^TestSimulation$' -count=1", seed)
			}
		}()
		lived(t, seed, func(t *testing.T, r *rest) {
			w := r.w
			faults := r.judge()
			r.tell()
			history, names := w.s.history()
			for _, f := range faults {
				t.Error(names.short(f))
			}
			out = simulated{history, w.counts, t.Failed()}
			w.counts["messages"] = len(w.plan.letters)
			w.counts["turns of the scheduler"], w.counts["turns that look the same"] = w.s.turns, w.s.ties
		})
	})
	return out
}

// lived gives what there is to see when the world of a seed has lived, in its bubble.
func lived(t *testing.T, seed uint64, then func(t *testing.T, r *rest)) {
	defer uuid.SetRand(nil)
	synctest.Test(t, func(t *testing.T) { then(t, newWorld(t, seed).live()) })
}

// jitterOf draws from a seed and the time, so that it does not matter who asks first.
func jitterOf(seed uint64) func(time.Duration) time.Duration {
	return func(d time.Duration) time.Duration {
		return time.Duration(rand.New(rand.NewPCG(seed, uint64(time.Now().UnixNano()))).Int64N(int64(d)))
	}
}

// seeded makes ids from a seed.
type seeded struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (s *seeded) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range b {
		b[i] = byte(s.r.Uint32())
	}
	return len(b), nil
}
