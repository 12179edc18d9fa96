package router

import (
	"parley/agent"
	"parley/sessions"
	"testing"
)

// An event that nobody watches for is counted, and allocates nothing.
func TestWatchCostsNothing(t *testing.T) {
	r := &Router{}
	run, d, o := sessions.Run{ID: "r", Key: hookKey}, sessions.Delivery{ID: "d"}, sessions.Outcome{Messages: []sessions.Message{{}}}
	var turn agent.Turn
	r.watchText(run, &turn)
	if n := testing.AllocsPerRun(100, func() {
		r.tellRun(run, sessions.Done)
		r.watchers.tellDelivery(d)
		r.tellEnd(run, o, sessions.Accepted{})
		turn.OnText("so far")
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if got := r.Position(); got != 1+101*4 { // a text is none
		t.Errorf("the position is %d", got)
	}
}
