package sessions

// Import is a session of another program with its whole history, oldest message first.
type Import struct {
	Session  Session // ID and Updated are kept
	Messages []Message
}

// ImportState is what became of an imported session.
type ImportState string

// The states of an imported session.
const (
	ImportNew      ImportState = "new"      // made
	ImportExtended ImportState = "extended" // its history was a beginning of the imported one, and has the rest now
	ImportSame     ImportState = "same"     // had all messages already
	ImportLeft     ImportState = "left"     // has other messages: left as it was
)

// ImportOutcome is what became of one Import.
type ImportOutcome struct {
	State ImportState
	Added int // messages
}
