package sqlstore

import (
	"context"
	"slices"

	"parley/sessions"
	"parley/sessions/sqlstore/engine"
	"parley/sessions/sqlstore/row"
	"parley/sessions/sqlstore/transcriptfile"
)

// begin puts the input of a run into the transcript, where its turn has come. That of a summary is no part of it.
func (s *runs) begin(t *tx, run sessions.Run, at row.Run) error {
	if run.Input.ID == "" || run.Kind == sessions.CompactRun {
		return nil
	}
	w, err := s.transcripts.Encode(run.ID, run.Input)
	if err != nil {
		return err
	}
	seqs := map[string]int64{}
	if err := s.transcripts.Append(t, row.Slot(run, at), w, seqs); err != nil {
		return err
	}
	if seq := seqs[run.Input.ID]; seq > 0 && run.Input.Role == sessions.Assistant {
		return s.link(t, run.Input.ID, seq, at.Transcript)
	}
	return nil
}

// link gives the deliveries of a message that were made before it was there its place (contract T2). Only what the host posts is
// delivered before it is in the transcript, so nothing else asks.
func (s *runs) link(t *tx, message string, seq, transcript int64) error {
	found := false
	err := t.Each("SELECT "+row.DeliveryColumns+" FROM deliveries WHERE awaits = ? AND awaits <> '' ORDER BY seq", []any{message}, func(r engine.Row) error {
		d, _, err := row.ScanDelivery(r)
		if d.State.Final() {
			s.files.Add(transcriptfile.DeliveryLine(transcript, d))
		}
		found = true
		return err
	})
	if err != nil || !found {
		return err
	}
	_, err = t.Exec("UPDATE deliveries SET transcript = ?, message_seq = ?, awaits = '' WHERE awaits = ? AND awaits <> ''", transcript, seq, message)
	return err
}

// MergeQueued ends the queued runs of a kind and gives their inputs to the current run.
func (s *runs) MergeQueued(ctx context.Context, id sessions.RunID, q sessions.MergeQuery) (taken []sessions.Message, err error) {
	some := false
	err = s.read(ctx, func(c *engine.Conn) error { // mostly there is nothing: no commit for that
		run, at, queued, err := mergeable(ctx, c, id, q)
		if some = len(queued) > 0; err != nil || some {
			return err
		}
		taken, err = unanswered(ctx, c, run, at)
		return err
	})
	if err != nil || !some {
		return taken, err
	}
	err = s.write(ctx, "Absorb", func(t *tx) error {
		run, at, queued, err := mergeable(t.Ctx, t.Conn, id, q)
		if err != nil {
			return err
		}
		o, err := row.Outcome{Result: "taken up by run " + string(id)}.Encode()
		if err != nil {
			return err
		}
		for i, x := range queued {
			x.Input.Run = id
			if q.Full > 0 && q.Short != nil && i < len(queued)-q.Full {
				x.Input.Content = q.Short(x.Input)
			}
			w, err := s.transcripts.Encode(id, x.Input)
			if err != nil {
				return err
			}
			if err := s.transcripts.Append(t, row.Slot(run, at), w, nil); err != nil {
				return err
			}
			if _, err := t.Exec("UPDATE runs SET status = 'done', started = ?, ended = ?, outcome = ?, batch = ? WHERE id = ?", engine.Ms(t.Now), engine.Ms(t.Now), o, string(id), string(x.ID)); err != nil {
				return err
			}
		}
		taken, err = unanswered(t.Ctx, t.Conn, run, at)
		return err
	})
	return taken, err
}

// mergeable finds the runs that a run at work may take up: user messages of the same transcript whose turn has not begun. A run
// that was stopped takes nothing up: what came after the stop needs an answer.
func mergeable(ctx context.Context, c *engine.Conn, id sessions.RunID, want sessions.MergeQuery) (run sessions.Run, at row.Run, queued []sessions.Run, err error) {
	if run, at, err = row.GetRun(ctx, c, id); err != nil {
		return run, at, nil, err
	}
	if run.Status != sessions.Running {
		return run, at, nil, engine.Conflict("run %s is %s, not running", id, run.Status)
	}
	if at.Stop {
		return run, at, nil, nil
	}
	err = c.Each(ctx, "SELECT "+row.RunColumns+" FROM runs WHERE key = ? AND status = 'queued' AND status IN ('queued', 'running') AND attempt = 0 AND transcript = ? ORDER BY seq", []any{string(run.Key), at.Transcript}, func(r engine.Row) error {
		q, _, err := row.ScanRun(r)
		if err != nil || want.Only != nil && !slices.Contains(want.Only, q.ID) || q.Kind != want.Kind || q.Input.Role != sessions.User || q.Input.ID == "" {
			return err
		}
		queued = append(queued, q)
		return nil
	})
	if err == nil && len(queued) > 0 && want.Kind == sessions.TurnRun { // what it took up would be answered before what another running turn answers
		var beside int64
		if beside, err = c.Number(ctx, "SELECT count(*) FROM runs WHERE key = ? AND status IN ('queued', 'running') AND status = 'running'", string(run.Key)); beside > 1 {
			queued = nil
		}
	}
	return run, at, queued, err
}

// unanswered gives the user messages that a run has merged behind its newest step, so that a repeated MergeQueued gives the same.
func unanswered(ctx context.Context, c *engine.Conn, run sessions.Run, at row.Run) (out []sessions.Message, err error) {
	all, err := row.Steps(ctx, c, run, at)
	for i := len(all) - 1; i >= 0 && all[i].Role == sessions.User; i-- {
		out = all[i:]
	}
	return out, err
}
