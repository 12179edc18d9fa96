package operations

import (
	"strings"
	"testing"

	"parley/gateway/api"
	"parley/sessions"
)

// A pairing code that waits to go out is shown to nobody who may not let people in.
func TestPairingCodesAreNotShown(t *testing.T) {
	t.Parallel()
	for scope, want := range map[api.Scope]int{api.Read: 1, api.Write: 1, api.Admin: 2} {
		ctx := api.With(t.Context(), api.Principal{Name: "x", Scope: scope})
		n := 0
		for _, d := range withoutCodes(ctx, []sessions.Delivery{{Kind: sessions.Reply, Text: "code 1"}, {Kind: sessions.Invite, Text: "code 2"}}) {
			n += strings.Count(d.Text, "code 1") + strings.Count(d.Text, "code 2")
		}
		if n != want {
			t.Errorf("%s sees %d", scope, n)
		}
	}
}
