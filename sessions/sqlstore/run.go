package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/channels"
	"parley/sessions"
)

// request is what a run was asked for. Once queued it changes only with the message that caused it.
type request struct {
	Kind    sessions.RunKind   `json:"kind"`
	Agent   sessions.AgentID   `json:"agent"`
	Input   sessions.Message   `json:"input"`
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

func requestOf(r sessions.Run) request {
	in := r.Input
	in.Seq, in.Number, in.Deliveries, in.Time = 0, 0, nil, clampTime(in.Time)
	if in.Run == "" {
		in.Run = r.ID
	}
	return request{Kind: r.Kind, Agent: r.Agent, Input: in, Reply: r.Reply, ReplyTo: r.ReplyTo, Source: r.Source, Model: r.Model,
		Think: r.Thinking, System: r.System, With: r.With, Revised: r.Revised, Alone: r.Alone, Label: r.Label, Timeout: r.Timeout, Chain: r.Chain, Client: r.Client, Brought: r.Brought, Home: r.Home}
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

var runColumns = nameless("seq, id, key, transcript, session, status, stop, attempt, first, created, started, deadline, ended, body, outcome, batch")

func scanRun(r row) (run sessions.Run, at runRow, err error) {
	at = runRow{seq: r.int(0), transcript: r.int(3), stop: r.bool(6), first: r.int(8)}
	var q request
	if err = decode(r.str(13), &q); err != nil {
		return run, at, fmt.Errorf("run %s: %w", r.str(1), err)
	}
	var o outcome
	if err = decode(r.str(14), &o); err != nil {
		return run, at, fmt.Errorf("run %s: %w", r.str(1), err)
	}
	run = sessions.Run{
		ID: sessions.RunID(r.str(1)), Kind: q.Kind, Key: sessions.Key(r.str(2)), Session: sessions.ID(r.str(4)), Agent: q.Agent,
		Status: sessions.RunStatus(r.str(5)), Attempt: int(r.int(7)), Input: q.Input, Reply: q.Reply, ReplyTo: q.ReplyTo, Source: q.Source,
		Model: q.Model, Thinking: q.Think, System: q.System, With: q.With, Revised: q.Revised, Alone: q.Alone, Label: q.Label, Timeout: q.Timeout, Chain: q.Chain, Client: q.Client, Brought: q.Brought, Home: q.Home, Created: r.time(9), Started: r.time(10), Deadline: r.time(11), Ended: r.time(12),
		Result: o.Result, Error: o.Error, Usage: o.Usage, Batch: sessions.RunID(r.str(15)),
	}
	run.Stopping = at.stop && run.Status == sessions.Running
	return run, at, nil
}

func (t *tx) run(id sessions.RunID) (sessions.Run, runRow, error) { return getRun(t.ctx, t.conn, id) }

func getRun(ctx context.Context, c *conn, id sessions.RunID) (run sessions.Run, at runRow, err error) {
	found, err := c.one(ctx, "SELECT "+runColumns+" FROM runs WHERE id = ?", []any{string(id)}, func(r row) (err error) {
		run, at, err = scanRun(r)
		return err
	})
	if err == nil && !found {
		err = missing("run", id)
	}
	return run, at, err
}

// enqueue puts a run at the end of its session's queue.
func (t *tx) enqueue(at known, run sessions.Run, body string) (sessions.Run, error) {
	run.Key, run.Session, run.Status, run.Created = at.Key, at.ID, sessions.Queued, fromMs(ms(t.now))
	run.Attempt, run.Started, run.Deadline, run.Ended, run.Batch = 0, time.Time{}, time.Time{}, time.Time{}, ""
	if run.Input.Run == "" {
		run.Input.Run = run.ID
	}
	if run.Agent == "" {
		run.Agent = at.Agent
		b, err := marshal(requestOf(run))
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
	t.n.run++
	_, err := t.exec("INSERT INTO runs (seq, id, key, transcript, session, parent, root, by_agent, status, created, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)",
		t.n.run, string(run.ID), string(run.Key), at.transcript, string(run.Session), parent, root, run.Kind.ByAgent(), ms(run.Created), body)
	return run, err
}

// Claim takes the next queued run of a session. At the first claim its input goes into the transcript: behind the answer of the
// turn before it, in one commit with the claim.
func (s *Store) Claim(ctx context.Context, key sessions.Key) (run sessions.Run, ok bool, err error) {
	err = s.write(ctx, "Claim", func(t *tx) (err error) {
		run, ok, err = t.claim(key)
		return err
	})
	return run, ok, err
}

func (t *tx) claim(key sessions.Key) (run sessions.Run, ok bool, err error) {
	var at runRow
	busy := false
	ok, err = t.one("SELECT "+runColumns+", CASE WHEN EXISTS (SELECT 1 FROM runs AS atwork WHERE atwork.key = runs.key AND atwork.status IN ('queued', 'running') AND atwork.status = 'running') THEN 1 ELSE 0 END FROM runs WHERE key = ? AND status IN ('queued', 'running') ORDER BY seq LIMIT 1", []any{string(key)}, func(r row) (err error) {
		if busy = r.bool(16); !busy { // the run at work may have been queued later: see takeOver
			run, at, err = scanRun(r)
		}
		return err
	})
	if err != nil || !ok || busy {
		return sessions.Run{}, false, err
	}
	if run.Attempt == 0 {
		if err := t.begin(run, at); err != nil {
			return run, false, err
		}
		at.first = t.n.message
	}
	run.Status, run.Started = sessions.Running, fromMs(ms(t.now))
	run.Attempt++
	if run.Deadline.IsZero() && run.Timeout > 0 {
		run.Deadline = fromMs(ms(t.now.Add(run.Timeout)))
	}
	_, err = t.exec("UPDATE runs SET status = 'running', attempt = ?, first = ?, started = ?, deadline = ? WHERE seq = ?",
		run.Attempt, at.first, ms(run.Started), ms(run.Deadline), at.seq)
	return run, err == nil, err
}

func (t *tx) shelf(run sessions.Run, at runRow) shelf {
	return shelf{transcript: at.transcript, run: at.seq, by: run.ID, key: run.TranscriptKey(), agent: run.Agent, session: run.Session}
}

// Record appends messages to the transcript of a run as they happen.
func (s *Store) Record(ctx context.Context, id sessions.RunID, msgs ...sessions.Message) error {
	list, err := s.writeAll(id, msgs)
	if err != nil || len(list) == 0 {
		return err
	}
	return s.write(ctx, "Record", func(t *tx) error {
		run, at, err := t.run(id)
		if err != nil {
			return err
		}
		before := t.n.message
		if err := t.append(t.shelf(run, at), list, nil); err != nil {
			return err
		}
		if run.Status != sessions.Running && t.n.message > before {
			return wrong("run %s is %s: it records nothing more", id, run.Status)
		}
		return nil
	})
}

// Steps gives what a run has recorded, its input left out.
func (s *Store) Steps(ctx context.Context, id sessions.RunID) (out []sessions.Message, err error) {
	err = s.read(ctx, func(c *conn) error {
		run, at, err := getRun(ctx, c, id)
		if err != nil {
			return err
		}
		out, err = steps(ctx, c, run, at)
		return err
	})
	return out, err
}

func steps(ctx context.Context, c *conn, run sessions.Run, at runRow) (out []sessions.Message, err error) {
	err = c.each(ctx, "SELECT "+promptColumns+" FROM messages WHERE transcript = ? AND seq > ? AND run = ? ORDER BY seq", []any{at.transcript, at.first, at.seq}, func(r row) error {
		m, err := scanForPrompt(r)
		if m.ID != run.Input.ID {
			out = append(out, m)
		}
		return err
	})
	return out, err
}

// Finish ends a run.
func (s *Store) Finish(ctx context.Context, id sessions.RunID, o sessions.Outcome) (acc sessions.Accepted, err error) {
	f, err := s.finishing(id, o)
	if err != nil {
		return acc, err
	}
	err = s.write(ctx, "Finish", func(t *tx) (err error) {
		acc, err = t.finish(id, f)
		return err
	})
	return acc, err
}

// ending is an outcome that is checked and encoded.
type ending struct {
	sessions.Outcome
	msgs       []written
	deliveries []*parcel
	next       *effects
	summary    string // the body of Summary
	body       string
}

func (s *Store) finishing(id sessions.RunID, o sessions.Outcome) (*ending, error) {
	if !o.Status.Final() || o.Status == "" {
		return nil, fmt.Errorf("finishing run %s: %q is no end", id, o.Status)
	}
	f := &ending{Outcome: o}
	var err error
	if f.msgs, err = s.writeAll(id, o.Messages); err != nil {
		return nil, err
	}
	if o.Summary != nil {
		if f.summary, err = encodeSummary(*o.Summary); err != nil {
			return nil, err
		}
	}
	for _, d := range o.Deliveries {
		x, err := wrap(d)
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
	f.body, err = encode(outcome{Result: o.Result, Error: o.Error, Usage: o.Usage})
	return f, err
}

func (t *tx) finish(id sessions.RunID, f *ending) (acc sessions.Accepted, err error) {
	run, at, err := t.run(id)
	if err != nil {
		return acc, err
	}
	if run.Status != sessions.Running {
		return acc, wrong("run %s is %s, not running", id, run.Status)
	}
	if at.stop && run.Kind == sessions.ChildRun { // the stop was first: it reports nothing
		if f, err = f.stopped(); err != nil {
			return acc, err
		}
	}
	seqs := map[string]int64{}
	if err = t.append(t.shelf(run, at), f.msgs, seqs); err != nil {
		return acc, err
	}
	// One that was interrupted too late, with its answer ready, has answered by itself.
	if _, err = t.exec("UPDATE runs SET status = ?, ended = ?, outcome = ?, batch = CASE WHEN ? = 1 THEN '' ELSE batch END WHERE seq = ?", string(f.Status), ms(t.now), f.body, f.Status == sessions.Done, at.seq); err != nil {
		return acc, err
	}
	if f.Summary != nil {
		if err = t.compact(*f.Summary, f.summary); err != nil && !errors.Is(err, sessions.ErrConflict) && !errors.Is(err, sessions.ErrNotFound) {
			return acc, err
		}
	}
	if acc.Session, err = t.settle(run, f); err != nil {
		return acc, err
	}
	made := make([]sessions.Delivery, 0, len(f.deliveries))
	for _, d := range f.deliveries {
		if n := seqs[d.Message]; n > 0 {
			d.transcript, d.messageSeq = at.transcript, n
		}
		if d.Run == id {
			d.runSeq = at.seq
		}
		if run.Home != "" && d.Session == run.Home { // whose chat is the other session's by now
			d.Session = run.Key
		}
		last := t.n.delivery
		x, err := t.post(d)
		if err == nil && f.Begin != nil && f.Begin.Delivery == x.ID && x.Seq > last {
			err = t.beginAtOnce(d, &x, *f.Begin)
		}
		if err != nil {
			return acc, err
		}
		made = append(made, x)
	}
	acc.Deliveries = made
	if f.next != nil && f.next.Existing {
		if _, err := t.session(f.next.Session.Key); errors.Is(err, sessions.ErrNotFound) {
			return acc, t.clear(f)
		}
	}
	if t.also(f.next != nil, "next"); f.next != nil {
		own := acc.Session
		if acc, err = t.once(sight{msg: f.next.Source, event: submitEvent}, f.next); err != nil {
			return acc, err
		}
		acc.Deliveries = append(made, acc.Deliveries...)
		if acc.Session.Key == "" {
			acc.Session = own
		}
	}
	return acc, t.clear(f)
}

// stopped is the end of a sub-agent's run that a person stopped before it was committed.
func (f *ending) stopped() (*ending, error) {
	s := *f
	s.Status, s.Error, s.next, s.deliveries, s.Delete = sessions.Stopped, "stopped by a person", nil, nil, nil
	body, err := encode(outcome{Error: s.Error, Usage: s.Usage})
	s.body = body
	return &s, err
}

// clear archives and deletes what a finished run leaves behind.
func (t *tx) clear(f *ending) error {
	if f.Archive != nil {
		k, err := t.session(*f.Archive)
		if err == nil {
			err = t.archive(&k)
			t.also(err == nil, "archive")
		}
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return err
		}
	}
	if f.Delete == nil {
		return nil
	}
	open, err := t.conn.number(t.ctx, "SELECT count(*) FROM runs WHERE key = ? AND status IN ('queued', 'running')", string(*f.Delete))
	if err != nil || open > 0 { // a follow-up has the same chain: its end asks again
		return err
	}
	t.also(true, "delete")
	return t.remove(*f.Delete)
}

// settle brings the session up to date with a run that ended. Figures count only while the session is the one that the run
// began in: a reset sets them to zero.
func (t *tx) settle(run sessions.Run, f *ending) (sessions.Session, error) {
	k, err := t.session(run.TranscriptKey())
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
		if !slices.Contains(spared, run.Kind) && run.Kind != sessions.CompactRun { // those go on after a stop, or are no turn, and say nothing about it
			k.Aborted = f.Status == sessions.Stopped
		}
		if run.Kind != sessions.PostRun && run.Kind != sessions.CompactRun {
			k.Turns++
		}
		if run.Kind.ByAgent() {
			k.ByAgents++
		}
	}
	k.touch(time.Time{}, t.now)
	usage, err := encode(k.Usage)
	if err != nil {
		return k.Session, err
	}
	_, err = t.exec("UPDATE sessions SET usage = ?, context = ?, turns = ?, by_agents = ?, aborted = ?, updated = ? WHERE num = ?", usage, k.Context, k.Turns, k.ByAgents, k.Aborted, ms(k.Updated), k.num)
	return k.Session, err
}
