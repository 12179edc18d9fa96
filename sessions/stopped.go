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
