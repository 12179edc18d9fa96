package sessiontest

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
		{"FinishDeleteLater", finishDeleteLater}, {"ExpireLater", expireLater}, {"Above", above}, {"Known", known},
		{"List", list}, {"Patch", patch}, {"Reset", reset}, {"Heard", heard}, {"Archive", archive},
		{"Delete", remove}, {"Expire", expire}, {"NotFound", notFound}, {"ResetOf", resetOf},
		{"Labels", labels}, {"LabelsBelow", labelsBelow},
		{"Managed", managed}, {"Selected", selected},
	} {
		fixture.Run(t, check.name, open, check.run)
	}
}
