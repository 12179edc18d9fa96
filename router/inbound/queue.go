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
// is not answered then people are told. refused says why it is not taken; "" when it is.
func (r *Receiver) line(ctx context.Context, set *settings.Snapshot, s sessions.Session, in channels.Inbound, e *sessions.Effects) (refused string, err error) {
	if !r.lanes.Busy(s.Key) {
		return "", nil
	}
	q := set.Queue(s, e.Run.Reply.Channel)
	e.Interrupt = q.Mode == sessions.Interrupt && e.Run.With == "" // what is at work for another chat goes on: the store looks
	most := q.Most
	if q.Drop == sessions.DropSummarize {
		most += settings.ShortLines
	}
	if open, err := r.store.CountOpen(ctx, s.Key); err != nil || open < most { // all that wait are among them
		return "", err
	}
	queued, err := sessions.QueuedRuns(ctx, r.store, s.Key)
	if err != nil {
		return "", err
	}
	n := 0
	for _, run := range queued {
		if sessions.IsFresh(run) && !run.Alone && run.Reply == e.Run.Reply { // others do not pay for what one chat sends
			n++
		}
	}
	switch {
	case n < most:
		return "", nil
	case q.Drop == sessions.DropNew:
		*e = sessions.Effects{Deliveries: r.sayFull(set, in, s.Key, "so I did not take your last one. Please send it again later.")}
		return fmt.Sprintf("%d messages of this chat wait, the most it may have (messages.queue.cap)", n), nil
	}
	e.Drop = n - most + 1
	e.Deliveries = r.sayFull(set, in, s.Key, "so I drop the oldest of them. Please send again later what has no answer.")
	return "", nil
}

// sayFull tells the chat of a message that some are not answered: once for each turn that they wait for, as it is the same delivery.
func (r *Receiver) sayFull(set *settings.Snapshot, in channels.Inbound, key sessions.Key, what string) []sessions.Delivery {
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte("full queue of "+string(key)+" for "+in.Address.String()+" behind "+r.lanes.TurnToken(key)))
	d := sessions.Delivery{ID: sessions.DeliveryID(id.String()), Kind: sessions.Notice, Session: key, To: in.Address,
		Text: "⚙️ Too many messages are waiting here, " + what, Expires: time.Now().Add(set.Delivery.TTL(sessions.Notice))}
	if in.Address.Type.Several() {
		d.ReplyTo = in.ID
	}
	return []sessions.Delivery{d}
}
