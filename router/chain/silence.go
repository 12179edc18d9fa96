package chain

import (
	"parley/agent"
	"parley/agent/control"
	"parley/sessions"
)

// Silence gives the control word that ended a run in silence; "" when it ended otherwise. Every word of every run is silence (contract
// W3), but of a sub-agent at work only ANNOUNCE_SKIP: after any other one its announce step decides.
func Silence(run sessions.Run) agent.Control {
	r := control.Read(run.Result)
	if run.Status != sessions.Done || r.Text != "" || run.Kind == sessions.ChildRun && r.Word != agent.AnnounceSkip {
		return agent.Speak
	}
	return r.Word
}

// Wordless says to a person why a turn has no answer: silence without a reason looks like a fault of the chat.
func Wordless(stop string) string {
	if stop == agent.StopFilter {
		return "The language model refused to answer this."
	}
	if stop == agent.StopLength { // most often of nothing but thinking
		return "The language model reached its length limit before it said a word."
	}
	return "The language model gave an empty answer."
}
