package sendtest

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
		{"BeginSend", beginSend}, {"BeginSendExpired", beginSendExpired}, {"BeginSendGranted", beginSendGranted}, {"BeginSendSession", beginSendSession},
		{"BeginSendThread", beginSendThread}, {"FinishBegin", finishBegin},
		{"Parts", parts}, {"Retry", retry}, {"UnclearEnd", unclearEnd}, {"EndDelivery", endDelivery}, {"Files", files}, {"Invite", invite},
		{"Requeue", requeue}, {"Readdress", readdress}, {"Due", due}, {"CountDeliveries", countDeliveries}, {"Marks", marks}, {"MarksSayWhy", marksSayWhy},
		{"NewChats", newChats},
		{"Previews", previews},
	} {
		fixture.Run(t, check.name, open, check.run)
	}
}
