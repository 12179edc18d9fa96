package inboxtest

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
		{"Accept", accept}, {"AcceptSkip", acceptSkip}, {"AcceptCursor", acceptCursor}, {"Skipped", skipped}, {"Values", values},
		{"Closed", closed},
		{"Submit", submit}, {"ChangeOrder", changeOrder}, {"ChangeShuffled", changeShuffled}, {"Upsert", upsert},
		{"Overheard", overheard},
		{"Amend", amend}, {"AmendHeard", amendHeard}, {"OverheardEvents", overheardEvents}, {"ForeignDeletion", foreignDeletion},
		{"Revise", revise}, {"Said", said},
		{"OutOfRange", outOfRange}, {"LongIDs", longIDs},
	} {
		fixture.Run(t, check.name, open, check.run)
	}
}
