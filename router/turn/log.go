package turn

// The keys of log lines.
const (
	keyErr     = "err"
	keyMessage = "message"
	keyReason  = "reason"
	keyRun     = "run"
	keySession = "session"
	keyState   = "state"
	maxLine    = 300
)
