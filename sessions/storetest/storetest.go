package storetest

import (
	"testing"

	"parley/sessions"
	"parley/sessions/storetest/chattest"
	"parley/sessions/storetest/inboxtest"
	"parley/sessions/storetest/ledgertest"
	"parley/sessions/storetest/runtest"
	"parley/sessions/storetest/sendtest"
	"parley/sessions/storetest/sessiontest"
	"parley/sessions/storetest/stoptest"
	"parley/sessions/storetest/transcripttest"
)

// Run runs the suite. open gives an empty store that lives until the end of the test; every check gets its own.
func Run(t *testing.T, open func(t *testing.T) sessions.Store) {
	inboxtest.Run(t, open)
	runtest.Run(t, open)
	stoptest.Run(t, open)
	sendtest.Run(t, open)
	chattest.Run(t, open)
	sessiontest.Run(t, open)
	transcripttest.Run(t, open)
	ledgertest.Run(t, open)
}
