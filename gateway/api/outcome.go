package api

import "parley/sessions"

// Outcome is the end of a request to an agent, or of a message to a chat. docs/cli.md lists all.
type Outcome string

// The outcomes.
const (
	Answered    Outcome = "answered"
	Silent      Outcome = "silent"      // by a control word
	Done        Outcome = "done"        // without words, as a compaction is
	Empty       Outcome = "empty"       // the model gave no words
	Withheld    Outcome = "withheld"    // by the send policy
	Stopped     Outcome = "stopped"     // the run, or the delivery of its answer
	TimedOut    Outcome = "timeout"     // the run reached its time limit
	Failed      Outcome = "failed"      // the run
	Undelivered Outcome = "undelivered" // the platform did not take it
	Expired     Outcome = "expired"     // it could not leave in its time
	Held        Outcome = "held"        // it may have arrived: a person decides
	Dropped     Outcome = "dropped"     // by a person
)

// undelivered are the outcomes of deliveries that do not arrive, those that count first in front.
var undelivered = []struct {
	state   sessions.DeliveryState
	outcome Outcome
}{
	{sessions.Withheld, Withheld}, {sessions.DeliveryFail, Undelivered}, {sessions.Expired, Expired}, {sessions.Held, Held},
	{sessions.DeliveryStopped, Stopped}, {sessions.Dropped, Dropped},
}

// OutcomeOf says how a run has ended, and the rule that withholds its answer. The end of a run that did not succeed counts before what became of
// its messages. A message that waits and has the rule of a deny counts as withheld: the policy is asked again in a moment.
func OutcomeOf(w Waited) (outcome Outcome, rule string) {
	switch w.State {
	case sessions.Stopped:
		return Stopped, ""
	case sessions.TimedOut:
		return TimedOut, ""
	case sessions.Failed:
		return Failed, ""
	default:
	}
	for _, u := range undelivered {
		for _, m := range w.Deliveries {
			if DeliveryOutcome(m.State, m.Rule) == u.outcome {
				return u.outcome, m.Rule
			}
		}
	}
	switch {
	case w.Reply != "":
		return Answered, ""
	case w.Silent != "":
		return Silent, ""
	case w.Error != "":
		return Empty, ""
	}
	return Done, ""
}

// DeliveryOutcome says how a delivery ends; "" = it arrived, or it is on its way. rule is that of a deny.
func DeliveryOutcome(state sessions.DeliveryState, rule string) Outcome {
	if state == sessions.Pending && rule != "" {
		return Withheld
	}
	for _, u := range undelivered {
		if u.state == state {
			return u.outcome
		}
	}
	return ""
}
