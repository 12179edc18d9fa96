package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"parley/sessions"
)

// ask calls the model once, twice when it finds the prompt too long, and makes a message of its answer.
func (r *turnRun) ask(ctx context.Context) (sessions.Message, error) {
	if r.steps >= r.MaxSteps {
		return sessions.Message{}, fmt.Errorf("%w (%d model calls)", ErrTooManySteps, r.steps)
	}
	if err := ctx.Err(); err != nil {
		return sessions.Message{}, err
	}
	if r.full() {
		if err := r.compact(ctx); err != nil {
			return sessions.Message{}, err
		}
	}
	r.steps++
	var x response
	x.answer, x.by, x.err = r.paid(ctx, false)
	if r.Compact != nil && (x.isTooLong() || x.isOutOfMemory() && Tokens(r.msgs...) >= minMemoryPrompt) {
		if err := r.shorter(ctx, &x); err != nil {
			return sessions.Message{}, err
		}
	}
	if x.refused() {
		r.afterRefusal(ctx, &x)
	}
	if x.err == nil && x.answer.saysNothing() {
		r.again(ctx, &x)
	}
	if r.Failing && !r.answered && x.failed() && (x.err != nil || !r.Step) { // an empty answer of a step is its second one
		r.tryAlone(ctx, &x)
	}
	x.takePart()
	if e, ok := errors.AsType[*ModelError](x.err); ok && IsRefusal(nil, x.err) {
		own := *e
		own.Model, x.err = r.Label, &own
	}
	if x.err != nil {
		return sessions.Message{}, x.err
	}
	answer := x.answer
	r.usage = r.usage.Add(answer.Usage)
	r.context = answer.Usage.Total()
	r.counted, r.covers = r.context, len(r.msgs)+1 // the answer is recorded next
	r.answered = true
	m := sessions.Message{
		ID: newID(), Role: sessions.Assistant, Content: r.storable(answer.Content, answer.Stop, x.by.Label), Time: time.Now(), Run: r.Caller.Run.ID,
		Model: x.by.Label, Usage: &answer.Usage, Stop: answer.Stop,
	}
	if r.alone || len(r.without) > 0 {
		m.MessageExtras = &sessions.MessageExtras{WithoutHistory: r.alone, Without: r.without}
	}
	r.log.LogAttrs(ctx, slog.LevelDebug, "the model answered", slog.String("run", string(m.Run)), slog.String("model", x.by.Label),
		slog.Int("step", r.steps), slog.String("stop", m.Stop), slog.String("text", m.Text()))
	return m, nil
}

// again asks for an answer in the place of an empty one: once more, as most often the next one is not, then the models behind it. A model that
// reached its length limit without a word is not asked the same again.
func (r *turnRun) again(ctx context.Context, x *response) {
	defer func() { r.from = 0 }()
	for again := 1; x.err == nil && x.answer.saysNothing() && again <= 2; again++ {
		if !x.answer.empty() {
			again = 2
		}
		if r.Step {
			if r.steps >= r.MaxSteps {
				break
			}
			r.steps++
		}
		if again == 2 {
			all := r.candidates
			behind := 1 + slices.IndexFunc(all, func(c Candidate) bool { return c.Label == x.by.Label })
			if behind == len(all) {
				break
			}
			r.from = behind
		}
		r.lost(x.by.Label, x.answer.Usage)
		attrs := []slog.Attr{slog.String("run", string(r.Caller.Run.ID)), slog.String("model", x.by.Label), slog.Bool("next", again == 2)}
		if x.answer.isThinkingOnly() {
			attrs = append(attrs, slog.String("hint", "the server returned all text as reasoning: check its reasoning parser and the thinking mode of the model's chat template"))
		}
		r.log.LogAttrs(ctx, slog.LevelWarn, "empty answer from the model; asking again", attrs...)
		x.answer, x.by, x.err = r.paid(ctx, true)
	}
}

// lost counts what was paid for an answer that gets into no transcript, and is settled already.
func (r *turnRun) lost(model string, u sessions.Usage) {
	if r.Spent != nil {
		r.Spent(model, u)
	}
}

// paid makes one model call that the budget allows, and settles what it cost, however it ends. An answer that nobody waits for any
// more is paid for all the same.
func (r *turnRun) paid(ctx context.Context, compacted bool) (*Answer, Candidate, error) {
	r.spent = sessions.Usage{}
	if r.Afford != nil {
		settle, err := r.Afford(ctx, r.tokens())
		if err != nil {
			return nil, Candidate{}, err
		}
		defer func() { settle(r.spent) }()
	}
	answer, by, err := r.stream(ctx, Prompt{System: r.System, Messages: r.msgs, Tools: r.specs, Thinking: r.Thinking, Zone: r.Zone}, compacted)
	if ctx.Err() != nil {
		if answer != nil {
			r.spend(by.Label, answer.Usage)
		}
		return nil, by, ctx.Err()
	}
	if answer != nil {
		r.spent = r.spent.Add(answer.Usage)
	}
	if e, ok := errors.AsType[*ModelError](err); ok && e.Part != nil {
		r.spent = r.spent.Add(e.Part.Usage)
	}
	return answer, by, err
}

// spend counts what was paid for and is in no message.
func (r *turnRun) spend(model string, u sessions.Usage) {
	r.spent = r.spent.Add(u)
	if r.Spent != nil {
		r.Spent(model, u)
	}
}
