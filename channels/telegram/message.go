package telegram

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"parley/channels"
)

// message builds the event of a message. With errNoContent the address is valid all the same.
func (d decoder) message(m *wireMessage) (channels.Inbound, error) {
	var in channels.Inbound
	address, err := d.address(m)
	if err != nil {
		return in, err
	}
	id, err := m.id()
	if err != nil {
		return in, err
	}
	in = channels.Inbound{Event: channels.Message, Address: address, ID: id, Time: m.Date.time()}
	if in.Sender, err = sender(m); err != nil {
		return in, err
	}
	in.Private = m.toChannel()
	origin := m.origin()
	in.SentByThisLogin = m.From != nil && m.From.ID == d.me.ID || m.AutoForward && d.posted(origin)
	in.Title = d.title(m, address)
	if m.Business != "" || m.Guest != "" {
		return in, errNotForBots
	}
	if d.service(m, &in) {
		return in, nil
	}
	in.Forwarded, in.Origin = origin != nil, origin.name()
	in.Media = m.media()
	text, entities := m.words()
	if text == "" && len(in.Media) == 0 {
		return in, errNoContent
	}
	in.Preview = m.preview(text)
	in.Text = channels.CleanText(m.written(text, entities, nil)+m.beside()) + in.Preview
	if still, counts := m.still(); counts {
		text, entities := still.words()
		in.Lasting = channels.CleanText(still.written(text, entities, nil)+still.beside()) + in.Preview
	}
	d.mentions(&in, m, text, entities)
	in.Quote = d.quote(m, address.Thread)
	if in.Quote != nil && in.Quote.FromBot {
		in.Mentioned = true
	}
	return in, nil
}

// toChannel reports whether the message is one that a person wrote to a channel, and no answer of an admin in the person's topic.
func (m *wireMessage) toChannel() bool {
	t := m.DirectTopic
	return t != nil && t.User != nil && m.From != nil && m.SenderChat == nil && t.User.ID == m.From.ID
}

// errNobodysTopic says that a message in the direct messages of a channel does not tell whose topic it is in: several people would be one.
var errNobodysTopic = errors.New("a direct message to a channel without its topic")

func (d decoder) address(m *wireMessage) (channels.Address, error) {
	a, err := d.place(m.Chat)
	if err != nil {
		return a, err
	}
	if a.Thread, err = m.thread(); err != nil {
		return a, err
	}
	if a.Type == channels.Group {
		d.topics.sawChat(a.Chat, m.Chat.IsForum)
		d.topics.saw(a.Chat, m.MessageID, a.Thread)
		d.people.saw(a.Chat, m.From)
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
	switch {
	case m.DirectTopic != nil && m.DirectTopic.User != nil:
		name = m.DirectTopic.User.name()
	case m.ReplyTo != nil && m.ReplyTo.TopicCreated != nil:
		name = m.ReplyTo.TopicCreated.Name // what it was called first
	}
	if now := d.topics.name(a); now != "" {
		name = now
	}
	if a.Thread == "" || name == "" {
		return channels.CleanName(m.Chat.Title)
	}
	return channels.CleanName(m.Chat.Title + " / " + name)
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
	return channels.Sender{ID: userID(c.ID), Username: channels.CleanText(c.Username), Name: channels.CleanName(name)}
}

func (u *wireUser) sender() channels.Sender {
	return channels.Sender{ID: userID(u.ID), Username: channels.CleanText(u.Username), Name: u.name(), Bot: u.IsBot}
}

func messageID(id int64) channels.MessageID { return channels.MessageID(strconv.FormatInt(id, 10)) }

func userID(id int64) channels.UserID { return channels.UserID(strconv.FormatInt(id, 10)) }

func (u *wireUser) name() string {
	return channels.CleanName(strings.TrimSpace(u.FirstName + " " + u.LastName))
}
