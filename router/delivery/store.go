package delivery

import (
	"context"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// Store is the part of sessions.Store that a Dispatcher uses; the promises of each method are there.
type Store interface {
	Get(ctx context.Context, key sessions.Key) (sessions.Session, error)
	GetRun(ctx context.Context, id sessions.RunID) (sessions.Run, error)
	Steps(ctx context.Context, id sessions.RunID) ([]sessions.Message, error)
	Writers(ctx context.Context, key sessions.Key) ([]channels.Address, error)
	Submit(ctx context.Context, c sessions.Change) (sessions.Accepted, error)

	Due(ctx context.Context, limit int, afterSeq int64) ([]sessions.Delivery, error)
	GetDelivery(ctx context.Context, id sessions.DeliveryID) (sessions.Delivery, error)
	ListDeliveries(ctx context.Context, q sessions.DeliveryQuery) ([]sessions.Delivery, error)
	BeginSend(ctx context.Context, id sessions.DeliveryID, now time.Time, check func(sessions.Session) policy.Verdict, o sessions.FirstContactQuota) (sessions.Delivery, error)
	Calling(d sessions.Delivery) error
	Answered(d sessions.Delivery, r channels.Receipt, last bool)
	PartSent(ctx context.Context, id sessions.DeliveryID, r channels.Receipt, last bool) error
	Retry(ctx context.Context, id sessions.DeliveryID, at time.Time, reason string, end sessions.TryEnd) error
	EndDelivery(ctx context.Context, id sessions.DeliveryID, state sessions.DeliveryState, reason string) error
	Readdress(ctx context.Context, from, to channels.Address) error
	Requeue(ctx context.Context, id sessions.DeliveryID, expires time.Time) (sessions.Delivery, error)

	BeginPreview(ctx context.Context, p sessions.Preview) error
	ShowPreview(ctx context.Context, run sessions.RunID, id channels.MessageID) error
	EndPreview(ctx context.Context, run sessions.RunID) error
	Previews(ctx context.Context) ([]sessions.Preview, error)
}
