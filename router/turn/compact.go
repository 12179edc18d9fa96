package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/agent"
	"parley/channels"
	"parley/router/budget"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// compact brings a run to its end that sums up its session because a person asked for it. Its outcome is the notice.
func (w *Worker) compact(ctx context.Context, set *settings.Snapshot, s sessions.Session, run sessions.Run, t *agent.Turn) (out agent.Outcome, err error) {
	c := w.compacts(set, &tools.Caller{Session: s, Run: run}, t)
	x, err := w.Transcripts.stored(ctx, run.Session)
	if err != nil {
		return out, err
	}
	before := c.tokens(append([]sessions.Message{agent.SummaryMessage(x.Sum, x.Sum.Text)}, x.Msgs...))
	room := agent.Divide(t.Facts.ContextWindow, c.fixed())
	room.Keep = min(room.Keep, agent.Tokens(x.Msgs...)/10)
	cut := agent.Cut(x.Msgs, room.Keep, max(len(x.Msgs)/4, 1))
	if cut == 0 || agent.Tokens(x.Msgs[:cut]...) < agent.LeastCovered {
		out.Text = fmt.Sprintf("⚙️ There is nothing to compact yet: %s, %s tokens.", channels.Plural(len(x.Msgs), "message"), sessions.ShortCount(before))
		return out, nil
	}
	now, err := c.sumUp(ctx, x, cut, before, room, strings.TrimSpace(run.Input.Text()))
	if err == nil {
		out.Text = fmt.Sprintf("⚙️ Compacted: %s, %s → %s tokens.", channels.Plural(cut, "message"), sessions.ShortCount(before), sessions.ShortCount(now.Sum.Context))
		if c.refused > 0 {
			out.Text += " The model's provider refused " + channels.Plural(c.refused, "message") + ", so the summary leaves out " + itOrThem(c.refused) + "."
		}
		if c.undone {
			out.Text += " The provider also refused the earlier summary, so the new one leaves it out."
		}
	}
	return out, err
}

// compaction makes what a model is shown of a session shorter: it sums up the older part of the transcript, which itself is never
// touched. It works for one run.
type compaction struct {
	r      *Worker
	set    *settings.Snapshot
	caller *tools.Caller
	turn   *agent.Turn

	refused int  // messages that the summary says nothing of, as the provider refused them
	undone  bool // the provider refused the summary before this one
}

// compacts has a turn sum up the older part of its session when the model's window fills up.
func (w *Worker) compacts(set *settings.Snapshot, caller *tools.Caller, t *agent.Turn) *compaction {
	c := &compaction{r: w, set: set, caller: caller, turn: t}
	at := set.Agents.Defaults.Compaction.At
	if at <= 0 {
		at = 0.8
	}
	t.Compact, t.CompactAt, t.CompactOver = c.shorten, int(at*float64(t.Facts.ContextWindow)), w.Transcripts.historyLimit()
	if most := t.Facts.MaxMessages; most > 0 && (t.CompactOver == 0 || most < t.CompactOver) {
		t.CompactOver = most
	}
	return c
}

// fixed estimates what of every prompt of the turn is no message.
func (c *compaction) fixed() int {
	n := agent.TextTokens(c.turn.System)
	for _, t := range c.turn.Tools {
		n += agent.SpecTokens(t.Spec())
	}
	return n
}

func (c *compaction) tokens(msgs []sessions.Message) int {
	specs := make([]tools.Spec, len(c.turn.Tools))
	for i, t := range c.turn.Tools {
		specs[i] = t.Spec()
	}
	return agent.PromptTokens(c.turn.System, specs, msgs)
}

// shorten is agent.Turn.Compact. Where no summary can be had, the oldest messages are left out for this turn only.
func (c *compaction) shorten(ctx context.Context, msgs []sessions.Message, over int) ([]sessions.Message, error) {
	before, window := c.tokens(msgs), c.turn.Facts.ContextWindow
	if window <= 0 || before <= c.turn.CompactAt && (over == 0 || len(msgs) <= over) {
		window = before // so much the provider has refused: its window is smaller than was thought, or the estimate
	}
	x, err := c.r.Transcripts.stored(ctx, c.caller.Run.Session)
	if err != nil {
		return nil, err
	}
	room := agent.Divide(window, c.fixed())
	cut := agent.Cut(x.Msgs, room.Keep, max(over/4, 1))
	if isMany := over > 0 && max(len(x.Msgs), len(msgs)) > over; cut == 0 || agent.Tokens(x.Msgs[:cut]...) < agent.LeastCovered && !isMany {
		return agent.Fit(msgs, 2*room.Keep), nil // one very long message, or several
	}
	now, err := c.sumUp(ctx, x, cut, before, room, "")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		c.r.log.Warn("cannot summarize the session; omitting older messages", keySession, c.caller.Run.Key, keyRun, c.caller.Run.ID, keyErr, err)
		now = behind(x, cut, sessions.Summary{ID: cmp.Or(x.Sum.ID, string(c.caller.Run.ID)), Text: x.Sum.Text, Time: time.Now()})
	}
	return c.shown(ctx, now, room.Keep)
}

// shown is the view of the run's turn with its steps, made to fit.
func (c *compaction) shown(ctx context.Context, x history, keep int) ([]sessions.Message, error) {
	own := slices.DeleteFunc(slices.Clone(x.Msgs), func(m sessions.Message) bool { return m.Run != c.caller.Run.ID || m.ID == c.caller.Run.Input.ID })
	steps, err := c.r.store.Steps(ctx, c.caller.Run.ID)
	if err != nil {
		return nil, fmt.Errorf("read the steps: %w", err)
	}
	past, _, err := c.r.Transcripts.view(ctx, x, c.turn.Label, c.caller.Run, steps)
	if err != nil {
		return nil, err
	}
	head := 0
	for head < len(past) && past[head].Seq == 0 && past[head].ID != c.caller.Run.Input.ID { // the summary fits as it is
		head++
	}
	return append(past[:head:head], agent.Fit(append(past[head:len(past):len(past)], own...), keep)...), nil
}

// behind is a history whose oldest messages s stands for.
func behind(x history, cut int, s sessions.Summary) history {
	s.Session, s.Upto, s.Messages, s.Judged = x.id, x.Msgs[cut-1].Seq, x.Sum.Messages+cut, judgements(x, cut)
	return history{id: x.id, Sum: s, Msgs: x.Msgs[cut:]}
}

// sumUp has a model sum up the oldest messages of x, and keeps the summary. Without a model there is only where the rest begins: that cost
// nothing and can be found again, so it is kept with the end of the turn.
func (c *compaction) sumUp(ctx context.Context, x history, cut, before int, room agent.Room, look string) (history, error) {
	id := uuid.NewString()
	text, free := x.Sum.Text, c.set.Agents.Defaults.Compaction.Off && c.caller.Run.Kind != sessions.CompactRun
	if !free {
		var err error
		if text, err = c.summary(ctx, id, x, cut, room, look); err != nil {
			return x, err
		}
	}
	now := behind(x, cut, sessions.Summary{ID: id, Text: text, Before: before, Run: c.caller.Run.ID, Time: time.Now()})
	now.Sum.Context = c.fixed() + agent.TextTokens(text) + min(agent.Tokens(now.Msgs...), room.Keep)
	if free {
		now.unsaved = true
		c.r.Transcripts.cache.put(now)
		return now, nil
	}
	var refused error
	if !c.r.retry.Do(ctx, "compact", func(ctx context.Context) error {
		if refused = c.r.store.Compact(ctx, now.Sum); errors.Is(refused, sessions.ErrConflict) {
			return nil
		}
		return refused
	}) && refused == nil {
		refused = ctx.Err()
	}
	c.r.Transcripts.Forget(x.id)
	if refused != nil {
		return x, fmt.Errorf("store the summary: %w", refused)
	}
	c.r.log.Info("summarized the older part of a session", keySession, c.caller.Run.Key, keyRun, c.caller.Run.ID, "messages", cut, "before", before, "after", now.Sum.Context, "refused", c.refused)
	return now, nil
}

// summary words the older part of a session, a chunk after the other: each call is shown the summary so far. A model that finds a
// chunk too long is given smaller ones.
func (c *compaction) summary(ctx context.Context, id string, x history, cut int, room agent.Room, look string) (text string, err error) {
	who, err := c.writer(room)
	if err != nil {
		return "", err
	}
	if w := who.Facts.ContextWindow; w > 0 {
		room.Chunk = min(room.Chunk, agent.Divide(w, 0).Chunk)
	}
	old, before := toSumUp(x, cut, c.turn.Label)
	w := &summarizer{c: c, id: id, who: who, look: look, room: room, covered: agent.Tokens(old...) + agent.TextTokens(before)}
	for ; ; w.room.Chunk /= 2 {
		w.text, w.taken, w.leftOut, w.undone = before, "", 0, before == "" && x.Sum.Text != ""
		err = w.add(ctx, old)
		e, ok := errors.AsType[*agent.ModelError](err)
		if !ok || e.Class != agent.TooLong || w.room.Chunk < 400 {
			break
		}
	}
	if err == nil && w.leftOut == len(old) && w.leftOut > 0 { // the provider takes nothing
		err = w.err
	}
	c.refused, c.undone = w.leftOut, w.undone
	return w.text, err
}

// writer is the turn that makes summaries: of the configured model, otherwise of the session's.
func (c *compaction) writer(room agent.Room) (agent.Turn, error) {
	system, err := Prompt("compact", PromptFacts{Words: max(room.Summary/2, 40)})
	if err != nil {
		return agent.Turn{}, err
	}
	t := agent.Turn{System: system, MaxSteps: 1, Caller: tools.Caller{Session: c.caller.Session, Run: c.caller.Run}, Afford: c.turn.Afford, Spent: c.turn.Spent,
		Model: c.turn.Model, Name: c.turn.Name, Label: c.turn.Label, Facts: c.turn.Facts, Fallbacks: c.turn.Fallbacks}
	name := c.set.Agents.Defaults.Compaction.Model
	if name == "" || name == t.Label {
		return t, nil
	}
	m, err := c.r.model(name)
	if no := budget.CheckPriced(c.r.budgets.Meter(c.caller.Session, c.caller.Run).Limits(), m); err == nil && no != nil {
		err = no
	}
	if err != nil {
		c.r.log.Error("cannot use compaction model; using the session's", keyErr, err)
		return t, nil
	}
	t.Fallbacks = append([]agent.Candidate{{Model: t.Model, Name: t.Name, Label: t.Label, Facts: t.Facts}}, t.Fallbacks...)
	t.Model, t.Name, t.Label, t.Facts = m.Model, m.Name, m.Label, m.Facts
	c.r.budgets.Meter(c.caller.Session, c.caller.Run).Reserve(&t)
	return t, nil
}

// write makes one summary call and records its cost in the ledger.
func (c *compaction) write(ctx context.Context, id string, who agent.Turn, f PromptFacts) (string, error) {
	request, err := Prompt("compact_request", f)
	if err != nil {
		return "", err
	}
	who.History = []sessions.Message{{ID: id, Role: sessions.User, Content: sessions.TextContent(request), Time: time.Now(),
		Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Tool: agent.SummaryRequest}}}
	out, err := c.r.loop.Run(ctx, who)
	if err != nil {
		return "", err
	}
	c.r.budgets.Meter(c.caller.Session, c.caller.Run).Spend(ctx, "compact", out.Final.Model, out.Usage)
	switch {
	case out.Final.Stop == agent.StopFilter:
		return "", &agent.ModelError{Class: agent.Refused, Provider: out.Final.Model, Tries: 1, Err: errors.New("the provider refused the summary")}
	case agent.CutAtOnce(out.Final.Stop, out.Final.Content, out.Usage):
		return "", &agent.ModelError{Class: agent.TooLong, Provider: out.Final.Model, Tries: 1, Err: errors.New("the summary does not fit")}
	case out.Text == "":
		return "", errors.New("the model gave an empty summary")
	}
	return out.Text, nil
}
