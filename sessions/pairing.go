package sessions

import (
	"time"

	"parley/channels"
)

// RejectedFor is how long somebody who was turned down is given no new code.
const RejectedFor = 24 * time.Hour

// Admitted is somebody who was let in by a code.
type Admitted struct {
	Channel channels.Kind      `json:"channel"`
	Account channels.AccountID `json:"account"`
	User    channels.UserID    `json:"user"`
	Name    string             `json:"name,omitzero"`
	Since   time.Time          `json:"since"`
}
