package chain

import (
	"parley/agent"
	"parley/agent/control"
	"parley/sessions"
)

// Silence gives the control word that ended a run in silence; "" when it ended otherwise. Every word of every run is silence (contract
// W3), but of a running sub-agent only ANNOUNCE_SKIP: after any other one its announce step decides.
func Silence(run sessions.Run) agent.Control {
	r := control.Read(run.Result)
	if run.Status != sessions.Done || r.Text != "" || run.Kind == sessions.ChildRun && r.Word != agent.AnnounceSkip {
		return agent.Speak
	}
	return r.Word
}
