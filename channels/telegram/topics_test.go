package telegram

import (
	"testing"

	"parley/channels"
)

// In which topic a message is, is known of the newest ones, and takes no more room than they do.
func TestTopicsOfTheNewestMessages(t *testing.T) {
	x := newTopics()
	const all = 3 * mostPlaced
	for id := range int64(all) {
		x.saw("-1001", id+1, "12")
		x.saw("-1002", id+1, "")
	}
	for id := int64(all - mostPlaced + 1); id <= all; id++ {
		if got := x.thread("-1001", id); got != "12" {
			t.Fatalf("message %d of %d is in topic %q", id, all, got)
		}
	}
	if n := len(x.recent) + len(x.older); n > 2*mostPlaced {
		t.Errorf("%d messages are remembered", n)
	}
	for _, other := range []channels.ChatID{"-1002", "@name", ""} {
		if got := x.thread(other, all); got != "" {
			t.Errorf("a message of %q is in topic %q", other, got)
		}
	}
}
