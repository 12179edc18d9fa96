package whatsapp

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"parley/channels"
)

const (
	mostTries    = 3 // in place, before the stanza is left to the server
	noticeTries  = 6 // of what cannot be left to the server and may be lost
	refusedFirst = time.Second
	clockSkew    = time.Minute // between the server and this machine
)

var tryWaits = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second}

// decoder readies a decoder for one event, under the turn.
func (l *link) decoder(at time.Time) *decoder {
	late := l.offline || at.Before(l.connected.Add(-clockSkew))
	return &decoder{account: l.c.account, me: l.me, names: known{ctx: l.offering, device: l.keys.device, titles: l.titles}, ours: l.c.recent.ours, late: late}
}

// message offers one message. Whether it is acknowledged is what it returns.
func (l *link) message(evt *events.Message) bool {
	if !l.take() {
		return false
	}
	defer l.give()
	d := l.decoder(evt.Info.Timestamp)
	in, ok := l.decode(d, evt)
	if !ok {
		return true
	}
	if moved, ok := l.numberKnown(d, &evt.Info, in); ok {
		if !l.offer(moved, false) {
			return false
		}
		l.forgetUnknown(moved.Address.Chat)
	}
	l.remember(evt, in)
	// The library acknowledges what the phone sent in place of a message that could not be decrypted whatever its handler says, so
	// that is offered until it is taken.
	if !l.offer(in, evt.UnavailableRequestID != "") {
		return false
	}
	l.after(evt, in)
	l.owe(in.ID)
	return true
}

// decode reads a message. One that makes the decoder fail is offered as unreadable and costs no other one.
func (l *link) decode(d *decoder, evt *events.Message) (in channels.Inbound, ok bool) {
	defer func() {
		if r := recover(); r != nil {
			l.c.log.ErrorContext(l.offering, "a WhatsApp message could not be read", "id", evt.Info.ID, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			in, ok = d.broken(&evt.Info, "reading this message failed"), true
		}
	}()
	evt.Message = l.reveal(evt)
	in, ok = d.message(evt)
	if ok && in.Event == channels.Edited {
		if p, known := l.c.recent.get(string(in.Target)); known && !p.ours && d.canonical(p.author, types.EmptyJID) != d.canonical(evt.Info.Sender, evt.Info.SenderAlt) {
			in.Event, in.Reason, in.Text, in.Media = channels.Unreadable, "a change of somebody else's message", "", nil
		}
	}
	return in, ok
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

// offer hands an event to the inbox. A refused one is tried again in place a few times; then the chat waits for the next connection,
// on which the server sends it again, and so do the events behind it, until that one has come: the library may still be at one of
// them when the new connection begins. With must there is no other way than to go on trying.
func (l *link) offer(in channels.Inbound, must bool) bool {
	chat := in.Address.Chat
	if r, held := l.held[chat]; held && r.id != in.ID && !must {
		return false
	}
	for try := 0; ; try++ {
		err := l.inbox(l.offering, in)
		if err == nil {
			if l.held[chat].id == in.ID {
				delete(l.held, chat)
			}
			if len(l.held) == 0 {
				l.refusals.Reset()
			}
			return true
		}
		if l.closing.Load() || l.offering.Err() != nil {
			return false
		}
		if !must && try+1 >= mostTries {
			l.refuse(chat, in.ID, err)
			return false
		}
		if !l.pause(tryWaits[min(try, len(tryWaits)-1)]) {
			return false
		}
	}
}

// pause waits between two tries. false: the Run is ending.
func (l *link) pause(d time.Duration) bool {
	const look = 50 * time.Millisecond
	for end := time.Now().Add(d); time.Now().Before(end); {
		if !sleep(l.offering, min(look, time.Until(end))) || l.closing.Load() {
			return false
		}
	}
	return true
}

// refuse leaves a chat to the next connection and sees to it that there is one.
func (l *link) refuse(chat channels.ChatID, id channels.MessageID, err error) {
	l.held[chat] = refusal{id, time.Now()}
	l.timers.Lock()
	defer l.timers.Unlock()
	if l.again == nil { // however many chats wait, they wait for one connection
		wait := l.refusals.NextBackOff()
		l.again = time.AfterFunc(wait, func() { l.end(ending{atOnce: true, again: true, detail: "fetching what was not taken"}) })
	}
	l.c.log.WarnContext(l.offering, "a WhatsApp event was not taken; it is fetched again", "chat", chat, "err", err)
}

// refusal is the first event of a chat that was not taken, and when.
type refusal struct {
	id channels.MessageID
	at time.Time
}

// allCame ends the waiting for what was refused on earlier connections and did not come again.
func (l *link) allCame() {
	maps.DeleteFunc(l.held, func(_ channels.ChatID, r refusal) bool { return r.at.Before(l.connected) })
}

func (l *link) stopRetry() {
	l.timers.Lock()
	defer l.timers.Unlock()
	if l.again != nil {
		l.again.Stop()
		l.again = nil
	}
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
	for try := range noticeTries {
		if err := l.inbox(l.offering, in); err == nil {
			return
		} else if try+1 == noticeTries || !l.pause(tryWaits[min(try, len(tryWaits)-1)]) {
			l.c.log.WarnContext(l.offering, "that a WhatsApp message could not be read was not noted", "id", evt.Info.ID, "err", err)
			return
		}
	}
}

func (l *link) membership(evt *events.GroupInfo) bool {
	if !l.take() {
		return false
	}
	defer l.give()
	if evt.Name != nil {
		l.titles.set(evt.JID, evt.Name.Name)
	}
	for _, in := range l.decoder(evt.Timestamp).membership(evt) {
		if !l.offer(in, false) {
			return false
		}
	}
	return true
}

func (l *link) joined(evt *events.JoinedGroup) bool {
	if !l.take() {
		return false
	}
	defer l.give()
	l.titles.set(evt.JID, evt.Name)
	d := l.decoder(time.Now())
	return l.offer(d.joined(evt), false)
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
	l.c.recent.note(evt.Info.ID, past{author: plain(evt.Info.Sender), text: short(text), at: in.Time, ours: ours})
}

// after shows the sender of a message that it was taken.
func (l *link) after(evt *events.Message, in channels.Inbound) {
	if in.Event != channels.Message || !l.c.cfg.ReadReceipts || evt.Info.IsFromMe {
		return
	}
	select {
	case l.reads <- receipt{id: evt.Info.ID, chat: evt.Info.Chat, sender: evt.Info.Sender}:
	default: // a tick that does not turn blue
	}
}

const mostReads = 1024

// receipt is a message that somebody wants to see as read.
type receipt struct {
	id           types.MessageID
	chat, sender types.JID
}

// markRead sends the read receipts, beside the events: each may have to ask the server for the account's settings first.
func (l *link) markRead() {
	for {
		select {
		case <-l.offering.Done():
			return
		case r := <-l.reads:
			ctx, cancel := context.WithTimeout(l.offering, callPatience)
			if err := l.cli.MarkRead(ctx, []types.MessageID{r.id}, time.Now(), r.chat, r.sender.ToNonAD()); err != nil {
				l.c.log.DebugContext(ctx, "a message could not be marked as read", "id", r.id, "err", err)
			}
			cancel()
		}
	}
}
