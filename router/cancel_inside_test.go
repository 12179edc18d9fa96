package router

import (
	"context"
	"errors"
	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
	"testing"
)

// TestStoppedWhileClaimed aborts a run between the commit of its claim and the moment that its lane knows of it.
func TestStoppedWhileClaimed(t *testing.T) {
	for id, want := range map[sessions.RunID]bool{"r1": true, "r2": false} {
		cause := make(chan error, 1)
		var l *lanes
		l = newLanes(func(ctx context.Context, key sessions.Key, _ *sessions.Run) bool {
			l.abort([]sessions.StoppedRun{{Key: key, ID: id}}, errStopped)
			l.at(key, "r1", settings.OfOwners)
			cause <- context.Cause(ctx)
			return false
		}, agent.Defaults{})
		l.start(t.Context())
		l.wake(keyA, "")
		if err := <-cause; errors.Is(err, errStopped) != want {
			t.Errorf("run r1, stopped %s: %v", id, err)
		}
		l.stop()
	}
}
