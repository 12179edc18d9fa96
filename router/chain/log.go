package chain

// The keys of log lines.
const (
	keyReason  = "reason"
	keyRun     = "run"
	keySession = "session"
)
