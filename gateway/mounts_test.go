package gateway

import (
	"net/http"

	"parley/gateway/access"
)

// Patterns is where something is served, for tests of the door.
func (h *Host) Patterns() (all []string) {
	for _, m := range h.mounts() {
		all = append(all, m.pattern)
	}
	return all
}

// Handlers are what the network and the socket reach.
func (h *Host) Handlers() (network, socket http.Handler) { return h.server.Handler, h.local.Handler }

// Rebuilt makes the servers anew before the same host: where time is virtual, what waits at the door must have been made there.
func (h *Host) Rebuilt() (network, socket *http.Server) {
	d := access.New(access.Config{Settings: h.doorSettings(h.deps.Config.Config()), Pass: h.passes()})
	return access.Server(d.Guard(h.handler()), h.log), access.Server(d.Local(h.handler()), h.log)
}
