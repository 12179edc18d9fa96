package prooftest

import (
	"os"
	"testing"
)

// times gives how often a test repeats: few in each run of the tests, all of them in the full run.
func times(small, full int) uint64 {
	if os.Getenv("PARLEY_TEST_FULL") != "" {
		return uint64(full)
	}
	return uint64(small)
}

// TestGoodHistories checks histories of a host that keeps its promises: no fault, and each debt ended as it was meant to.
func TestGoodHistories(t *testing.T) {
	t.Parallel()
	var sum Verdict
	seeds := times(300, 20_000)
	for seed := range seeds {
		w := newWorld(seed, 40)
		v := Check(&w.h)
		if !v.OK() {
			t.Fatalf("seed %d: %s", seed, v)
		}
		want := map[debtEnd]int{}
		for _, e := range w.ends {
			want[e]++
		}
		add := func(a Tally) Tally {
			sum.Answers = Tally{
				sum.Answers.Owed + a.Owed, sum.Answers.Shown + a.Shown, sum.Answers.Withheld + a.Withheld, sum.Answers.Noticed + a.Noticed,
				sum.Answers.Listed + a.Listed, sum.Answers.Skipped + a.Skipped, sum.Answers.Unbegun + a.Unbegun,
			}
			return a
		}
		a, n, r, k := add(v.Answers), add(v.Announces), add(v.Reports), v.Replies
		got := map[debtEnd]int{
			shown: a.Shown + n.Shown + r.Shown + k.Shown, withheld: a.Withheld + n.Withheld + r.Withheld + k.Withheld, skipped: a.Skipped + n.Skipped + r.Skipped,
			unbegun: a.Unbegun + n.Unbegun + r.Unbegun, noticed: a.Noticed + n.Noticed + r.Noticed, listed: a.Listed + n.Listed + r.Listed + k.Listed,
		}
		for _, e := range []debtEnd{shown, withheld, noticed, listed, skipped, unbegun} {
			if got[e] != want[e] && (!w.vague || e == withheld || e == skipped || e == unbegun) {
				t.Fatalf("seed %d: %d debts ended as %d, want %d: %s", seed, got[e], e, want[e], v)
			}
		}
		if got[shown]+got[noticed]+got[listed] != want[shown]+want[noticed]+want[listed] {
			t.Fatalf("seed %d: ends %v, want %v: %s", seed, got, want, v)
		}
		if k.Owed != v.Commands || k.Shown+k.Withheld+k.Listed != k.Owed {
			t.Fatalf("seed %d: of %d commands %+v are answered", seed, v.Commands, k)
		}
		sum.Twice, sum.Folded, sum.Marked, sum.Kills = sum.Twice+v.Twice, sum.Folded+v.Folded, sum.Marked+v.Marked, sum.Kills+v.Kills
	}
	s := sum.Answers
	t.Logf("%d histories, %d debts: %d shown, %d withheld, %d noticed, %d listed, %d skipped, %d not begun; %d shown again and marked, %d repeated calls folded, %d kills",
		seeds, s.Owed, s.Shown, s.Withheld, s.Noticed, s.Listed, s.Skipped, s.Unbegun, sum.Twice, sum.Folded, sum.Kills)
	for _, n := range []int{s.Shown, s.Withheld, s.Noticed, s.Listed, s.Skipped, s.Unbegun, sum.Twice, sum.Folded} {
		if n == 0 {
			t.Errorf("the histories have something of everything: %+v", sum)
		}
	}
}
