package inbound

import (
	"context"
	"time"

	"parley/channels"
	"parley/router/command"
	"parley/router/settings"
	"parley/sessions"
)

// sayCommand does a chat command that was written to the host itself. Its answer goes to whoever wrote it, not into the session's chat.
// Who is no owner may use what everybody may: the lists of an account name people of its channel.
func (r *Receiver) sayCommand(ctx context.Context, set *settings.Snapshot, s sessions.Session, w Words, cmd command.Command, arg string) (Heard, error) {
	in := channels.Inbound{Event: channels.Message, ID: channels.MessageID(w.Source), Address: s.Last, Sender: w.Sender, Text: w.Text, Time: time.Now()}
	call := command.Call{Name: cmd.Name, Arg: arg, In: in, Set: set, Session: s, Owner: w.Owner, Inside: true}
	if no := cmd.Refuse(call); no != "" {
		return Heard{Command: cmd.Name, Answer: no}, nil
	}
	text, e, err := r.commands.Attempt(ctx, cmd, call)
	if err != nil {
		return Heard{}, err
	}
	e.Source, e.Session = w.Source, freshFor(s, w)
	if e.Run != nil && e.Run.Key == s.Key && (e.Run.Kind == sessions.TurnRun || e.Run.Kind == sessions.CompactRun) {
		own, err := r.runOf(ctx, set, s, w)
		if err != nil {
			return Heard{}, err
		}
		own.Kind, own.Input.Content = e.Run.Kind, e.Run.Input.Content
		e.Run = own
	}
	r.log.Info("command", keyCommand, cmd.Name, keySession, s.Key, "owner", w.Owner)
	return r.submitWords(ctx, e, cmd.Name, text)
}
