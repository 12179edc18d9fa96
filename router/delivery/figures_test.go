package delivery_test

import "time"

// The bounds that these tests meet.
const (
	fetcherWait    = 10 * time.Second
	maxAbsent      = 50
	mostBooked     = 16
	previewDirect  = time.Second
	previewLeast   = 40
	previewSeveral = 3 * time.Second
	previewTimeout = 10 * time.Second
	removeTries    = 5
	sendGrace      = 6 * time.Second
)
