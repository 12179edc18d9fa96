package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"parley/channels"
)

// Arrived implements channels.Reconciler. Discord refuses to make a message twice only for some minutes after the first try, so the
// chat is read: a message of the bot with the same nonce, or, as the platform does not always give that back, with the same text,
// files and message that it answers, which is not known to be another one.
func (c *Channel) Arrived(ctx context.Context, out channels.Outbound) (channels.Receipt, bool, error) {
	key := nonce(out.Key)
	if r, known := c.recent.sent.get(key); known {
		return r, true, nil
	}
	me, err := c.identify(ctx)
	if err != nil {
		return channels.Receipt{}, false, err
	}
	first := idAt(out.Since.Add(-clocksDiffer))
	query := url.Values{"limit": {strconv.Itoa(fillPage)}}
	where := messagesRoute(http.MethodGet, out.To.Chat)
	for range mostPages {
		var list []json.RawMessage
		if err := c.rest.get(ctx, channelPath(out.To.Chat, "/messages?"+query.Encode()), where, &list); err != nil {
			return channels.Receipt{}, false, err
		}
		oldest := ""
		for _, raw := range list { // newest first
			r := receipt(raw)
			if r.ID == "" {
				continue
			}
			if oldest = string(r.ID); !c.same(raw, me.User, key, out) {
				continue
			}
			if other, err := c.isOther(ctx, out.To, r.ID); err != nil || !other {
				return r, err == nil, err
			}
		}
		if len(list) < fillPage || !newer(oldest, first) {
			return channels.Receipt{}, false, nil
		}
		query.Set("before", oldest)
	}
	return channels.Receipt{}, false, &channels.Error{Class: channels.Ambiguous, Err: &apiError{Call: where.verb + " " + where.path, Text: fmt.Sprintf("the chat has more than %d newer messages", mostPages*fillPage)}}
}

const (
	// mostPages is how many pages of a chat are read to find a message in it.
	mostPages = 10
	// clocksDiffer is how far the host's clock may be ahead of the platform's.
	clocksDiffer = 10 * time.Minute
)

// isOther reports whether a message is known on disk as the receipt of another delivery: one that only looks the same.
func (c *Channel) isOther(ctx context.Context, to channels.Address, id channels.MessageID) (bool, error) {
	if c.sent == nil {
		return false, nil
	}
	other, err := c.sent(ctx, to, id)
	if err != nil {
		return false, &channels.Error{Class: channels.Transient, Err: &apiError{Call: "reading receipts", Text: err.Error(), cause: channels.Cause(err, errTooLarge)}}
	}
	return other, nil
}

// same reports whether a message is the one that was to be sent.
func (c *Channel) same(raw json.RawMessage, me, key string, out channels.Outbound) bool {
	var m struct {
		wireMessage
		Interaction *struct {
			ID string `json:"id"`
		} `json:"interaction_metadata"`
		Older *struct {
			ID string `json:"id"`
		} `json:"interaction"` // the same for older servers
	}
	if json.Unmarshal(raw, &m) != nil || m.Author == nil || m.Author.ID != me {
		return false
	}
	if m.Interaction == nil {
		m.Interaction = m.Older
	}
	if m.Interaction != nil {
		answers := m.Interaction.ID == string(out.ReplyTo) || out.ReplyTo == "" && out.To.Type == channels.Direct
		used, known := c.recent.ours.get(m.ID)
		return answers && (!known || used == key) && sameText(m.Content, out.Text) && sameFiles(m.Attachments, out)
	}
	if given := m.nonce(); given != "" {
		return given == key
	}
	if used, known := c.recent.ours.get(m.ID); known {
		return used == key // it may have become known while the chat was read
	}
	if m.Reference != nil && m.Reference.Type == 0 && m.Reference.MessageID != messageID(out.ReplyTo) {
		return false
	}
	return sameText(m.Content, out.Text) && sameFiles(m.Attachments, out)
}

// sameFiles reports whether a message has the files that were to be sent.
func sameFiles(list []wireAttachment, out channels.Outbound) bool {
	if len(list) != len(out.Files) {
		return false
	}
	for i, a := range list {
		if a.Size != 0 && out.Files[i].Size != 0 && int64(a.Size) != out.Files[i].Size {
			return false
		}
	}
	return true
}

// identify tells who the bot is: as the gateway said, else by asking.
func (c *Channel) identify(ctx context.Context) (identity, error) {
	if me := c.self(); me.User != "" {
		return me, nil
	}
	var u wireUser
	if err := c.rest.get(ctx, "/users/@me", route{path: "users/@me", verb: http.MethodGet}, &u); err != nil {
		return identity{}, err
	}
	me := identity{User: u.ID, Name: u.Username}
	c.setSelf(me)
	return me, nil
}
