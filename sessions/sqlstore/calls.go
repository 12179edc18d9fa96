package sqlstore

import (
	"fmt"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/sendlog"
)

// Calling notes that the platform of a delivery that is being sent is about to be called.
func (s *Store) Calling(d sessions.Delivery) error {
	s.traceCall(d, "Call", engine.BeforeCommit)
	err := s.calls.Started(&d)
	if err != nil {
		return fmt.Errorf("noting that delivery %s is sent, in %s: %w", d.ID, sendlog.FileName, err)
	}
	s.traceCall(d, "Call", engine.AfterCommit)
	return nil
}

// Answered notes that the platform has taken a part.
func (s *Store) Answered(d sessions.Delivery, r channels.Receipt, last bool) {
	s.traceCall(d, "Answer", engine.BeforeCommit)
	r.At = engine.FromMs(engine.Ms(r.At))
	_ = s.calls.Acknowledged(&d, r, last) // without it nothing is known
	s.traceCall(d, "Answer", engine.AfterCommit)
}

// traceCall tells a test of what is noted of a call.
func (s *Store) traceCall(d sessions.Delivery, op, phase string) {
	if s.conf.TraceCall != nil {
		s.conf.TraceCall(op+"+"+string(d.To.Channel), phase)
	}
}

// stoppedBefore is said of a delivery that a host began to send that was killed before it called the platform.
const stoppedBefore = "the host stopped before it was sent"

// goOn does for a delivery that was found being sent what the killed host knew of it: it is put back when no platform was called, and has its receipt when one
// has answered.
func (t *tx) goOn(d *sessions.Delivery, transcript int64, said sendlog.Known) error {
	x := said.Of(d)
	switch {
	case !underWay(d):
		return nil
	case x.Intended():
		d.State, d.NotBefore, d.Error = sessions.Pending, time.Time{}, stoppedBefore
		d.Tried(sessions.NotArrived)
	case x.Taken():
		if _, err := t.sent(d, x.Receipt, x.Last); err != nil {
			return err
		}
	default:
		return nil
	}
	return t.keep(d, transcript)
}
