package router_test

import "time"

// The bounds of other packages that these tests meet.
const (
	fetcherWait    = 10 * time.Second    // of delivery
	maxAbsent      = 50                  // of delivery
	mostBooked     = 16                  // of delivery
	previewDirect  = time.Second         // of delivery
	previewLeast   = 40                  // of delivery
	previewSeveral = 3 * time.Second     // of delivery
	previewTimeout = 10 * time.Second    // of delivery
	removeTries    = 5                   // of delivery
	sendGrace      = 6 * time.Second     // of delivery
	mediaKept      = 30 * 24 * time.Hour // of filestore
	contextLines   = 50                  // of settings
)
