package telegramtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"time"
	"unicode/utf16"
)

// User is a person or bot.
type User struct {
	ID       int64
	Name     string
	Username string
	Bot      bool
}

// AnonymousID is the user that Telegram names as the sender for anonymous group admins.
const AnonymousID int64 = 1087968824

// object is a JSON object of the Bot API.
type object = map[string]any

type chat struct {
	id       int64
	kind     string // private, group, supergroup, channel
	title    string
	forum    bool
	direct   bool   // the direct messages of a channel: each topic is one person
	refusal  string // 403 with this text
	movedTo  int64
	lastID   int64
	topics   map[int64]string
	closed   map[int64]bool // topics
	messages map[int64]object
	// reactions of people by message and person.
	reactions map[[2]int64][]string
}

func (s *Server) addChat(id int64, kind, title string) *chat {
	c := &chat{id: id, kind: kind, title: title, topics: map[int64]string{}, messages: map[int64]object{}}
	s.chats[id] = c
	return c
}

// AddUser makes a person known who has started the bot: the private chat has the same id.
func (s *Server) AddUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[u.ID] = u
	s.addChat(u.ID, "private", u.Name)
}

// AddGroup adds a supergroup that the bot is in.
func (s *Server) AddGroup(id int64, title string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addChat(id, "supergroup", title)
}

// AddForum adds a supergroup with topics. The General topic (1) is always there.
func (s *Server) AddForum(id int64, title string, topics map[int64]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.addChat(id, "supergroup", title)
	c.forum = true
	maps.Copy(c.topics, topics)
	for t, name := range topics {
		c.messages[t] = object{"message_id": t, "chat": c.wire(), "date": time.Now().Unix(), "forum_topic_created": object{"name": name, "icon_color": 7322096}}
		c.lastID = max(c.lastID, t)
	}
}

// AddDirectMessages adds the direct messages of a channel: every message is in the topic of a person (InDirect), and what is sent has to say
// in which one: https://core.telegram.org/bots/api#directmessagestopic.
func (s *Server) AddDirectMessages(id int64, title string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addChat(id, "supergroup", title).direct = true
}

// SwitchTopics makes a group a forum, or one no more. The topics stay; what is written in the group keeps naming them, and sends to them are
// refused: tdlib/telegram-bot-api#447.
func (s *Server) SwitchTopics(id int64, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[id].forum = on
}

// AddChannel adds a channel that the bot reads.
func (s *Server) AddChannel(id int64, title string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addChat(id, "channel", title)
}

// Block makes sending to a chat fail with 403 as if the person had blocked the bot or the group had removed it; false lifts that.
func (s *Server) Block(id int64, blocked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[id]
	if c.refusal = ""; !blocked {
		return
	}
	if c.refusal = "Forbidden: bot was blocked by the user"; c.kind != "private" {
		c.refusal = "Forbidden: bot was kicked from the " + c.kind + " chat"
	}
}

// Migrate makes a group a supergroup with a new id: the old one answers with migrate_to_chat_id from now on, and both get the
// service message that Telegram sends.
func (s *Server) Migrate(from, to int64) {
	s.mu.Lock()
	old := s.chats[from]
	old.movedTo = to
	s.addChat(to, "supergroup", old.title)
	s.mu.Unlock()
	s.Say(from, AnonymousID, "", With("migrate_to_chat_id", to))
	s.Say(to, AnonymousID, "", With("migrate_from_chat_id", from))
}

// Option shapes a message.
type Option func(message object)

// With sets any field of the message.
func With(field string, value any) Option { return func(m object) { m[field] = value } }

// InTopic puts the message into a forum topic; 1 is General, whose messages have no is_topic_message.
// source: the Bot API's Message.is_topic_message; tdlib/telegram-bot-api#356
func InTopic(id int64) Option {
	return func(m object) {
		if id > 1 {
			m["message_thread_id"], m["is_topic_message"] = id, true
		}
	}
}

// InDirect puts the message into the topic of a person in the direct messages of a channel. Topics have the number of their person.
func InDirect(person int64) Option {
	return With("direct_messages_topic", object{"topic_id": person, "user": object{"id": person, "is_bot": false, "first_name": fmt.Sprint("User ", person)}})
}

// Ephemeral makes the message one that the bot and its sender alone see: it has no number in the chat.
func Ephemeral(id int64) Option {
	return func(m object) {
		m["message_id"], m["ephemeral_message_id"], m["receiver_user"] = 0, id, bot(BotID).wire()
	}
}

// replyKey marks a reply until Say has looked the message up.
const replyKey = "reply to"

// ReplyTo makes the message a reply to another one of the chat, the bot's own included.
func ReplyTo(id int64) Option { return func(m object) { m[replyKey] = id } }

// Photo makes the message a picture with the text as its caption.
func Photo(fileID string) Option {
	size := func(n int) object {
		return object{"file_id": fmt.Sprintf("%s-%d", fileID, n), "file_unique_id": fmt.Sprintf("u%d", n), "width": n, "height": n}
	}
	return func(m object) { m["photo"] = []any{size(90), size(1280), size(320)} }
}

// Document makes the message a file with the text as its caption.
func Document(fileID, name, mime string, size int64) Option {
	return With("document", object{"file_id": fileID, "file_unique_id": "u" + fileID, "file_name": name, "mime_type": mime, "file_size": size})
}

// Posted says what became of something that was said.
type Posted struct{ Chat, MessageID, UpdateID int64 }

// Say makes a person write in a chat. from 0 is the channel itself in a channel and an anonymous admin in a group. Entities for
// mentions and commands are made as Telegram makes them.
func (s *Server) Say(chatID, from int64, text string, opts ...Option) Posted {
	s.mu.Lock()
	c := s.chats[chatID]
	if c == nil {
		s.mu.Unlock()
		panic(fmt.Sprintf("telegramtest: no chat %d", chatID))
	}
	c.lastID++
	m := object{"message_id": c.lastID, "chat": c.wire(), "date": s.date()}
	kind := "message"
	switch {
	case c.kind == "channel":
		kind, m["sender_chat"] = "channel_post", c.wire()
	case from == 0 || from == AnonymousID:
		m["sender_chat"] = c.wire()
		m["from"] = User{ID: AnonymousID, Name: "Group", Username: "GroupAnonymousBot", Bot: true}.wire()
	default:
		m["from"] = s.user(from).wire()
	}
	for _, o := range opts {
		o(m)
	}
	setText(m, text)
	if id, is := m[replyKey].(int64); is {
		delete(m, replyKey)
		m["reply_to_message"] = plainReply(c.messages[id], id, c)
		if _, in := m["message_thread_id"]; !in && c.kind == "supergroup" && !c.direct { // the first message of the chain. source: nutgram, message_general_topic_reply.json
			m["message_thread_id"] = c.chain(id)
		}
	} else if topic, is := m["message_thread_id"].(int64); is && c.messages[topic] != nil {
		m["reply_to_message"] = c.messages[topic] // every message of a topic answers the one that opened it
	}
	c.messages[c.lastID] = m
	id := c.lastID
	s.mu.Unlock()
	return Posted{Chat: chatID, MessageID: id, UpdateID: s.push(kind, m)}
}

// chain is the message that a chain of replies began with.
func (c *chat) chain(id int64) int64 {
	if root, is := c.messages[id]["message_thread_id"].(int64); is {
		return root
	}
	return id
}

// Find gives the newest message of a chat with a text.
func (s *Server) Find(chatID int64, text string) (p Posted, found bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, m := range s.chats[chatID].messages {
		if m["text"] == text && id > p.MessageID {
			p, found = Posted{Chat: chatID, MessageID: id}, true
		}
	}
	return p, found
}

// Edit makes the writer change a message.
func (s *Server) Edit(p Posted, text string) Posted {
	s.mu.Lock()
	c := s.chats[p.Chat]
	m := maps.Clone(c.messages[p.MessageID])
	for _, field := range []string{"text", "entities", "caption", "caption_entities"} {
		delete(m, field)
	}
	setText(m, text)
	m["edit_date"] = time.Now().Unix()
	c.messages[p.MessageID] = m
	s.mu.Unlock()
	kind := "edited_message"
	if c.kind == "channel" {
		kind = "edited_channel_post"
	}
	p.UpdateID = s.push(kind, m)
	return p
}

// push queues an update of a kind, checked against the description of the API, unless the bot did not ask for it.
func (s *Server) push(kind string, body any) int64 {
	s.mu.Lock()
	if !s.wanted(kind) {
		s.mu.Unlock()
		return 0
	}
	id := s.nextUpdate
	raw, err := json.Marshal(object{"update_id": id, kind: body})
	if err != nil {
		s.mu.Unlock()
		panic(fmt.Sprintf("telegramtest: update: %v", err))
	}
	s.queue(raw)
	s.mu.Unlock()
	if s.spec != nil {
		for _, v := range s.spec.JSON([]string{"Update"}, raw) {
			s.violate("update %s", v)
		}
	}
	return id
}

// Raw queues an update exactly as given, bad ones included, and gives its id. It is not validated. "$id" in the text stands for the id.
func (s *Server) Raw(text string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.nextUpdate
	s.queue(json.RawMessage(strings.ReplaceAll(text, "$id", fmt.Sprint(id))))
	return id
}

func (s *Server) queue(raw json.RawMessage) {
	s.updates = append(s.updates, update{s.nextUpdate, raw})
	s.nextUpdate++
	close(s.arrived)
	s.arrived = make(chan struct{})
	s.notify()
}

func (c *chat) wire() object {
	o := object{"id": c.id, "type": c.kind}
	if c.kind == "private" {
		o["first_name"] = c.title
	} else {
		o["title"] = c.title
	}
	if c.forum {
		o["is_forum"] = true
	}
	if c.direct {
		o["is_direct_messages"] = true
	}
	return o
}

func (u User) wire() object {
	o := object{"id": u.ID, "is_bot": u.Bot, "first_name": u.Name}
	if u.Username != "" {
		o["username"] = u.Username
	}
	return o
}

// plainReply is the message that a reply carries: without the one that it answers itself.
func plainReply(m object, id int64, c *chat) object {
	if m == nil {
		return object{"message_id": id, "chat": c.wire(), "date": time.Now().Unix()}
	}
	m = maps.Clone(m)
	delete(m, "reply_to_message")
	return m
}

var entityPattern = regexp.MustCompile(`(?:^|[\s(])(@\w{5,32}|/\w{1,32}(?:@\w{5,32})?)`)

// setText sets the text, or the caption of a message with a file, with its entities.
func setText(m object, text string) {
	field, entities := "text", "entities"
	for _, file := range []string{"photo", "document", "video", "audio", "voice", "animation"} {
		if _, has := m[file]; has {
			field, entities = "caption", "caption_entities"
		}
	}
	if text == "" {
		return
	}
	m[field] = text
	if _, given := m[entities]; given {
		return
	}
	var list []any
	for _, at := range entityPattern.FindAllStringSubmatchIndex(text, -1) {
		word, kind := text[at[2]:at[3]], "mention"
		if word[0] == '/' {
			kind = "bot_command"
		}
		list = append(list, object{"type": kind, "offset": utf16Len(text[:at[2]]), "length": utf16Len(word)})
	}
	if list != nil {
		m[entities] = list
	}
}

// utf16Len counts as Telegram does: in UTF-16 units.
func utf16Len(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}
