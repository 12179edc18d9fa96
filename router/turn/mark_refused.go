package turn

import (
	"context"
	"errors"
	"slices"

	"parley/agent"
	"parley/sessions"
)

// isRefused reports whether a run failed because the provider refused what it asked: a later prompt with the same words would be refused too.
// by is the model that the run had.
func isRefused(run sessions.Run, err error) (is bool, by string) {
	e, ok := errors.AsType[*agent.ModelError](err)
	if !ok || !agent.IsRefusal(nil, err) || e.Always || run.Kind == sessions.CompactRun { // the input of the last is no message
		return false, ""
	}
	return true, e.Model
}

// MarkLeftOut sets LeftOut of those messages of a session's transcript that its model is not shown any more, as a provider refused them.
// msgs is changed.
func (t *Transcripts) MarkLeftOut(ctx context.Context, s sessions.Session, msgs []sessions.Message) error {
	x, ok := t.cache.get(s.ID)
	if !ok {
		some, err := t.hasRefused(ctx, s.ID)
		if err != nil || !some {
			return err
		}
		if x, err = t.stored(ctx, s.ID); err != nil {
			return err
		}
	}
	model := t.settings().ModelOf(s)
	if m, err := t.model(model); err == nil {
		model = m.Label
	}
	j := judge(x, model)
	without := sessions.Without(x.Msgs)
	for k, m := range x.Msgs {
		if j.isShown(k) && !slices.Contains(without, m.ID) {
			continue
		}
		for i := range msgs {
			if msgs[i].ID == m.ID {
				msgs[i].SetLeftOut(model)
			}
		}
	}
	return nil
}

// hasRefused reports whether a provider may have refused something of a transcript. It reads only what came since it found nothing.
func (t *Transcripts) hasRefused(ctx context.Context, id sessions.ID) (bool, error) {
	msgs, err := t.store.Tail(ctx, id, sessions.TailQuery{Limit: t.readMost(), After: t.cache.checked(id), IncludeTool: true})
	if err != nil || len(msgs) == 0 {
		return false, err
	}
	if slices.ContainsFunc(msgs, func(m sessions.Message) bool { return m.WithoutHistory() || len(m.Without()) > 0 || m.IsRefusal() }) {
		return true, nil
	}
	t.cache.check(id, msgs[len(msgs)-1].Seq)
	return false, nil
}
