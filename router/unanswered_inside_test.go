package router

import (
	"strings"
	"testing"
	"time"
)

func TestUnansweredIsBounded(t *testing.T) {
	t.Parallel()
	var u ignored
	now, n := time.Now(), 0
	for i := range 2 * unansweredMost {
		if u.first(groupChat(strings.Repeat("x", i+1)), "why", now) {
			n++
		}
	}
	if n != unansweredMost || !u.first(groupChat("y"), "why", now.Add(unansweredEvery)) {
		t.Errorf("%d lines", n)
	}
}
