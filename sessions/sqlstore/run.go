package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"parley/channels"
	"parley/sessions"
	"parley/sessions/sqlstore/column"
	"parley/sessions/sqlstore/engine"
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
	moves       *moves
	deliveries  *deliveries
}

// request is what a run was asked for. Once queued it changes only with the message that caused it.
type request struct {
	Kind    sessions.RunKind   `json:"kind"`
	Agent   sessions.AgentID   `json:"agent"`
	Input   storedMessage      `json:"input"`
	Reply   channels.Address   `json:"reply,omitzero"`
	ReplyTo channels.MessageID `json:"replyTo,omitempty"`
	Source  string             `json:"source,omitempty"`
	Model   string             `json:"model,omitempty"`
	Think   string             `json:"thinking,omitempty"`
	System  string             `json:"system,omitempty"`
	With    sessions.RunID     `json:"with,omitempty"`
	Revised bool               `json:"revised,omitempty"`
	Alone   bool               `json:"alone,omitempty"`
	Label   string             `json:"label,omitempty"`
	Timeout time.Duration      `json:"timeout,omitempty"` // ns
	Chain   *sessions.Chain    `json:"chain,omitempty"`
	Client  json.RawMessage    `json:"client,omitempty"`
	Brought sessions.Block     `json:"brought,omitzero"`
	Home    sessions.Key       `json:"home,omitempty"`
}

type storedMessage = sessions.StoredMessage

func requestOf(r sessions.Run) request {
	in := r.Input
	in.Seq, in.Number, in.Deliveries, in.Time = 0, 0, nil, engine.ClampTime(in.Time)
	if in.Run == "" {
		in.Run = r.ID
	}
	return request{Kind: r.Kind, Agent: r.Agent, Input: storedMessage(in), Reply: r.Reply, ReplyTo: r.ReplyTo, Source: r.Source, Model: r.Model,
		Think: r.Thinking, System: r.System, With: r.With, Revised: r.Revised, Alone: r.Exclusive, Label: r.Label, Timeout: r.Timeout, Chain: r.Chain, Client: r.Client, Brought: r.Brought, Home: r.Home}
}

// outcome is how a run ended.
type outcome struct {
	Result string         `json:"result,omitempty"`
	Error  string         `json:"error,omitempty"`
	Usage  sessions.Usage `json:"usage,omitzero"`
}

// runRow is what the store knows about a run besides the run itself.
type runRow struct {
	seq, transcript, first int64
	stop                   bool
}

var runColumns = column.Nameless("seq, id, key, transcript, session, status, stop, attempt, first, created, started, deadline, ended, body, outcome, batch")

func scanRun(r engine.Row) (run sessions.Run, at runRow, err error) {
	at = runRow{seq: r.Int(0), transcript: r.Int(3), stop: r.Bool(6), first: r.Int(8)}
	var q request
	if err = column.Decode(r.Str(13), &q); err != nil {
		return run, at, fmt.Errorf("run %s: %w", r.Str(1), err)
	}
	var o outcome
	if err = column.Decode(r.Str(14), &o); err != nil {
		return run, at, fmt.Errorf("run %s: %w", r.Str(1), err)
	}
	run = sessions.Run{
		ID: sessions.RunID(r.Str(1)), Kind: q.Kind, Key: sessions.Key(r.Str(2)), Session: sessions.ID(r.Str(4)), Agent: q.Agent,
		Status: sessions.RunStatus(r.Str(5)), Attempt: int(r.Int(7)), Input: sessions.Message(q.Input), Reply: q.Reply, ReplyTo: q.ReplyTo, Source: q.Source,
		Model: q.Model, Thinking: q.Think, System: q.System, With: q.With, Revised: q.Revised, Exclusive: q.Alone, Label: q.Label, Timeout: q.Timeout, Chain: q.Chain, Client: q.Client, Brought: q.Brought, Home: q.Home, Created: r.Time(9), Started: r.Time(10), Deadline: r.Time(11), Ended: r.Time(12),
		Result: o.Result, Error: o.Error, Usage: o.Usage, MergedInto: sessions.RunID(r.Str(15)),
	}
	run.Stopping = at.stop && run.Status == sessions.Running
	return run, at, nil
}

func (s *runs) run(t *tx, id sessions.RunID) (sessions.Run, runRow, error) {
	return getRun(t.Ctx, t.Conn, id)
}

func getRun(ctx context.Context, c *engine.Conn, id sessions.RunID) (run sessions.Run, at runRow, err error) {
	found, err := c.One(ctx, "SELECT "+runColumns+" FROM runs WHERE id = ?", []any{string(id)}, func(r engine.Row) (err error) {
		run, at, err = scanRun(r)
		return err
	})
	if err == nil && !found {
		err = engine.NotFound("run", id)
	}
	return run, at, err
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
		b, err := column.JSON(requestOf(run))
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
	var at runRow
	busy := false
	ok, err = t.One("SELECT "+runColumns+", CASE WHEN EXISTS (SELECT 1 FROM runs AS atwork WHERE atwork.key = runs.key AND atwork.status IN ('queued', 'running') AND atwork.status = 'running') THEN 1 ELSE 0 END FROM runs WHERE key = ? AND status IN ('queued', 'running') ORDER BY seq LIMIT 1", []any{string(key)}, func(r engine.Row) (err error) {
		if busy = r.Bool(16); !busy { // the run at work may have been queued later: see takeOver
			run, at, err = scanRun(r)
		}
		return err
	})
	if err != nil || !ok || busy {
		return sessions.Run{}, false, err
	}
	if run.Attempt == 0 {
		if err := s.begin(t, run, at); err != nil {
			return run, false, err
		}
		at.first = s.transcripts.Last()
	}
	run.Status, run.Started = sessions.Running, engine.FromMs(engine.Ms(t.Now))
	run.Attempt++
	if run.Deadline.IsZero() && run.Timeout > 0 {
		run.Deadline = engine.FromMs(engine.Ms(t.Now.Add(run.Timeout)))
	}
	_, err = t.Exec("UPDATE runs SET status = 'running', attempt = ?, first = ?, started = ?, deadline = ? WHERE seq = ?",
		run.Attempt, at.first, engine.Ms(run.Started), engine.Ms(run.Deadline), at.seq)
	return run, err == nil, err
}

func slotOf(run sessions.Run, at runRow) transcript.Slot {
	return transcript.Slot{Transcript: at.transcript, Run: at.seq, By: run.ID, Key: run.TranscriptKey(), Agent: run.Agent, Session: run.Session}
}

// Record appends messages to the transcript of a run as they happen.
func (s *runs) Record(ctx context.Context, id sessions.RunID, msgs ...sessions.Message) error {
	list, err := s.transcripts.Encode(id, msgs...)
	if err != nil || len(list) == 0 {
		return err
	}
	return s.write(ctx, "Record", func(t *tx) error {
		run, at, err := s.run(t, id)
		if err != nil {
			return err
		}
		before := s.transcripts.Last()
		if err := s.transcripts.Append(t, slotOf(run, at), list, nil); err != nil {
			return err
		}
		if run.Status != sessions.Running && s.transcripts.Last() > before {
			return engine.Conflict("run %s is %s: it records nothing more", id, run.Status)
		}
		return nil
	})
}

// Steps gives what a run has recorded, its input left out.
func (s *runs) Steps(ctx context.Context, id sessions.RunID) (out []sessions.Message, err error) {
	err = s.read(ctx, func(c *engine.Conn) error {
		run, at, err := getRun(ctx, c, id)
		if err != nil {
			return err
		}
		out, err = steps(ctx, c, run, at)
		return err
	})
	return out, err
}

func steps(ctx context.Context, c *engine.Conn, run sessions.Run, at runRow) (out []sessions.Message, err error) {
	out, err = transcript.Steps(ctx, c, at.transcript, at.seq, at.first)
	return slices.DeleteFunc(out, func(m sessions.Message) bool { return m.ID == run.Input.ID }), err
}
