package api

import (
	"parley/sessions"
)

// DeliveriesQuery selects deliveries, newest first.
type DeliveriesQuery struct {
	State   sessions.DeliveryState `query:"state" enum:"pending,sending,sent,withheld,failed,expired,stopped,dropped,held"`
	Session string                 `query:"session" jsonschema:"key, session id, or main"`
	Run     sessions.RunID         `query:"run"`
	Before  int64                  `query:"before" min:"0" jsonschema:"only deliveries with a smaller seq, for the next page"`
	Limit   int                    `query:"limit" default:"50" min:"1" max:"1000"`
}

// DeliveryCountQuery selects the deliveries that are counted; empty fields select all.
type DeliveryCountQuery struct {
	Session string         `query:"session" jsonschema:"key, session id, or main"`
	Run     sessions.RunID `query:"run"`
}

// DeliveryCall names a delivery.
type DeliveryCall struct {
	ID sessions.DeliveryID `path:"delivery"`
}
