package rights

import (
	"context"

	"parley/router/filestore"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// Config has what a Resolver works with.
type Config struct {
	Store    sessions.Store
	Settings func() *settings.Snapshot
	Media    *filestore.Cache
	// MoreTools gives further tools, for sandboxed sessions or for the others; it is asked for each turn. nil = none.
	MoreTools func(ctx context.Context, sandboxed bool) []tools.Tool
}

// Resolver decides which tools a turn may use.
type Resolver struct {
	store    sessions.Store
	settings func() *settings.Snapshot
	media    *filestore.Cache
	more     func(ctx context.Context, sandboxed bool) []tools.Tool
	Tools    []tools.Tool // that come with the host; set once, before the first turn
}

// New returns a Resolver.
func New(c Config) *Resolver {
	return &Resolver{store: c.Store, settings: c.Settings, media: c.Media, more: c.MoreTools}
}
