package sqlstore

import (
	"context"
	"time"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/move"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/session"
	"parley/sessions/sqlstore/transcript"
	"parley/sessions/sqlstore/transcriptfile"
)

// runs keeps the queues of sessions.
type runs struct {
	repository

	numbers     *engine.Sequence
	transcripts *transcript.Rows
	sessions    *session.Rows
	lines       *session.ContextLines
	files       *transcriptfile.Pending
	moves       *move.Rows
	deliveries  *deliveries
}

func (s *runs) run(t *tx, id sessions.RunID) (sessions.Run, row.Run, error) {
	return row.GetRun(t.Ctx, t.Conn, id)
}

// enqueue puts a run at the end of its session's queue.
func (s *runs) enqueue(t *tx, at session.Row, run sessions.Run, body string) (sessions.Run, error) {
	run.Key, run.Session, run.Status, run.Created = at.Key, at.ID, sessions.Queued, engine.FromMs(engine.Ms(t.Now))
	run.Attempt, run.Started, run.Deadline, run.Ended, run.MergedInto = 0, time.Time{}, time.Time{}, time.Time{}, ""
	if run.Input.Run == "" {
		run.Input.Run = run.ID
	}
	if run.Agent == "" {
		run.Agent = at.Agent
		b, err := row.EncodeRun(run)
		if err != nil {
			return run, err
		}
		body = b
	}
	parent, root := "", ""
	if run.Chain != nil {
		root = string(run.Chain.Root)
	}
	if run.Kind == sessions.ChildRun && run.Chain != nil {
		parent = string(run.Chain.Requester)
	}
	_, err := t.Exec("INSERT INTO runs (seq, id, key, transcript, session, parent, root, by_agent, status, created, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)",
		s.numbers.Next(), string(run.ID), string(run.Key), at.Transcript, string(run.Session), parent, root, run.Kind.ByAgent(), engine.Ms(run.Created), body)
	return run, err
}

// Claim takes the next queued run of a session. At the first claim its input goes into the transcript: behind the answer of the
// turn before it, in one commit with the claim.
func (s *runs) Claim(ctx context.Context, key sessions.Key) (run sessions.Run, ok bool, err error) {
	err = s.write(ctx, "Claim", func(t *tx) (err error) {
		run, ok, err = s.claim(t, key)
		return err
	})
	return run, ok, err
}

func (s *runs) claim(t *tx, key sessions.Key) (run sessions.Run, ok bool, err error) {
	var at row.Run
	busy := false
	ok, err = t.One("SELECT "+row.RunColumns+" FROM runs WHERE seq = (SELECT seq FROM runs WHERE key = ? AND status IN ('queued', 'running') ORDER BY status <> 'running', attempt = 0, seq LIMIT 1)", []any{string(key)}, func(r engine.Row) (err error) {
		if busy = row.IsRunning(r); !busy { // the current run may have been queued later: see takeOver
			run, at, err = row.ScanRun(r)
		}
		return err
	})
	if err != nil || !ok || busy {
		return sessions.Run{}, false, err
	}
	if run.Attempt == 0 {
		if elsewhere, err := s.isWrittenElsewhere(t, at, key); err != nil || elsewhere {
			return sessions.Run{}, false, err
		}
		if err := s.begin(t, run, at); err != nil {
			return run, false, err
		}
		at.First = s.transcripts.Last()
	}
	run.Status, run.Started = sessions.Running, engine.FromMs(engine.Ms(t.Now))
	run.Attempt++
	if run.Deadline.IsZero() && run.Timeout > 0 {
		run.Deadline = engine.FromMs(engine.Ms(t.Now.Add(run.Timeout)))
	}
	_, err = t.Exec("UPDATE runs SET status = 'running', attempt = ?, first = ?, started = ?, deadline = ? WHERE seq = ?",
		run.Attempt, at.First, engine.Ms(run.Started), engine.Ms(run.Deadline), at.Seq)
	return run, err == nil, err
}

// isWrittenElsewhere reports whether a run that has begun, and has not ended, writes a transcript from the queue of another session, which has
// its chat by now: see takeOver. What begins beside that one would stand between its steps. Where no chat and no account has moved, no run is
// looked at.
func (s *runs) isWrittenElsewhere(t *tx, at row.Run, key sessions.Key) (bool, error) {
	// Two queries: in one, SQLite goes through all runs that wait before it looks whether anything has moved.
	moved, err := t.Exists("SELECT 1 WHERE EXISTS (SELECT 1 FROM moves) OR EXISTS (SELECT 1 FROM logins WHERE became <> '')")
	if err != nil || !moved {
		return false, err
	}
	return t.Exists("SELECT 1 FROM runs WHERE status IN ('queued', 'running') AND attempt > 0 AND transcript = ? AND key <> ?", at.Transcript, string(key))
}

// Record appends messages to the transcript of a run as they happen.
func (s *runs) Record(ctx context.Context, id sessions.RunID, msgs ...sessions.Message) error {
	list, err := s.transcripts.Encode(id, msgs...)
	if err != nil || len(list) == 0 {
		return err
	}
	goOn := toGoOn(msgs)
	return s.write(ctx, "Record", func(t *tx) error {
		run, at, err := s.run(t, id)
		if err != nil {
			return err
		}
		before := s.transcripts.Last()
		if err := s.transcripts.Append(t, row.Slot(run, at), list, nil); err != nil {
			return err
		}
		if run.Status != sessions.Running && s.transcripts.Last() > before {
			return engine.Conflict("run %s is %s and accepts no more steps", id, run.Status)
		}
		if len(goOn) > 0 && s.transcripts.Last() > before {
			return s.checkGoOn(t, goOn)
		}
		return nil
	})
}

// Steps gives what a run has recorded, its input left out.
func (s *runs) Steps(ctx context.Context, id sessions.RunID) (out []sessions.Message, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		run, at, err := row.GetRun(ctx, c, id)
		if err != nil {
			return err
		}
		out, err = row.Steps(ctx, c, run, at)
		return err
	})
	return out, err
}
