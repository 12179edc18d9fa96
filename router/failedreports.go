package router

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"parley/channels"
	"parley/router/chain"
	"parley/router/clock"
	"parley/router/commit"
	"parley/router/delivery"
	"parley/router/settings"
	"parley/sessions"
)

// failedReports tells an owner, in the owner's own chat, of reports that their chats refused: once an hour for each chat. What it goes by is in
// the store, so a restart neither loses nor repeats one. It has no goroutine.
type failedReports struct {
	store    sessions.Store
	settings func() *settings.Snapshot
	gate     *delivery.Dispatcher
	commit   *commit.Committer
	ages     *clock.Steady
	redact   func(string) string // nil = nothing is secret

	unseen atomic.Bool // a report has failed since look has told of all
}

// The bounds of what is told.
const (
	failedReportsInterval = time.Hour
	maxFailedReports      = 200
	maxOwnerSessions      = 50
)

// changed sees each state of each delivery. It does not block.
func (f *failedReports) changed(d sessions.Delivery) {
	if d.Kind == sessions.Announce && d.State == sessions.DeliveryFail {
		f.unseen.Store(true)
	}
}

// look tells of the reports that failed within the last hour, and whose chats no owner has heard of since then.
func (f *failedReports) look(ctx context.Context) error {
	if !f.unseen.Swap(false) {
		return nil
	}
	failed, err := f.store.ListDeliveries(ctx, sessions.DeliveryQuery{State: sessions.DeliveryFail, Limit: maxFailedReports})
	for _, d := range slices.Backward(failed) {
		if err == nil && d.Kind == sessions.Announce && f.ages.Age(d.Updated) < failedReportsInterval {
			err = f.tell(ctx, d)
		}
	}
	if err != nil {
		f.unseen.Store(true)
	}
	return err
}

// tell tells an owner of a failed report, unless one has heard of its chat within the hour.
func (f *failedReports) tell(ctx context.Context, d sessions.Delivery) error {
	chat, now := d.To, time.Now()
	chat.Thread = ""
	for _, at := range []time.Time{now.Add(-failedReportsInterval), now} {
		was, err := f.store.GetDelivery(ctx, failedReportID(chat, at))
		if err != nil && !errors.Is(err, sessions.ErrNotFound) || err == nil && f.ages.Age(was.Created) < failedReportsInterval {
			return err
		}
	}
	owner, to, err := f.ownerChat(ctx, d)
	if err != nil || to.IsZero() {
		return err
	}
	where := channels.Code(d.To.String(), 200)
	if s, err := f.store.Get(ctx, d.Session); err == nil && s.Title != "" && s.Last.Chat == d.To.Chat {
		where = channels.Code(s.Title, 100) + ", " + where
	}
	why := cmp.Or(d.Error, "the platform refused it")
	if f.redact != nil {
		why = f.redact(why)
	}
	n := sessions.NewDelivery(sessions.Notice, owner, to, chain.NotDelivered(where, channels.Code(why, 300), string(d.ID)), now.Add(f.settings().Delivery.TTL(sessions.Notice)))
	n.ID = failedReportID(chat, now)
	_, err = f.commit.Submit(ctx, sessions.Change{IdempotencyKey: string(n.ID), Ops: sessions.EnqueueDeliveries(n)})
	return err
}

// failedReportID names the notice about a chat's failed reports in an hour.
func failedReportID(chat channels.Address, at time.Time) sessions.DeliveryID {
	return sessions.DeliveryID(sessions.IDFor("failed-report:"+chat.String()+":"+strconv.FormatInt(at.Truncate(failedReportsInterval).Unix(), 10), "delivery"))
}

// errDetached says that the only chats of owners belong to accounts that are not connected.
var errDetached = errors.New("cannot tell an owner of a failed report: the accounts of the owners' chats are not connected")

// ownerChat finds the direct chat, on a platform, in which an owner has written last, and its session: to the agent of the report, to the default
// agent, or to any other. It is zero when there is none besides the chat that the report was for.
func (f *failedReports) ownerChat(ctx context.Context, d sessions.Delivery) (key sessions.Key, to channels.Address, err error) {
	set := f.settings()
	_, byDefault := set.Agents.IDs()
	keys := []sessions.Key{set.MainKey(d.Session.Agent()), set.MainKey(byDefault)}
	all, err := f.store.List(ctx, sessions.Query{Limit: maxOwnerSessions})
	if err != nil {
		return "", to, err
	}
	for _, s := range all {
		if s.Last.Type == channels.Direct {
			keys = append(keys, s.Key)
		}
	}
	detached := false
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			continue
		}
		chats, err := f.ownersIn(ctx, key)
		if err != nil {
			return "", to, err
		}
		for _, chat := range chats {
			switch limits, attached := f.gate.Limits(chat); {
			case chat.Channel == d.To.Channel && chat.Account == d.To.Account && chat.Chat == d.To.Chat:
			case !attached:
				detached = true
			case !limits.Inside: // of a page nobody is told
				return key, chat, nil
			}
		}
	}
	if detached {
		return "", to, errDetached
	}
	return "", to, nil
}

// ownersIn gives the direct chats in which owners have written to a session, the last one first.
func (f *failedReports) ownersIn(ctx context.Context, key sessions.Key) (chats []channels.Address, err error) {
	conversations, err := f.store.Transcripts(ctx, key, 3)
	if errors.Is(err, sessions.ErrNotFound) {
		return nil, nil
	}
	for _, c := range conversations {
		var said []sessions.Message
		if said, err = f.store.Tail(ctx, c.ID, sessions.TailQuery{}); err != nil {
			break
		}
		for _, m := range slices.Backward(said) {
			p := m.Provenance
			if m.Role != sessions.User || p == nil || !p.Owner || p.Address.Type != channels.Direct || slices.Contains(chats, p.Address) {
				continue
			}
			if f.settings().Owners.Is(p.Address.Channel, channels.Sender{ID: channels.UserID(p.Sender), Username: p.User}) {
				chats = append(chats, p.Address)
			}
		}
	}
	return chats, err
}
