package router

import (
	"testing"
	"testing/synctest"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// What the tests inside the package need of the rig (package routertest), which they cannot import: it imports this one.
const (
	fakeKind = channels.Kind("fake")
	owner    = "1001"
	guest    = "2002"
	keyA     = sessions.Key("agent:main:fake:group:a")
	keyB     = sessions.Key("agent:main:fake:group:b")
	hookKey  = sessions.Key("agent:main:hook:h1")
)

var account = settings.AccountRef{Channel: fakeKind, Account: channels.DefaultAccount}

func direct(id string) channels.Address {
	return channels.Address{Channel: fakeKind, Account: channels.DefaultAccount, Chat: channels.ChatID(id), Type: channels.Direct}
}

func groupChat(id string) channels.Address {
	a := direct(id)
	a.Type = channels.Group
	return a
}

// bubble runs a test on virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}
