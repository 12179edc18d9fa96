package turn

import (
	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// What the tests of package turn_test open.

// Compacts returns what makes a turn's prompt fit.
func (w *Worker) Compacts(set *settings.Snapshot, s sessions.Session, run sessions.Run, t *agent.Turn) *compaction {
	return w.compacts(set, &tools.Caller{Session: s, Run: run}, t)
}

// Writer returns who writes summaries.
func (c *compaction) Writer(room agent.Room) (agent.Turn, error) { return c.writer(room) }

// Fallbacks returns the models that come after the first.
func (w *Worker) Fallbacks(e agent.Entry, first string) []agent.Candidate {
	return w.fallbacks(e, first)
}

// Model finds a model.
func (w *Worker) Model(name string) (agent.Candidate, error) { return w.model(name) }
