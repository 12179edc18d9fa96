package inbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"parley/channels"
	"parley/router/command"
	"parley/router/settings"
	"parley/sessions"
)

// ordered decides what becomes of a message that is edited into a command or a word that asks to stop, while it waits or is being
// answered; done is false for every other edit. Only a stop counts, and no model is asked to answer a command.
func (r *Receiver) ordered(ctx context.Context, set *settings.Snapshot, in channels.Inbound, s sessions.Session, x subject) (a sessions.Arrival, done bool, err error) {
	text := cmp.Or(in.Addressed, in.Text)
	cmd, arg, isCommand := r.commands.Parse(text)
	stop := command.MayStop(in) && set.IsStopWord(text) || isCommand && cmd.Name == "stop"
	if in.Forwarded || in.Sender.Bot || !isCommand && !stop {
		return a, false, nil
	}
	at, err := r.answering(ctx, x.run)
	if err != nil {
		return a, false, err
	}
	switch waits := at.Status == sessions.Queued && at.Attempt == 0; {
	case at.Status.Final():
		return a, false, nil
	case !stop: // it is answered as it was
		return skipped(in, "a command in an edited message"), true, nil
	case waits:
		a = contextLine(set, in, s.Key, x)
		for i, e := range a.Skip.Events {
			if _, changes := e.(sessions.AmendRun); changes {
				a.Skip.Events[i] = sessions.AmendRun{Run: x.run.ID, Gone: true}
			}
		}
		return a, true, nil
	}
	if !isCommand {
		cmd, arg, _ = r.commands.Parse("/stop")
	}
	to := in
	to.ID = in.Target // which the answer refers to
	res, err := r.commands.Execute(ctx, cmd, command.Call{Name: cmd.Name, Arg: arg, In: to, Set: set, Session: s, Owner: set.Owners.Is(in.Address.Channel, in.Sender)})
	fresh := sessions.Session{Key: s.Key, Agent: s.Agent, Title: titleOf(in, s.Key), Last: in.Address}
	return sessions.Arrival{In: in, Change: res.On(fresh)}, true, err
}

// answering gives the run that answers the message of a run, or will: itself, or the one that took it up.
func (r *Receiver) answering(ctx context.Context, run sessions.Run) (sessions.Run, error) {
	if run.MergedInto == "" || run.MergedInto == run.ID {
		return run, nil
	}
	by, err := r.store.GetRun(ctx, run.MergedInto)
	if errors.Is(err, sessions.ErrNotFound) {
		return run, nil
	}
	if err != nil {
		return run, fmt.Errorf("find the run that answers message %s: %w", run.Source, err)
	}
	return by, nil
}
