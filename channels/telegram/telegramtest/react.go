package telegramtest

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Reaction is one change of the bot's reaction below a message; an empty Emoji took it away.
type Reaction struct {
	Chat, MessageID int64
	Emoji           string
}

// allowed are the emoji that Telegram takes, as ReactionTypeEmoji in the description of the Bot API lists them.
var allowed = strings.Fields("❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤\u200d🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 " +
	"😈 😴 😭 🤓 👻 👨\u200d💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷\u200d♂ 🤷 🤷\u200d♀ 😡")

// Reactions gives the changes of the bot's reactions so far, in order.
func (s *Server) Reactions() []Reaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reactions)
}

func (s *Server) setMessageReaction(p url.Values) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _, bad := s.target(p)
	if bad != nil {
		return *bad
	}
	id, _ := strconv.ParseInt(p.Get("message_id"), 10, 64)
	if c.messages[id] == nil {
		return *badRequest("message to react not found")
	}
	var list []struct{ Type, Emoji string }
	if raw := p.Get("reaction"); raw != "" && json.Unmarshal([]byte(raw), &list) != nil {
		return *badRequest("can't parse reaction types JSON object")
	}
	r := Reaction{Chat: c.id, MessageID: id}
	switch {
	case len(list) > 1:
		return *badRequest("REACTIONS_TOO_MANY")
	case len(list) == 1 && (list[0].Type != "emoji" || !slices.Contains(allowed, list[0].Emoji)):
		return *badRequest("REACTION_INVALID")
	case len(list) == 1:
		r.Emoji = list[0].Emoji
	}
	s.reactions = append(s.reactions, r)
	s.notify()
	return ok(json.RawMessage("true"))
}
