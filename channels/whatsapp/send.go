package whatsapp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"parley/channels"
)

const (
	uploadPatience = 5 * time.Minute
	callPatience   = 60 * time.Second // for everything that one call needs
	ackPatience    = 25 * time.Second // for the server's word that it has a message
)

// messageID derives the id from the key of a delivery: the servers and apps show a message once, however often it comes.
func messageID(account types.JID, key string) types.MessageID {
	sum := sha256.Sum256([]byte(account.User + "\x00" + key))
	const length = 9 // what WhatsApp's own web client uses
	return whatsmeow.WebMessageIDPrefix + strings.ToUpper(hex.EncodeToString(sum[:length]))
}

// Send implements channels.Channel. What WhatsApp does not take with an option is sent once more without it.
func (c *Channel) Send(ctx context.Context, out channels.Outbound) (channels.Receipt, error) {
	l, to, err := c.reach(out.To)
	if err != nil {
		return channels.Receipt{}, err
	}
	forms, err := l.out.forms(ctx, to, out)
	if err != nil {
		return channels.Receipt{}, err
	}
	id := messageID(l.me.pn, out.Key)
	c.recent.note(id, past{text: short(out.Text), at: time.Now(), ours: true})
	for i, f := range forms {
		at, err := l.out.write(ctx, to, f.msg, id)
		switch {
		case err == nil:
			return channels.Receipt{ID: channels.MessageID(id), At: channels.UnixTime(at.Unix()), LeftOut: f.leftOut, Unsent: f.unsent}, nil
		case i == len(forms)-1 || !errors.Is(err, errContent):
			return channels.Receipt{}, err
		}
	}
	return channels.Receipt{}, failure(channels.Rejected, "the message is empty")
}

// outbox makes and writes the messages of a link, one at a time.
type outbox struct {
	*link

	left  departures
	sends chan struct{} // held by the one call that writes a message: the library has a lock that cannot be given up
}

// form is one way to send a message; each in a list has fewer options than the one before.
type form struct {
	msg     *waE2E.Message
	leftOut string
	unsent  string // the file among that
}

// forms gives the ways to send a message.
func (o *outbox) forms(ctx context.Context, to types.JID, out channels.Outbound) (list []form, err error) {
	text, mentioned := o.mention(ctx, to, out.Text)
	quote := o.about(out.ReplyTo)
	full := o.expiring(ctx, out.To, to, withMentions(quote, mentioned))
	bare := o.expiring(ctx, out.To, to, nil)
	var less []string
	if quote != nil {
		less = append(less, "the reply reference")
	}
	if len(mentioned) > 0 {
		less = append(less, "the mentions")
	}
	add := func(message func(text string, c *waE2E.ContextInfo) *waE2E.Message, without ...string) {
		without = slices.DeleteFunc(without, func(s string) bool { return s == "" })
		list = append(list, form{msg: message(text, full), leftOut: strings.Join(without, ", ")})
		if len(less) > 0 {
			list = append(list, form{msg: message(out.Text, bare), leftOut: strings.Join(append(slices.Clone(less), without...), ", ")})
		}
	}
	if len(out.Files) == 0 {
		add(textMessage)
		return list, nil
	}
	sent, err := o.file(ctx, out)
	var refused *channels.Error
	switch {
	case err == nil:
		add(sent.message, sent.left)
	case !errors.As(err, &refused) || refused.Class != channels.Rejected:
		return nil, err
	}
	with := len(list)
	add(func(text string, c *waE2E.ContextInfo) *waE2E.Message {
		return textMessage(channels.Outbound{Text: text}.WithNote(out.Files, o.c.Limits(out.To)).Text, c)
	}, "the file "+fileNames(out.Files))
	for i := range list[with:] {
		list[with+i].unsent = channels.FileWords(out.Files)
	}
	return list, nil
}

func fileNames(files []channels.File) string {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

func textMessage(text string, c *waE2E.ContextInfo) *waE2E.Message {
	if c == nil {
		return &waE2E.Message{Conversation: proto.String(text)}
	}
	return &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String(text), ContextInfo: c}}
}

func withMentions(c *waE2E.ContextInfo, jids []string) *waE2E.ContextInfo {
	if len(jids) == 0 {
		return c
	}
	if c == nil {
		c = &waE2E.ContextInfo{}
	}
	c.MentionedJID = jids
	return c
}

// reach finds the connection and the chat for a call. It asks nobody: chats are where somebody has written.
func (c *Channel) reach(to channels.Address) (*link, types.JID, error) {
	jid, ok := chatJID(to)
	if !ok {
		return nil, jid, failure(channels.Rejected, "%q is not a WhatsApp chat", to.Chat)
	}
	if wait := c.onHold(); wait > 0 {
		return nil, jid, &channels.Error{Class: channels.Limited, RetryAfter: wait, Err: errHeld}
	}
	l := c.live.Load()
	if l == nil {
		return nil, jid, c.unavailable()
	}
	return l, jid, nil
}

// write sends a message and waits until the server has it.
func (o *outbox) write(ctx context.Context, to types.JID, msg *waE2E.Message, id types.MessageID) (time.Time, error) {
	ctx, cancel := o.within(ctx, callPatience)
	defer cancel()
	select {
	case o.sends <- struct{}{}:
		defer func() { <-o.sends }()
	case <-ctx.Done():
		return time.Time{}, failure(channels.Transient, "send message: %w", ctx.Err())
	}
	o.left.expect(id)
	resp, err := o.cli.SendMessage(ctx, to, msg, whatsmeow.SendRequestExtra{ID: id, Timeout: o.c.pace.ack})
	left := o.left.forget(id)
	if err != nil {
		return time.Time{}, o.sendFailure(ctx, err, left)
	}
	o.c.released(ctx)
	return resp.Timestamp, nil
}

// within bounds a call, by time and by the Run that it needs.
func (o *outbox) within(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	stop := context.AfterFunc(o.offering, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// about quotes a message that is remembered; another one cannot be quoted, because the quote names its author and has its text.
func (o *outbox) about(id channels.MessageID) *waE2E.ContextInfo {
	p, ok := o.c.recent.get(string(id))
	if !ok || id == "" {
		return nil
	}
	return &waE2E.ContextInfo{
		StanzaID: proto.String(string(id)), Participant: proto.String(o.author(p).String()),
		QuotedMessage: &waE2E.Message{Conversation: proto.String(p.text)},
	}
}

func (o *outbox) author(p past) types.JID {
	if p.author.IsEmpty() {
		return o.me.lid
	}
	return p.author
}

// Edit implements channels.Editor. The apps take a new version for 20 minutes.
func (c *Channel) Edit(ctx context.Context, id channels.MessageID, out channels.Outbound) error {
	l, to, err := c.reach(out.To)
	if err != nil {
		return err
	}
	if p, known := c.recent.get(string(id)); known && time.Since(p.at) > whatsmeow.EditWindow {
		return failure(channels.Rejected, "WhatsApp allows changes only for %s after sending", whatsmeow.EditWindow)
	}
	text, mentioned := l.out.mention(ctx, to, out.Text)
	changed := textMessage(text, l.out.expiring(ctx, out.To, to, withMentions(nil, mentioned)))
	_, err = l.out.write(ctx, to, l.cli.BuildEdit(l.address(ctx, to), string(id), changed), l.cli.GenerateMessageID())
	return err
}

// React implements channels.Reactor. In a group the author of the message must be known, which is so for the newest messages.
func (c *Channel) React(ctx context.Context, to channels.Address, id channels.MessageID, emoji string) error {
	l, jid, err := c.reach(to)
	if err != nil {
		return err
	}
	author := jid // in a direct chat it is the other one's unless we know better
	if p, known := c.recent.get(string(id)); known {
		author = p.author
	} else if to.Type != channels.Direct {
		return failure(channels.Unsupported, "parley no longer knows the author of that message")
	}
	_, err = l.out.write(ctx, jid, l.cli.BuildReaction(l.address(ctx, jid), author, string(id), emoji), l.cli.GenerateMessageID())
	return err
}

// Acknowledge implements channels.Acknowledger: it marks a message as read, which needs its author. Nobody marks their own.
func (c *Channel) Acknowledge(ctx context.Context, to channels.Address, id channels.MessageID) error {
	if !c.cfg.ReadReceipts {
		return nil
	}
	l, _, err := c.reach(to)
	if err != nil {
		return err
	}
	p, known := c.recent.get(string(id))
	switch {
	case !known:
		return failure(channels.Unsupported, "parley no longer knows the author of that message")
	case p.chat.IsEmpty() || l.me.is(p.author):
		return nil
	}
	ctx, cancel := l.out.within(ctx, callPatience)
	defer cancel()
	if err := l.cli.MarkRead(ctx, []types.MessageID{string(id)}, time.Now(), p.chat, p.author); err != nil {
		return failure(channels.Transient, "mark message as read: %w", reason(err))
	}
	return nil
}

// Remove takes a message of ours back for everyone.
func (c *Channel) Remove(ctx context.Context, to channels.Address, id channels.MessageID) error {
	l, jid, err := c.reach(to)
	if err != nil {
		return err
	}
	_, err = l.out.write(ctx, jid, l.cli.BuildRevoke(l.address(ctx, jid), types.EmptyJID, string(id)), l.cli.GenerateMessageID())
	return err
}
