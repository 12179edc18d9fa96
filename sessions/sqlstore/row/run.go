package row

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
	"parley/sessions/sqlstore/transcript"
)

// OpenBelow says of each open run (seq) in which session it is, and which sessions (key) are above that one. It begins at the runs that are
// open and looks up from them: those are few, while a session may have had thousands of sub-agents.
const OpenBelow = `WITH RECURSIVE up (seq, key) AS (
	SELECT seq, key FROM runs WHERE status IN ('queued', 'running')
	UNION SELECT up.seq, s.spawned_by FROM up JOIN sessions s ON s.key = up.key WHERE s.spawned_by <> '') `

// SubmitEvent is the event of a row of seen that stands for a request with a key, and for no event of a platform.
const SubmitEvent = "submit"

// Request is the JSON body of a run's row: the request that began it. Once queued it changes only with the message that caused it.
type Request struct {
	Kind      sessions.RunKind       `json:"kind"`
	Agent     sessions.AgentID       `json:"agent"`
	Input     sessions.StoredMessage `json:"input"`
	Reply     channels.Address       `json:"reply,omitzero"`
	ReplyTo   channels.MessageID     `json:"replyTo,omitempty"`
	Source    string                 `json:"source,omitempty"`
	Model     string                 `json:"model,omitempty"`
	Think     string                 `json:"thinking,omitempty"`
	System    string                 `json:"system,omitempty"`
	With      sessions.RunID         `json:"with,omitempty"`
	Revised   bool                   `json:"revised,omitempty"`
	Exclusive bool                   `json:"alone,omitempty"`
	Label     string                 `json:"label,omitempty"`
	Timeout   time.Duration          `json:"timeout,omitempty"` // ns
	Chain     *sessions.Chain        `json:"chain,omitempty"`
	Client    json.RawMessage        `json:"client,omitempty"`
	Brought   *sessions.Block        `json:"brought,omitzero"`
	Home      sessions.Key           `json:"home,omitempty"`
}

// EncodeRun writes the body of a run: what it was asked for.
func EncodeRun(r sessions.Run) (string, error) { return column.JSON(requestOf(r)) }

func requestOf(r sessions.Run) Request {
	in := r.Input
	in.Seq, in.Number, in.Time = 0, 0, engine.ClampTime(in.Time)
	in.SetDeliveries(nil)
	if in.Run == "" {
		in.Run = r.ID
	}
	return Request{Kind: r.Kind, Agent: r.Agent, Input: sessions.StoredMessage(in), Reply: r.Reply, ReplyTo: r.ReplyTo, Source: r.Source, Model: r.Model,
		Think: r.Thinking, System: r.System, With: r.With(), Revised: r.Revised, Exclusive: r.Exclusive, Label: r.Label, Timeout: r.Timeout, Chain: r.Chain, Client: r.Client(), Brought: r.Brought(), Home: r.Home()}
}

func (q Request) extras() sessions.RunExtras {
	return sessions.RunExtras{With: q.With, Client: q.Client, Home: q.Home, Brought: q.Brought}
}

// Outcome is the JSON body about the end of a run.
type Outcome struct {
	Result string         `json:"result,omitempty"`
	Error  string         `json:"error,omitempty"`
	Usage  sessions.Usage `json:"usage,omitzero"`
}

// Encode writes how a run ended; the zero value is the empty text.
func (o Outcome) Encode() (string, error) { return column.Encode(o) }

// Run holds the columns of a run's row that are not in sessions.Run.
type Run struct {
	Seq, Transcript, First int64 // First is the newest message before those of the run
	Stop                   bool
}

// RunColumns are the columns that ScanRun reads, in this order.
var RunColumns = column.Nameless("seq, id, key, transcript, session, status, stop, attempt, first, created, started, deadline, ended, body, outcome, batch")

// IsRunning reports whether the row of a run says that it is running.
func IsRunning(r engine.Row) bool { return r.Str(5) == string(sessions.Running) }

// ScanRun reads the row of a run.
func ScanRun(r engine.Row) (run sessions.Run, at Run, err error) {
	at = Run{Seq: r.Int(0), Transcript: r.Int(3), Stop: r.Bool(6), First: r.Int(8)}
	var q Request
	if err = column.Decode(r.Str(13), &q); err != nil {
		return run, at, fmt.Errorf("run %s: %w", r.Str(1), err)
	}
	var o Outcome
	if err = column.Decode(r.Str(14), &o); err != nil {
		return run, at, fmt.Errorf("run %s: %w", r.Str(1), err)
	}
	run = sessions.Run{
		ID: sessions.RunID(r.Str(1)), Kind: q.Kind, Key: sessions.Key(r.Str(2)), Session: sessions.ID(r.Str(4)), Agent: q.Agent,
		Status: sessions.RunStatus(r.Str(5)), Attempt: int(r.Int(7)), Input: sessions.Message(q.Input), Reply: q.Reply, ReplyTo: q.ReplyTo, Source: q.Source,
		Model: q.Model, Thinking: q.Think, System: q.System, Revised: q.Revised, Exclusive: q.Exclusive, Label: q.Label, Timeout: q.Timeout, Chain: q.Chain, Created: r.Time(9), Started: r.Time(10), Deadline: r.Time(11), Ended: r.Time(12),
		Result: o.Result, Error: o.Error, Usage: o.Usage, MergedInto: sessions.RunID(r.Str(15)),
	}
	run.SetExtras(q.extras())
	run.Stopping = at.Stop && run.Status == sessions.Running
	return run, at, nil
}

// ScanOnlyRun reads a run.
func ScanOnlyRun(r engine.Row) (sessions.Run, error) {
	run, _, err := ScanRun(r)
	return run, err
}

// GetRun finds a run.
func GetRun(ctx context.Context, c *engine.Conn, id sessions.RunID) (run sessions.Run, at Run, err error) {
	found, err := c.One(ctx, "SELECT "+RunColumns+" FROM runs WHERE id = ?", []any{string(id)}, func(r engine.Row) (err error) {
		run, at, err = ScanRun(r)
		return err
	})
	if err == nil && !found {
		err = engine.NotFound("run", id)
	}
	return run, at, err
}

// Slot returns where the messages of a run go.
func Slot(run sessions.Run, at Run) transcript.Slot {
	return transcript.Slot{Transcript: at.Transcript, Run: at.Seq, By: run.ID, Key: run.TranscriptKey(), Agent: run.Agent, Session: run.Session}
}

// Steps returns what a run has recorded, its input left out.
func Steps(ctx context.Context, c *engine.Conn, run sessions.Run, at Run) (out []sessions.Message, err error) {
	out, err = transcript.Steps(ctx, c, at.Transcript, at.Seq, at.First)
	return slices.DeleteFunc(out, func(m sessions.Message) bool { return m.ID == run.Input.ID }), err
}
