package sqlstore

import (
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/transcript"
)

// goesOn refuses what a run that has been stopped still asks for: what ended with it has been listed, more would not.
func (s *runs) goesOn(t *tx, id sessions.RunID) error {
	stopped, err := t.Exists("SELECT 1 FROM runs WHERE id = ? AND (stop = 1 OR status = 'aborted')", string(id))
	if err == nil && stopped {
		err = fmt.Errorf("run %s: %w", id, sessions.ErrStopped)
	}
	return err
}

// aborted marks a session whose run was stopped, and the sub-agents above it up to the session that the stop was for: they may be
// between two turns, and the result that they wait for does not come.
func (s *runs) aborted(t *tx, key sessions.Key, named []sessions.Key) error {
	var path []sessions.Key
	most := 0
	for key != "" && !slices.Contains(path, key) {
		path = append(path, key)
		if slices.Contains(named, key) {
			most = len(path)
		}
		above := ""
		if _, err := t.One("SELECT spawned_by FROM sessions WHERE key = ?", []any{string(key)}, func(r engine.Row) error { above = r.Str(0); return nil }); err != nil {
			return err
		}
		key = sessions.Key(above)
	}
	const mark = "UPDATE sessions SET aborted = 1 WHERE key = ? AND aborted = 0"
	for i, k := range path[:most] {
		q := mark
		if i > 0 { // a chat's own last run was not stopped
			q += " AND spawned_by <> ''"
		}
		if _, err := t.Exec(q, string(k)); err != nil {
			return err
		}
	}
	return nil
}

// The words on runs that ended as stopped.
const (
	startedOver = "stopped by a person, who started the session over"
	byNewer     = "interrupted by a newer message"
	outOfQueue  = "dropped: too many messages were waiting"
	bySender    = "the message was deleted before its turn began"
)

// interrupt marks the turns of a session that are running and answer in the same chat: the run by comes in their place. There are several
// after two sessions of one chat became one. One that was stopped already stays as it is.
func (s *runs) interrupt(t *tx, key sessions.Key, by sessions.Run) ([]sessions.StoppedRun, error) {
	same, err := s.sameChat(t, by)
	if err != nil {
		return nil, err
	}
	return s.turns(t, "status IN ('queued', 'running') AND status = 'running' AND stop = 0", key, math.MaxInt, same, func(x openTurn) error {
		if _, err := t.Exec("UPDATE runs SET stop = 1, batch = ? WHERE seq = ?", string(by.ID), x.seq); err != nil || x.Home == "" {
			return err
		}
		return s.repeatInput(t, key, x)
	})
}

// repeatInput puts what a turn was to answer into the transcript of the session whose queue it is in: the next turn there answers it, too.
func (s *runs) repeatInput(t *tx, key sessions.Key, x openTurn) error {
	at, err := s.sessions.Get(t, key)
	if err != nil {
		return err
	}
	run, has, err := s.run(t, x.id)
	if err != nil {
		return err
	}
	taken, err := row.Steps(t.Ctx, t.Conn, run, has)
	if err != nil {
		return err
	}
	for _, in := range append([]sessions.Message{run.Input}, taken...) {
		if in.Role != sessions.User {
			continue
		}
		in.ID = uuid.Must(uuid.NewV7()).String()
		m, err := s.transcripts.Encode(x.id, in)
		if err != nil {
			return err
		}
		if err := s.transcripts.Append(t, transcript.Slot{Transcript: at.Transcript, Run: x.seq, By: x.id, Key: at.Key, Agent: at.Agent, Session: at.ID}, m, nil); err != nil {
			return err
		}
	}
	return nil
}

// drop ends the oldest turns of a session that wait, were never begun and answer in the same chat as the run that needs the room.
func (s *runs) drop(t *tx, key sessions.Key, by sessions.Run, n int) ([]sessions.StoppedRun, error) {
	same, err := s.sameChat(t, by)
	if err != nil {
		return nil, err
	}
	return s.turns(t, "status IN ('queued', 'running') AND status = 'queued' AND attempt = 0", key, n, same, func(x openTurn) error {
		return s.endStopped(t, outOfQueue, "seq = ?", x.seq)
	})
}

// sameChat gives what tells whether a turn answers in the chat of a run, by whatever address, and other turns may change it.
func (s *runs) sameChat(t *tx, by sessions.Run) (func(row.Request) (bool, error), error) {
	chat, err := s.moves.Current(t, by.Reply)
	return func(q row.Request) (bool, error) {
		if q.Exclusive || q.Reply == by.Reply {
			return !q.Exclusive, nil
		}
		at, err := s.moves.Current(t, q.Reply)
		return at == chat, err
	}, err
}

// openTurn is a turn that waits or is running.
type openTurn struct {
	seq int64
	id  sessions.RunID
	row.Request
}

// turns ends at most n turns of a session for which the conditions hold, oldest first.
func (s *runs) turns(t *tx, where string, key sessions.Key, n int, fits func(row.Request) (bool, error), end func(openTurn) error) (ended []sessions.StoppedRun, err error) {
	var open []openTurn
	if err := t.Each("SELECT seq, id, body FROM runs WHERE key = ? AND "+where+" ORDER BY seq", []any{string(key)}, func(r engine.Row) error {
		x := openTurn{seq: r.Int(0), id: sessions.RunID(r.Str(1))}
		if err := column.Decode(r.Str(2), &x.Request); err != nil {
			return fmt.Errorf("run %s: %w", r.Str(1), err)
		}
		if x.Kind == sessions.TurnRun {
			open = append(open, x)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for _, x := range open {
		fit, err := fits(x.Request)
		if err == nil && fit && len(ended) < n {
			ended, err = append(ended, sessions.StoppedRun{Key: key, ID: x.id, Home: x.Home}), end(x)
		}
		if err != nil {
			return nil, err
		}
	}
	return ended, nil
}

// endStopped ends the runs that a condition names as stopped, and says why.
func (s *runs) endStopped(t *tx, why, where string, args ...any) error {
	o, err := row.Outcome{Error: why}.Encode()
	if err != nil {
		return err
	}
	_, err = t.Exec("UPDATE runs SET status = 'aborted', ended = ?, outcome = ? WHERE "+where, append([]any{engine.Ms(t.Now), o}, args...)...)
	return err
}
