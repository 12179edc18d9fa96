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

// A refused answer without words is paid for, also where its repeat fails for another reason.
func TestRefusedAnswerIsSpent(t *testing.T) {
	t.Parallel()
	input := user("now?")
	input.ID = "input"
	history := []sessions.Message{user("long ago"), {Role: sessions.Assistant, Model: "m", Content: sessions.TextContent("I see")}, input}
	empty := Answer{Stop: StopFilter, Usage: sessions.Usage{Input: 7}}
	for name, next := range map[string]any{"taken": say("hello"), "fails": &ModelError{Class: BadKey, Provider: "p", Tries: 1, Err: errors.New("no")}} {
		var p purse
		turn := p.hook(Turn{Model: &script{answers: []any{empty, next}}, Label: "p/m", History: history})
		turn.Caller.Run.Input = input
		_, err := new(Loop).Run(t.Context(), turn)
		if (name == "fails") != (err != nil) || !slices.Equal(p.spent, []sessions.Usage{{Input: 7}}) {
			t.Errorf("%s: spent %v, %v", name, p.spent, err)
		}
	}
}

// Thinking that no store takes as it came keeps no signature: that is for other bytes.
// source: platform.claude.com/docs/en/build-with-claude/extended-thinking (blocks go back unchanged)
func TestChangedThinkingIsUnsigned(t *testing.T) {
	t.Parallel()
	r := &turnRun{callIDs: map[string]bool{}}
	for text, signed := range map[string]bool{"hm": true, "h\x00m": false, "h\xffm": false} {
		b := r.storable([]sessions.Block{{Type: sessions.ThinkingBlock, Text: text, Signature: new("s"), Opaque: &sessions.Opaque{From: "x"}}}, StopEnd, "")[0]
		if (b.Signature != nil) != signed || (b.Opaque != nil) != signed {
			t.Errorf("%q: %+v", text, b)
		}
	}
}
