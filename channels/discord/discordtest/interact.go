package discordtest

import (
	"net/http"
	"slices"
	"time"
)

// interaction is a command that somebody gave.
type interaction struct {
	id, token string
	channel   *channel
	user      string
	at        time.Time
	kind      int // of the first answer; 0 = none yet
	original  *message
}

// The kinds of the first answer to an interaction.
const (
	AnswerMessage  = 4
	AnswerDeferred = 5
)

// Choice is one option of a command that somebody gives.
type Choice struct {
	Name  string
	Value any // string, int or bool
}

// Invoke makes a person give a slash command of the bot in a channel and gives the id of the interaction. The command need not be
// published: people see an old list for a while.
func (s *Server) Invoke(channelID, user, command string, choices ...Choice) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channelID)
	now := time.Now()
	act := &interaction{id: s.newID(now), channel: c, user: user, at: now}
	act.token = "aW50ZXJhY3Rpb246" + act.id
	s.acts[act.id] = act
	options := []any{}
	for _, o := range choices {
		kind := 3
		switch o.Value.(type) {
		case int:
			kind = 4
		case bool:
			kind = 5
		}
		options = append(options, object{"name": o.Name, "type": kind, "value": o.Value})
	}
	data := object{"id": s.commandID(command), "name": command, "type": 1}
	if len(options) > 0 {
		data["options"] = options
	}
	d := s.in(c, object{
		"id": act.id, "application_id": BotID, "type": 2, "token": act.token, "version": 1, "channel_id": c.id, "channel": s.channelWire(c),
		"data": data, "locale": "en-US", "app_permissions": "2147483647", "entitlements": []any{}, "authorizing_integration_owners": object{},
		"context": 0, "attachment_size_limit": s.maxFile,
	})
	if c.guild != nil {
		m := s.memberWire(c.guild, user)
		m["permissions"] = "2147483647"
		d["member"], d["guild_locale"] = m, "en-US"
	} else {
		d["user"], d["context"] = s.user(user).wire(), 1
	}
	s.emit("INTERACTION_CREATE", 0, d)
	return act.id
}

func (s *Server) commandID(name string) string {
	for _, list := range s.commands {
		for _, c := range list {
			if c["name"] == name {
				return c["id"].(string)
			}
		}
	}
	return s.newID(time.Now())
}

// Answered gives the kind of the first answer to an interaction; 0 = none came, and the person has read that the application did
// not respond.
func (s *Server) Answered(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acts[id].kind
}

// Deadline sets how long the bot has for the first answer; Discord: 3 s.
func (s *Server) Deadline(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = d
}

func (s *Server) callback(q *request) reply {
	act := s.acts[q.vars["interaction_id"]]
	if act == nil || act.token != q.vars["interaction_token"] || act.kind == 0 && time.Since(act.at) > s.deadline {
		return failure(http.StatusNotFound, 10062, "Unknown interaction")
	}
	if act.kind != 0 {
		return failure(http.StatusBadRequest, 40060, "Interaction has already been acknowledged.")
	}
	var b struct {
		Type int     `json:"type"`
		Data content `json:"data"`
	}
	if q.decode(&b) != nil {
		return badBody()
	}
	switch b.Type {
	case AnswerDeferred:
		b.Data.Flags |= flagLoading
	case AnswerMessage:
		if r := b.Data.check(q, s.maxFile); r != nil {
			return *r
		}
	default:
		return invalid("type", "BASE_TYPE_CHOICES", "The stand-in takes the types 4 and 5.")
	}
	act.kind = b.Type
	act.original = s.answerWith(act, q, &b.Data)
	return nothing()
}

// answerWith posts an answer; an ephemeral one is in nobody's history.
func (s *Server) answerWith(act *interaction, q *request, b *content) *message {
	m := s.compose(act.channel, q, b)
	m.kind, m.act = kindCommand, act
	b.pings(m)
	s.sent = append(s.sent, m)
	if m.flags&flagEphemeral == 0 {
		act.channel.add(m)
		s.emitMessage("MESSAGE_CREATE", m)
	}
	return m
}

// acted finds the interaction of a webhook path; its token is good for a quarter of an hour.
func (s *Server) acted(q *request) *interaction {
	if q.vars["webhook_id"] != BotID {
		return nil
	}
	for _, act := range s.acts {
		if act.token == q.vars["webhook_token"] && act.kind != 0 && time.Since(act.at) < 15*time.Minute {
			return act
		}
	}
	return nil
}

func noWebhook() reply { return failure(http.StatusNotFound, 10015, "Unknown Webhook") }

func (s *Server) followUp(q *request) reply {
	act := s.acted(q)
	if act == nil {
		return noWebhook()
	}
	var b content
	if q.decode(&b) != nil {
		return badBody()
	}
	if r := b.check(q, s.maxFile); r != nil {
		return *r
	}
	if act.original.flags&flagLoading != 0 { // the first one takes the place of the deferred answer
		return s.change(act.original, q)
	}
	return ok(s.wire(s.answerWith(act, q, &b)))
}

func (s *Server) original(q *request, do func(*message) reply) reply {
	act := s.acted(q)
	switch {
	case act == nil:
		return noWebhook()
	case act.original.deleted:
		return failure(http.StatusNotFound, 10008, "Unknown Message")
	}
	return do(act.original)
}

func (s *Server) getOriginal(q *request) reply {
	return s.original(q, func(m *message) reply { return ok(s.wire(m)) })
}

func (s *Server) editOriginal(q *request) reply {
	return s.original(q, func(m *message) reply { return s.change(m, q) })
}

func (s *Server) deleteOriginal(q *request) reply {
	return s.original(q, func(m *message) reply {
		s.remove(m)
		return nothing()
	})
}

// Command is a published command.
type Command struct{ Name, Description string }

// Commands gives what the bot has published, everywhere or in a guild.
func (s *Server) Commands(guildID string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Command
	for _, c := range s.commands[guildID] {
		description, _ := c["description"].(string)
		list = append(list, Command{Name: c["name"].(string), Description: description})
	}
	return list
}

func (s *Server) getCommands(q *request) reply { return ok(anys(s.commands[q.vars["guild_id"]])) }

func (s *Server) putCommands(q *request) reply {
	var list []object
	if q.decode(&list) != nil || len(list) > 100 {
		return badBody()
	}
	old := s.commands[q.vars["guild_id"]]
	for _, c := range list {
		c["id"], c["application_id"], c["version"] = s.newID(time.Now()), BotID, s.newID(time.Now())
		if i := slices.IndexFunc(old, func(o object) bool { return o["name"] == c["name"] }); i >= 0 {
			c["id"] = old[i]["id"]
		}
		for field, value := range map[string]any{"type": 1, "default_member_permissions": nil, "nsfw": false, "description": ""} {
			if c[field] == nil {
				c[field] = value
			}
		}
		if c["options"] == nil {
			delete(c, "options")
		}
	}
	s.commands[q.vars["guild_id"]] = list
	return ok(anys(list))
}
