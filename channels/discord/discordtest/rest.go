package discordtest

import (
	"net/http"
	"time"
)

// The handlers of what is no message. Their callers hold s.mu.

func (s *Server) getGateway(*request) reply { return ok(object{"url": s.gatewayURL()}) }

func (s *Server) getGatewayBot(*request) reply {
	s.gw.renew()
	return ok(object{
		"url": s.gatewayURL(), "shards": 1,
		"session_start_limit": object{"total": s.gw.total, "remaining": s.gw.startLimit, "reset_after": time.Until(s.gw.renewal).Milliseconds(), "max_concurrency": 1},
	})
}

func (s *Server) getMe(*request) reply {
	o := s.user(BotID).wire()
	o["mfa_enabled"], o["locale"], o["verified"], o["email"] = false, "en-US", true, nil
	return ok(o)
}

func (s *Server) getUser(q *request) reply {
	id := q.vars["user_id"]
	if id == "@me" {
		return s.getMe(q)
	}
	u, known := s.users[id]
	if !known {
		return failure(http.StatusNotFound, 10013, "Unknown User")
	}
	return ok(u.wire())
}

// applicationFlags say which privileged intents are switched on: those of a small bot are marked LIMITED.
func (s *Server) applicationFlags() int {
	flags := 0
	for intent, flag := range map[int]int{IntentPresences: 1 << 13, IntentGuildMembers: 1 << 15, IntentMessageContent: 1 << 19} {
		if s.gw.allowed&intent != 0 {
			flags |= flag
		}
	}
	return flags
}

func (s *Server) getApplication(*request) reply {
	return ok(object{
		"id": BotID, "name": BotName, "icon": nil, "description": "", "type": nil, "verify_key": "0", "flags": s.applicationFlags(), "flags_new": "0",
		"redirect_uris": []any{}, "interactions_endpoint_url": nil, "role_connections_verification_url": nil, "approximate_guild_count": len(s.guilds),
		"approximate_user_install_count": 0, "approximate_user_authorization_count": 0, "event_webhooks_url": nil, "event_webhooks_status": 1,
		"event_webhooks_types": []any{}, "explicit_content_filter": 0, "team": nil, "bot": s.user(BotID).wire(), "owner": User{ID: "1", Name: "owner"}.wire(),
		"bot_public": true, "bot_require_code_grant": false, "eligible_oauth2_scopes": []any{},
	})
}

func (s *Server) createDM(q *request) reply {
	var b struct {
		RecipientID string `json:"recipient_id"`
	}
	if err := q.decode(&b); err != nil {
		return failure(http.StatusBadRequest, 50109, "The request body contains invalid JSON.")
	}
	if _, known := s.users[b.RecipientID]; !known || b.RecipientID == BotID {
		return failure(http.StatusBadRequest, 50033, "Invalid Recipient(s)")
	}
	return ok(s.channelWire(s.dm(b.RecipientID)))
}

func (s *Server) getGuild(q *request) reply {
	g := s.guilds[q.vars["guild_id"]]
	if g == nil || g.members[BotID] == nil {
		return failure(http.StatusNotFound, 10004, "Unknown Guild")
	}
	return failure(http.StatusForbidden, 50001, "Missing Access") // nothing needs more than GUILD_CREATE says
}

func (s *Server) getMember(q *request) reply {
	g := s.guilds[q.vars["guild_id"]]
	if g == nil || g.members[BotID] == nil {
		return failure(http.StatusNotFound, 10004, "Unknown Guild")
	}
	if g.members[q.vars["user_id"]] == nil {
		return failure(http.StatusNotFound, 10007, "Unknown Member")
	}
	return ok(s.memberWire(g, q.vars["user_id"]))
}

// place finds the channel of a call, or gives the answer that refuses it.
func (s *Server) place(q *request) (*channel, *reply) {
	c := s.channels[q.Channel]
	if c == nil {
		r := failure(http.StatusNotFound, 10003, "Unknown Channel")
		return nil, &r
	}
	refusal := c.refusal
	if refusal == 0 && c.parent != "" && s.channels[c.parent] != nil {
		refusal = s.channels[c.parent].refusal
	}
	if refusal == 0 && c.guild != nil && c.guild.members[BotID] == nil {
		refusal = 50001
	}
	if refusal == 50007 && q.Method == http.MethodGet {
		refusal = 0 // who blocked the bot can still be read
	}
	if refusal != 0 {
		r := failure(http.StatusForbidden, refusal, refusals[refusal])
		return nil, &r
	}
	return c, nil
}

// refusals are the texts of the JSON error codes that tests use most.
var refusals = map[int]string{
	50001: "Missing Access",
	50007: "Cannot send messages to this user",
	50013: "Missing Permissions",
}

func (s *Server) getChannel(q *request) reply {
	c, refused := s.place(q)
	if refused != nil {
		return *refused
	}
	return ok(s.channelWire(c))
}

func (s *Server) showTyping(q *request) reply {
	c, refused := s.place(q)
	if refused != nil {
		return *refused
	}
	s.typing[c.id]++
	return nothing()
}
