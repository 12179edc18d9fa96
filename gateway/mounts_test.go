package gateway

import "net/http"

// Patterns is where something is served, for tests of the door.
func (h *Host) Patterns() (all []string) { return h.server.Patterns() }

// Handlers are what the network and the socket reach.
func (h *Host) Handlers() (network, socket http.Handler) { return h.server.Handlers() }

// Rebuilt makes the servers again before the same host: where time is virtual, what waits at the door must have been made there.
func (h *Host) Rebuilt() (network, socket *http.Server) {
	_, network, socket = h.server.Front()
	return network, socket
}
