package clock

// The keys of log lines.
const (
	keyErr  = "err"
	keyStep = "step"
)
