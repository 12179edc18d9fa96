package agent

import (
	"errors"
	"slices"
	"testing"

	"parley/sessions"
)

// An answer that gets into no transcript, because the turn broke off while it waited for what was still to come, is paid for all the
// same. One that was kept is not paid for twice.
func TestLostAnswerIsSpent(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{false, true} {
		var p purse
		m := &script{answers: []any{say("done")}}
		q := &queue{model: m, come: map[int][]sessions.Message{}, fault: errors.New("the host stops"), keeps: kept}
		turn := p.hook(Turn{Model: m, Label: "p/m", History: []sessions.Message{user("hello")}, Waiting: q.waiting, Take: q.take})
		if _, err := new(Loop).Run(t.Context(), turn); !errors.Is(err, q.fault) {
			t.Fatal(err)
		}
		want := []sessions.Usage{{Input: 10, Output: 2}}
		if kept {
			want = nil
		}
		if !slices.Equal(p.spent, want) || len(p.settled) != 1 {
			t.Errorf("kept %v: spent %v, settled %v", kept, p.spent, p.settled)
		}
	}
}
