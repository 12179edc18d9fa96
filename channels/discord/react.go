package discord

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"parley/channels"
)

func messagePath(chat channels.ChatID, id channels.MessageID) string {
	return channelPath(chat, "/messages/"+url.PathEscape(messageID(id)))
}

// reactionRoute: Discord counts reactions of a channel together, whatever the message.
func reactionRoute(verb string, chat channels.ChatID) route {
	return route{path: "channels/messages/reactions", verb: verb, major: string(chat)}
}

// React implements channels.Reactor. A bot may have several reactions below a message at Discord; here it has one, so a new one takes
// the place of the one before.
func (c *Channel) React(ctx context.Context, to channels.Address, id channels.MessageID, emoji string) error {
	key := string(to.Chat) + "/" + messageID(id)
	before, known := c.recent.reactions.get(key)
	if emoji != "" {
		if err := c.placed(ctx, to); err != nil {
			return err
		}
		if err := c.reaction(ctx, http.MethodPut, to.Chat, id, emoji); err != nil {
			return err
		}
		c.recent.reactions.put(key, emoji)
		if known && before != "" && before != emoji {
			return c.reaction(ctx, http.MethodDelete, to.Chat, id, before)
		}
		return nil
	}
	list := []string{before}
	if !known { // put there by an earlier process
		var m wireMessage
		if err := c.rest.get(ctx, messagePath(to.Chat, id), messageRoute(http.MethodGet, to.Chat), &m); err != nil {
			return err
		}
		list = nil
		for _, r := range m.Reactions {
			if r.Me {
				list = append(list, r.Emoji.api())
			}
		}
	}
	for _, e := range list {
		if e == "" {
			continue
		}
		if err := c.reaction(ctx, http.MethodDelete, to.Chat, id, e); err != nil {
			return err
		}
	}
	c.recent.reactions.put(key, "")
	return nil
}

func (c *Channel) reaction(ctx context.Context, verb string, chat channels.ChatID, id channels.MessageID, emoji string) error {
	path := messagePath(chat, id) + "/reactions/" + url.PathEscape(strings.Trim(emoji, "<>")) + "/@me"
	_, err := c.rest.call(ctx, request{method: verb, path: path, route: reactionRoute(verb, chat)})
	return err
}

// api is the emoji as calls name it.
func (e wireEmoji) api() string {
	if e.ID != "" {
		return e.Name + ":" + e.ID
	}
	return e.Name
}
