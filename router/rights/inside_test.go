package rights

import (
	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

const (
	fakeKind = channels.Kind("fake")
	keyA     = sessions.Key("agent:main:fake:group:a")
)

var account = settings.AccountRef{Channel: fakeKind, Account: channels.DefaultAccount}
