package stoptest

import (
	"testing"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

// Run runs the checks of this package. open gives an empty store that lives until the end of the test; every check gets its own.
func Run(t *testing.T, open func(t *testing.T) sessions.Store) {
	for _, check := range []struct {
		name string
		run  func(*fixture.Store)
	}{
		{"Stop", stop}, {"StopRecover", stopRecover}, {"StopBelow", stopBelow}, {"StopAside", stopAside}, {"StopRun", stopRun},
		{"StoppedAsks", stoppedAsks},
		{"StopTakesPart", stopTakesPart}, {"StopReachesClosed", stopReachesClosed}, {"StopTells", stopTells}, {"StopElsewhere", stopElsewhere},
		{"StopWithdraws", stopWithdraws}, {"StopKeepsRead", stopKeepsRead}, {"StopFirst", stopFirst},
		{"OutdatedResult", outdatedResult}, {"AnsweredMeanwhile", answeredMeanwhile},
	} {
		fixture.Run(t, check.name, open, check.run)
	}
}
