package inbound

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/router/turn"
	"parley/sessions"
)

const (
	maxAboutBytes = 200 // bytes of the message that it is about
)

const (
	maxEmoji = 64
)

const (
	maxPeople = 5 // names of people who joined or left
)

// happened decides what an event that is no message causes: never a run, a command or a setting. What people did is told to the agent
// with the session's next turn, as group talk is; a message whose turn has not begun changes with it.
func (r *Receiver) happened(ctx context.Context, in channels.Inbound) (sessions.Arrival, error) {
	set := r.settings()
	switch in.Event {
	case channels.Moved: // the platform's own word: nobody's admission counts
		return r.moves(ctx, set, in)
	case channels.Edited, channels.Deleted, channels.Reacted, channels.Joined, channels.Left, channels.Renamed:
	default:
		return skipped(in, "not a new message: "+string(in.Event)), nil
	}
	if in.Event == channels.Edited {
		if said, err := r.store.Said(ctx, in.Address, in.Target); err != nil {
			return sessions.Arrival{}, fmt.Errorf("find the earlier text of message %s: %w", in.Target, err)
		} else if said != "" && said == digest(in) {
			return skipped(in, reasonUnchanged), nil
		}
	}
	if in.Event == channels.Edited || in.Event == channels.Deleted {
		r.earlier.forget(in.Address, in.Target)
	}
	x, why, err := r.subject(ctx, in)
	if err != nil {
		return sessions.Arrival{In: in}, err
	}
	if why != "" {
		return skipped(in, why), nil
	}
	who := in // with the sender that counts
	if who.Sender.ID == "" && x.found {
		who.Sender = set.Person(in.Address.Channel, x.author())
	}
	s, err := r.place(ctx, set, who)
	if err != nil {
		return sessions.Arrival{}, err
	}
	if s, err = r.concerned(ctx, in, s, x); err != nil {
		return sessions.Arrival{}, err
	}
	if x.found && s.ID != x.run.Session {
		return skipped(in, "the message belongs to an earlier transcript"), nil
	}
	switch {
	case who.Sender.ID != "":
		v, err := r.admission.Admit(ctx, set, who, s, set.Owners.Is(in.Address.Channel, who.Sender), false)
		if err != nil {
			return sessions.Arrival{}, err
		}
		if v.Outcome != policy.Admit && v.Outcome != policy.Remember { // a mention is asked of messages only
			return skipped(in, v.Reason), nil
		}
	case in.Event == channels.Renamed: // some platforms do not say who did it
		if !set.Accounts[settings.Ref(in.Address)].Access.Listens(set.ConfigAddress(in.Address), in.Parent) {
			return skipped(in, "the bot does not listen here"), nil
		}
	case in.Event == channels.Deleted:
		if there, err := r.overhears(ctx, s.Key, in.Target); err != nil || !there {
			return skipped(in, "the author of the deleted message is unknown"), err
		}
	default:
		return skipped(in, "the person who did this is unknown"), nil
	}
	if in.Event == channels.Edited && x.found {
		if a, done, err := r.ordered(ctx, set, who, s, x); done || err != nil {
			return a, err
		}
	}
	return contextLine(set, who, s.Key, x), nil
}

// concerned gives the session that is told of an event: that of the message that it is about, otherwise the one that messages of its
// sender go to. Not every platform names what routes depend on, such as roles, with every event.
func (r *Receiver) concerned(ctx context.Context, in channels.Inbound, s sessions.Session, x subject) (sessions.Session, error) {
	key := x.ours.Session
	if x.found {
		key = x.run.Key
	}
	if key == "" || key == s.Key {
		return s, nil
	}
	its, err := r.store.Get(ctx, key)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		return s, err
	}
	if here := settings.Ref(its.Last) == settings.Ref(in.Address) && its.Last.Chat == in.Address.Chat; x.found || here { // not one that only posted there
		return its, nil
	}
	return s, nil
}

// subject is the message that an event is about, as far as it is known.
type subject struct {
	run   sessions.Run // that it caused
	found bool
	ours  sessions.OwnMessage
}

// subject looks an event's message up. why says why the event counts for nothing.
func (r *Receiver) subject(ctx context.Context, in channels.Inbound) (x subject, why string, err error) {
	if in.Event == channels.Joined || in.Event == channels.Left || in.Event == channels.Renamed {
		return x, "", nil
	}
	ours, own, err := r.store.OwnMessage(ctx, in.Address, in.Target)
	switch {
	case err != nil:
		return x, "", fmt.Errorf("find our message %s: %w", in.Target, err)
	case in.Event == channels.Reacted && !own:
		return x, "a reaction to a message that the bot did not send", nil
	case in.Event == channels.Reacted:
		return subject{ours: ours}, "", nil
	case own:
		return x, "the bot's own message", nil
	}
	x.run, x.found, err = r.store.Asked(ctx, in.Address, in.Target)
	if err != nil {
		return x, "", fmt.Errorf("find the run of message %s: %w", in.Target, err)
	}
	if x.found = x.found && x.run.Input.Provenance != nil; !x.found {
		return x, "", nil
	}
	if in.Event == channels.Edited && !x.by(in.Sender) {
		return x, "edited by a person who is not the author", nil
	}
	return x, "", nil
}

// author is who wrote the message.
func (x subject) author() channels.Sender {
	p := x.run.Input.Provenance
	return channels.Sender{ID: channels.UserID(p.Sender), Username: p.User, Name: p.Name, Bot: p.Bot}
}

// by reports whether a person wrote the message, by one of their ids.
func (x subject) by(u channels.Sender) bool {
	id := x.author().ID
	return id == u.ID || id != "" && id == u.Also
}

// words gives what the message's input begins with, when it answers another one, and what its sender wrote.
func (x subject) words() (quote, text string) {
	text = x.said()
	if head, rest, ok := strings.Cut(text, "\n\n"); ok && strings.HasPrefix(head, "> ") && !strings.Contains(strings.ReplaceAll(head, "\n> ", ""), "\n") {
		quote, text = head+"\n\n", rest
	}
	return quote, strings.TrimPrefix(text, channels.Speaker(x.author())+": ")
}

// said is the message as its run has it, without what it was sent with.
func (x subject) said() string {
	if i := x.run.Input.LastText(); i >= 0 {
		return x.run.Input.Content[i].Text
	}
	return ""
}

// about is what an event about the message says of it: its words, and its files by name.
func (x subject) about(words string) string {
	files := ownFiles(x.run.Input)
	words = strings.TrimSuffix(words, turn.WithFiles("", files))
	return channels.CutText(turn.WithNames(strings.TrimSpace(words), files), maxAboutBytes)
}

// overhears reports whether a message is among those that the session's next turn is shown.
func (r *Receiver) overhears(ctx context.Context, key sessions.Key, id channels.MessageID) (bool, error) {
	lines, err := r.store.ContextLines(ctx, key)
	for _, l := range lines {
		if (l.Event == "" || l.Event == sessions.ByHand) && l.Message == id {
			return true, err
		}
	}
	return false, err
}

// event words what an admitted event causes.
func contextLine(set *settings.Snapshot, in channels.Inbound, key sessions.Key, x subject) sessions.Arrival {
	a := skipped(in, "an event: "+string(in.Event))
	line := &sessions.ContextLine{Key: key, Event: in.Event, Sender: string(in.Sender.ID), Name: channels.SenderName(in.Sender), Message: in.Target, Time: in.Time, Keep: set.ContextLimit()}
	quote, said := "", ""
	if x.found {
		quote, said = x.words()
		line.About = x.about(said)
	}
	switch in.Event {
	case channels.Edited:
		text := cmp.Or(in.Addressed, in.Text)
		if in.SameFiles && x.found {
			in.Media = ownFiles(x.run.Input)
		}
		if line.Text = channels.CutText(turn.WithNames(text, in.Media), settings.MaxContextLine); line.Text == "" {
			return skipped(a.In, "no text and no file")
		}
		if x.found {
			amended, changed := x.amend(in, text, quote)
			if !changed {
				return skipped(a.In, reasonUnchanged)
			}
			a.Skip.Events = append(a.Skip.Events, amended)
		}
	case channels.Deleted:
		if x.found && x.by(in.Sender) { // whoever else did it, an admin may be: it is told of, no more
			a.Skip.Events = append(a.Skip.Events, sessions.AmendRun{Run: x.run.ID, Gone: true})
		}
	case channels.Reacted:
		line.Text, line.About = channels.CutText(in.Emoji, maxEmoji), channels.CutText(x.ours.Text, maxAboutBytes)
	case channels.Renamed:
		if title := channels.TitleOf(in); key.Kind() == sessions.KindGroup && title != "" {
			a.Skip.Events = append(a.Skip.Events, sessions.RenameSession{Key: key, Title: title})
		}
		return a
	case channels.Joined, channels.Left:
		people(in, line)
	}
	a.Skip.Events = append(a.Skip.Events, sessions.AppendContext(*line))
	return a
}

// amend has a change of the message replace it where its turn has not begun, or may begin again; false: nothing has changed.
func (x subject) amend(in channels.Inbound, text, quote string) (a sessions.AmendRun, changed bool) {
	now, same := turn.Spoken(in, text), sameFiles(x.run.Input, in.Media)
	if in.Quote == nil && !strings.HasPrefix(now, quote) {
		now = quote + now
	}
	if now == x.said() && same {
		return a, false
	}
	a = sessions.AmendRun{Run: x.run.ID, Key: x.run.Key, By: cmp.Or(x.run.MergedInto, x.run.ID), Text: now}
	if !same {
		a.Files = append([]sessions.Block{}, turn.MediaBlocks(in.Media)...)
	}
	return a, true
}

// people names those who joined or left; nobody stands for this account.
func people(in channels.Inbound, line *sessions.ContextLine) {
	if in.Self {
		line.Sender, line.Name = "", ""
		return
	}
	var names []string
	for _, p := range in.People {
		names = append(names, channels.SenderName(p))
	}
	if n := len(names); n > maxPeople {
		names = append(names[:maxPeople], channels.Plural(n-maxPeople, "other"))
	}
	if len(names) > 0 {
		line.Name = strings.Join(names, ", ")
	}
}

// moves lets a chat's session go on under the chat's new id.
func (r *Receiver) moves(ctx context.Context, set *settings.Snapshot, in channels.Inbound) (sessions.Arrival, error) {
	a := skipped(in, "the chat has a new id")
	if in.MovedTo == "" || in.MovedTo == in.Address.Chat {
		return a, nil
	}
	move := sessions.MoveChat{To: in.Address}
	move.To.Chat, move.To.Thread = in.MovedTo, ""
	groups := set.Accounts[settings.Ref(in.Address)].Access.Groups
	_, was := groups[string(set.ConfigAddress(in.Address).Chat)]
	if _, is := groups[string(move.To.Chat)]; was && !is {
		r.log.Warn("group migrated to an unconfigured id", "hint", "settings of the old id still apply; add the new id under groups", keyAddress, move.To.String(), "was", in.Address.String())
	}
	r.moving(in, move.To)
	then := in
	then.Address = move.To
	if in.Address.Type == channels.Direct {
		in.Sender.ID = channels.UserID(in.Address.Chat) // as it was
		if then.Sender.ID == "" {
			then.Sender.ID = channels.UserID(move.To.Chat)
		}
		in.Sender, then.Sender = set.Person(in.Address.Channel, in.Sender), set.Person(in.Address.Channel, then.Sender)
	}
	old, _, _ := set.Routes.Key(in)
	fresh, _, _ := set.Routes.Key(then)
	move.Route = fresh
	a.Skip.Events = []sessions.SkipEvent{move}
	before, err := r.store.Get(ctx, old)
	if err == nil {
		var now sessions.Session
		if now, err = r.store.Get(ctx, fresh); err == nil && now.Key == fresh && before.Key != fresh { // it has begun again already
			a.Skip.Events = append(a.Skip.Events, sessions.AppendContext{Key: fresh, Event: channels.Moved, Text: string(before.Key), Time: in.Time, Keep: set.ContextLimit()})
		}
	}
	if errors.Is(err, sessions.ErrNotFound) {
		err = nil
	}
	return a, err
}

// moving lets what the configuration says about a chat and its person hold for their new ids, before anything comes from there.
func (r *Receiver) moving(in channels.Inbound, to channels.Address) {
	f := r.settings().Moved
	f.Add(in.Address, to)
	if to.Type == channels.Direct {
		f.Meet(to.Channel, channels.UserID(in.Address.Chat), channels.UserID(cmp.Or(string(in.Sender.ID), string(to.Chat))))
	}
}
