package router_test

import "time"

// The bounds that these tests meet.
const (
	sendGrace    = 6 * time.Second
	contextLines = 50
)
