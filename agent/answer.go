package agent

// The values of Answer.Stop and of a message's stop reason.
const (
	StopEnd     = "stop"    // the model was done
	StopLength  = "length"  // the answer was cut off at its length limit
	StopToolUse = "toolUse" // it asks for tools
	StopFilter  = "filter"  // the model or a filter of its provider refused
)
