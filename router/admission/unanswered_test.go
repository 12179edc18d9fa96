package admission

import (
	"strings"
	"testing"
	"time"

	"parley/channels"
)

func TestUnansweredIsBounded(t *testing.T) {
	t.Parallel()
	var u ignoredLog
	now, n := time.Now(), 0
	for i := range 2 * maxUnanswered {
		if u.first(channels.Address{Type: channels.Group, Chat: channels.ChatID(strings.Repeat("x", i+1))}, "why", now) {
			n++
		}
	}
	if n != maxUnanswered || !u.first(channels.Address{Type: channels.Group, Chat: channels.ChatID("y")}, "why", now.Add(unansweredInterval)) {
		t.Errorf("%d lines", n)
	}
}
