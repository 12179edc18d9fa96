package chain

import (
	"log/slog"

	"parley/router/clock"
	"parley/router/settings"
	"parley/sessions"
)

// Config has what an Advancer works with.
type Config struct {
	Store    sessions.Store
	Settings func() *settings.Snapshot
	Ages     *clock.Steady
	Retry    *clock.Retrier
	Log      *slog.Logger
	// TranscriptPath says where a session's transcript file is (contract N13); nil = nowhere.
	TranscriptPath func(sessions.AgentID, sessions.ID) string
}

// Advancer decides what comes after a run that belongs to a chain.
type Advancer struct {
	store          sessions.Store
	settings       func() *settings.Snapshot
	clock          *clock.Steady
	retry          *clock.Retrier
	log            *slog.Logger
	transcriptPath func(sessions.AgentID, sessions.ID) string
}

// New returns an Advancer.
func New(c Config) *Advancer {
	return &Advancer{store: c.Store, settings: c.Settings, clock: c.Ages, retry: c.Retry, log: c.Log, transcriptPath: c.TranscriptPath}
}
