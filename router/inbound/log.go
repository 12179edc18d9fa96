package inbound

// The keys of log lines.
const (
	keyAddress = "address"
	keyCommand = "command"
	keyErr     = "err"
	keyMessage = "message"
	keyReason  = "reason"
	keySession = "session"
)
