package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/policy"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
)

// BeginSend decides whether a delivery may leave and claims it, in one transaction.
func (s *deliveries) BeginSend(ctx context.Context, id sessions.DeliveryID, now time.Time, check func(sessions.Session) policy.Verdict, o sessions.FirstContactQuota) (d sessions.Delivery, err error) {
	err = s.write(ctx, "BeginSend", func(t *tx) error {
		var transcript int64
		if d, transcript, err = row.GetDelivery(t.Ctx, t.Conn, id); err != nil {
			return err
		}
		return s.beginNoted(t, &d, transcript, now, sessions.BeginSend{Check: check, Quota: o})
	})
	return d, err
}

// beginNoted is beginSend with its row, and the line that says that no platform was called for it yet. There is none behind a try that may have arrived.
func (s *deliveries) beginNoted(t *tx, d *sessions.Delivery, transcript int64, now time.Time, b sessions.BeginSend) error {
	unclear := openWork(d)
	write, err := s.beginSend(t, d, now, b)
	if err != nil || !write {
		return err
	}
	if err := s.keep(t, d, transcript); err != nil {
		return err
	}
	if d.State == sessions.Sending && !unclear {
		_ = s.calls.Intent(d) // without it nothing is known
	}
	return nil
}

// beginSend reports whether there is something to write.
func (s *deliveries) beginSend(t *tx, d *sessions.Delivery, now time.Time, b sessions.BeginSend) (bool, error) {
	if d.State.Final() {
		return false, nil
	}
	if !d.Expires.IsZero() && !now.Before(d.Expires) {
		over(d, sessions.Expired, "not sent before "+d.Expires.UTC().Format(time.RFC3339))
		return true, nil
	}
	v, err := s.verdict(t, d, b.Check)
	if err != nil {
		return false, err
	}
	d.Verdict = &v
	if !v.Allowed() {
		over(d, sessions.Withheld, v.Reason)
		return true, nil
	}
	if ok, err := s.chats.open(t, d.To, d.Kind, now, b.Quota); err != nil {
		return false, err
	} else if !ok {
		was := *d
		d.State, d.NotBefore = sessions.Pending, engine.FromMs(engine.Ms(b.Quota.Until))
		d.Error = fmt.Sprintf("the account has reached today's limit: it writes first in at most %d direct chats a day", b.Quota.Limit)
		return d.State != was.State || !d.NotBefore.Equal(was.NotBefore) || d.Error != was.Error, nil
	}
	d.State = sessions.Sending
	d.Attempt++
	return true, nil
}

// beginAtOnce is beginSend for a delivery that this transaction has made, in its turn: when one that goes to the same chat was made before it
// and is not final, it stays pending. That reads the deliveries that are not final, by their index: SQLite takes it only where the statement
// repeats its condition, and reads all deliveries otherwise.
func (s *deliveries) beginAtOnce(t *tx, p *row.Delivery, d *sessions.Delivery, b sessions.BeginSend) error {
	behind := false
	chat := column.Chat(d.To)
	err := t.Each("SELECT address FROM deliveries WHERE state IN ('pending', 'sending') AND state <> 'sent' AND seq < ?", []any{d.Seq}, func(r engine.Row) error {
		behind = behind || column.Chat(column.Address(r.Str(0))) == chat
		return nil
	})
	if err != nil || behind {
		return err
	}
	err = s.beginNoted(t, d, p.Transcript, t.Now, b)
	t.Label(d.State == sessions.Sending, "begin")
	return err
}

// over ends a delivery that is not to be sent. One that was being sent may be there all the same, but not between two parts.
func over(d *sessions.Delivery, state sessions.DeliveryState, why string) {
	d.Ambiguous = d.Ambiguous || openWork(d)
	if d.State, d.Error = state, why; d.Ambiguous {
		d.Error += "; " + sessions.MayHaveArrived
	}
}

// openWork reports whether a try of the current part was begun of whose end nothing is known.
func openWork(d *sessions.Delivery) bool { return d.State == sessions.Sending && d.Attempt > 0 }

// verdict is what was granted when the delivery was made, otherwise what check says about the session as it stands. A session
// that was deleted meanwhile is its key alone: rules about keys still apply.
func (s *deliveries) verdict(t *tx, d *sessions.Delivery, check func(sessions.Session) policy.Verdict) (policy.Verdict, error) {
	if d.PreAuthorized != nil {
		return *d.PreAuthorized, nil
	}
	if d.Session == "" {
		return check(sessions.Session{}), nil
	}
	k, err := s.asked(t, d.Session)
	if err != nil {
		return policy.Verdict{}, err
	}
	v := check(k)
	if !v.Allowed() || !k.Last.IsZero() {
		return v, nil
	}
	// It has no chat of its own, as when another session has got the one that it had: that one's word counts too.
	var there []sessions.Key
	if err := t.Each("SELECT key FROM heard WHERE address = ? ORDER BY key", []any{d.To.String()}, func(r engine.Row) error {
		there = append(there, sessions.Key(r.Str(0)))
		return nil
	}); err != nil {
		return policy.Verdict{}, err
	}
	for _, key := range there {
		its, err := s.asked(t, key)
		if err != nil {
			return policy.Verdict{}, err
		}
		if its := check(its); !its.Allowed() {
			return its, nil
		}
	}
	return v, nil
}

// asked gives a session as a policy is asked about it.
func (s *deliveries) asked(t *tx, key sessions.Key) (sessions.Session, error) {
	k, err := s.sessions.Get(t, key)
	if errors.Is(err, sessions.ErrNotFound) {
		k.Session, err = sessions.Session{Key: key, Agent: key.Agent()}, nil
	}
	if err == nil {
		k.ChatDeny, err = s.sessions.ChatDenies(t, k.Key)
	}
	return k.Session, err
}
