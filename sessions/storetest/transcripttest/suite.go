package transcripttest

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
		{"Tail", tail}, {"TailAfter", tailAfter}, {"TailBefore", tailBefore}, {"TailNumbers", tailNumbers},
		{"Search", search}, {"SearchWords", searchWords}, {"SearchKeys", searchKeys}, {"SearchOld", searchOld},
		{"Notes", notes}, {"NotesOf", notesOf},
		{"Compact", compact}, {"FinishSummary", finishSummary},
		{"Opaque", opaque}, {"OpaqueBefore", opaqueBefore}, {"OpaqueBound", opaqueBound}, {"OpaqueResumed", opaqueResumed},
	} {
		fixture.Run(t, check.name, open, check.run)
	}
}
