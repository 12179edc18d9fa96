package router

import (
	"parley/sessions"
	"parley/tools"
)

// tools are those that a run of a session has.
func (g *rig) tools(s sessions.Session, run sessions.Run, msgs ...sessions.Message) []tools.Tool {
	g.t.Helper()
	may, err := g.r.rightsOf(g.t.Context(), g.r.settings.Load(), s, run, msgs)
	if err != nil {
		g.t.Fatal(err)
	}
	return g.r.toolsFor(g.t.Context(), run, may)
}
