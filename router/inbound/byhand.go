package inbound

import (
	"context"
	"errors"
	"fmt"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// byHand tells the agent, with the session's next turn, what a person wrote from another device of the account itself, where the account
// listens. It begins no turn, runs no command, and has no sender.
func (r *Receiver) byHand(ctx context.Context, in channels.Inbound) (sessions.Arrival, error) {
	id := in.ID
	switch in.Event {
	case channels.Message:
	case channels.Edited, channels.Deleted:
		id = in.Target
	default:
		return skipped(in, "our own "+string(in.Event)), nil
	}
	if _, own, err := r.store.OwnMessage(ctx, in.Address, id); err != nil {
		return sessions.Arrival{}, fmt.Errorf("find our message %s: %w", id, err)
	} else if own {
		return skipped(in, "echo of the bot's own message"), nil
	}
	set := r.settings()
	s, listens, err := r.besides(ctx, set, in)
	switch {
	case err != nil:
		return sessions.Arrival{}, err
	case !listens:
		return skipped(in, "written by hand where the account does not listen"), nil
	}
	a := skipped(in, "written by hand by the account's owner")
	switch in.Event {
	case channels.Deleted:
		there, err := r.overhears(ctx, s.Key, in.Target)
		if err != nil || !there {
			return skipped(in, "a message that the agent never saw was deleted"), err
		}
		a.Skip.Events = appendEvents(&sessions.ContextLine{Key: s.Key, Event: channels.Deleted, Message: in.Target, Time: in.Time, Keep: set.ContextLimit()})
		return a, nil
	case channels.Edited:
		if said, err := r.store.Said(ctx, in.Address, in.Target); err != nil || said == digest(in) {
			return skipped(in, reasonUnchanged), err
		}
	}
	line := NewContextLine(set, in, s.Key, in.Text)
	if line == nil {
		return skipped(in, "no text and no file"), nil
	}
	line.Event, line.Message = sessions.ByHand, id
	if in.Event == channels.Edited {
		line.Event, line.Name = channels.Edited, "The account's owner"
	}
	a.Skip.Events = appendEvents(line)
	return a, nil
}

// besides finds the session that the other side of a chat has, for a message of our own account there, and reports whether the account
// listens to that side.
func (r *Receiver) besides(ctx context.Context, set *settings.Snapshot, in channels.Inbound) (s sessions.Session, listens bool, err error) {
	known, err := r.store.Known(ctx, in.Address)
	if err != nil {
		return s, false, fmt.Errorf("find the sessions of %s: %w", in.Address, err)
	}
	in.SentByThisLogin, in.ByHand, in.Sender = false, false, channels.Sender{}
	switch {
	case in.Address.Type != channels.Direct:
	case len(in.People) > 0:
		in.Sender = in.People[0]
	default:
		in.Sender.ID = channels.UserID(in.Address.Chat)
	}
	if len(known) > 0 {
		s, err = r.store.Get(ctx, known[0])
	}
	if len(known) == 0 || errors.Is(err, sessions.ErrNotFound) {
		s, err = r.place(ctx, set, in)
	}
	if err != nil {
		return s, false, err
	}
	if in.Address.Type != channels.Direct {
		return s, set.Accounts[settings.Ref(in.Address)].Access.Listens(set.ConfigAddress(in.Address), in.Parent), nil
	}
	in.Sender = set.Person(in.Address.Channel, in.Sender)
	v, err := r.admission.Admit(ctx, set, in, s, set.Owners.Is(in.Address.Channel, in.Sender), false)
	return s, v.Outcome == policy.Admit, err
}
