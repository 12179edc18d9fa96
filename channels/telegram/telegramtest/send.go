package telegramtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Message is a message of the bot that people see.
type Message struct {
	Chat, Thread, ID int64
	ReplyTo          int64
	Direct           int64    // the topic in the direct messages of a channel
	Only             int64    // the person who alone sees it; 0 = everybody
	Text             string   // as people read it: markup parsed
	Links            []string // where the text leads, of the entities that Telegram shows
	Raw              string   // as it was sent
	First            string   // Text before any edit
	ParseMode        string
	Files            []File
	At               time.Time
	Edits            int
}

// Sent gives the messages that the bot has sent, in order, edits applied.
func (s *Server) Sent() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sent)
}

// SentTo gives those of one chat.
func (s *Server) SentTo(chat int64) []Message {
	return slices.DeleteFunc(s.Sent(), func(m Message) bool { return m.Chat != chat })
}

// SentCount is how many messages the bot has sent.
func (s *Server) SentCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.sent)
}

// WaitSent waits until the bot has sent n messages and gives all of them.
func (s *Server) WaitSent(ctx context.Context, n int) ([]Message, error) {
	if err := s.Wait(ctx, func() bool { return s.SentCount() >= n }); err != nil {
		return s.Sent(), fmt.Errorf("%d of %d messages sent: %w", s.SentCount(), n, err)
	}
	return s.Sent(), nil
}

func (s *Server) getMe() reply {
	o := s.me().wire()
	o["can_join_groups"], o["can_read_all_group_messages"], o["supports_inline_queries"] = true, false, false
	return result(o)
}

// me is the bot.
func (s *Server) me() User { return bot(cmp.Or(s.bot.Load(), BotID)) }

func bot(id int64) User { return User{ID: id, Name: "Parley", Username: BotUsername, Bot: true} }

func result(v any) reply {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("telegramtest: result: %v", err))
	}
	return ok(raw)
}

func badRequest(text string) *reply {
	r := failure(http.StatusBadRequest, "Bad Request: "+text)
	return &r
}

// target finds the chat and the thread that a call is for. The caller holds s.mu.
func (s *Server) target(p url.Values) (*chat, int64, *reply) {
	id, err := strconv.ParseInt(p.Get("chat_id"), 10, 64)
	c := s.chats[id]
	if p.Get("chat_id") == "" {
		return nil, 0, badRequest("chat_id is empty")
	}
	if err != nil || c == nil {
		return nil, 0, badRequest("chat not found")
	}
	if c.movedTo != 0 {
		r := failureWith(http.StatusBadRequest, "Bad Request: group chat was upgraded to a supergroup chat", &parameters{MigrateToChatID: c.movedTo})
		return nil, 0, &r
	}
	if c.refusal != "" {
		r := failure(http.StatusForbidden, c.refusal)
		return nil, 0, &r
	}
	thread, _ := strconv.ParseInt(p.Get("message_thread_id"), 10, 64)
	return c, thread, nil
}

// maxEntities is how many entities of a message count; what comes later is shown without.
// source: tdlib/telegram-bot-api#165, tdlib/telegram-bot-api#820
const maxEntities = 100

// visible gives the text of a message as people will read it and where it leads, or why it cannot be sent.
func visible(p url.Values, limit int) (text string, links []string, bad *reply) {
	text = p.Get("text")
	switch strings.ToLower(p.Get("parse_mode")) {
	case "":
	case "html":
		parsed, entities, err := parseHTML(text)
		if err != nil {
			return "", nil, badRequest("can't parse entities: " + err.Error())
		}
		text = parsed
		for _, e := range entities[:min(len(entities), maxEntities)] {
			if e.url != "" {
				links = append(links, e.url)
			}
		}
	default:
		return "", nil, badRequest("unsupported parse_mode")
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "", nil, badRequest("message text is empty")
	}
	if utf16Len(text) > limit {
		return "", nil, badRequest(map[bool]string{true: "message caption is too long", false: "message is too long"}[limit < 4096])
	}
	return text, links, nil
}

// writable finds the chat and the thread that a message goes to. The caller holds s.mu.
func (s *Server) writable(p url.Values) (*chat, int64, *reply) {
	c, thread, bad := s.target(p)
	if bad != nil {
		return nil, 0, bad
	}
	// The real server knows no thread 1 in sends: General has none.
	// source: tdlib/telegram-bot-api#447, grammyjs/auto-thread#3
	if _, known := c.topics[thread]; thread != 0 && (!c.forum || !known) {
		return nil, 0, badRequest("message thread not found")
	}
	if c.closed[thread] {
		return nil, 0, badRequest("TOPIC_CLOSED")
	}
	if direct := p.Get("direct_messages_topic_id"); c.direct && direct == "" {
		return nil, 0, badRequest("direct messages topic must be specified")
	} else if direct != "" && !c.direct {
		return nil, 0, badRequest("the chat is not a channel direct messages chat")
	}
	return c, thread, nil
}

func (s *Server) sendMessage(p url.Values) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, thread, bad := s.writable(p)
	if bad != nil {
		return *bad
	}
	text, links, bad := visible(p, 4096)
	if bad != nil {
		return *bad
	}
	if bad := s.paced(c); bad != nil {
		return *bad
	}
	m, wire, bad := s.compose(c, thread, p)
	if bad != nil {
		return *bad
	}
	m.Links = links
	m.Text, m.Raw, m.ParseMode, wire["text"] = text, p.Get("text"), p.Get("parse_mode"), text
	s.keep(c, m, wire)
	return result(wire)
}

// compose makes the next message of the bot in a chat, without what it says. The caller holds s.mu.
func (s *Server) compose(c *chat, thread int64, p url.Values) (Message, object, *reply) {
	m := Message{Chat: c.id, Thread: thread, ID: c.lastID + 1, At: time.Now()}
	wire := object{"message_id": m.ID, "from": s.me().wire(), "chat": c.wire(), "date": s.date()}
	InTopic(thread)(wire)
	if m.Direct, _ = strconv.ParseInt(p.Get("direct_messages_topic_id"), 10, 64); m.Direct != 0 {
		InDirect(m.Direct)(wire)
	}
	if m.Only, _ = strconv.ParseInt(p.Get("receiver_user_id"), 10, 64); m.Only != 0 {
		Ephemeral(m.ID)(wire)
	}
	if raw := p.Get("reply_parameters"); raw != "" {
		var rp struct {
			MessageID int64 `json:"message_id"`
			Ephemeral int64 `json:"ephemeral_message_id"`
			Lenient   bool  `json:"allow_sending_without_reply"`
		}
		if json.Unmarshal([]byte(raw), &rp) != nil {
			return m, nil, badRequest("can't parse reply parameters JSON object")
		}
		if original := c.messages[rp.MessageID]; original != nil {
			m.ReplyTo, wire["reply_to_message"] = rp.MessageID, plainReply(original, rp.MessageID, c)
		} else if m.Only != 0 && rp.Ephemeral != 0 {
			m.ReplyTo = rp.Ephemeral
		} else if !rp.Lenient {
			return m, nil, badRequest("message to be replied not found")
		}
	}
	return m, wire, nil
}

// keep shows a message of the bot. The caller holds s.mu.
func (s *Server) keep(c *chat, m Message, wire object) {
	c.lastID = m.ID
	c.messages[m.ID] = wire
	m.First = m.Text
	s.sent = append(s.sent, m)
	s.notify()
}

func (s *Server) editMessageText(p url.Values) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, _, bad := s.target(p)
	if bad != nil {
		return *bad
	}
	text, links, bad := visible(p, 4096)
	if bad != nil {
		return *bad
	}
	id, _ := strconv.ParseInt(p.Get("message_id"), 10, 64)
	i := slices.IndexFunc(s.sent, func(m Message) bool { return m.Chat == c.id && m.ID == id })
	if i < 0 {
		return *badRequest("message to edit not found")
	}
	if s.sent[i].Raw == p.Get("text") {
		return *badRequest("message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	}
	s.sent[i].Text, s.sent[i].Raw, s.sent[i].ParseMode = text, p.Get("text"), p.Get("parse_mode")
	s.sent[i].Links = links
	s.sent[i].Edits++
	wire := c.messages[id]
	wire["text"], wire["edit_date"] = text, time.Now().Unix()
	s.notify()
	return result(wire)
}

func (s *Server) sendChatAction(p url.Values) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, thread, bad := s.target(p)
	if bad != nil {
		return *bad
	}
	if _, known := c.topics[thread]; thread != 0 && (!c.forum || !known && thread != 1) {
		return *badRequest("message thread not found")
	}
	if c.direct || c.kind == "channel" {
		return *badRequest("chat actions can't be sent to channel chats and channel direct messages chats")
	}
	actions := []string{"typing", "upload_photo", "record_video", "upload_video", "record_voice", "upload_voice", "upload_document", "choose_sticker", "find_location", "record_video_note", "upload_video_note"}
	if !slices.Contains(actions, p.Get("action")) {
		return *badRequest("wrong parameter action in request")
	}
	return ok(json.RawMessage("true"))
}

func (s *Server) getMyCommands(p url.Values) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := s.commands[p.Get("scope")+p.Get("language_code")]; list != nil {
		return ok(list)
	}
	return ok(json.RawMessage("[]"))
}

func (s *Server) setMyCommands(p url.Values) reply {
	var list []struct {
		Command     string `json:"command"`
		Description string `json:"description"`
	}
	if json.Unmarshal([]byte(p.Get("commands")), &list) != nil || len(list) > 100 {
		return *badRequest("can't parse commands list")
	}
	for _, c := range list {
		if c.Command == "" || len(c.Command) > 32 || strings.Trim(c.Command, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			return *badRequest("BOT_COMMAND_INVALID")
		}
		if c.Description == "" || utf16Len(c.Description) > 256 {
			return *badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commands[p.Get("scope")+p.Get("language_code")] = json.RawMessage(p.Get("commands"))
	return ok(json.RawMessage("true"))
}
