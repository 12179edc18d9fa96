package router_test

import (
	"slices"
	"testing"

	"parley/channels/channeltest"
	"parley/router/routertest"
	"parley/sessions"
)

// Who watches hears of every delivery before it can be sent, also of those that wait in the store because too many are known, and is
// told while the gate is free.
func TestGateTellsWithoutItsLock(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		gate := g.Router.Gate
		var told []sessions.DeliveryID
		*gate.Changed() = func(d sessions.Delivery) {
			if !gate.Mu().TryLock() {
				t.Errorf("%s is told with the gate locked", d.ID)
				return
			}
			if _, known := gate.Known()[d.ID]; known {
				t.Errorf("%s may be sent before anybody hears of it", d.ID)
			}
			gate.Mu().Unlock()
			told = append(told, d.ID)
		}
		gate.Mu().Lock()
		*gate.Most(), *gate.Life() = 1, nil // nothing is sent
		gate.Known()["one before"] = false
		gate.Mu().Unlock()
		gate.Enqueue(sessions.Delivery{ID: "a"}, sessions.Delivery{ID: "b"}, sessions.Delivery{ID: "c"})
		if !slices.Equal(told, []sessions.DeliveryID{"a", "b", "c"}) {
			t.Errorf("told: %v", told)
		}
	})
}
