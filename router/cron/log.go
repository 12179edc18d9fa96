package cron

// The keys of log lines.
const (
	keyErr    = "err"
	keyJob    = "job"
	keyReason = "reason"
	maxStop   = 1000
)
