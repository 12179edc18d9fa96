package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"parley/channels"
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
	if m.Type == messageStarter {
		d.starter(in, m)
	}
	if !isWrittenType(m.Type) {
		if _, known := services[m.Type]; !known && !in.SentByThisLogin {
			return in, fmt.Errorf("message of unknown type %d", m.Type)
		}
		return in, errIgnored // pins, boosts, calls, a thread that was opened
	}
	d.content(&in, m)
	d.recent.messages.put(m.ID, seenMessage{m.Author.ID, digest(m)})
	if key := m.nonce(); key != "" && in.SentByThisLogin {
		d.recent.note(key, channels.Receipt{ID: in.ID, At: in.Time})
	}
	if in.Text == "" && len(in.Media) == 0 {
		if in.SentByThisLogin {
			return in, errIgnored
		}
		return in, m.empty(in)
	}
	return in, nil
}

// empty says why nothing of a message can be read.
func (m *wireMessage) empty(in channels.Inbound) error {
	const nothing = "message without known content"
	if in.Guild == "" || in.Forwarded || m.Flags&flagComponentsV2 != 0 || len(m.Components) > 0 || len(m.Embeds) > 0 { // content that was given
		return errors.New(nothing)
	}
	return errors.New(nothing + "; if this continues, enable the Message Content Intent at " + botPage)
}

// starter keeps the message that a thread grew from for the first message in it that answers no other: Discord shows it above all others,
// so people speak of it. Its author is somebody else than who opened the thread.
func (d decoder) starter(in channels.Inbound, m *wireMessage) {
	if _, there := d.recent.starters.get(string(in.Address.Chat)); there {
		return
	}
	if q := d.quote(in, m.Referenced); q != nil {
		d.recent.starters.put(string(in.Address.Chat), starter{quote: q})
	}
}

// quote reads a message that another one is about; nil = there is none.
func (d decoder) quote(in channels.Inbound, m *wireMessage) *channels.Quote {
	if m == nil || m.Author == nil {
		return nil
	}
	chat := m.ChannelID
	if !isID(chat) {
		chat = string(in.Address.Chat)
	}
	name := m.Author.shown(nil)
	if who, known := d.recent.people.get(in.Guild + "/" + m.Author.ID); known && who.sender.Name != "" && m.WebhookID == "" {
		name = who.sender.Name // as the server calls them
	}
	r := d.read(m, in.Guild, chat)
	return &channels.Quote{ID: channels.MessageID(m.ID), Sender: name, By: channels.UserID(m.Author.ID), Text: r.text, Origin: r.origin, Media: r.media, FromBot: m.Author.ID == d.me.User}
}

// unseen is what is known of a message that another one answers and that Discord does not give.
func (d decoder) unseen(in channels.Inbound, id string) *channels.Quote {
	was, _ := d.recent.messages.get(id)
	who, _ := d.recent.people.get(in.Guild + "/" + was.author)
	own := was.author != "" && was.author == d.me.User
	return &channels.Quote{ID: channels.MessageID(id), Sender: who.sender.Name, By: channels.UserID(was.author), FromBot: own, Text: "[a message that cannot be read any more]"}
}

// happened is a line about the chat itself.
func (d decoder) happened(in channels.Inbound, m *wireMessage) (channels.Inbound, error) {
	who := in.Sender
	switch m.Type {
	case messageRenamed:
		if in.Guild != "" || m.Content == "" {
			return in, errIgnored // there CHANNEL_UPDATE says it
		}
		in.Event, in.Title = channels.Renamed, channels.CleanName(m.Content)
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
		who = channels.Sender{ID: channels.UserID(u.ID), Username: u.handle(), Name: u.shown(u.Member), Bot: u.Bot}
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
	edited = channels.PlausibleTime(edited)
	if err != nil || head.Content == nil || len(head.Author) == 0 || !isWrittenType(head.Type) {
		return channels.Inbound{}, errIgnored
	}
	m, in, err := d.message(e)
	if err != nil {
		return in, err
	}
	before, known := d.recent.messages.get(m.ID)
	now := digest(m)
	d.recent.messages.put(m.ID, seenMessage{m.Author.ID, now})
	if known && before.text == now || !known && e.at.Sub(edited) > staleEdit {
		return in, errIgnored
	}
	d.content(&in, m)
	in.Event, in.Target, in.Time = channels.Edited, channels.MessageID(m.ID), edited
	in.ID = channels.MessageID(m.ID + ":" + strconv.FormatInt(edited.UnixMilli(), 10))
	return in, nil
}

// staleEdit is how old an edit is that an event is not about: a message that was edited before was pinned, or a link in it looked up.
const staleEdit = time.Hour

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
	in.Time = channels.PlausibleTime(in.Time)
	d.person(&in, *m.Author, m.Member)
	if m.WebhookID != "" {
		in.Sender.Bot, in.Sender.Username = true, "" // anybody who makes a webhook chooses its name
		in.SentByThisLogin = in.SentByThisLogin || m.ApplicationID != "" && m.ApplicationID == d.me.Application
	}
	return m, in, nil
}

// content fills in what a message says: its text, whom it is for, what it answers and what came with it.
func (d decoder) content(in *channels.Inbound, m *wireMessage) {
	r := d.read(m, in.Guild, string(in.Address.Chat))
	in.Text, in.Media, in.Forwarded, in.Origin = r.text, r.media, r.forwarded, r.origin
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
	if in.Quote = d.quote(*in, m.Referenced); in.Quote == nil && isReply(m.Type) && m.Reference != nil && isID(m.Reference.MessageID) {
		in.Quote = d.unseen(*in, m.Reference.MessageID)
	}
	if in.Quote != nil {
		in.Mentioned = in.Mentioned || in.Quote.FromBot
	} else if first, there := d.recent.starters.get(string(in.Address.Chat)); there && !in.SentByThisLogin && (first.with == "" || first.with == channels.MessageID(m.ID)) {
		first.with, in.Quote = channels.MessageID(m.ID), first.quote
		d.recent.starters.put(string(in.Address.Chat), first)
	}
}

// digest tells what messages say apart, whatever things are called and however files are addressed just now.
func digest(m *wireMessage) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(m.Content)) // never fails
	bare := *m
	if bare.Content = ""; m.Author != nil && !m.Author.Bot {
		bare.Embeds = nil
	}
	if m.Content != "" { // otherwise a preview of a link of a bot's would be news
		bare.Embeds = slices.DeleteFunc(slices.Clone(bare.Embeds), func(e wireEmbed) bool { return e.Type != "rich" })
	}
	bare.Poll = nil
	for _, part := range bare.parts(func(s string) string { return s }) {
		_, _ = h.Write([]byte("\x00" + part))
	}
	for _, a := range m.Attachments {
		_, _ = h.Write([]byte("\x00" + a.ID))
	}
	return h.Sum64()
}

// nonce is the key that a message was sent with, as far as the platform gives it back.
func (m *wireMessage) nonce() string {
	var key string
	_ = json.Unmarshal(m.Nonce, &key) // a number is none of ours
	return key
}
