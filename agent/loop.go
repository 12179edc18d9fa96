package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"parley/agent/control"
	"parley/sessions"
	"parley/tools"
)

// Loop runs turns: it calls the model, executes the tools that it asks for, and calls it again until it asks for none. It is
// pure: it knows no store and no channel, and keeps nothing but checked schemas. The zero value is ready; one Loop serves any
// number of turns at the same time. It must not be copied.
type Loop struct {
	Logger *slog.Logger // nil = silent; message text appears at debug level only

	schemas   schemaCache
	uncounted sync.Map // labels of the models that were found to count no tokens
}

// yielded marks the recorded result of a tool that ended the turn, in Message.Stop, so that a resumed run ends there too.
const yielded = "yield"

// Run brings t to its end. It returns ctx's error when ctx ends, a *ModelError when the model cannot be reached, ErrTooManySteps,
// the error of Turn.Record as it is, or the error of a tool (a fault of the host). What was recorded until then stays
// recorded: called again with it in Turn.Steps, Run goes on behind it.
//
// Outcome.Final is the assistant message that ended the turn. After a tool that yields it is the message with that tool's call,
// which is recorded already; recording it again changes nothing, as its id is the same.
func (l *Loop) Run(ctx context.Context, t Turn) (Outcome, error) {
	if t.MaxSteps <= 0 {
		t.MaxSteps = DefaultMaxSteps
	}
	if t.Step {
		t.MaxSteps = stepAnswers
	}
	r := &turnRun{Turn: t, log: l.Logger, schemas: &l.schemas, uncounted: &l.uncounted, offered: offered{make(map[string]tools.Tool, len(t.Tools)), make([]tools.Spec, 0, len(t.Tools))},
		candidates: append([]Candidate{{Model: t.Model, Name: t.Name, Label: t.Label, Facts: t.Facts}}, t.Fallbacks...)}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	for _, tool := range t.Tools {
		spec := tool.Spec()
		r.tools[spec.Name] = tool
		r.specs = append(r.specs, spec)
	}
	r.msgs = append(slices.Clip(t.History), t.Steps[t.Covered:]...)
	r.counted, r.covers = lastCount(r.msgs)
	if without := sessions.Without(t.Steps); len(without) > 0 {
		r.show(r.msgs, without)
	}
	if slices.ContainsFunc(t.Steps, func(m sessions.Message) bool { return m.WithoutHistory() }) {
		r.goAlone()
	}
	last, done := r.resume()
	for {
		if last != nil {
			yield, err := r.callTools(ctx, *last, done)
			if err != nil {
				return Outcome{}, err
			}
			more, answered := false, !last.HasToolCalls()
			if !yield {
				if more, err = r.take(ctx, answered); err != nil {
					return Outcome{}, err
				}
			}
			if yield || answered && !more {
				return r.outcome(*last, yield), nil
			}
		}
		next, err := r.ask(ctx)
		if err != nil {
			return Outcome{}, err
		}
		if !next.HasToolCalls() {
			more, err := r.goesOn(ctx, &next)
			if err != nil {
				return Outcome{}, err
			}
			if !more {
				return r.outcome(next, false), nil
			}
		} else if err := r.keep(next); err != nil {
			return Outcome{}, err
		}
		last, done = &next, nil
	}
}

// goesOn says whether the turn goes on behind a finished answer, which then becomes a step of it.
func (r *turnRun) goesOn(ctx context.Context, answer *sessions.Message) (bool, error) {
	kept := false
	keep := func() error {
		if kept {
			return nil
		}
		kept = true
		return r.keep(*answer)
	}
	more, err := r.waiting(ctx, keep)
	if err != nil {
		if !kept && r.Spent != nil { // it gets into no transcript, and is settled already
			r.Spent(answer.Model, *answer.Usage)
		}
		return false, err
	}
	if !more {
		return false, nil
	}
	return true, keep()
}

// keep records an answer.
func (r *turnRun) keep(answer sessions.Message) error {
	r.heard(answer)
	return r.record(answer)
}

// turnRun is one turn at work.
type turnRun struct {
	Turn
	log       *slog.Logger
	schemas   *schemaCache
	uncounted *sync.Map
	offered
	msgs       []sessions.Message // what the model is shown: history, then the steps of this turn
	callIDs    map[string]bool    // tool call ids of this turn
	candidates []Candidate        // the models of the turn, in the order in which they are asked
	steps      int                // model calls of this turn, earlier attempts included
	usage      sessions.Usage
	context    int
	newest     string
	words      struct{ id, text string } // of the newest message of the turn that says something
	counted    int                       // tokens of the last call, prompt and answer, as the provider counted them: they cover the first covers of msgs
	covers     int
	spent      sessions.Usage // of the call under way, tries that broke off included
	alone      bool           // the messages before the turn are left out, as the provider refused them
	once       bool           // the next call may make one request
	tooLong    *ModelError    // of the first model, which the next call would ask the same again; nil = it is asked
	without    []string       // ids of the turn's own messages that are left out, as the provider refused them
	answered   bool           // a model call of this attempt has its answer
	from       int            // the first of candidates that the next call asks; above 0 only while an empty answer is replaced
}

// resume reads what earlier attempts have recorded: the last assistant message, if any, and the results of its calls by call id.
func (r *turnRun) resume() (last *sessions.Message, done map[string]sessions.Message) {
	r.callIDs = make(map[string]bool)
	for i := range r.Steps {
		switch m := &r.Steps[i]; m.Role {
		case sessions.Assistant:
			r.steps++
			last, done = m, make(map[string]sessions.Message)
			r.heard(*m)
			for _, c := range m.ToolCalls() {
				r.callIDs[c.ID] = true
			}
			if m.Usage != nil {
				r.context = m.Usage.Total()
			}
		case sessions.ToolResult:
			r.newest = m.Text()
			if done != nil {
				done[m.ToolCallID] = *m
			}
		case sessions.User:
			last, done = nil, nil // it came in after that answer, and has none yet
		}
	}
	return last, done
}

// waiting says whether the turn is to go on with what came in meanwhile. A finished answer at the limit of steps ends it: nothing
// could be said any more about what waits, and the answer would be lost.
// keep is nil between two model calls; at the end it puts the answer into the transcript.
func (r *turnRun) waiting(ctx context.Context, keep func() error) (bool, error) {
	if r.Waiting == nil || r.Take == nil || keep != nil && r.steps >= r.MaxSteps {
		return false, nil
	}
	more, err := r.Waiting(ctx, keep)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return more, err
}

// take puts what came in meanwhile behind what the model is shown.
func (r *turnRun) take(ctx context.Context, answered bool) (bool, error) {
	var keep func() error
	if answered { // and it is recorded
		keep = func() error { return nil }
	}
	more, err := r.waiting(ctx, keep)
	if err != nil || !more {
		return false, err
	}
	msgs, err := r.Take(ctx)
	if slices.ContainsFunc(msgs, func(m sessions.Message) bool { return m.Provenance.WantsAnswer() }) {
		r.Place = control.Waited
	}
	r.msgs = append(r.msgs, msgs...)
	return len(msgs) > 0, err
}

// storable makes blocks fit for the transcript: text that every store takes, arguments that are JSON, and call ids that are
// unique in the turn, because effects are keyed by them (some servers number the calls of every message from 0).
func (r *turnRun) storable(blocks []sessions.Block, stop, model string) []sessions.Block {
	out := r.unbundled(once(blocks), stop)
	dropOpaque(out)
	for i := range out {
		b := &out[i]
		if clean := cleanText(b.Text); clean != b.Text {
			if b.Text = clean; b.Type == sessions.ThinkingBlock { // its signature is for what it was
				b.Signature, b.Opaque = nil, nil
			}
		}
		if b.Type != sessions.ToolCallBlock {
			continue
		}
		r.asOffered(b, stop, model)
		if b.ID == "" || r.callIDs[b.ID] {
			b.ID = NewCallID()
		}
		r.callIDs[b.ID] = true
		if !json.Valid(b.Arguments) {
			b.Arguments = quoteArguments(b.Arguments, stop == StopLength)
		}
		if stored, err := json.Marshal(b.Arguments); err == nil {
			b.Arguments = stored // as a store gives it back: what the model is shown stays the same in the next process
		}
	}
	return out
}

// once gives the blocks of a message without the calls that a server says twice: with the same id, tool and arguments.
// source: HKUDS/nanobot#4444, vercel/ai#3953
func once(blocks []sessions.Block) []sessions.Block {
	out := make([]sessions.Block, 0, len(blocks))
	for _, b := range blocks {
		if b.Type != sessions.ToolCallBlock || b.ID == "" || !slices.ContainsFunc(out, func(o sessions.Block) bool {
			return o.Type == sessions.ToolCallBlock && o.ID == b.ID && o.Name == b.Name && SameArguments(o.Arguments, b.Arguments)
		}) {
			out = append(out, b)
		}
	}
	return out
}

// dropOpaque takes the opaque data of a message away when it is more than is kept: a part of it would be refused. blocks are changed.
func dropOpaque(blocks []sessions.Block) {
	size := 0
	for _, b := range blocks {
		if b.Opaque != nil {
			size += len(b.Opaque.Data)
		}
	}
	if size <= sessions.MaxOpaque {
		return
	}
	for i, b := range blocks {
		if b.Opaque != nil {
			blocks[i].Opaque = &sessions.Opaque{From: b.Opaque.From}
		}
	}
}

// callTools executes the calls of m that have no result in done, in order, and records each result before the next call starts.
func (r *turnRun) callTools(ctx context.Context, m sessions.Message, done map[string]sessions.Message) (yield bool, err error) {
	for _, c := range m.ToolCalls() {
		if was, ok := done[c.ID]; ok {
			yield = yield || was.Stop == yielded
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		res, err := r.finishCall(ctx, c, m.Stop)
		if err != nil {
			return false, err
		}
		yield = yield || res.Yield
		r.newest = res.Text
	}
	return yield, nil
}

// record hands a step to the caller and puts it behind what the model is shown.
func (r *turnRun) record(m sessions.Message) error {
	if r.Record != nil {
		if err := r.Record(m); err != nil {
			return err
		}
	}
	r.msgs = append(r.msgs, m)
	return nil
}

// outcome ends the turn with m.
func (r *turnRun) outcome(m sessions.Message, yield bool) Outcome {
	o := Outcome{Final: m, Usage: r.usage, Context: r.context, Newest: r.newest}
	o.Control, o.Text = control.Split(m.Text(), r.Place)
	switch {
	case o.Text != "" || o.Control != Speak:
	case yield:
		o.Control = NoReply // the agent chose to end here; the newest result must not stand in for words
	case r.words.id != "":
		_, o.Text = control.Split(r.words.text, control.Waited)
		o.From = r.words.id
	}
	return o
}

// heard keeps a message that says something: an empty end of the turn falls back to the newest one (contract N12).
func (r *turnRun) heard(m sessions.Message) {
	if text := m.Text(); control.Read(text).Text != "" {
		r.words.id, r.words.text = m.ID, text
	}
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// NewCallID makes an id for a tool call that came without a usable one.
func NewCallID() string { return "call_" + strings.ReplaceAll(uuid.NewString(), "-", "") }
