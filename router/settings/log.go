package settings

// The keys of log lines.
const (
	lineMost = 300
)
