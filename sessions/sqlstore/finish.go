package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/transcript"
)

// Finish ends a run.
func (s *changes) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (acc sessions.Accepted, err error) {
	f, err := s.finishing(id, o)
	if err != nil {
		return acc, err
	}
	err = s.write(ctx, "Finish", func(t *tx) (err error) {
		acc, err = s.finish(t, id, f)
		return err
	})
	return acc, err
}

// ending is an outcome that is checked and encoded.
type ending struct {
	sessions.Outcome
	msgs       []transcript.Encoded
	deliveries []*row.Delivery
	next       *preparedChange
	ifAnswered *preparedChange
	summary    string // the body of Summary
	body       string
}

func (s *changes) finishing(id sessions.RunID, o sessions.Outcome) (*ending, error) {
	if !o.Status.Final() || o.Status == "" {
		return nil, fmt.Errorf("finish run %s: %q is not a final status", id, o.Status)
	}
	f := &ending{Outcome: o}
	var err error
	if f.msgs, err = s.transcripts.Encode(id, o.Messages...); err != nil {
		return nil, err
	}
	if o.Summary != nil {
		if f.summary, err = transcript.EncodeSummary(*o.Summary); err != nil {
			return nil, err
		}
	}
	for _, d := range o.Deliveries {
		x, err := row.EncodeDelivery(d)
		if err != nil {
			return nil, err
		}
		f.deliveries = append(f.deliveries, x)
	}
	if o.Next != nil {
		if f.next, err = prepare(*o.Next); err != nil {
			return nil, err
		}
	}
	if o.IfAnswered != nil {
		if f.ifAnswered, err = prepare(*o.IfAnswered); err != nil {
			return nil, err
		}
	}
	f.body, err = row.Outcome{Result: o.Result, Error: o.Error, Usage: o.Usage}.Encode()
	return f, err
}

func (s *changes) finish(t *tx, id sessions.RunID, f *ending) (acc sessions.Accepted, err error) {
	run, at, err := s.runs.run(t, id)
	if err != nil {
		return acc, err
	}
	if run.Status != sessions.Running {
		return acc, engine.Conflict("run %s is %s, not running", id, run.Status)
	}
	if run.Revised && !f.Revised && !at.Stop && f.Status != sessions.Stopped { // an answer to what its sender has changed
		return acc, fmt.Errorf("finish run %s: %w", id, sessions.ErrRevised)
	}
	if at.Stop && run.MergedInto == "" && run.Kind != sessions.CompactRun { // the stop came first, so the result is dropped
		if f, err = s.stopped(t, run, f); err != nil {
			return acc, err
		}
		acc.Stopped = []sessions.StoppedRun{{Key: run.Key, ID: run.ID, Home: run.Home()}}
	}
	if f, err = s.runs.asAnswered(t, run, f); err != nil {
		return acc, err
	}
	seqs := map[string]int64{}
	if err = s.transcripts.Append(t, row.Slot(run, at), f.msgs, seqs); err != nil {
		return acc, err
	}
	// One that was interrupted too late, with its answer ready, has answered on its own.
	if _, err = t.Exec("UPDATE runs SET status = ?, ended = ?, outcome = ?, batch = CASE WHEN ? = 1 THEN '' ELSE batch END WHERE seq = ?", string(f.Status), engine.Ms(t.Now), f.body, f.Status == sessions.Done, at.Seq); err != nil {
		return acc, err
	}
	if f.Summary != nil {
		if err = s.transcripts.Compact(t, *f.Summary, f.summary); err != nil && !errors.Is(err, sessions.ErrConflict) && !errors.Is(err, sessions.ErrNotFound) {
			return acc, err
		}
	}
	if acc.Session, err = s.settle(t, run, f); err != nil {
		return acc, err
	}
	made := make([]sessions.Delivery, 0, len(f.deliveries))
	for _, d := range f.deliveries {
		if n := seqs[d.Message]; n > 0 {
			d.Transcript, d.MessageSeq = at.Transcript, n
		}
		if d.Run == id {
			d.RunSeq = at.Seq
		}
		if home := run.Home(); home != "" && d.Session == home { // whose chat is the other session's by now
			d.Session = run.Key
		}
		last := s.deliveries.numbers.Last()
		x, err := s.deliveries.post(t, d)
		if err == nil && f.Begin != nil && f.Begin.Delivery == x.ID && x.Seq > last {
			err = s.deliveries.beginAtOnce(t, d, &x, *f.Begin)
		}
		if err != nil {
			return acc, err
		}
		made = append(made, x)
	}
	acc.Deliveries = made
	ended := acc.Stopped
	if f.next != nil && f.next.target != nil && f.next.target.Mode != sessions.Upsert {
		if _, err := s.sessions.Get(t, f.next.target.Key); errors.Is(err, sessions.ErrNotFound) {
			return acc, s.clear(t, f)
		}
	}
	if t.Label(f.next != nil, "next"); f.next != nil {
		own := acc.Session
		if acc, err = s.applyOnce(t, dedupeKey{msg: f.next.key, event: submitEvent}, f.next); err != nil {
			return acc, err
		}
		acc.Deliveries, acc.Stopped = append(made, acc.Deliveries...), append(ended, acc.Stopped...)
		if acc.Session.Key == "" {
			acc.Session = own
		}
	}
	return acc, s.clear(t, f)
}

// stopped is the end of a run that was stopped before it was committed. What it said stays in the transcript, with a note behind it; nothing
// is posted or handed on.
func (s *changes) stopped(t *tx, run sessions.Run, f *ending) (*ending, error) {
	x := *f
	x.Status, x.Error, x.next, x.ifAnswered, x.deliveries, x.Delete = sessions.Stopped, cmp.Or(run.Error, sessions.ByPerson.Words()), nil, nil, nil, nil
	note, err := s.transcripts.Encode(run.ID, sessions.StoppedMessage(run.ID, t.Now))
	if err != nil {
		return nil, err
	}
	x.msgs = append(slices.Clip(x.msgs), note...)
	x.body, err = row.Outcome{Error: x.Error, Usage: x.Usage}.Encode()
	return &x, err
}

// clear archives and deletes what a finished run leaves behind.
func (s *changes) clear(t *tx, f *ending) error {
	if f.Archive != nil {
		k, err := s.sessions.Get(t, *f.Archive)
		if err == nil {
			err = s.sessions.Archive(t, &k)
			t.Label(err == nil, "archive")
		}
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return err
		}
	}
	if f.Delete == nil {
		return nil
	}
	open, err := t.Conn.Number(t.Ctx, "SELECT count(*) FROM runs WHERE key = ? AND status IN ('queued', 'running')", string(*f.Delete))
	if err != nil || open > 0 { // a follow-up has the same chain: its end asks again
		return err
	}
	t.Label(true, "delete")
	return s.sessions.Remove(t, *f.Delete)
}

// settle brings the session up to date with a run that ended. Figures count only while the session is the one that the run
// began in: a reset sets them to zero.
func (s *changes) settle(t *tx, run sessions.Run, f *ending) (sessions.Session, error) {
	k, err := s.sessions.Get(t, run.TranscriptKey())
	if err != nil {
		if errors.Is(err, sessions.ErrNotFound) {
			err = nil
		}
		return k.Session, err
	}
	if k.ID == run.Session {
		k.Usage = k.Usage.Add(f.Usage)
		if f.Context > 0 {
			k.Context = f.Context
		}
		if !isStep(run.Kind) && run.Kind != sessions.CompactRun { // those only word something, or are no turn, and say nothing about it
			k.Aborted = f.Status == sessions.Stopped && run.MergedInto == "" // a newer message is no stop
		}
		if run.Kind != sessions.PostRun && run.Kind != sessions.CompactRun {
			k.Turns++
		}
		if run.Kind.ByAgent() {
			k.ByAgents++
		}
	}
	k.Touch(time.Time{}, t.Now)
	usage, err := column.Encode(k.Usage)
	if err != nil {
		return k.Session, err
	}
	_, err = t.Exec("UPDATE sessions SET usage = ?, context = ?, turns = ?, by_agents = ?, aborted = ?, updated = ? WHERE num = ?", usage, k.Context, k.Turns, k.ByAgents, k.Aborted, engine.Ms(k.Updated), k.Num)
	return k.Session, err
}

// isStep reports whether a run brings other work to its end, and is no turn that a person or an agent asked for.
func isStep(k sessions.RunKind) bool {
	return k == sessions.ReplyRun || k == sessions.AnnounceRun || k == sessions.ResultRun || k == sessions.PostRun
}
