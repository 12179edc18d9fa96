package chattest

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
		{"Positions", positions}, {"Writers", writers}, {"OwnMessage", ownMessage}, {"Asked", asked}, {"Titles", titles},
		{"MovedChat", movedChat}, {"MovedPerson", movedPerson}, {"MovedToSession", movedToSession}, {"MovedAtWork", movedAtWork},
		{"MovedAndRestarted", movedAndRestarted}, {"MovedBeside", movedBeside}, {"MovedToShared", movedToShared}, {"MovedPairing", movedPairing}, {"MovedReplies", movedReplies},
		{"RenamedAccount", renamedAccount}, {"RenamedTwice", renamedTwice}, {"RenamedAround", renamedAround}, {"RenamedToSession", renamedToSession}, {"RenamedPairing", renamedPairing},
		{"RenamedCursor", renamedCursor},
		{"PostedElsewhere", postedElsewhere},
		{"Pairing", pairing}, {"Unpairing", unpairing}, {"FirstOwner", firstOwner}, {"HandedOver", handedOver}, {"HandedOverPolicy", handedOverPolicy}, {"HandedOverMoved", handedOverMoved}, {"HandedOverBelow", handedOverBelow},
	} {
		fixture.Run(t, check.name, open, check.run)
	}
}
