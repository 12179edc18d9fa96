package sqlstore

import (
	"fmt"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/sendlog"
)

// Calling notes that the platform of a delivery that is being sent is about to be called.
func (s *deliveries) Calling(d sessions.Delivery) error {
	s.traceCall(d, "Call", engine.BeforeCommit)
	err := s.calls.Started(&d)
	if err != nil {
		return fmt.Errorf("record the send of delivery %s in %s: %w", d.ID, sendlog.FileName, err)
	}
	s.traceCall(d, "Call", engine.AfterCommit)
	return nil
}

// Answered notes that the platform has taken a part.
func (s *deliveries) Answered(d sessions.Delivery, r channels.Receipt, last bool) {
	s.traceCall(d, "Answer", engine.BeforeCommit)
	r.At = engine.FromMs(engine.Ms(r.At))
	_ = s.calls.Acknowledged(&d, r, last) // without it nothing is known
	s.traceCall(d, "Answer", engine.AfterCommit)
}

// traceCall tells a test of what is noted of a call.
func (s *deliveries) traceCall(d sessions.Delivery, op, phase string) {
	if s.trace != nil {
		s.trace(op+"+"+string(d.To.Channel), phase)
	}
}

// stoppedBefore is said of a delivery that a host began to send that was killed before it called the platform.
const stoppedBefore = "the host stopped before the send"

// goOn does for a delivery that was found being sent what the killed host knew of it: it is put back when no platform was called, and has its receipt when one
// has answered.
func (s *deliveries) goOn(t *tx, d *sessions.Delivery, transcript int64, said sendlog.Known) error {
	x := said.Of(d)
	switch {
	case !openWork(d):
		return nil
	case x.Intended():
		d.State, d.NotBefore, d.Error = sessions.Pending, time.Time{}, stoppedBefore
		d.Tried(sessions.NotArrived)
	case x.Taken():
		if _, err := s.sent(t, d, x.Receipt, x.Last); err != nil {
			return err
		}
	default:
		return nil
	}
	return s.keep(t, d, transcript)
}

// interrupted gives the deliveries that were being sent, oldest first, as they are with what the killed host knew of them (CallsFile).
func (s *deliveries) interrupted(t *tx) (out []sessions.Delivery, err error) {
	var transcripts []int64
	err = t.Each("SELECT "+row.DeliveryColumns+" FROM deliveries WHERE state = 'sending' AND state <> 'sent' ORDER BY seq", nil, func(r engine.Row) error {
		d, transcript, err := row.ScanDelivery(r)
		out, transcripts = append(out, d), append(transcripts, transcript)
		return err
	})
	if err != nil || len(out) == 0 {
		return nil, err
	}
	said, err := s.calls.Newest()
	if err != nil {
		s.log.Warn("cannot read the send log", "hint", "messages in flight at the last end count as possibly delivered", "file", sendlog.FileName, "err", err)
	}
	for i := range out {
		if err := s.goOn(t, &out[i], transcripts[i], said); err != nil {
			return nil, err
		}
	}
	return out, nil
}
