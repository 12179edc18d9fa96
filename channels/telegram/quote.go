package telegram

import (
	"cmp"
	"strings"

	"parley/channels"
)

// quote is what the message replies to. In a topic every message replies to the one that opened the topic, which says nothing.
func (d decoder) quote(m *wireMessage, thread channels.ThreadID) *channels.Quote {
	r := m.ReplyTo
	if r == nil || r.TopicCreated != nil || thread != "" && int64(r.MessageID) == m.ThreadID {
		r = m.External // in a topic both can be there
	}
	if r == nil {
		if m.ReplyStory == nil {
			return nil
		}
		return &channels.Quote{Sender: m.ReplyStory.owner(), Text: "[story]"}
	}
	q := &channels.Quote{Text: channels.CleanText(m.quoted(r)), Origin: r.ForwardOrigin.name(), Media: r.media()}
	if r.MessageID != 0 && (r.Chat == nil || r.Chat.ID == m.Chat.ID) { // ids count in each chat by itself
		q.ID = messageID(int64(r.MessageID))
	}
	switch {
	case r.SenderChat != nil:
		q.Sender, q.By = channels.CleanName(r.SenderChat.Title), userID(r.SenderChat.ID)
	case r.From != nil:
		q.Sender, q.By, q.FromBot = r.From.name(), userID(r.From.ID), r.From.ID == d.me.ID
	case r.Origin != nil:
		q.Sender = r.Origin.name()
		if u := r.Origin.User; u != nil {
			q.By, q.FromBot = userID(u.ID), u.ID == d.me.ID
		}
	}
	return q
}

// quoted is what a message says that is replied to: the part that the person marked, else all of it. It is empty for files alone.
func (m *wireMessage) quoted(r *wireReply) string {
	if m.Quote != nil && m.Quote.Text != "" {
		return channels.Typed(marked(m.Quote.Text, m.Quote.Entities, nil))
	}
	if r.Checklist != nil && m.ReplyTask != 0 {
		for _, task := range r.Checklist.Tasks {
			if task.ID == int64(m.ReplyTask) {
				return channels.HostLine("task of the checklist " + r.Checklist.Title + ": " + task.line())
			}
		}
	}
	if r.Poll != nil && m.ReplyOption != "" {
		for _, o := range r.Poll.Options {
			if o.ID == m.ReplyOption {
				return channels.HostLine("option of the poll " + r.Poll.Question + ": " + o.words())
			}
		}
	}
	text, entities := r.words()
	if r.unsaid != "" {
		return r.unsaid
	}
	return r.written(text, entities, nil) + r.beside() + r.preview(text)
}

// origin is who wrote a message that was passed on, as newer and older servers say it; nil = it was not.
func (m *wireMessage) origin() *wireOrigin {
	if m.ForwardOrigin != nil {
		return m.ForwardOrigin
	}
	if m.ForwardDate == 0 {
		return nil
	}
	o := &wireOrigin{User: m.ForwardUser, Hidden: m.ForwardHidden, Signature: m.ForwardSigned, MessageID: m.ForwardID}
	if c := m.ForwardChat; c != nil && c.Type == "channel" {
		o.Chat = c
	} else {
		o.Sender = c
	}
	return o
}

// name is how people are told who it was; empty where the platform hides it, and for nil.
func (o *wireOrigin) name() string {
	if o == nil {
		return ""
	}
	name := o.Hidden
	switch {
	case o.User != nil:
		name = cmp.Or(o.User.name(), o.User.Username)
	case o.Sender != nil:
		name = o.Sender.sender().Name
	case o.Chat != nil:
		name = o.Chat.sender().Name
	}
	if o.Signature != "" && name != "" && o.User == nil {
		name = o.Signature + " in " + name
	}
	return channels.CleanName(strings.TrimSpace(name))
}
