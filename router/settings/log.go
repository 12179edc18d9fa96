package settings

// The keys of log lines.
const (
	maxQuotedWord = 300
)
