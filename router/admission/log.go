package admission

// The keys of log lines.
const (
	keyAddress = "address"
	keyMessage = "message"
	keyReason  = "reason"
)
