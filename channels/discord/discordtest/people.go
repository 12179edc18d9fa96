package discordtest

import (
	"fmt"
	"slices"
	"time"
)

// Option shapes a message.
type Option func(s *Server, m *message)

// ReplyTo makes the message a reply to another one of the channel, the bot's own included; its writer is mentioned.
func ReplyTo(id string) Option {
	return func(_ *Server, m *message) {
		m.kind, m.reply = kindReply, m.channel.find(id)
		if m.reply == nil {
			m.reply = &message{id: id, channel: m.channel, deleted: true}
		} else if !slices.Contains(m.mentions, m.reply.author.ID) {
			m.mentions = append(m.mentions, m.reply.author.ID)
		}
	}
}

// Quietly takes the mention of the writer away that a reply has: put it after ReplyTo.
func Quietly() Option {
	return func(_ *Server, m *message) {
		m.mentions = slices.DeleteFunc(m.mentions, func(id string) bool { return m.reply != nil && id == m.reply.author.ID })
	}
}

// Attach adds a file to the message.
func Attach(f File) Option { return func(s *Server, m *message) { s.attach(m, f) } }

// Forward makes the message one that passes on what stands elsewhere; its own text is empty then.
func Forward(channelID, id string) Option {
	return func(s *Server, m *message) {
		m.text, m.forward = "", s.channel(channelID).find(id)
	}
}

// Starter makes the message the first one of a thread, which repeats the message that the thread grew from; its writer is who opened
// the thread.
func Starter(channelID, id string) Option {
	return func(s *Server, m *message) {
		m.text, m.kind, m.reply = "", kindStarter, s.channel(channelID).find(id)
	}
}

// ByWebhook makes a webhook the writer, under a name of its own.
func ByWebhook(id, name string) Option {
	return func(_ *Server, m *message) {
		m.webhook, m.author = id, User{ID: id, Name: name, Bot: true}
	}
}

// At puts the message into the past.
func At(t time.Time) Option {
	return func(s *Server, m *message) { m.id, m.at = s.newID(t), t }
}

// OfType makes it a system message: 6 = something was pinned, 7 = somebody came, 18 = a thread was opened.
func OfType(kind int) Option { return func(_ *Server, m *message) { m.kind = kind } }

// With sets any field of the message.
func With(field string, value any) Option {
	return func(_ *Server, m *message) {
		if m.fields == nil {
			m.fields = object{}
		}
		m.fields[field] = value
	}
}

// Say makes a person write in a channel and gives the id of the message. Mentions are found in the text: <@id>, <@&role>, @everyone.
func (s *Server) Say(channelID, user, text string, opts ...Option) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.post(s.channel(channelID), user, text, opts)
	s.emitMessage("MESSAGE_CREATE", m)
	return m.id
}

// Miss is Say without the event: what happened while the bot was away for longer than a session is kept.
func (s *Server) Miss(channelID, user, text string, opts ...Option) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.post(s.channel(channelID), user, text, opts).id
}

func (s *Server) post(c *channel, user, text string, opts []Option) *message {
	now := time.Now()
	m := &message{id: s.newID(now), channel: c, author: s.user(user), text: text, at: now}
	m.mentions, m.roles, m.everyone = mentioned(text)
	for _, o := range opts {
		o(s, m)
	}
	c.add(m)
	return m
}

func (s *Server) emitMessage(name string, m *message) {
	intent := IntentGuildMessages
	if m.channel.guild == nil {
		intent = IntentDirectMessages
	}
	s.emit(name, intent, s.event(m))
}

// message finds a message that a test named. The caller holds s.mu.
func (s *Server) message(channelID, id string) *message {
	m := s.channel(channelID).find(id)
	if m == nil {
		panic(fmt.Sprintf("discordtest: no message %s in %s", id, channelID))
	}
	return m
}

// Edit makes the writer change a message.
func (s *Server) Edit(channelID, id, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.message(channelID, id)
	m.text, m.edited = text, later(m.edited)
	m.mentions, m.roles, m.everyone = mentioned(text)
	s.emitMessage("MESSAGE_UPDATE", m)
}

// Change makes the writer, or Discord, change anything about a message.
func (s *Server) Change(channelID, id string, opts ...Option) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.message(channelID, id)
	m.edited = later(m.edited)
	for _, o := range opts {
		o(s, m)
	}
	s.emitMessage("MESSAGE_UPDATE", m)
}

// EditedAt says when the message was edited last.
func EditedAt(t time.Time) Option { return func(_ *Server, m *message) { m.edited = t } }

// later is now, and after the change before.
func later(before time.Time) time.Time {
	if now := time.Now(); now.Sub(before) > time.Millisecond {
		return now
	}
	return before.Add(time.Millisecond)
}

// Unfurl makes Discord add a preview of a link to a message: an update that is no edit.
func (s *Server) Unfurl(channelID, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emitMessage("MESSAGE_UPDATE", s.message(channelID, id))
}

// Delete makes the writer, or a moderator, take messages away; several at once are one event.
func (s *Server) Delete(channelID string, ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.remove(s.message(channelID, id))
	}
	d := s.in(s.channel(channelID), object{"channel_id": channelID})
	name := "MESSAGE_DELETE"
	if d["id"] = ids[0]; len(ids) > 1 {
		delete(d, "id")
		name, d["ids"] = "MESSAGE_DELETE_BULK", ids
	}
	s.emit(name, messageIntent(d), d)
}

func (s *Server) remove(m *message) {
	m.deleted = true
	m.channel.messages = slices.DeleteFunc(m.channel.messages, func(x *message) bool { return x == m })
}

// in adds the guild to an event of a channel.
func (s *Server) in(c *channel, d object) object {
	if c.guild != nil {
		d["guild_id"] = c.guild.id
	}
	return d
}

func messageIntent(d object) int {
	if d["guild_id"] == nil {
		return IntentDirectMessages
	}
	return IntentGuildMessages
}

// React makes a person put a reaction below a message; custom emojis are name:id.
func (s *Server) React(channelID, id, user, emoji string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.react(s.message(channelID, id), user, emoji, true)
}

// Unreact takes a reaction away.
func (s *Server) Unreact(channelID, id, user, emoji string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.react(s.message(channelID, id), user, emoji, false)
}

func (s *Server) react(m *message, user, emoji string, on bool) {
	i := slices.IndexFunc(m.reactions, func(r *reaction) bool { return r.emoji == emoji })
	name := "MESSAGE_REACTION_ADD"
	switch {
	case on && i < 0:
		m.reactions = append(m.reactions, &reaction{emoji: emoji, users: []string{user}})
	case on && !slices.Contains(m.reactions[i].users, user):
		m.reactions[i].users = append(m.reactions[i].users, user)
	case !on && i >= 0 && slices.Contains(m.reactions[i].users, user):
		name = "MESSAGE_REACTION_REMOVE"
		r := m.reactions[i]
		if r.users = slices.DeleteFunc(r.users, func(u string) bool { return u == user }); len(r.users) == 0 {
			m.reactions = slices.Delete(m.reactions, i, i+1)
		}
	default:
		return
	}
	d := s.in(m.channel, object{
		"channel_id": m.channel.id, "message_id": m.id, "user_id": user, "emoji": emojiWire(emoji), "burst": false, "type": 0,
	})
	intent := IntentDirectReactions
	if g := m.channel.guild; g != nil {
		intent = IntentGuildReactions
		if on {
			d["member"] = s.memberWire(g, user)
		}
	}
	if on {
		d["message_author_id"] = m.author.ID
	}
	s.emit(name, intent, d)
}
