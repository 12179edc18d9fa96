package lane

import (
	"context"
	"errors"
	"testing"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

// TestStoppedWhileClaimed aborts a run between the commit of its claim and the moment that its lane knows of it.
func TestStoppedWhileClaimed(t *testing.T) {
	for id, want := range map[sessions.RunID]bool{"r1": true, "r2": false} {
		cause := make(chan error, 1)
		var l *Executor
		l = New(func(ctx context.Context, key sessions.Key, _ *sessions.Run) bool {
			l.Abort([]sessions.StoppedRun{{Key: key, ID: id}}, ErrStopped)
			l.SetRunning(key, "r1", settings.OfOwners)
			cause <- context.Cause(ctx)
			return false
		}, agent.Defaults{})
		l.Start(t.Context())
		l.Wake(keyA, "")
		if err := <-cause; errors.Is(err, ErrStopped) != want {
			t.Errorf("run r1, stopped %s: %v", id, err)
		}
		l.Stop()
	}
}
