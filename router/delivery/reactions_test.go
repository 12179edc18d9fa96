package delivery

import (
	"context"
	"fmt"
	"testing"

	"parley/router/settings"
)

// What waits for a platform is bounded, and so is what is remembered of refusals; the first one of an account and emoji is told.
func TestAckBounds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var life lifetime
		a := newReactionQueue(&life)
		a.add(settings.Ref(direct("a")), func(context.Context) { t.Error("called before the start") })
		life.start(t.Context())
		free, made := make(chan struct{}), 0
		for range maxQueuedReactions + 10 {
			a.add(settings.Ref(direct("a")), func(context.Context) { <-free; made++ })
		}
		close(free)
		life.wait()
		if made != maxQueuedReactions || len(a.queues) != 0 {
			t.Errorf("%d calls, %d queues are left", made, len(a.queues))
		}
		var f refusals
		for i := range maxRefusals + 10 {
			if first := f.note(groupChat(fmt.Sprint(i)), "🦖"); first != (i == 0 || i == maxRefusals) || len(f.m) > maxRefusals {
				t.Fatalf("refusal %d: first %v, %d kept", i, first, len(f.m))
			}
		}
		if last := groupChat(fmt.Sprint(maxRefusals)); !f.known(last, "🦖") || !f.known(last, "") || f.known(last, "👀") || f.known(groupChat("x"), "") {
			t.Error("what is known is wrong")
		}
		if !f.note(groupChat("x"), "👀") {
			t.Error("another emoji is another refusal")
		}
	})
}
