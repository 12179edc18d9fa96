package whatsapp

import (
	"fmt"
	"runtime/debug"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"parley/channels"
)

const clockSkew = time.Minute // between the server and this machine

// decoder readies a decoder for one event, under the turn.
func (l *link) decoder(at time.Time) *decoder {
	late := l.offline || at.Before(l.connected.Add(-clockSkew))
	return &decoder{account: l.c.account, me: l.me, names: keyFileNames{ctx: l.offering, device: l.keys.device, groups: l.groups}, ours: l.c.recent.ours, files: l.c.recent.files, late: late}
}

// message offers one message. Whether it is acknowledged is what it returns.
func (l *link) message(evt *events.Message) bool {
	if !l.take() {
		return false
	}
	defer l.give()
	d := l.decoder(evt.Info.Timestamp)
	in, ok := l.decode(d, evt)
	l.timers.learnFrom(l.offering, in.Address, d.timer)
	if done, taken := l.albums.gather(d, evt, &in, ok); done {
		return taken
	}
	if !ok {
		return true
	}
	if in.Event == channels.Edited { // which changes words only, and need not say again where the files are
		in.SameFiles = true
		if files := l.c.recent.files(string(in.Target)); files != nil {
			in.Media = files
		}
	}
	if whole := l.c.recent.wholeOf(string(in.Target)); whole != nil {
		whole.change(&in)
	}
	if !l.albums.earlier(in) {
		return false
	}
	in.More = l.offline && in.Event == channels.Message // what was sent with it may be the next that waited on the server
	l.remember(evt, in)
	return l.offerMessage(d, evt, evt.Info.ID, in)
}

// offerMessage offers what a stanza says, and before it that its chat has moved.
func (l *link) offerMessage(d *decoder, evt *events.Message, stanza string, in channels.Inbound) bool {
	list := []channels.Inbound{in}
	moved, known := l.numberKnown(d, &evt.Info, in)
	if known {
		list = []channels.Inbound{moved, in}
	}
	switch {
	// The library acknowledges what the phone sent in place of a message that could not be decrypted whatever its handler says.
	case evt.UnavailableRequestID != "":
		for _, in := range list {
			l.intake.insist(in, 0, func() bool { return false })
		}
	case !l.intake.offer(stanza, list...):
		return false
	}
	if known {
		l.timers.move(l.offering, moved.Address.Chat, moved.MovedTo)
		l.noted(l.unknown.remove(string(moved.Address.Chat)))
	}
	l.owe(channels.MessageID(evt.Info.ID))
	return true
}

// decode reads a message. One that makes the decoder fail is offered as unreadable and costs no other one.
func (l *link) decode(d *decoder, evt *events.Message) (in channels.Inbound, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			l.c.log.ErrorContext(l.offering, "cannot decode WhatsApp message", "id", evt.Info.ID, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			in, ok = d.broken(&evt.Info, "reading this message failed"), true
		}
	}()
	evt.Message = l.reveal(evt)
	in, ok = d.message(evt)
	if ok && l.forged(d, evt, in) {
		what := "a change"
		if in.Event == channels.Deleted {
			what = "a deletion"
		}
		in.Event, in.Reason, in.Text, in.Media = channels.Unreadable, what+" of another person's message", "", nil
	}
	return in, ok
}

// forged reports a change of a message by somebody who did not write it, which WhatsApp does not keep clients from. In groups
// admins delete what others wrote; who does it is the sender of the event.
func (l *link) forged(d *decoder, evt *events.Message, in channels.Inbound) bool {
	if in.Event != channels.Edited && (in.Event != channels.Deleted || in.Address.Type != channels.Direct) {
		return false
	}
	p, known := l.c.recent.get(string(in.Target))
	author := d.canonical(p.author, types.EmptyJID)
	if p.ours {
		author = d.me.pn
	}
	return known && author != d.canonical(evt.Info.Sender, evt.Info.SenderAlt)
}

// reveal decrypts what some apps encrypt once more with a key of the message that it is about.
func (l *link) reveal(evt *events.Message) *waE2E.Message {
	switch {
	case evt.Message.GetSecretEncryptedMessage() != nil:
		if msg, err := l.cli.DecryptSecretEncryptedMessage(l.offering, evt); err == nil {
			return msg
		}
	case evt.Message.GetEncReactionMessage() != nil:
		if r, err := l.cli.DecryptReaction(l.offering, evt); err == nil {
			r.Key = evt.Message.GetEncReactionMessage().GetTargetMessageKey()
			return &waE2E.Message{ReactionMessage: r}
		}
	}
	return evt.Message
}

// undecryptable offers the note that something could not be read. The library has acknowledged it already and asked for it again.
func (l *link) undecryptable(evt *events.UndecryptableMessage) {
	if !l.take() {
		return
	}
	defer l.give()
	in, ok := l.decoder(evt.Info.Timestamp).undecryptable(evt)
	if !ok {
		return
	}
	l.intake.insist(in, noticeTries, func() bool { // it may have come in the meantime
		_, came := l.c.recent.get(evt.Info.ID)
		return came
	})
}

func (l *link) membership(evt *events.GroupInfo) bool {
	if !l.take() {
		return false
	}
	defer l.give()
	if evt.Name != nil {
		l.groups.set(evt.JID, evt.Name.Name)
	}
	if evt.Ephemeral != nil {
		l.timers.learnGroup(l.offering, evt.JID, *evt.Ephemeral)
	}
	if len(evt.Join)+len(evt.Leave) > 0 {
		l.groups.changed(evt.JID)
	}
	list := l.decoder(evt.Timestamp).membership(evt)
	return len(list) == 0 || l.intake.offer(string(list[0].ID), list...)
}

func (l *link) joined(evt *events.JoinedGroup) bool {
	if !l.take() {
		return false
	}
	defer l.give()
	l.groups.set(evt.JID, evt.Name)
	l.timers.learnGroup(l.offering, evt.JID, evt.GroupEphemeral)
	in := l.decoder(time.Now()).joined(evt, l.arrivals.next(evt.JID))
	return l.intake.offer(string(in.ID), in)
}

// remember is done before a message is offered: the answer may be there before the inbox has returned.
func (l *link) remember(evt *events.Message, in channels.Inbound) {
	if in.Event != channels.Message {
		return
	}
	text := in.Text
	if text == "" && len(in.Media) > 0 {
		text = string(in.Media[0].Kind)
	}
	ours := in.SentByThisLogin && evt.Info.Sender.Device == l.me.device
	l.c.recent.note(string(in.ID), past{chat: evt.Info.Chat, author: plain(evt.Info.Sender), text: short(text), at: in.Time, ours: ours, files: in.Media})
}
