package sessions

import (
	"time"

	"parley/channels"
)

// RejectedFor is how long a person who was turned down gets no new code.
const RejectedFor = 24 * time.Hour

// Admitted is a person who was let in by a code.
type Admitted struct {
	Channel channels.Kind      `json:"channel"`
	Account channels.AccountID `json:"account"`
	User    channels.UserID    `json:"user"`
	Name    string             `json:"name,omitzero"`
	Since   time.Time          `json:"since"`
}
