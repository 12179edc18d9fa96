package turn

import (
	"testing"

	"parley/agent"
	"parley/router/event"
	"parley/sessions"
)

// An event that nobody watches for is counted, and allocates nothing.
func TestWatchCostsNothing(t *testing.T) {
	r := &Worker{watchers: new(event.Bus)}
	run, d, o := sessions.Run{ID: "r", Key: "agent:main:hook:h1"}, sessions.Delivery{ID: "d"}, sessions.Outcome{Messages: []sessions.Message{{}}}
	var turn agent.Turn
	r.watchText(run, &turn)
	if n := testing.AllocsPerRun(100, func() {
		r.watchers.Run(run, sessions.Done)
		r.watchers.Delivery(d)
		r.watchers.End(run, o, sessions.Accepted{})
		turn.OnText("so far")
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if got := r.watchers.Position(); got != 1+101*4 { // a text is none
		t.Errorf("the position is %d", got)
	}
}
