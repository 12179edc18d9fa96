package budget

// The keys of log lines.
const (
	keyErr = "err"
	keyRun = "run"
)
