package access

import (
	"log/slog"
	"net/http"
	"time"
)

const (
	headerTimeout = 10 * time.Second // headers that have not come by then are given up
	idleTimeout   = 2 * time.Minute  // a connection between two requests
	maxHeader     = 64 << 10
)

// Server gives an HTTP server with limits for headers and idle connections; those for bodies and answers are the door's. Nothing is
// answered before the door, OPTIONS * neither.
func Server(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ConnContext: ConnContext,
		DisableGeneralOptionsHandler: true, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
}
