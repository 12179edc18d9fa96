package command

// The keys of log lines.
const (
	keyCommand = "command"
	keyErr     = "err"
	keySession = "session"
)
