package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// The intents that the stand-in knows. The first two are privileged: they have to be allowed (Privileged).
const (
	IntentGuildMembers    = 1 << 1
	IntentMessageContent  = 1 << 15
	IntentPresences       = 1 << 8
	IntentGuilds          = 1 << 0
	IntentGuildMessages   = 1 << 9
	IntentGuildReactions  = 1 << 10
	IntentDirectMessages  = 1 << 12
	IntentDirectReactions = 1 << 13
	privileged            = IntentGuildMembers | IntentMessageContent | IntentPresences
	knownIntents          = 1<<22 - 1 | 1<<24 | 1<<25
)

// session is what a client may resume.
type session struct {
	id      string
	intents int
	seq     int
	conn    *conn
	buffer  []keptMessage
	lost    int // newest event that is not in the buffer any more
}

type keptMessage struct {
	seq  int
	data []byte
}

// handle answers one payload. The caller holds s.mu.
func (c *conn) handle(p payload) {
	gw := &c.s.gw
	switch p.Op {
	case opHeartbeat:
		gw.stats.Heartbeats++
		if !c.link.NoAck {
			c.send(opAck, nil)
		}
	case opIdentify:
		gw.stats.Identifies++
		gw.stats.Vain, gw.vain = max(gw.stats.Vain, gw.vain), 0
		if c.session != nil {
			c.end(CloseAlreadyAuthenticated)
		} else if !c.link.NoReady {
			c.identify(p.D)
		}
	case opResume:
		gw.stats.Resumes++
		gw.stats.Vain = max(gw.stats.Vain, gw.vain)
		gw.vain++
		if c.session != nil {
			c.end(CloseAlreadyAuthenticated)
		} else if !c.link.NoReady {
			c.resume(p.D)
		}
	case opPresence, opVoice, opMembers:
		if c.session == nil {
			c.end(CloseNotAuthenticated)
		}
	default:
		c.s.violate("gateway: opcode %d", p.Op)
		c.end(CloseUnknownOpcode)
	}
}

type identify struct {
	Token      string            `json:"token"`
	Properties map[string]string `json:"properties"`
	Compress   bool              `json:"compress"`
	Shard      *[2]int           `json:"shard"`
	Intents    *int              `json:"intents"`
}

func (c *conn) identify(d json.RawMessage) {
	s, gw := c.s, &c.s.gw
	var id identify
	if err := json.Unmarshal(d, &id); err != nil || id.Intents == nil || id.Properties == nil {
		s.violate("gateway: IDENTIFY wants token, properties and intents (%v)", err)
		c.end(CloseDecodeError)
		return
	}
	now := time.Now()
	gw.renew()
	switch {
	case bare(id.Token) != s.token:
		c.end(CloseAuthenticationFailed)
		return
	case id.Shard != nil && id.Shard[0] >= id.Shard[1]:
		c.end(CloseInvalidShard)
		return
	case *id.Intents&^knownIntents != 0:
		c.end(CloseInvalidIntents)
		return
	case *id.Intents&privileged&^gw.allowed != 0:
		c.end(CloseDisallowedIntents)
		return
	case gw.startLimit <= 0:
		s.violate("gateway: IDENTIFY after the %d of a day were used up", gw.total)
		c.end(CloseAuthenticationFailed)
		return
	case gw.every > 0 && now.Sub(gw.last) < gw.every:
		c.send(opInvalidSession, false)
		return
	}
	gw.startLimit--
	gw.last = now
	c.zlib = id.Compress
	for key, old := range gw.sessions {
		if old.conn == nil {
			delete(gw.sessions, key)
		}
	}
	x := &session{id: fmt.Sprintf("%032x", 0xabc000+gw.stats.Identifies), intents: *id.Intents, conn: c}
	gw.sessions[x.id], c.session = x, x
	guilds, away := slices.Sorted(maps.Keys(s.guilds)), []any{}
	for _, g := range guilds {
		if s.guilds[g].members[BotID] != nil {
			away = append(away, object{"id": g, "unavailable": true})
		}
	}
	ready := func() {
		s.dispatch(x, "READY", object{
			"v": 10, "user": s.user(BotID).wire(), "guilds": away, "session_id": x.id, "resume_gateway_url": s.gatewayURL(), "shard": []int{0, 1},
			"application": object{"id": BotID, "flags": s.applicationFlags()}, "private_channels": []any{}, "relationships": []any{},
			"presences": []any{}, "user_settings": object{}, "session_type": "normal", "geo_ordered_rtc_regions": []any{},
		})
	}
	if !c.link.GuildsFirst {
		ready()
	}
	for _, g := range guilds {
		if s.guilds[g].members[BotID] != nil && x.intents&IntentGuilds != 0 {
			s.dispatch(x, "GUILD_CREATE", s.guildWire(s.guilds[g]))
		}
	}
	if c.link.GuildsFirst {
		ready()
	}
}

// bare is a token without the prefix that belongs into the header.
func bare(token string) string {
	if len(token) > 4 && token[:4] == "Bot " {
		return token[4:]
	}
	return token
}

func (c *conn) resume(d json.RawMessage) {
	s, gw := c.s, &c.s.gw
	var r struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       *int   `json:"seq"`
	}
	if err := json.Unmarshal(d, &r); err != nil || r.Seq == nil {
		s.violate("gateway: RESUME wants token, session_id and seq (%v)", err)
		c.end(CloseDecodeError)
		return
	}
	x := gw.sessions[r.SessionID]
	switch {
	case bare(r.Token) != s.token:
		c.end(CloseAuthenticationFailed)
	case c.link.Again:
		c.send(opInvalidSession, true)
	case c.link.RefuseResume || x == nil || x.lost > *r.Seq:
		delete(gw.sessions, r.SessionID)
		c.send(opInvalidSession, false)
	case *r.Seq > x.seq:
		delete(gw.sessions, r.SessionID)
		c.end(CloseInvalidSequence)
	default:
		if x.conn != nil {
			x.conn.end(CloseUnknown) // the earlier connection, not seen to be gone yet
		}
		gw.stats.Resumed++
		gw.vain = 0
		x.conn, c.session = c, x
		for _, k := range x.buffer {
			if k.seq > *r.Seq {
				c.push(frame{data: k.data})
			}
		}
		s.dispatch(x, "RESUMED", object{"_trace": []any{}})
	}
}

// dispatch gives one event to a session. The caller holds s.mu.
func (s *Server) dispatch(x *session, name string, d any) {
	x.seq++
	data, err := json.Marshal(object{"op": opDispatch, "t": name, "s": x.seq, "d": d})
	if err != nil {
		panic(fmt.Sprintf("discordtest: %s: %v", name, err))
	}
	x.buffer = append(x.buffer, keptMessage{x.seq, data})
	if over := len(x.buffer) - s.gw.replay; over > 0 {
		x.lost = x.buffer[over-1].seq
		x.buffer = slices.Delete(x.buffer, 0, over)
	}
	if x.conn != nil {
		x.conn.push(frame{data: data})
	}
}

// emit gives an event to every session that asked for it. The caller holds s.mu.
func (s *Server) emit(name string, intent int, d object) {
	if s.spec != nil {
		for _, v := range s.spec.Event(name, d) {
			s.violate("event %s: %s", name, v)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.gw.sessions)) {
		x := s.gw.sessions[id]
		if intent == 0 || x.intents&intent != 0 {
			s.dispatch(x, name, x.visible(name, d))
		}
	}
	s.notify()
}

// visible takes away what a session without the intent for it does not see: the content of messages that are not for the bot.
func (x *session) visible(name string, d object) object {
	if x.intents&IntentMessageContent != 0 || d["guild_id"] == nil || d["content"] == nil {
		return d
	}
	if name != "MESSAGE_CREATE" && name != "MESSAGE_UPDATE" || d["author"].(object)["id"] == BotID {
		return d
	}
	for _, m := range d["mentions"].([]any) {
		if m.(object)["id"] == BotID {
			return d
		}
	}
	d = maps.Clone(d)
	d["content"], d["attachments"], d["embeds"], d["components"] = "", []any{}, []any{}, []any{}
	return d
}
