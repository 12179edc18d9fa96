package runtest

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
		{"Claim", claim}, {"ClaimConcurrent", claimConcurrent}, {"ClaimTranscript", claimTranscript}, {"ClaimAtOnce", claimAtOnce}, {"Deadline", deadline},
		{"Recover", recovered}, {"ListRuns", listRuns}, {"RunFields", runFields},
		{"Record", record}, {"Finish", finish}, {"FinishNext", finishNext}, {"FinishClear", finishClear}, {"FinishAfterReset", finishAfterReset},
		{"CompactRun", compactRun}, {"Post", post},
		{"Absorb", absorb}, {"AbsorbNot", absorbNot}, {"Batch", batch}, {"BatchShort", batchShort}, {"Turns", turns},
		{"Trace", trace}, {"TraceReceipt", traceReceipt}, {"TraceChain", traceChain}, {"TraceWide", traceWide}, {"TraceDeleted", traceDeleted},
		{"Interrupt", interrupt}, {"Drop", drop}, {"AloneStays", aloneStays},
		{"Jobs", jobs}, {"Occurrences", occurrences},
		{"Random", random},
	} {
		fixture.Run(t, check.name, open, check.run)
	}
}
