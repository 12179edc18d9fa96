package sessions

import "time"

// StopNote marks, in Message.Provenance.Tool, what stands in a transcript behind a turn that a person stopped.
const StopNote = "stop"

// StoppedMessage is what the host puts into the transcript behind a turn that a person stopped, so that a model does not take the
// request before it as still open. It is the same message however often it is made.
func StoppedMessage(run RunID, at time.Time) Message {
	return Message{ID: "stop-" + string(run), Role: User, Run: run, Time: at, Content: TextContent("Stopped by a person."),
		Provenance: &Provenance{Kind: InternalSystem, Tool: StopNote}}
}

// Stopper says who stopped a run.
type Stopper string

// Who stops runs.
const (
	ByPerson   Stopper = "" // in a chat or on the page
	ByOperator Stopper = "operator"
	ByParent   Stopper = "parent"   // the session that started the sub-agent
	ByDeletion Stopper = "deletion" // of the session
)

// Words are those on a run that was stopped.
func (s Stopper) Words() string {
	switch s {
	case ByOperator:
		return "stopped by an operator"
	case ByParent:
		return "stopped by the session that started it"
	case ByDeletion:
		return "stopped because its session is deleted"
	case ByPerson:
	}
	return "stopped by a person"
}

// Stoppable lists what a stop of sessions would end.
type Stoppable struct {
	Runs       []Run
	Deliveries []Delivery // of these runs and earlier ones, not sent or not to the end
}

// Ended counts what a stop has ended.
type Ended struct {
	Turns      int `json:"turns,omitzero"`      // at work in the sessions that were stopped; 1 when all waited
	Messages   int `json:"messages,omitzero"`   // that waited there
	Subagents  int `json:"subagents,omitzero"`  // sessions of them
	Exchanges  int `json:"exchanges,omitzero"`  // with other sessions
	Reports    int `json:"reports,omitzero"`    // of sub-agents that have ended
	Jobs       int `json:"jobs,omitzero"`       // scheduled ones
	Deliveries int `json:"deliveries,omitzero"` // not sent, or not to the end
	Leaving    int `json:"leaving,omitzero"`    // deliveries whose last part was under way
}

// askChain is the kind of chain of a sessions_send (Chain.Kind).
const askChain = "ask"

// IsExchange reports whether a run belongs to a sessions_send.
func (r Run) IsExchange() bool { return r.Chain != nil && r.Chain.Kind == askChain }
