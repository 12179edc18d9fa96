package inbound

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// ErrQueueFull says that too many messages wait; the caller may try again later.
var ErrQueueFull = errors.New("too many queued messages")

// applyQueueLimit queues a message of a chat behind the running turn of its session. By the queue's mode the message may end that turn, and
// by its limit make older ones give way; the chat is told which messages have no answer. A refused message is skipped.
func (r *Receiver) applyQueueLimit(ctx context.Context, set *settings.Snapshot, s sessions.Session, in channels.Inbound, c *sessions.Change) (refused *sessions.Skip, err error) {
	if !r.lanes.Busy(s.Key) {
		return nil, nil
	}
	q := set.Queue(s, c.Run.Reply.Channel)
	c.Run.Interrupt = q.Mode == sessions.Interrupt && c.Run.With() == "" // the store spares a turn of another chat
	limit := queueLimit(q, c.Run.Run)
	if open, err := r.store.CountOpen(ctx, s.Key); err != nil || open < limit { // open runs include the queued ones
		return nil, err
	}
	// A message does not make room for runs that are never merged: others do not pay for what one chat sends.
	n, err := r.countQueued(ctx, s.Key, func(run sessions.Run) bool { return !run.Exclusive && run.Reply == c.Run.Reply })
	switch {
	case err != nil || n < limit:
		return nil, err
	case q.Drop == sessions.DropNew:
		return &sessions.Skip{Reason: fmt.Sprintf("%d messages of this chat are queued, the limit of messages.queue.cap", n), Listed: true,
			Notices: r.queueFullNotice(set, in, s.Key, "so I did not accept your last one. Please send it again later.")}, nil
	}
	c.Run.DropOldest = n - limit + 1
	c.Ops = append(c.Ops, sessions.EnqueueDeliveries(r.queueFullNotice(set, in, s.Key, "so I dropped the oldest. Please send again anything that I do not answer.")...)...)
	return nil, nil
}

// checkQueueLimit does the same for a request of a program. The program can be told, so a request above the limit fails with ErrQueueFull.
func (r *Receiver) checkQueueLimit(ctx context.Context, set *settings.Snapshot, s sessions.Session, c *sessions.Change) error {
	if !r.lanes.Busy(s.Key) {
		return nil
	}
	q := set.Queue(s, c.Run.Reply.Channel)
	c.Run.Interrupt = q.Mode == sessions.Interrupt && !c.Run.Exclusive
	n, err := r.countQueued(ctx, s.Key, func(run sessions.Run) bool { return run.Reply == c.Run.Reply })
	if err == nil && n >= queueLimit(q, c.Run.Run) {
		err = fmt.Errorf("%w: %d in session %s, the limit of messages.queue.cap", ErrQueueFull, n, s.Key)
	}
	return err
}

// queueLimit returns how many runs of a chat may wait when a run is added. Runs that a summary may shorten can be more.
func queueLimit(q settings.QueueRule, added sessions.Run) int {
	if q.Drop == sessions.DropSummarize && !added.Exclusive {
		return q.Cap + settings.ShortLines
	}
	return q.Cap
}

// countQueued counts the queued runs of a session that have not begun before and match.
func (r *Receiver) countQueued(ctx context.Context, key sessions.Key, match func(sessions.Run) bool) (n int, err error) {
	queued, err := sessions.QueuedRuns(ctx, r.store, key)
	for _, run := range queued {
		if sessions.IsFresh(run) && match(run) {
			n++
		}
	}
	return n, err
}

// queueFullNotice tells the chat of a message that some are not answered, once for each turn that they wait for: the delivery has the same id.
func (r *Receiver) queueFullNotice(set *settings.Snapshot, in channels.Inbound, key sessions.Key, what string) []sessions.Delivery {
	id := uuid.NewSHA1(uuid.NameSpaceOID, []byte("full queue of "+string(key)+" for "+in.Address.String()+" behind "+r.lanes.TurnToken(key)))
	d := sessions.NewNotice(key, in, "⚙️ Too many messages are waiting here, "+what, time.Now().Add(set.Delivery.TTL(sessions.Notice)))
	d.ID = sessions.DeliveryID(id.String())
	return []sessions.Delivery{d}
}
