package telegram

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"parley/channels"
)

// The parts of the Bot API's objects that are used. Ids are int64 throughout: as a float they would lose digits.
type (
	wireUpdate struct {
		UpdateID          quantity     `json:"update_id"`
		Message           *wireMessage `json:"message"`
		EditedMessage     *wireMessage `json:"edited_message"`
		ChannelPost       *wireMessage `json:"channel_post"`
		EditedChannelPost *wireMessage `json:"edited_channel_post"`
		Reaction          *wireReacted `json:"message_reaction"`
		MyMember          *wireMember  `json:"my_chat_member"`
		Stopped           *wireStopped `json:"stopped_message_generation"`
	}
)

// maxUpdateID is the highest id that can be confirmed.
const maxUpdateID = 1 << 62

// decoder turns updates into events for one bot.
type decoder struct {
	account channels.AccountID
	me      identity
	topics  *topics                            // may be nil
	people  *people                            // may be nil
	own     func(*wireOrigin) bool             // whether a post is one of ours; nil = unknown
	stopped func(channels.Address, int64) bool // whether a draft is the one that is being shown; nil = unknown
}

// posted reports whether what was passed on is a post of this bot in a channel.
func (d decoder) posted(o *wireOrigin) bool {
	return d.own != nil && o != nil && o.Chat != nil && o.MessageID > 0 && d.own(o)
}

// batch decodes the result of getUpdates. It fails only when that is no list; whatever is in the list becomes an item.
func (d decoder) batch(raw json.RawMessage) ([]item, error) {
	var updates []wireUpdate
	readable := json.Unmarshal(raw, &updates) == nil
	items, bad := make([]item, len(updates)), make([]bool, len(updates))
	var fields []unread
	foreign := readable && mayBeForeign(raw)
	readable = readable && (!foreign || json.Unmarshal(raw, &fields) == nil)
	for i := range updates {
		if readable {
			if foreign {
				fields[i].note(&updates[i])
			}
			var err error
			items[i], err = d.update(&updates[i])
			bad[i] = err != nil
		}
	}
	if readable && !slices.Contains(bad, true) {
		return withCursor(items), nil
	}
	// At least one is not what was expected: those by themselves, the others once, since what they say is remembered.
	var raws []json.RawMessage
	if err := json.Unmarshal(raw, &raws); err != nil {
		return nil, errors.New("the answer is not a list of updates")
	}
	if !readable {
		items = make([]item, len(raws))
	}
	for i, r := range raws {
		if !readable || bad[i] {
			items[i] = d.single(r)
		}
	}
	return withCursor(items), nil
}

// withCursor gives the last event of a batch the position that the batch ends at.
func withCursor(items []item) []item {
	for i := len(items) - 1; i >= 0; i-- {
		if it := &items[i]; it.id != 0 && it.skip == "" {
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
	var fields unread
	if json.Unmarshal(raw, &fields) == nil {
		fields.note(&u)
	}
	it, err := d.update(&u)
	if err == nil {
		return it
	}
	if errors.Is(err, errNoContent) {
		if skip, why := judge(raw); skip != "" {
			return item{id: it.id, in: it.in, skip: skip}
		} else if why != "" {
			err = errors.New(why)
		}
	}
	return d.unreadable(raw, u, err.Error())
}

var (
	// errNoContent says that there is nothing in an update that is known here.
	errNoContent = errors.New("no known content")
	// errNotForBots says that a message was not written to the bot as itself: it is never answered.
	errNotForBots = errors.New("a business or guest message")
)

// update builds the event of an update. It is the fence: a panic over one update costs that update only.
func (d decoder) update(u *wireUpdate) (it item, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("decoding panicked: %v", r)
		}
	}()
	update := u.UpdateID.id()
	it.id = update
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
	case u.Reaction != nil:
		it.in, err = d.reaction(u.Reaction, update)
		return it, err
	case u.MyMember != nil:
		it.in, it.skip, err = d.membership(u.MyMember, update)
		return it, err
	case u.Stopped != nil:
		it.in, it.skip, err = d.stop(u.Stopped, update)
		return it, err
	default:
		return it, errNoContent
	}
	in, err := d.message(m)
	switch {
	case errors.Is(err, errNotForBots):
		it.in, it.skip = in, "business or guest message"
		return it, nil
	case event == channels.Edited && m.Location != nil && err == nil:
		it.in, it.skip = in, "live location" // it moves all the time
		return it, nil
	case event == channels.Edited && (in.Event == channels.Message || in.Event == ""):
		in, it.album = edited(in, m, update), m.Group
	case event == channels.Message && err == nil && in.Event == channels.Message && len(in.Media) > 0:
		it.album = m.Group
	}
	it.in = in
	return it, err
}

// edited makes an event of a changed message. Every edit is one of its own, so the update's id is part of its id.
func edited(in channels.Inbound, m *wireMessage, update int64) channels.Inbound {
	in.Event, in.Target = channels.Edited, in.ID
	in.ID += channels.MessageID(":" + strconv.FormatInt(update, 10))
	if m.EditDate != 0 {
		in.Time = m.EditDate.time()
	}
	return in
}

// eventID is the id of something that happened to a message, which may happen again.
func eventID(message, update int64) channels.MessageID {
	return channels.MessageID(strconv.FormatInt(message, 10) + ":" + strconv.FormatInt(update, 10))
}

// unreadable is the event for an update that made no sense, with as much of its address as could be read.
func (d decoder) unreadable(raw json.RawMessage, u wireUpdate, why string) item {
	it := item{in: channels.Inbound{
		Event: channels.Unreadable, Reason: channels.CleanText(why), Raw: channels.CutRaw(raw), Time: time.Now(),
		Address: channels.Address{Channel: Kind, Account: d.account, Chat: "unknown", Type: channels.Direct},
	}}
	var envelope struct {
		UpdateID quantity `json:"update_id"`
	}
	if json.Unmarshal(raw, &envelope) == nil && envelope.UpdateID.id() != 0 {
		it.id = envelope.UpdateID.id()
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
	for _, c := range []*wireChat{u.Reaction.chat(), u.MyMember.chat(), u.Stopped.chat()} {
		if a, err := d.place(c); err == nil {
			it.in.Address = a
		}
	}
	return it
}
