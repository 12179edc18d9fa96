package turn_test

import "time"

// The bounds that these tests meet.
const (
	mediaKept = 30 * 24 * time.Hour
)
