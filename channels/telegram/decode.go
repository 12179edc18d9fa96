package telegram

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"parley/channels"
)

// The parts of the Bot API's objects that are used. Ids are int64 throughout: as a float they would lose digits.
type (
	wireUpdate struct {
		UpdateID          int64        `json:"update_id"`
		Message           *wireMessage `json:"message"`
		EditedMessage     *wireMessage `json:"edited_message"`
		ChannelPost       *wireMessage `json:"channel_post"`
		EditedChannelPost *wireMessage `json:"edited_channel_post"`
	}
	wireMessage struct {
		MessageID       int64        `json:"message_id"`
		ThreadID        int64        `json:"message_thread_id"`
		IsTopic         bool         `json:"is_topic_message"`
		From            *wireUser    `json:"from"`
		SenderChat      *wireChat    `json:"sender_chat"`
		Chat            *wireChat    `json:"chat"`
		Date            int64        `json:"date"`
		EditDate        int64        `json:"edit_date"`
		ForwardOrigin   *struct{}    `json:"forward_origin"`
		ForwardDate     int64        `json:"forward_date"` // of older servers
		ReplyTo         *wireReply   `json:"reply_to_message"`
		Quote           *wireQuote   `json:"quote"`
		Text            string       `json:"text"`
		Entities        []wireEntity `json:"entities"`
		Caption         string       `json:"caption"`
		CaptionEntities []wireEntity `json:"caption_entities"`
		wireFiles
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
		TopicCreated *struct{} `json:"forum_topic_created"`
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

// maxRaw is how much of an unreadable update is kept, maxUpdateID the highest id that can be confirmed.
const (
	maxRaw      = 4 << 10
	maxUpdateID = 1 << 62
)

// decoder turns updates into events for one bot.
type decoder struct {
	account channels.AccountID
	me      identity
	forum   func(channels.ChatID) // told of every chat that has topics; may be nil
}

// batch decodes the result of getUpdates. It fails only when that is no list; whatever is in the list becomes an item.
func (d decoder) batch(raw json.RawMessage) ([]item, error) {
	var updates []wireUpdate
	if json.Unmarshal(raw, &updates) == nil {
		items := make([]item, len(updates))
		bad := false
		for i := range updates {
			var err error
			items[i], err = d.update(&updates[i])
			bad = bad || err != nil
		}
		if !bad {
			return withCursor(items), nil
		}
	}
	// At least one is not what was expected: each by itself.
	var raws []json.RawMessage
	if err := json.Unmarshal(raw, &raws); err != nil {
		return nil, errors.New("the answer is no list of updates")
	}
	items := make([]item, len(raws))
	for i, r := range raws {
		items[i] = d.single(r)
	}
	return withCursor(items), nil
}

// withCursor gives the last event of a batch the position that the batch ends at.
func withCursor(items []item) []item {
	for i := len(items) - 1; i >= 0; i-- {
		if it := &items[i]; it.id != 0 && !it.skip {
			it.in.Cursor = strconv.FormatInt(it.id, 10)
			break
		}
	}
	return items
}

// single decodes one update; one that makes no sense becomes an Unreadable event.
func (d decoder) single(raw json.RawMessage) item {
	var u wireUpdate
	if err := json.Unmarshal(raw, &u); err != nil {
		return d.unreadable(raw, u, err.Error())
	}
	it, err := d.update(&u)
	if err == nil {
		return it
	}
	if errors.Is(err, errNoContent) {
		if skip, why := judge(raw); skip {
			return item{id: it.id, in: it.in, skip: true}
		} else if why != "" {
			err = errors.New(why)
		}
	}
	return d.unreadable(raw, u, err.Error())
}

// errNoContent says that there is nothing in an update that is known here.
var errNoContent = errors.New("no content that is known here")

// update builds the event of an update. It is the fence: a panic over one update costs that update only.
func (d decoder) update(u *wireUpdate) (it item, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decoding panicked: %v", r)
		}
	}()
	it.id = u.UpdateID
	if u.UpdateID <= 0 || u.UpdateID >= maxUpdateID {
		return item{}, fmt.Errorf("update_id %d is no update id", u.UpdateID)
	}
	var m *wireMessage
	event := channels.Message
	switch {
	case u.Message != nil:
		m = u.Message
	case u.ChannelPost != nil:
		m = u.ChannelPost
	case u.EditedMessage != nil:
		m, event = u.EditedMessage, channels.Edited
	case u.EditedChannelPost != nil:
		m, event = u.EditedChannelPost, channels.Edited
	default:
		return it, errNoContent
	}
	in, err := d.message(m)
	if in.Event = event; event == channels.Edited {
		// Every edit is an event of its own, so the update's id is part of its id.
		in.ID = channels.MessageID(string(in.ID) + ":" + strconv.FormatInt(u.UpdateID, 10))
		if m.EditDate != 0 {
			in.Time = time.Unix(m.EditDate, 0)
		}
	}
	it.in = in
	return it, err
}

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
	in = channels.Inbound{Address: address, ID: channels.MessageID(strconv.FormatInt(m.MessageID, 10)), Time: time.Unix(m.Date, 0)}
	if in.Sender, err = sender(m); err != nil {
		return in, err
	}
	in.SentByThisLogin = m.From != nil && m.From.ID == d.me.ID
	if address.Type != channels.Direct {
		in.Title = clean(m.Chat.Title)
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
	in.Text = clean(text)
	in.Quote = d.quote(m, address.Thread)
	if in.Quote != nil && in.Quote.FromBot {
		in.Mentioned = true
	}
	return in, nil
}

func (d decoder) address(m *wireMessage) (channels.Address, error) {
	a := channels.Address{Channel: Kind, Account: d.account}
	if m.Chat == nil || m.Chat.ID == 0 {
		return a, errors.New("a message without a chat")
	}
	a.Chat = channels.ChatID(strconv.FormatInt(m.Chat.ID, 10))
	switch m.Chat.Type {
	case "private":
		a.Type = channels.Direct
	case "group", "supergroup":
		a.Type = channels.Group
	case "channel":
		a.Type = channels.Room
	default:
		return a, fmt.Errorf("unknown chat type %.40q", m.Chat.Type)
	}
	// In groups without topics the field names the first message of a reply chain; General has number 1 or none.
	if (m.IsTopic || m.Chat.IsForum) && m.ThreadID > 1 {
		a.Thread = channels.ThreadID(strconv.FormatInt(m.ThreadID, 10))
	}
	if m.Chat.IsForum && a.Type == channels.Group && d.forum != nil {
		d.forum(a.Chat)
	}
	return a, nil
}

// sender is who wrote: a person or bot, or the chat in whose name an anonymous admin or a channel speaks.
func sender(m *wireMessage) (channels.Sender, error) {
	speaker := m.SenderChat
	if speaker == nil && m.From == nil && (m.Chat.Type == "private" || m.Chat.Type == "channel") {
		speaker = m.Chat
	}
	switch {
	case speaker != nil:
		name := speaker.Title
		if name == "" {
			name = strings.TrimSpace(speaker.FirstName + " " + speaker.LastName)
		}
		return channels.Sender{ID: userID(speaker.ID), Username: clean(speaker.Username), Name: clean(name)}, nil
	case m.From != nil && m.From.ID != 0:
		return channels.Sender{ID: userID(m.From.ID), Username: clean(m.From.Username), Name: m.From.name(), Bot: m.From.IsBot}, nil
	default:
		return channels.Sender{}, errors.New("a message without a sender")
	}
}

func userID(id int64) channels.UserID { return channels.UserID(strconv.FormatInt(id, 10)) }

func (u *wireUser) name() string { return clean(strings.TrimSpace(u.FirstName + " " + u.LastName)) }

// quote is what the message replies to. In a topic every message replies to the one that opened the topic, which says nothing.
func (d decoder) quote(m *wireMessage, thread channels.ThreadID) *channels.Quote {
	r := m.ReplyTo
	if r == nil || r.TopicCreated != nil || thread != "" && r.MessageID == m.ThreadID {
		return nil
	}
	q := &channels.Quote{ID: channels.MessageID(strconv.FormatInt(r.MessageID, 10)), Text: r.Text}
	if q.Text == "" {
		q.Text = r.Caption
	}
	if m.Quote != nil && m.Quote.Text != "" {
		q.Text = m.Quote.Text
	}
	q.Text = clean(q.Text)
	switch {
	case r.SenderChat != nil:
		q.Sender = clean(r.SenderChat.Title)
	case r.From != nil:
		q.Sender, q.FromBot = r.From.name(), r.From.ID == d.me.ID
	}
	return q
}

// clean makes a text valid UTF-8 without NUL.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// unreadable is the event for an update that made no sense, with as much of its address as could be read.
func (d decoder) unreadable(raw json.RawMessage, u wireUpdate, why string) item {
	it := item{in: channels.Inbound{
		Event: channels.Unreadable, Reason: clean(why), Raw: cutRaw(raw), Time: time.Now(),
		Address: channels.Address{Channel: Kind, Account: d.account, Chat: "unknown", Type: channels.Direct},
	}}
	var envelope struct {
		UpdateID int64 `json:"update_id"`
	}
	if json.Unmarshal(raw, &envelope) == nil && envelope.UpdateID > 0 && envelope.UpdateID < maxUpdateID {
		it.id = envelope.UpdateID
		it.in.ID = channels.MessageID(strconv.FormatInt(it.id, 10))
	} else {
		sum := sha256.Sum256(raw)
		it.in.ID = channels.MessageID("sha256-" + hex.EncodeToString(sum[:16]))
	}
	for _, m := range []*wireMessage{u.Message, u.EditedMessage, u.ChannelPost, u.EditedChannelPost} {
		if m == nil {
			continue
		}
		if a, err := d.address(m); err == nil {
			it.in.Address = a
		}
	}
	return it
}

// cutRaw keeps the start of an update. What is cut is no JSON any more, so it is kept as a JSON string.
func cutRaw(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxRaw && json.Valid(raw) {
		return bytes.Clone(raw)
	}
	for n := min(len(raw), maxRaw-2); ; n = n * 3 / 4 {
		text, err := json.Marshal(clean(string(raw[:n])))
		if err == nil && len(text) <= maxRaw {
			return text
		}
	}
}
