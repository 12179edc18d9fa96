package filestore

// The keys of log lines.
const (
	keyErr = "err"
)
