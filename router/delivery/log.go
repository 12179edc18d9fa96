package delivery

// The keys of log lines.
const (
	keyAddress  = "address"
	keyClass    = "class"
	keyDelivery = "delivery"
	keyErr      = "err"
	keyReason   = "reason"
	keyRule     = "rule"
	keyRun      = "run"
	keyState    = "state"
	keyStep     = "step"
)
