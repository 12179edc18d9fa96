package discordtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The handlers of messages. Their callers hold s.mu.

type nonceUse struct {
	message *message
	at      time.Time
}

// content is the body of a message that the bot posts or edits.
type content struct {
	Content         *string          `json:"content"`
	Nonce           any              `json:"nonce"`
	EnforceNonce    bool             `json:"enforce_nonce"`
	Flags           int              `json:"flags"`
	AllowedMentions *allowedMentions `json:"allowed_mentions"`
	Attachments     *[]attachment    `json:"attachments"`
	Embeds          []object         `json:"embeds"`
	Reference       *struct {
		MessageID       string `json:"message_id"`
		ChannelID       string `json:"channel_id"`
		FailIfNotExists *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
}

type allowedMentions struct {
	Parse       []string `json:"parse"`
	Users       []string `json:"users"`
	Roles       []string `json:"roles"`
	RepliedUser bool     `json:"replied_user"`
}

type attachment struct {
	ID       any     `json:"id"`
	Filename string  `json:"filename"`
	Seconds  float64 `json:"duration_secs"`
	Waveform string  `json:"waveform"`
}

const maxContent = 2000

// check refuses what Discord does not take.
func (b *content) check(q *request, max int64) *reply {
	var r reply
	a := b.AllowedMentions
	switch {
	case b.Content != nil && utf8.RuneCountInString(*b.Content) > maxContent:
		r = invalid("content", "BASE_TYPE_MAX_LENGTH", fmt.Sprintf("Must be %d or fewer in length.", maxContent))
	case (b.Content == nil || *b.Content == "") && len(q.files) == 0 && len(b.Embeds) == 0 && (b.Attachments == nil || len(*b.Attachments) == 0):
		r = failure(http.StatusBadRequest, 50006, "Cannot send an empty message")
	case len(fmt.Sprint(b.Nonce)) > 25:
		r = invalid("nonce", "NONCE_TYPE_TOO_LONG", "Nonce must be 25 or fewer in length.")
	case len(q.files) > 10:
		r = invalid("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
	case slices.ContainsFunc(q.files, func(p multipartPart) bool { return int64(len(p.Data)) > max }):
		r = failure(http.StatusRequestEntityTooLarge, 40005, "Request entity too large")
	case a != nil && (slices.Contains(a.Parse, "users") && len(a.Users) > 0 || slices.Contains(a.Parse, "roles") && len(a.Roles) > 0):
		r = invalid("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", `parse:["users"] and users: [ids...] are mutually exclusive.`)
	default:
		return nil
	}
	return &r
}

// permit refuses what the bot has no permission for, and what a reference or a voice message must not be.
// source: Discord documentation, Create Message, Voice messages, JSON error codes
func (b *content) permit(s *Server, c *channel, q *request) *reply {
	var list []attachment
	if b.Attachments != nil {
		list = *b.Attachments
	}
	var r reply
	voice := b.Flags&flagVoice != 0
	audio := func(p multipartPart) bool { return strings.HasPrefix(p.Type, "audio/") }
	switch {
	case b.Flags&^(flagSuppressEmbeds|flagSilent|flagVoice|flagComponents) != 0:
		s.violate("a message with the flags %d: a bot may not set them", b.Flags)
		r = invalid("flags", "BASE_TYPE_CHOICES", "These flags cannot be set.")
	case len(q.files) > 0 && c.lacks[AttachFiles]:
		r = failure(http.StatusForbidden, 50013, "Missing Permissions")
	case slices.ContainsFunc(list, func(a attachment) bool {
		n, err := strconv.Atoi(fmt.Sprint(a.ID))
		return err != nil || n >= len(q.files)
	}):
		r = invalid("attachments", "ATTACHMENT_NOT_FOUND", "There is no file for this attachment.")
	case voice && c.lacks[SendVoice]:
		r = failure(http.StatusForbidden, 50173, "You cannot send voice messages in this channel")
	case voice && b.Content != nil && *b.Content != "":
		r = failure(http.StatusBadRequest, 50159, "Voice messages do not support additional content.")
	case voice && (len(q.files) != 1 || !audio(q.files[0])):
		r = failure(http.StatusBadRequest, 50160, "Voice messages must have a single audio attachment.")
	case voice && (len(list) != 1 || list[0].Seconds <= 0 || list[0].Waveform == ""):
		r = failure(http.StatusBadRequest, 50161, "Voice messages must have supporting metadata.")
	default:
		return b.refer(c)
	}
	return &r
}

// refer refuses what cannot be answered.
func (b *content) refer(c *channel) *reply {
	if b.Reference == nil {
		return nil
	}
	m := c.find(b.Reference.MessageID)
	_, err := strconv.ParseUint(b.Reference.MessageID, 10, 64)
	must := b.Reference.FailIfNotExists == nil || *b.Reference.FailIfNotExists
	var r reply
	switch {
	case err != nil:
		r = invalid("message_reference", "NUMBER_TYPE_COERCE", `Value is not a snowflake.`)
	case c.lacks[ReadHistory]: // member-gentei/member-gentei PR#42
		r = failure(http.StatusForbidden, 160002, "Cannot reply without permission to read message history")
	case m == nil && must:
		r = invalid("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
	case m != nil && m.kind != kindDefault && m.kind != kindReply && m.kind != kindCommand:
		r = invalid("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message")
	default:
		return nil
	}
	return &r
}

// trim takes the white space around a text away, as Discord does.
func (b *content) trim() {
	if b.Content != nil {
		text := strings.TrimSpace(*b.Content)
		b.Content = &text
	}
}

// pings fills in who is told of the message.
func (b *content) pings(m *message) {
	users, roles, everyone := mentioned(m.text)
	replied := m.reply != nil
	if a := b.AllowedMentions; a != nil {
		if !slices.Contains(a.Parse, "users") {
			users = slices.DeleteFunc(users, func(id string) bool { return !slices.Contains(a.Users, id) })
		}
		if !slices.Contains(a.Parse, "roles") {
			roles = slices.DeleteFunc(roles, func(id string) bool { return !slices.Contains(a.Roles, id) })
		}
		everyone = everyone && slices.Contains(a.Parse, "everyone")
		replied = replied && a.RepliedUser
	}
	if replied && !slices.Contains(users, m.reply.author.ID) {
		users = append(users, m.reply.author.ID)
	}
	m.mentions, m.roles, m.everyone = users, roles, everyone
}

func badBody() reply {
	return failure(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
}

func (s *Server) createMessage(q *request) reply {
	c, refused := s.place(q)
	if refused != nil {
		return *refused
	}
	var b content
	if q.decode(&b) != nil {
		return badBody()
	}
	b.trim()
	if r := b.check(q, s.maxFile); r != nil {
		return *r
	}
	key := fmt.Sprint(c.id, " ", b.Nonce)
	if used, known := s.nonces[key]; b.Nonce != nil && b.EnforceNonce && known && time.Since(used.at) < s.window {
		return ok(s.posted(used.message))
	}
	if r := b.permit(s, c, q); r != nil {
		return *r
	}
	m := s.compose(c, q, &b)
	if b.Reference != nil {
		if m.reply = c.find(b.Reference.MessageID); m.reply != nil {
			m.kind = kindReply
		}
	}
	b.pings(m)
	if b.Nonce != nil {
		s.nonces[key] = nonceUse{m, m.at}
	}
	c.add(m)
	s.sent = append(s.sent, m)
	s.emitMessage("MESSAGE_CREATE", m)
	return ok(s.posted(m))
}

// compose makes a message of the bot out of a body, not posted yet.
func (s *Server) compose(c *channel, q *request, b *content) *message {
	now := time.Now()
	m := &message{id: s.newID(now), channel: c, author: s.user(BotID), at: now, flags: b.Flags, nonce: b.Nonce}
	if b.Content != nil {
		m.text = *b.Content
	}
	for _, p := range q.files {
		s.attach(m, p.File)
	}
	return m
}

// posted is the answer to a post: the nonce is in it, unlike in what is read later.
func (s *Server) posted(m *message) object {
	o := s.wire(m)
	if m.nonce != nil {
		o["nonce"] = m.nonce
	}
	return o
}

// ForgetNonces lets the minutes pass in which Discord remembers nonces.
func (s *Server) ForgetNonces() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.nonces)
}

func (s *Server) getMessages(q *request) reply {
	c, refused := s.place(q)
	if refused != nil {
		return *refused
	}
	limit := 50
	if text := q.Query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 100 {
			return invalid("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
		}
		limit = n
	}
	list := c.messages
	if c.lacks[ReadHistory] {
		list = nil // no error: Discord documentation, Get Channel Messages
	}
	after, before := q.Query.Get("after"), q.Query.Get("before")
	switch {
	case after != "":
		list = keep(list, func(m *message) bool { return compareIDs(m.id, after) > 0 })
		list = list[:min(limit, len(list))]
	case before != "":
		list = keep(list, func(m *message) bool { return compareIDs(m.id, before) < 0 })
		fallthrough
	default:
		list = list[max(0, len(list)-limit):]
	}
	out := []any{}
	for _, m := range slices.Backward(list) { // newest first
		out = append(out, s.wire(m))
	}
	return ok(out)
}

func keep(list []*message, want func(*message) bool) []*message {
	return slices.DeleteFunc(slices.Clone(list), func(m *message) bool { return !want(m) })
}

// one finds the message of a call, or gives the answer that refuses it.
func (s *Server) one(q *request) (*message, *reply) {
	c, refused := s.place(q)
	if refused != nil {
		return nil, refused
	}
	m := c.find(q.vars["message_id"])
	if m == nil {
		r := failure(http.StatusNotFound, 10008, "Unknown Message")
		return nil, &r
	}
	return m, nil
}

func (s *Server) getMessage(q *request) reply {
	m, refused := s.one(q)
	if refused != nil {
		return *refused
	}
	if m.channel.lacks[ReadHistory] {
		return failure(http.StatusForbidden, 50001, "Missing Access")
	}
	return ok(s.wire(m))
}

func (s *Server) editMessage(q *request) reply {
	m, refused := s.one(q)
	if refused != nil {
		return *refused
	}
	if m.author.ID != BotID {
		return failure(http.StatusForbidden, 50005, "Cannot edit a message authored by another user")
	}
	if m.flags&flagVoice != 0 {
		return failure(http.StatusBadRequest, 50162, "Voice messages cannot be edited.")
	}
	return s.change(m, q)
}

// change edits a message of the bot.
func (s *Server) change(m *message, q *request) reply {
	var b content
	if q.decode(&b) != nil {
		return badBody()
	}
	if b.Content == nil {
		b.Content = &m.text
	}
	b.trim()
	if r := b.check(q, s.maxFile); r != nil {
		return *r
	}
	m.text, m.edited = *b.Content, later(m.edited)
	m.edits++
	if b.Attachments != nil && len(*b.Attachments) == 0 {
		m.files, m.data = nil, nil
	}
	for _, p := range q.files {
		s.attach(m, p.File)
	}
	if m.flags&flagLoading != 0 { // an edit tells nobody; the text of a deferred answer is no edit
		b.pings(m)
	}
	m.flags &^= flagLoading
	if m.flags&flagEphemeral == 0 {
		s.emitMessage("MESSAGE_UPDATE", m)
	}
	return ok(s.wire(m))
}

func (s *Server) deleteMessage(q *request) reply {
	m, refused := s.one(q)
	if refused != nil {
		return *refused
	}
	if m.author.ID != BotID {
		return failure(http.StatusForbidden, 50013, "Missing Permissions")
	}
	s.remove(m)
	d := s.in(m.channel, object{"id": m.id, "channel_id": m.channel.id})
	s.emit("MESSAGE_DELETE", messageIntent(d), d)
	return nothing()
}

func (s *Server) addReaction(q *request) reply { return s.ownReaction(q, true) }

func (s *Server) removeReaction(q *request) reply { return s.ownReaction(q, false) }

func (s *Server) ownReaction(q *request, on bool) reply {
	m, refused := s.one(q)
	if refused != nil {
		return *refused
	}
	emoji := q.vars["emoji_name"]
	if !emojiPattern.MatchString(emoji) {
		return failure(http.StatusBadRequest, 10014, "Unknown Emoji")
	}
	s.react(m, BotID, emoji, on)
	return nothing()
}
