package commit

// The keys of log lines.
const (
	keyErr = "err"
)
