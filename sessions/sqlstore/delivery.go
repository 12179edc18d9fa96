package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/move"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/sendlog"
	"parley/sessions/sqlstore/session"
	"parley/sessions/sqlstore/transcriptfile"
)

// deliveries keeps what is to leave, and what became of it.
type deliveries struct {
	repository

	numbers  *engine.Sequence
	files    *transcriptfile.Pending
	calls    *sendlog.Log // notes of calls to platforms
	trace    func(op, phase string)
	sessions *session.Rows
	chats    *chats
	moves    *move.Rows
	inbox    *inbox
	lines    *session.ContextLines
}

// post makes a pending delivery. One with the same id that is there already is given back as it stands.
func (s *deliveries) post(t *tx, p *row.Delivery) (sessions.Delivery, error) {
	d := p.Delivery
	runSeq, transcript, messageSeq := p.RunSeq, p.Transcript, p.MessageSeq
	if d.Run != "" && runSeq == 0 {
		if _, err := t.One("SELECT seq FROM runs WHERE id = ?", []any{string(d.Run)}, func(r engine.Row) error { runSeq = r.Int(0); return nil }); err != nil {
			return d, err
		}
	}
	to, err := s.moves.Current(t, d.To)
	if err != nil {
		return d, err
	}
	body := p.Body
	if to != d.To { // it was made by a turn that began before the chat moved
		d.MoveTo(to)
		moved, err := row.EncodeDelivery(d)
		if err != nil {
			return d, err
		}
		body = moved.Body
	}
	awaits := ""
	if d.Message != "" && messageSeq == 0 {
		found, err := t.One("SELECT seq, transcript FROM messages WHERE id = ?", []any{d.Message}, func(r engine.Row) error { messageSeq, transcript = r.Int(0), r.Int(1); return nil })
		if err != nil {
			return d, err
		}
		if !found {
			awaits = d.Message // it comes when its run is claimed
		}
	}
	d.State, d.Part, d.Attempt, d.AmbiguousTries, d.Repeat, d.Ambiguous, d.Verdict, d.Receipts, d.Tries, d.Error = sessions.Pending, 0, 0, 0, false, false, nil, nil, nil, ""
	d.Seq = s.numbers.Last() + 1
	d.Created = engine.FromMs(engine.Ms(t.Now))
	d.Updated, d.NotBefore, d.Expires = d.Created, engine.FromMs(engine.Ms(d.NotBefore)), engine.FromMs(engine.Ms(d.Expires))
	n, err := t.Exec("INSERT INTO deliveries (seq, id, session, run, transcript, message_seq, awaits, address, state, not_before, expires, created, updated, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
		d.Seq, string(d.ID), string(d.Session), runSeq, transcript, messageSeq, awaits, d.To.String(), engine.Ms(d.NotBefore), engine.Ms(d.Expires), engine.Ms(d.Created), engine.Ms(d.Updated), body)
	if err != nil {
		return d, err
	}
	if n == 0 {
		d, _, err = row.GetDelivery(t.Ctx, t.Conn, d.ID)
		return d, err
	}
	s.numbers.Next()
	return d, nil
}

// keep writes what may change in a delivery's row, and a line for the transcript file when it ended.
func (s *deliveries) keep(t *tx, d *sessions.Delivery, transcript int64) error {
	d.Updated = engine.FromMs(max(engine.Ms(t.Now), engine.Ms(d.Updated)))
	body, err := row.EncodeResult(d)
	if err != nil {
		return err
	}
	if d.State.Final() && d.Kind == sessions.Invite {
		if err := s.forgetCode(t, d); err != nil {
			return err
		}
	}
	if d.State.Final() && transcript > 0 && d.Message != "" {
		s.files.Add(transcriptfile.DeliveryLine(transcript, *d))
	}
	_, err = t.Exec("UPDATE deliveries SET address = ?, state = ?, part = ?, attempt = ?, again = ?, not_before = ?, expires = ?, updated = ?, result = ? WHERE seq = ?",
		d.To.String(), string(d.State), d.Part, d.Attempt, d.Repeat, engine.Ms(d.NotBefore), engine.Ms(d.Expires), engine.Ms(d.Updated), body, d.Seq)
	return err
}

// codeWas stands for the words of a notice with a pairing code.
const codeWas = "A pairing code was told here. It is not kept."

// forgetCode takes the words of a notice out of its row: they are not needed any more, and codes are kept as hashes only.
func (s *deliveries) forgetCode(t *tx, d *sessions.Delivery) error {
	if d.Text == codeWas {
		return nil
	}
	d.Text = codeWas
	p, err := row.EncodeDelivery(*d)
	if err != nil {
		return err
	}
	_, err = t.Exec("UPDATE deliveries SET body = ? WHERE seq = ?", p.Body, d.Seq)
	return err
}

// onDelivery runs a change of a delivery. change reports whether there is something to write.
func (s *deliveries) onDelivery(ctx context.Context, name string, id sessions.DeliveryID, change func(*tx, *sessions.Delivery) (bool, error)) (d sessions.Delivery, err error) {
	err = s.write(ctx, name, func(t *tx) error {
		var transcript int64
		if d, transcript, err = row.GetDelivery(t.Ctx, t.Conn, id); err != nil {
			return err
		}
		write, err := change(t, &d)
		if err != nil || !write {
			return err
		}
		return s.keep(t, &d, transcript)
	})
	return d, err
}

// Due lists pending deliveries, oldest first.
func (s *deliveries) Due(ctx context.Context, limit int, afterSeq int64) ([]sessions.Delivery, error) {
	return s.deliveries(ctx, " WHERE state = 'pending' AND state <> 'sent' AND seq > ? ORDER BY seq LIMIT ?", afterSeq, engine.Limit(limit, 50))
}

func (s *deliveries) deliveries(ctx context.Context, where string, args ...any) ([]sessions.Delivery, error) {
	return engine.ReadList(ctx, s.db, "SELECT "+row.DeliveryColumns+" FROM deliveries"+where, args, row.ScanOnlyDelivery)
}

// PartSent stores the receipt of one part. The same receipt again changes nothing.
func (s *deliveries) PartSent(ctx context.Context, id sessions.DeliveryID, r channels.Receipt, last bool) error {
	store := func() error {
		_, err := s.onDelivery(ctx, "PartSent", id, func(t *tx, d *sessions.Delivery) (bool, error) {
			write, err := s.sent(t, d, r, last)
			t.Label(write, string(d.To.Channel))
			return write, err
		})
		return err
	}
	err := store()
	if errors.Is(err, engine.ErrPanic) { // nobody asks again, and what is shown must not be sending for ever
		err = store()
	}
	if errors.Is(err, sessions.ErrInvalid) && !errors.Is(err, engine.ErrPanic) {
		return s.sentWithout(ctx, id, r.At, last, err)
	}
	return err
}

// sentWithout stores that a part was sent whose receipt cannot be stored, and lists it for people: the chat goes on.
func (s *deliveries) sentWithout(ctx context.Context, id sessions.DeliveryID, at time.Time, last bool, why error) error {
	_, err := s.onDelivery(ctx, "PartSent", id, func(t *tx, d *sessions.Delivery) (bool, error) {
		write, err := s.sent(t, d, channels.Receipt{At: at}, last)
		if err != nil || !write {
			return false, err
		}
		return true, s.inbox.list(t, channels.Inbound{Address: d.To}, sessions.QuarantineReason+": the receipt of delivery "+string(id)+" could not be stored: "+why.Error())
	})
	return err
}

// sent adds the receipt of a part to its delivery; false when it is there already.
func (s *deliveries) sent(t *tx, d *sessions.Delivery, r channels.Receipt, last bool) (bool, error) {
	r.At = engine.FromMs(engine.Ms(r.At))
	for _, old := range d.Receipts {
		if old.ID == r.ID && old.At.Equal(r.At) && (d.State == sessions.Sent) == last {
			return false, nil
		}
	}
	if d.State != sessions.Sending && d.State != sessions.DeliveryStopped {
		return false, engine.Conflict("delivery %s is %s, not being sent", d.ID, d.State)
	}
	d.Receipts = append(d.Receipts, r)
	d.Part++
	d.Ambiguous, d.AmbiguousTries = false, 0
	switch {
	case last:
		d.State, d.Error = sessions.Sent, ""
		told := *d
		told.Updated = r.At
		if err := s.tellOthers(t, told); err != nil {
			return false, err
		}
	case d.State == sessions.Sending:
		d.Attempt, d.Error = 0, ""
	default: // this one has arrived, the rest does not go
		d.Error = strings.TrimSuffix(d.Error, "; "+sessions.MayHaveArrived)
	}
	return true, s.chats.receipt(t, d, r.ID)
}

// Retry puts a sending delivery back.
func (s *deliveries) Retry(ctx context.Context, id sessions.DeliveryID, at time.Time, reason string, end sessions.TryEnd) error {
	at = engine.FromMs(engine.Ms(at))
	_, err := s.onDelivery(ctx, "Retry", id, func(t *tx, d *sessions.Delivery) (bool, error) {
		if d.State == sessions.DeliveryStopped || d.State == sessions.Pending && d.NotBefore.Equal(at) && d.Error == reason {
			return false, nil
		}
		if d.State != sessions.Sending {
			return false, engine.Conflict("delivery %s is %s, not being sent", id, d.State)
		}
		d.State, d.NotBefore, d.Error = sessions.Pending, at, reason
		d.Failed(engine.FromMs(engine.Ms(t.Now)), reason, end == sessions.ConfirmedAbsent)
		d.Tried(end)
		return true, nil
	})
	return err
}

// EndDelivery makes a delivery final. One that is held can still be ended otherwise, and one that failed or expired be dropped.
func (s *deliveries) EndDelivery(ctx context.Context, id sessions.DeliveryID, state sessions.DeliveryState, reason string) error {
	if !state.Final() || state == "" {
		return fmt.Errorf("end delivery %s: %q is not a final state", id, state)
	}
	_, err := s.onDelivery(ctx, "EndDelivery", id, func(t *tx, d *sessions.Delivery) (bool, error) {
		switch {
		case d.State == state, d.State == sessions.DeliveryStopped:
			return false, nil
		case !d.State.Final(), d.State == sessions.Held:
		case state == sessions.Dropped && (d.State == sessions.DeliveryFail || d.State == sessions.Expired):
		default:
			return false, engine.Conflict("delivery %s is already %s", id, d.State)
		}
		if d.State == sessions.Sending && (state == sessions.DeliveryFail || state == sessions.Held) {
			d.Failed(engine.FromMs(engine.Ms(t.Now)), reason, false)
		}
		d.Ambiguous = d.Ambiguous || openWork(d) && state != sessions.DeliveryFail // which is the platform's own word
		d.State, d.Error = state, reason
		return true, nil
	})
	return err
}

// Requeue makes a delivery that did not arrive pending again.
func (s *deliveries) Requeue(ctx context.Context, id sessions.DeliveryID, expires time.Time) (sessions.Delivery, error) {
	return s.onDelivery(ctx, "Requeue", id, func(_ *tx, d *sessions.Delivery) (bool, error) {
		if d.Kind == sessions.Invite && d.State.Final() {
			return false, &engine.UserError{Words: fmt.Sprintf("delivery %s had a pairing code, which the host does not keep: the person must write again", id), Is: sessions.ErrConflict}
		}
		switch d.State {
		case sessions.Pending:
			waits := !d.NotBefore.IsZero()
			d.NotBefore = time.Time{}
			return waits, nil
		case sessions.DeliveryFail, sessions.Expired, sessions.Held, sessions.Dropped:
		default:
			return false, &engine.UserError{Words: fmt.Sprintf("delivery %s is %s: only failed, expired, held or dropped deliveries can be sent again", id, d.State), Is: sessions.ErrConflict}
		}
		d.Repeat = d.Repeat || d.State == sessions.Held
		d.State, d.Attempt, d.AmbiguousTries, d.NotBefore, d.Expires, d.Error, d.Verdict = sessions.Pending, 0, 0, time.Time{}, engine.FromMs(engine.Ms(expires)), "", nil
		return true, nil
	})
}

// GetDelivery finds a delivery.
func (s *deliveries) GetDelivery(ctx context.Context, id sessions.DeliveryID) (d sessions.Delivery, err error) {
	err = s.read(ctx, func(c *engine.Conn) (err error) {
		d, _, err = row.GetDelivery(ctx, c, id)
		return err
	})
	return d, err
}

// ListDeliveries gives deliveries, newest first.
func (s *deliveries) ListDeliveries(ctx context.Context, q sessions.DeliveryQuery) ([]sessions.Delivery, error) {
	where := belonging(q)
	if q.State != "" {
		cond := "state = ?"
		if q.State != sessions.Sent {
			cond += " AND state <> 'sent'" // names the index
		}
		where.And(cond, string(q.State))
	}
	if len(q.Of) > 0 {
		ofRuns(&where, q.Of)
	}
	if q.Before > 0 {
		where.And("seq < ?", q.Before)
	}
	return s.deliveries(ctx, where.String()+" ORDER BY seq DESC LIMIT ?", where.Args(engine.Limit(q.Limit, 50))...)
}

// ofRuns selects the deliveries that runs made and those that carry their input.
func ofRuns(where *engine.Where, runs []sessions.Run) {
	var ids, inputs []any
	for _, r := range runs {
		ids, inputs = append(ids, string(r.ID)), append(inputs, r.Input.ID)
	}
	in := " IN (" + engine.Marks(len(runs)) + ")"
	where.And("(run > 0 AND run IN (SELECT seq FROM runs WHERE id"+in+") OR message_seq > 0 AND message_seq IN (SELECT seq FROM messages WHERE id"+in+") OR awaits <> '' AND awaits"+in+")",
		slices.Concat(ids, inputs, inputs)...)
}

// belonging selects the deliveries of q's session and run.
func belonging(q sessions.DeliveryQuery) (where engine.Where) {
	if q.Session != "" {
		where.And("session = ? AND session <> ''", string(q.Session))
	}
	if q.Run != "" {
		where.And("run = (SELECT seq FROM runs WHERE id = ?) AND run > 0", string(q.Run))
	}
	return where
}

// CountDeliveries counts by state. States without deliveries are left out.
func (s *deliveries) CountDeliveries(ctx context.Context, q sessions.DeliveryQuery) (map[sessions.DeliveryState]int, error) {
	out := map[sessions.DeliveryState]int{}
	where := belonging(q)
	all := where.Empty()
	if all { // most are sent: they are what is left of the total
		where.And("state <> 'sent'")
	}
	err := s.read(ctx, func(c *engine.Conn) error {
		clear(out)
		known := 0
		err := c.Each(ctx, "SELECT state, count(*) FROM deliveries"+where.String()+" GROUP BY state", where.Args(), func(r engine.Row) error {
			out[sessions.DeliveryState(r.Str(0))] = int(r.Int(1))
			known += int(r.Int(1))
			return nil
		})
		if err != nil || !all {
			return err
		}
		total, err := c.Number(ctx, "SELECT count(*) FROM deliveries")
		if sent := int(total) - known; sent > 0 {
			out[sessions.Sent] = sent
		}
		return err
	})
	return out, err
}
