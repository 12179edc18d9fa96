package gateway

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/access"
	"parley/gateway/hooks"
	"parley/sessions"
)

// inbound is what programs outside send to. It needs no token of the gateway: hooks have their own. Their path is that of the start.
func (h *Host) inbound() mount {
	path := h.deps.Config.Config().Hooks.Path
	return mount{path + "/", hooks.New(hooks.Deps{
		Path: path, Config: func() *hooks.Config { return &h.deps.Config.Config().Hooks },
		Agents: func() ([]sessions.AgentID, sessions.AgentID) { return h.deps.Config.Config().Agents.IDs() },
		Router: h.router, From: access.Client, Log: h.log,
		Try: func(from netip.Addr, right func() bool) (bool, time.Duration) {
			f := h.door.Failures()
			if f.Wait(from) > 0 && guessable(&h.deps.Config.Config().Hooks) {
				right = func() bool { return false }
			}
			return f.Try(from, right)
		},
	})}
}

// guessable reports whether a secret of the hooks is so short that whoever guesses could find it.
func guessable(c *hooks.Config) bool {
	short := func(s channels.Secret) bool { return !s.IsZero() && len(s.Reveal()) < access.Long }
	return short(c.Token) || slices.ContainsFunc(c.Mappings, func(m hooks.Mapping) bool { return short(m.Signature.Secret) })
}

// passes says which requests need no token of the gateway, because something else checks them: those of platforms and of programs
// outside.
func (h *Host) passes() func(*http.Request) bool {
	inbound := h.deps.Config.Config().Hooks.Path + "/"
	return func(r *http.Request) bool { return isHook(r) || strings.HasPrefix(r.URL.Path, inbound) }
}
