package chain

import (
	"parley/channels"
	"parley/sessions"
)

// ExternalKind is what the sessions of agents outside are called: agent:<default agent>:mcp:<who>.
const ExternalKind channels.Kind = "mcp"

// isExternal reports whether a session is that of an agent outside: it takes no turns of its own.
func isExternal(key sessions.Key) bool {
	p, err := key.Parse()
	return err == nil && p.Form == sessions.FormOther && p.Channel == ExternalKind
}

// toExternal puts what an agent outside asked for into its session's transcript, where sessions_history shows it: no turn answers it.
func (a *Advancer) toExternal(run sessions.Run, c sessions.Chain, text string, p *sessions.Provenance) *sessions.Change {
	return a.step(run, c.Requester, sessions.PostRun, c, text, p)
}
