package turn

import (
	"context"
	"fmt"
	"slices"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

// Transcripts reads what sessions said before a run, and keeps the newest of it in memory.
type Transcripts struct {
	cache    *cache
	store    sessions.Store
	settings func() *settings.Snapshot
	model    func(name string) (agent.Candidate, error)
}

// Forget drops what memory keeps of a session's transcript.
func (t *Transcripts) Forget(id sessions.ID) { t.cache.drop(id) }

// ForgetAll drops what memory keeps of all transcripts.
func (t *Transcripts) ForgetAll() { t.cache.clear() }

// add puts messages behind what memory keeps of a transcript.
func (t *Transcripts) add(id sessions.ID, msgs ...sessions.Message) {
	t.cache.add(id, t.readMost(), msgs...)
}

// past is what a run's session was until the run began, its own input last. What the run has recorded itself may be part of it.
func (t *Transcripts) past(ctx context.Context, run sessions.Run) (history, error) {
	if run.Attempt == 1 {
		if x, ok := t.cache.get(run.Session); ok { // process has put the input behind it
			return x, nil
		}
	}
	x, err := t.stored(ctx, run.Session)
	if err == nil && run.Attempt > 0 { // in the session's lane
		t.cache.put(x)
	}
	return x, err
}

// Shown returns what a model is shown of a stored transcript: its newest summary, and the messages behind it that were not refused.
func (t *Transcripts) Shown(ctx context.Context, id sessions.ID, model string) (sessions.Summary, []sessions.Message, error) {
	x, err := t.stored(ctx, id)
	if err != nil {
		return sessions.Summary{}, nil, err
	}
	return x.Sum, judge(x, model).Shown(), nil
}

// stored reads the newest summary of a transcript, and the messages behind it, from the store.
func (t *Transcripts) stored(ctx context.Context, id sessions.ID) (history, error) {
	sum, _, err := t.store.Summary(ctx, id)
	if err != nil {
		return history{}, fmt.Errorf("read the summary: %w", err)
	}
	msgs, err := t.store.Tail(ctx, id, sessions.TailQuery{Limit: t.readMost(), After: sum.Upto, IncludeTool: true, Opaque: true})
	if err != nil {
		return history{}, fmt.Errorf("read the transcript: %w", err)
	}
	return history{id: id, Sum: sum, Msgs: msgs}, nil
}

// readMost bounds what is read of a transcript: more than a turn is shown, so that it includes what must be summarised.
func (t *Transcripts) readMost() int { return 2*t.historyLimit() + 1000 }

// view is what a run's turn with a model is shown before its own steps: the summary of the older part of the transcript, what came after that
// and was not refused, and the run's input last, also where the summary covers it already, then with the messages that the turn has merged and the
// summary covers as well: they need an answer. In front of the input is what is under way, as the turns that began it may be
// summed up. covered says how many of the run's own steps need not be shown any more.
func (t *Transcripts) view(ctx context.Context, x history, model string, run sessions.Run, steps []sessions.Message) (msgs []sessions.Message, covered int, err error) {
	j := judge(x, model)
	msgs = withShownNames(upToInput(j.Shown(), run), run, t.settings().Session.Scope)
	if x.Sum.ID == "" || j.sum.state != partShown && len(steps) == 0 {
		return msgs, 0, nil
	}
	for covered < len(steps) && steps[covered].Seq > 0 && steps[covered].Seq <= x.Sum.Upto {
		covered++
	}
	msgs = append(msgs, withShownNames(sessions.MergedMessages(run, steps[:covered]), run, t.settings().Session.Scope)...)
	text, err := Prompt("summary", PromptFacts{Messages: x.Sum.Messages, Before: x.Sum.Text})
	if err != nil {
		return nil, 0, err
	}
	open, err := t.openWork(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	if open != "" {
		at := slices.IndexFunc(msgs, func(m sessions.Message) bool { return m.ID == run.Input.ID })
		msgs = slices.Insert(msgs, max(at, 0), agent.OpenMessage(x.Sum, open))
	}
	return slices.Insert(msgs, 0, agent.SummaryMessage(x.Sum, text)), covered, nil
}

// upToInput leaves out what the run itself has recorded, and makes sure that its input is there.
// What is given back cannot be appended to in place: it may be msgs itself.
func upToInput(msgs []sessions.Message, run sessions.Run) []sessions.Message {
	own := func(m sessions.Message) bool { return m.Run == run.ID && m.ID != run.Input.ID }
	if n := len(msgs); n > 0 && msgs[n-1].ID == run.Input.ID && !slices.ContainsFunc(msgs, own) { // a turn that begins
		return slices.Clip(msgs)
	}
	out := make([]sessions.Message, 0, len(msgs)+1)
	found := false
	for _, m := range msgs {
		if own(m) {
			continue // a step, or a message that the turn has merged
		}
		found = found || m.ID == run.Input.ID
		out = append(out, m)
	}
	if !found {
		out = append(out, run.Input)
	}
	return slices.Clip(out)
}

func (t *Transcripts) historyLimit() int {
	return settings.OrDefault(t.settings().Agents.Defaults.HistoryLimit, 400)
}
