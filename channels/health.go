package channels

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// HealthHolder holds the Health of a connection, for an adapter that is a Reporter, and says in the log when it changes.
type HealthHolder struct {
	log *slog.Logger // says already which channel and account this is

	mu     sync.Mutex
	health Health
}

// NewHealthHolder starts with the state Stopped. stale is how long silence is no deafness.
func NewHealthHolder(log *slog.Logger, stale time.Duration) *HealthHolder {
	return &HealthHolder{log: log, health: Health{State: Stopped, Stale: stale}}
}

// Get gives what is known.
func (h *HealthHolder) Get() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.health
}

// Set changes the state, and says so in the log when it is another one or has another reason. Connected is a sign of life as well.
func (h *HealthHolder) Set(ctx context.Context, state State, detail string) {
	h.mu.Lock()
	changed := h.health.State != state || h.health.Detail != detail
	h.health.State, h.health.Detail = state, detail
	if state == Connected {
		h.health.LastSeen = time.Now()
	}
	h.mu.Unlock()
	if !changed {
		return
	}
	level := slog.LevelInfo
	switch {
	case state == Conflict, state == Banned, state.Permanent():
		level = slog.LevelError
	case state == Disconnected:
		level = slog.LevelWarn
	}
	h.log.Log(ctx, level, "connection", "state", state, "detail", detail)
}

// Seen notes that the platform proved to be there.
func (h *HealthHolder) Seen() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.health.LastSeen = time.Now()
}

// Named takes over what the account is called on the platform.
func (h *HealthHolder) Named(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.health.Name = name
}

// Deaf says how long silence is no deafness from now on.
func (h *HealthHolder) Deaf(after time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.health.Stale = after
}
