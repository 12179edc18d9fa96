package routertest

import (
	"time"

	"parley/sessions"
)

// ExpireEvery is how often the host looks for what is over and for what nobody works on.
const ExpireEvery = 30 * time.Second

// IsSubagent reports whether a session is a sub-agent's (contract K5).
func IsSubagent(key sessions.Key) bool {
	p, err := key.Parse()
	return err == nil && p.Form == sessions.FormSubagent
}
