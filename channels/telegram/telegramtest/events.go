package telegramtest

import (
	"fmt"
	"slices"
	"time"
)

// Reacts makes a person change their reactions below a message to the emoji given; none takes them away.
func (s *Server) Reacts(chatID, from, messageID int64, emoji ...string) Posted {
	s.mu.Lock()
	c := s.chats[chatID]
	if c.reactions == nil {
		c.reactions = map[[2]int64][]string{}
	}
	was := c.reactions[[2]int64{messageID, from}]
	c.reactions[[2]int64{messageID, from}] = emoji
	body := object{
		"chat": c.wire(), "message_id": messageID, "user": s.user(from).wire(), "date": time.Now().Unix(),
		"old_reaction": reactionList(was), "new_reaction": reactionList(emoji),
	}
	s.mu.Unlock()
	return Posted{Chat: chatID, MessageID: messageID, UpdateID: s.push("message_reaction", body)}
}

func reactionList(emoji []string) []any {
	list := []any{}
	for _, e := range emoji {
		list = append(list, object{"type": "emoji", "emoji": e})
	}
	return list
}

// user gives a person, known or not. The caller holds s.mu.
func (s *Server) user(id int64) User {
	if u, known := s.users[id]; known {
		return u
	}
	return User{ID: id, Name: fmt.Sprintf("User %d", id)}
}

// Joins makes people come into a group.
func (s *Server) Joins(chatID, by int64, people ...User) Posted {
	var list []any
	for _, u := range people {
		list = append(list, u.wire())
	}
	return s.Say(chatID, by, "", With("new_chat_members", list))
}

// Leaves makes somebody leave a group, or be removed from it when somebody else does that.
func (s *Server) Leaves(chatID, by int64, who User) Posted {
	return s.Say(chatID, by, "", With("left_chat_member", who.wire()))
}

// Rename changes the title of a group.
func (s *Server) Rename(chatID, by int64, title string) Posted {
	s.mu.Lock()
	s.chats[chatID].title = title
	s.mu.Unlock()
	return s.Say(chatID, by, "", With("new_chat_title", title))
}

// Membership tells the bot that it came into a chat, was removed from it, blocked or unblocked. status is member, administrator, left
// or kicked.
func (s *Server) Membership(chatID, by int64, was, is string) Posted {
	s.mu.Lock()
	c := s.chats[chatID]
	body := object{
		"chat": c.wire(), "from": s.user(by).wire(), "date": time.Now().Unix(),
		"old_chat_member": memberWire(was), "new_chat_member": memberWire(is),
	}
	s.mu.Unlock()
	s.Block(chatID, is == "left" || is == "kicked")
	return Posted{Chat: chatID, UpdateID: s.push("my_chat_member", body)}
}

func memberWire(status string) object {
	o := object{"status": status, "user": bot(BotID).wire()}
	switch status {
	case "kicked":
		o["until_date"] = 0
	case "administrator":
		for _, right := range []string{
			"can_be_edited", "is_anonymous", "can_manage_chat", "can_delete_messages", "can_manage_video_chats", "can_restrict_members",
			"can_promote_members", "can_change_info", "can_invite_users", "can_post_stories", "can_edit_stories", "can_delete_stories",
		} {
			o[right] = false
		}
	}
	return o
}

// OpenTopic makes a person open a topic in a forum; its id is that of the message that says so.
func (s *Server) OpenTopic(chatID, by int64, name string) Posted {
	s.mu.Lock()
	c := s.chats[chatID]
	id := c.lastID + 1
	c.topics[id] = name
	s.mu.Unlock()
	return s.Say(chatID, by, "", InTopic(id), With("forum_topic_created", object{"name": name, "icon_color": 7322096}))
}

// RenameTopic makes a person change the name of a topic; an empty one changes only its icon.
func (s *Server) RenameTopic(chatID, by, topic int64, name string) Posted {
	change := object{"icon_custom_emoji_id": "5368324170671202286"}
	if name != "" {
		change = object{"name": name}
	}
	return s.Say(chatID, by, "", InTopic(topic), With("forum_topic_edited", change))
}

// CloseTopic closes a topic or opens it again: the bot cannot write there while it is closed.
func (s *Server) CloseTopic(chatID, by, topic int64, closed bool) Posted {
	s.mu.Lock()
	c := s.chats[chatID]
	if c.closed == nil {
		c.closed = map[int64]bool{}
	}
	c.closed[topic] = closed
	s.mu.Unlock()
	field := "forum_topic_reopened"
	if closed {
		field = "forum_topic_closed"
	}
	return s.Say(chatID, by, "", InTopic(topic), With(field, object{}))
}

// DeleteTopic deletes a topic. Telegram tells bots nothing of it.
func (s *Server) DeleteTopic(chatID, topic int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.chats[chatID].topics, topic)
}

// Sticker makes the message a sticker.
func Sticker(fileID, emoji string) Option {
	return With("sticker", object{"file_id": fileID, "file_unique_id": "u" + fileID, "type": "regular", "width": 512, "height": 512, "is_animated": false, "is_video": false, "emoji": emoji})
}

// Voice makes the message a voice message of some seconds.
func Voice(fileID string, seconds int) Option {
	return With("voice", object{"file_id": fileID, "file_unique_id": "u" + fileID, "duration": seconds, "mime_type": "audio/ogg"})
}

// Album makes a person send several files at once, as messages that share a group id. The text is the caption of the one with that
// index. between, if any, is called between two of them.
func (s *Server) Album(chatID, from int64, caption string, at int, files []Option, between func(i int)) []Posted {
	s.mu.Lock()
	group := fmt.Sprint("group", s.nextUpdate)
	s.mu.Unlock()
	var list []Posted
	for i, f := range files {
		if i > 0 && between != nil {
			between(i)
		}
		text := ""
		if i == at {
			text = caption
		}
		list = append(list, s.Say(chatID, from, text, f, With("media_group_id", group)))
	}
	return list
}

// wanted reports whether the bot asked for a kind of update. The caller holds s.mu.
func (s *Server) wanted(kind string) bool {
	if len(s.allowed) == 0 {
		return !slices.Contains([]string{"chat_member", "message_reaction", "message_reaction_count"}, kind)
	}
	return slices.Contains(s.allowed, kind)
}
