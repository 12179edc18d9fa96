package toolhost

// The keys of log lines.
const (
	keySession = "session"
)
