package inbound

import (
	"context"
	"time"

	"parley/channels"
	"parley/router/command"
	"parley/router/settings"
	"parley/sessions"
)

// sayCommand does a chat command that was written to the host itself. Its answer goes to the person who wrote it, not into the session's chat.
// Who is no owner may use what everybody may: the lists of an account name people of its channel.
func (r *Receiver) sayCommand(ctx context.Context, set *settings.Snapshot, s sessions.Session, w Request, cmd command.Command, arg string) (Submitted, error) {
	in := channels.Inbound{Event: channels.Message, ID: channels.MessageID(w.Source), Address: s.Last, Sender: w.Sender, Text: w.Text, Time: time.Now()}
	call := command.Call{Name: cmd.Name, Arg: arg, In: in, Set: set, Session: s, Owner: w.Owner, Inside: true}
	if no := cmd.Refuse(call); no != "" {
		return Submitted{Command: cmd.Name, Answer: no}, nil
	}
	res, err := r.commands.Attempt(ctx, cmd, call)
	if err != nil {
		return Submitted{}, err
	}
	c := res.On(freshFor(s, w))
	c.IdempotencyKey = w.Source
	if c.Run != nil && c.Run.Key == s.Key && (c.Run.Kind == sessions.TurnRun || c.Run.Kind == sessions.CompactRun) {
		own, err := r.runOf(ctx, set, s, w)
		if err != nil {
			return Submitted{}, err
		}
		own.Kind, own.Input.Content = c.Run.Kind, c.Run.Input.Content
		c.Run = &sessions.Enqueue{Run: *own}
	}
	r.log.Info("command", keyCommand, cmd.Name, keySession, s.Key, "owner", w.Owner)
	return r.submitWords(ctx, *c, cmd.Name, res.Text)
}
