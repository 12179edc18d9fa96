package turn

import (
	"testing"

	"parley/sessions"
)

// A turn that begins is shown what is kept of its transcript, not a copy of it; nothing is put behind it in place.
func TestWhatATurnIsShownIsNotWrittenInto(t *testing.T) {
	t.Parallel()
	run := sessions.Run{ID: "r2", Input: sessions.Message{ID: "in", Run: "r2"}}
	kept := append(make([]sessions.Message, 0, 8), sessions.Message{ID: "a", Run: "r1"}, run.Input)
	shown := upToInput(kept, run)
	if len(shown) != 2 || &shown[0] != &kept[0] {
		t.Errorf("%d messages, or a copy of them", len(shown))
	}
	_ = append(shown, sessions.Message{ID: "step"})
	if behind := kept[:3][2].ID; behind != "" {
		t.Errorf("behind what is kept stands %q", behind)
	}
	kept = append(kept, sessions.Message{ID: "own", Run: "r2"})
	if shown := upToInput(kept, run); len(shown) != 2 || shown[1].ID != "in" {
		t.Errorf("a step of the run is among what was before: %v", shown)
	}
	if shown := upToInput(kept[:1], run); len(shown) != 2 || shown[1].ID != "in" {
		t.Errorf("the input is missing: %v", shown)
	}
}
