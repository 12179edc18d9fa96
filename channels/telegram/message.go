package telegram

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"parley/channels"
)

// The parts of a message that are used. Ids are int64 throughout: as a float they would lose digits.
type (
	wireMessage struct {
		MessageID       int64        `json:"message_id"`
		ThreadID        int64        `json:"message_thread_id"`
		Group           string       `json:"media_group_id"`
		Business        string       `json:"business_connection_id"`
		Guest           string       `json:"guest_query_id"`
		IsTopic         bool         `json:"is_topic_message"`
		From            *wireUser    `json:"from"`
		SenderChat      *wireChat    `json:"sender_chat"`
		Chat            *wireChat    `json:"chat"`
		Date            int64        `json:"date"`
		EditDate        int64        `json:"edit_date"`
		ForwardOrigin   *struct{}    `json:"forward_origin"`
		ForwardDate     int64        `json:"forward_date"` // of older servers
		ReplyTo         *wireReply   `json:"reply_to_message"`
		External        *wireReply   `json:"external_reply"` // to a message of another chat or topic
		Quote           *wireQuote   `json:"quote"`
		Text            string       `json:"text"`
		Entities        []wireEntity `json:"entities"`
		Caption         string       `json:"caption"`
		CaptionEntities []wireEntity `json:"caption_entities"`
		wireFiles
		wireService
	}
	wireUser struct {
		ID        int64  `json:"id"`
		IsBot     bool   `json:"is_bot"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Username  string `json:"username"`
	}
	wireChat struct {
		ID        int64  `json:"id"`
		Type      string `json:"type"`
		Title     string `json:"title"`
		Username  string `json:"username"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		IsForum   bool   `json:"is_forum"`
	}
	wireReply struct {
		MessageID    int64     `json:"message_id"`
		From         *wireUser `json:"from"`
		SenderChat   *wireChat `json:"sender_chat"`
		Text         string    `json:"text"`
		Caption      string    `json:"caption"`
		TopicCreated *wireName `json:"forum_topic_created"`
		Chat         *wireChat `json:"chat"`
		Origin       *struct { // of an external one
			User   *wireUser `json:"sender_user"`
			Hidden string    `json:"sender_user_name"`
			Sender *wireChat `json:"sender_chat"`
			Chat   *wireChat `json:"chat"`
		} `json:"origin"`
		wireFiles
	}
	wireQuote struct {
		Text string `json:"text"`
	}
	wireEntity struct {
		Type   string    `json:"type"`
		Offset int       `json:"offset"`
		Length int       `json:"length"`
		User   *wireUser `json:"user"`
	}
)

// message builds the event of a message. With errNoContent the address is valid all the same.
func (d decoder) message(m *wireMessage) (channels.Inbound, error) {
	var in channels.Inbound
	address, err := d.address(m)
	if err != nil {
		return in, err
	}
	if m.MessageID <= 0 {
		return in, fmt.Errorf("message_id %d is no message id", m.MessageID)
	}
	in = channels.Inbound{Event: channels.Message, Address: address, ID: messageID(m.MessageID), Time: time.Unix(m.Date, 0)}
	if in.Sender, err = sender(m); err != nil {
		return in, err
	}
	in.SentByThisLogin = m.From != nil && m.From.ID == d.me.ID
	in.Title = d.title(m, address)
	if m.Business != "" || m.Guest != "" {
		return in, errNotForBots
	}
	if d.service(m, &in) {
		return in, nil
	}
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	in.Forwarded = m.ForwardOrigin != nil || m.ForwardDate != 0
	in.Media = m.media()
	if text == "" {
		text = m.placeholder()
	}
	if text == "" && len(in.Media) == 0 {
		return in, errNoContent
	}
	d.mentions(&in, text, entities)
	in.Text = channels.CleanText(text)
	in.Quote = d.quote(m, address.Thread)
	if in.Quote != nil && in.Quote.FromBot {
		in.Mentioned = true
	}
	return in, nil
}

func (d decoder) address(m *wireMessage) (channels.Address, error) {
	a, err := d.place(m.Chat)
	if err != nil {
		return a, err
	}
	// In groups without topics the field names the first message of a reply chain; General has number 1 or none.
	if (m.IsTopic || m.Chat.IsForum) && m.ThreadID > 1 {
		a.Thread = channels.ThreadID(strconv.FormatInt(m.ThreadID, 10))
	}
	if m.Chat.IsForum && a.Type == channels.Group {
		d.topics.sawForum(a.Chat)
		d.topics.saw(a.Chat, m.MessageID, a.Thread)
	}
	return a, nil
}

// place is the address of a chat, without a thread.
func (d decoder) place(c *wireChat) (channels.Address, error) {
	a := channels.Address{Channel: Kind, Account: d.account}
	if c == nil || c.ID == 0 {
		return a, errors.New("a message without a chat")
	}
	a.Chat = chatID(c.ID)
	switch c.Type {
	case "private":
		a.Type = channels.Direct
	case "group", "supergroup":
		a.Type = channels.Group
	case "channel":
		a.Type = channels.Room
	default:
		return a, fmt.Errorf("unknown chat type %.40q", c.Type)
	}
	return a, nil
}

func chatID(id int64) channels.ChatID { return channels.ChatID(strconv.FormatInt(id, 10)) }

// title is what the chat is called, in a topic with the topic's name.
func (d decoder) title(m *wireMessage, a channels.Address) string {
	if a.Type == channels.Direct {
		return ""
	}
	name := ""
	if m.ReplyTo != nil && m.ReplyTo.TopicCreated != nil {
		name = m.ReplyTo.TopicCreated.Name // what it was called first
	}
	if now := d.topics.name(a); now != "" {
		name = now
	}
	if a.Thread == "" || name == "" {
		return channels.CleanText(m.Chat.Title)
	}
	return channels.CleanText(m.Chat.Title + " / " + name)
}

// sender is who wrote: a person or bot, or the chat in whose name an anonymous admin or a channel speaks.
func sender(m *wireMessage) (channels.Sender, error) {
	speaker := m.SenderChat
	if speaker == nil && m.From == nil && (m.Chat.Type == "private" || m.Chat.Type == "channel") {
		speaker = m.Chat
	}
	switch {
	case speaker != nil:
		return speaker.sender(), nil
	case m.From != nil && m.From.ID != 0:
		return m.From.sender(), nil
	default:
		return channels.Sender{}, errors.New("a message without a sender")
	}
}

func (c *wireChat) sender() channels.Sender {
	name := c.Title
	if name == "" {
		name = strings.TrimSpace(c.FirstName + " " + c.LastName)
	}
	return channels.Sender{ID: userID(c.ID), Username: channels.CleanText(c.Username), Name: channels.CleanText(name)}
}

func (u *wireUser) sender() channels.Sender {
	return channels.Sender{ID: userID(u.ID), Username: channels.CleanText(u.Username), Name: u.name(), Bot: u.IsBot}
}

func messageID(id int64) channels.MessageID { return channels.MessageID(strconv.FormatInt(id, 10)) }

func userID(id int64) channels.UserID { return channels.UserID(strconv.FormatInt(id, 10)) }

func (u *wireUser) name() string {
	return channels.CleanText(strings.TrimSpace(u.FirstName + " " + u.LastName))
}

// quote is what the message replies to. In a topic every message replies to the one that opened the topic, which says nothing.
func (d decoder) quote(m *wireMessage, thread channels.ThreadID) *channels.Quote {
	r := m.ReplyTo
	if r == nil || r.TopicCreated != nil || thread != "" && r.MessageID == m.ThreadID {
		r = m.External // in a topic both can be there
	}
	if r == nil {
		return nil
	}
	q := &channels.Quote{Text: channels.CleanText(r.says(m.Quote))}
	if r.MessageID != 0 && (r.Chat == nil || r.Chat.ID == m.Chat.ID) { // ids count in each chat by itself
		q.ID = messageID(r.MessageID)
	}
	switch o := r.Origin; {
	case r.SenderChat != nil:
		q.Sender = channels.CleanText(r.SenderChat.Title)
	case r.From != nil:
		q.Sender, q.FromBot = r.From.name(), r.From.ID == d.me.ID
	case o == nil:
	case o.User != nil:
		q.Sender, q.FromBot = o.User.name(), o.User.ID == d.me.ID
	case o.Sender != nil:
		q.Sender = o.Sender.sender().Name
	case o.Chat != nil:
		q.Sender = o.Chat.sender().Name
	default:
		q.Sender = channels.CleanText(o.Hidden)
	}
	return q
}

// says is the text of a message that is replied to: the part that was quoted, else all of it, else what there is instead of text.
func (r *wireReply) says(part *wireQuote) string {
	if part != nil && part.Text != "" {
		return part.Text
	}
	return cmp.Or(r.Text, r.Caption, r.placeholder())
}
