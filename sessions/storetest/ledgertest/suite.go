package ledgertest

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
		{"Ledger", ledger}, {"Spending", spending}, {"LedgerExpires", ledgerExpires}, {"Lifts", lifts},
		{"Lessons", lessons}, {"LessonsBound", lessonsBound},
	} {
		fixture.Run(t, check.name, open, check.run)
	}
}
