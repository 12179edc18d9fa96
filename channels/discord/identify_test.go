package discord

import (
	"testing"
	"testing/synctest"

	"parley/channels"
)

func TestIdentify(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		who := channels.Probe(h.ch).Identifier
		if name, err := who.Identify(t.Context()); name == "" || err != nil {
			t.Errorf("the bot is %q, %v", name, err)
		}
		h.srv.Revoke(true)
		if _, err := who.Identify(t.Context()); channels.Classify(err).Class != channels.Unauthorized {
			t.Errorf("a revoked token: %v", err)
		}
	})
}
