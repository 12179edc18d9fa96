package chain

import (
	"strings"

	"parley/agent"
	"parley/sessions"
)

// Silence gives the control word that ended a run in silence; "" when it ended otherwise. A sub-agent's own word counts only when it
// is ANNOUNCE_SKIP: whatever else it says is reported (contract N10, N15).
func Silence(run sessions.Run) agent.Control {
	if run.Status != sessions.Done {
		return agent.Speak
	}
	word := agent.Control(strings.TrimSpace(run.Result))
	spawned := run.Chain != nil && run.Chain.Kind == Spawn
	switch {
	case word == agent.AnnounceSkip:
		return word
	case word == agent.NoReply && (!spawned || run.Kind == sessions.ResultRun):
		return word
	case word == agent.ReplySkip && !spawned:
		return word
	}
	return agent.Speak
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
