package discord

import (
	"encoding/json"
	"errors"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"parley/channels"
)

// The types of messages that are told apart, https://discord.com/developers/docs/resources/message#message-object-message-types
const (
	messageDefault = 0
	messageAdded   = 1
	messageRemoved = 2
	messageRenamed = 4
	messageJoin    = 7
	messageReply   = 19
	messageCommand = 20
	messageContext = 23
)

// created is a new message, or the platform's own line about what happened in a chat.
func (d decoder) created(e event) (channels.Inbound, error) {
	m, in, err := d.message(e)
	if err != nil {
		return in, err
	}
	in.Event, in.ID = channels.Message, channels.MessageID(m.ID)
	switch m.Type {
	case messageAdded, messageRemoved, messageRenamed, messageJoin:
		return d.happened(in, m)
	}
	if !written(m.Type) {
		return in, errIgnored // pins, boosts, calls, a thread that was opened
	}
	d.content(&in, m)
	d.recent.messages.put(m.ID, said{m.Author.ID, digest(m)})
	if key := m.nonce(); key != "" && in.SentByThisLogin {
		d.recent.note(key, channels.Receipt{ID: in.ID, At: in.Time})
	}
	if in.Text == "" && len(in.Media) == 0 {
		if in.SentByThisLogin {
			return in, errIgnored
		}
		return in, errors.New("a message without anything that is known here; if this goes on, switch on the Message Content Intent at " + botPage)
	}
	return in, nil
}

// written reports whether messages of a type say what their author wrote. Of others that is not known: the first message of a thread
// (21) has who opened the thread as its author, and the words of the one who wrote the message that the thread grew from.
func written(kind int) bool {
	switch kind {
	case messageDefault, messageReply, messageCommand, messageContext:
		return true
	}
	return false
}

// happened is a line about the chat itself.
func (d decoder) happened(in channels.Inbound, m *wireMessage) (channels.Inbound, error) {
	who := in.Sender
	switch m.Type {
	case messageRenamed:
		if in.Guild != "" || m.Content == "" {
			return in, errIgnored // there CHANNEL_UPDATE says it
		}
		in.Event, in.Title = channels.Renamed, channels.CleanText(m.Content)
		return in, nil
	case messageJoin:
		if d.members {
			return in, errIgnored // GUILD_MEMBER_ADD says it
		}
		in.Event = channels.Joined
	default:
		if len(m.Mentions) == 0 {
			return in, errIgnored
		}
		u := m.Mentions[0]
		who = channels.Sender{ID: channels.UserID(u.ID), Username: channels.CleanText(u.Username), Name: u.shown(u.Member), Bot: u.Bot}
		in.Event = channels.Joined
		if m.Type == messageRemoved {
			in.Event = channels.Left
		}
	}
	in.People, in.Self = []channels.Sender{who}, string(who.ID) == d.me.User
	return in, nil
}

// updated is a message whose content changed. Discord sends the same event when it has looked up a link, when a message is pinned,
// and more.
func (d decoder) updated(e event) (channels.Inbound, error) {
	var head struct {
		EditedTimestamp string          `json:"edited_timestamp"`
		Content         *string         `json:"content"`
		Author          json.RawMessage `json:"author"`
		Type            int             `json:"type"`
	}
	if err := json.Unmarshal(e.data, &head); err != nil {
		return channels.Inbound{}, err
	}
	edited, err := time.Parse(time.RFC3339, head.EditedTimestamp)
	if err != nil || head.Content == nil || len(head.Author) == 0 || !written(head.Type) {
		return channels.Inbound{}, errIgnored
	}
	m, in, err := d.message(e)
	if err != nil {
		return in, err
	}
	before, known := d.recent.messages.get(m.ID)
	now := digest(m)
	d.recent.messages.put(m.ID, said{m.Author.ID, now})
	if known && before.text == now {
		return in, errIgnored
	}
	d.content(&in, m)
	in.Event, in.Target, in.Time = channels.Edited, channels.MessageID(m.ID), edited
	in.ID = channels.MessageID(m.ID + ":" + strconv.FormatInt(edited.UnixMilli(), 10))
	return in, nil
}

// message reads a message, and begins its event with where and who.
func (d decoder) message(e event) (*wireMessage, channels.Inbound, error) {
	m := new(wireMessage)
	if err := json.Unmarshal(e.data, m); err != nil {
		return nil, channels.Inbound{}, err
	}
	if !isID(m.ID) {
		return nil, channels.Inbound{}, errors.New("a message without an id")
	}
	in, err := d.at(m.ChannelID, m.GuildID, m.ChannelType)
	if err != nil {
		return nil, in, err
	}
	if m.Author == nil || m.Author.ID == "" {
		return nil, in, errors.New("a message without an author")
	}
	if in.Time, err = time.Parse(time.RFC3339, m.Timestamp); err != nil {
		in.Time = idTime(m.ID)
	}
	d.person(&in, *m.Author, m.Member)
	if m.WebhookID != "" {
		in.Sender.Bot = true
		in.SentByThisLogin = in.SentByThisLogin || m.ApplicationID != "" && m.ApplicationID == d.me.Application
	}
	return m, in, nil
}

// content fills in what a message says: its text, whom it is for, what it answers and what came with it.
func (d decoder) content(in *channels.Inbound, m *wireMessage) {
	body := m
	if m.Reference != nil && m.Reference.Type == 1 && len(m.Snapshots) > 0 {
		in.Forwarded = true
		first := m.Snapshots[0].Message
		first.ID, first.ChannelID = m.ID, m.ChannelID // files are found again by the message that has them now
		body = &first
	}
	if !in.Forwarded && !in.Sender.Bot {
		m.Embeds = nil // people write none: these are previews, which say what somebody else wrote
	}
	in.Text = d.text(body, in.Guild, false)
	in.Media = body.media(string(in.Address.Chat), m.ID)
	if in.Forwarded {
		return
	}
	in.Mentioned = slices.ContainsFunc(m.Mentions, func(u wireUser) bool { return u.ID == d.me.User })
	in.MentionsOthers = slices.ContainsFunc(m.Mentions, func(u wireUser) bool { return u.ID != d.me.User })
	for _, id := range m.MentionRoles {
		if _, own := d.names.role(in.Guild, id, d.me.User); own {
			in.Mentioned = true
		} else {
			in.MentionsOthers = true
		}
	}
	if in.Mentioned {
		in.Addressed = d.text(m, in.Guild, true)
	}
	if q := m.Referenced; q != nil && q.Author != nil {
		in.Quote = &channels.Quote{
			ID: channels.MessageID(q.ID), Sender: q.Author.shown(nil), Text: d.text(q, in.Guild, false), FromBot: q.Author.ID == d.me.User,
		}
		if in.Quote.Text == "" {
			in.Quote.Text = q.describe()
		}
		in.Mentioned = in.Mentioned || in.Quote.FromBot
	}
}

// digest tells texts apart.
func digest(m *wireMessage) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.Content)) // never fails
	return h.Sum64()
}

// nonce is the key that a message was sent with, as far as the platform gives it back.
func (m *wireMessage) nonce() string {
	var key string
	_ = json.Unmarshal(m.Nonce, &key) // a number is none of ours
	return key
}
