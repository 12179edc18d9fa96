package inbound

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// line has a message that comes while its session is busy wait its turn: it may end the turn at work, or make others give way. Of what
// is not answered then people are told. refused says why it is not taken; nil when it is.
func (r *Receiver) line(ctx context.Context, set *settings.Snapshot, s sessions.Session, in channels.Inbound, c *sessions.Change) (refused *sessions.Skip, err error) {
	if !r.lanes.Busy(s.Key) {
		return nil, nil
	}
	q := set.Queue(s, c.Run.Reply.Channel)
	c.Run.Interrupt = q.Mode == sessions.Interrupt && c.Run.With == "" // what is at work for another chat goes on: the store looks
	most := q.Most
	if q.Drop == sessions.DropSummarize {
		most += settings.ShortLines
	}
	if open, err := r.store.CountOpen(ctx, s.Key); err != nil || open < most { // all that wait are among them
		return nil, err
	}
	queued, err := sessions.QueuedRuns(ctx, r.store, s.Key)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, run := range queued {
		if sessions.IsFresh(run) && !run.Alone && run.Reply == c.Run.Reply { // others do not pay for what one chat sends
			n++
		}
	}
	switch {
	case n < most:
		return nil, nil
	case q.Drop == sessions.DropNew:
		return &sessions.Skip{Reason: fmt.Sprintf("%d messages of this chat wait, the most it may have (messages.queue.cap)", n), Listed: true,
			Notices: r.sayFull(set, in, s.Key, "so I did not take your last one. Please send it again later.")}, nil
	}
	c.Run.DropOldest = n - most + 1
	c.Ops = append(c.Ops, sessions.EnqueueDeliveries(r.sayFull(set, in, s.Key, "so I drop the oldest of them. Please send again later what has no answer.")...)...)
	return nil, nil
}

// sayFull tells the chat of a message that some are not answered: once for each turn that they wait for, as it is the same delivery.
func (r *Receiver) sayFull(set *settings.Snapshot, in channels.Inbound, key sessions.Key, what string) []sessions.Delivery {
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte("full queue of "+string(key)+" for "+in.Address.String()+" behind "+r.lanes.TurnToken(key)))
	d := sessions.NewNotice(key, in, "⚙️ Too many messages are waiting here, "+what, time.Now().Add(set.Delivery.TTL(sessions.Notice)))
	d.ID = sessions.DeliveryID(id.String())
	return []sessions.Delivery{d}
}
