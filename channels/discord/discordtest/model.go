package discordtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// User is a person or bot.
type User struct {
	ID      string
	Name    string // the unique one
	Display string
	Bot     bool
}

// object is a JSON object of the API.
type object = map[string]any

type member struct {
	nick  string
	roles []string
}

type guild struct {
	id, name string
	members  map[string]*member
	roles    map[string]string // name by id
	system   string            // the channel for news: the first one
	joined   time.Time         // by the bot
}

// The channel types of Discord that the stand-in knows.
const (
	typeText    = 0
	typeDM      = 1
	typeGroupDM = 3
	typeThread  = 11
)

type channel struct {
	id, name string
	kind     int
	guild    *guild
	parent   string // of a thread
	owner    string
	people   []string // recipients of a DM, members of a thread
	refusal  int      // JSON error code of everything that the bot does here
	lacks    map[string]bool
	messages []*message
}

// Joined is when everybody came, and when everything was made.
var joined = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// AddUser makes a person known.
func (s *Server) AddUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users[u.ID] = u
}

// AddGuild adds a guild with its members; the bot is one of them. It has to be there before the bot connects.
func (s *Server) AddGuild(id, name string, members ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &guild{
		id: id, name: name, members: map[string]*member{BotID: {roles: []string{BotRole(id)}}},
		roles: map[string]string{id: "@everyone", BotRole(id): BotName}, joined: joined,
	}
	for _, m := range members {
		g.members[m] = &member{}
	}
	s.guilds[id] = g
}

// BotRole is the role that belongs to the bot alone in a guild, as Discord makes one for every bot.
func BotRole(guildID string) string { return "9" + guildID[1:] }

// AddRole adds a role to a guild and gives it to members.
func (s *Server) AddRole(guildID, id, name string, members ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[guildID]
	g.roles[id] = name
	for _, m := range members {
		g.members[m].roles = append(g.members[m].roles, id)
	}
}

// AddChannel adds a text channel to a guild. The first one is where Discord tells who came.
func (s *Server) AddChannel(guildID, id, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[guildID]; g.system == "" {
		g.system = id
	}
	s.channels[id] = &channel{id: id, name: name, kind: typeText, guild: s.guilds[guildID]}
}

// AddThread adds a thread that was there before the bot connected; StartThread is for one that somebody opens.
func (s *Server) AddThread(parent, id, name, owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addThread(parent, id, name, owner)
}

func (s *Server) addThread(parent, id, name, owner string) *channel {
	c := &channel{id: id, name: name, kind: typeThread, guild: s.channels[parent].guild, parent: parent, owner: owner, people: []string{owner}}
	s.channels[id] = c
	return c
}

// AddDM gives the id of the direct channel with a person, made at the first call.
func (s *Server) AddDM(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dm(user).id
}

func (s *Server) dm(user string) *channel {
	for _, c := range s.channels {
		if c.kind == typeDM && c.people[0] == user {
			return c
		}
	}
	c := &channel{id: s.newID(time.Now()), kind: typeDM, people: []string{user}}
	s.channels[c.id] = c
	return c
}

// AddGroupDM adds a direct channel with several people.
func (s *Server) AddGroupDM(id, name string, users ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[id] = &channel{id: id, name: name, kind: typeGroupDM, people: users, owner: users[0]}
}

// Refuse makes everything that the bot does in a channel fail with a JSON error code: 50001 missing access, 50007 cannot send
// messages to this user, 50013 missing permissions. 0 lifts that.
func (s *Server) Refuse(channelID string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channel(channelID).refusal = code
}

// The permissions that Lack takes away.
const (
	ReadHistory = "READ_MESSAGE_HISTORY"
	AttachFiles = "ATTACH_FILES"
	SendVoice   = "SEND_VOICE_MESSAGES"
)

// Lack takes permissions of the bot in a channel away.
func (s *Server) Lack(channelID string, permissions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channelID)
	c.lacks = map[string]bool{}
	for _, p := range permissions {
		c.lacks[p] = true
	}
}

// channel finds a channel that a test named. The caller holds s.mu.
func (s *Server) channel(id string) *channel {
	c := s.channels[id]
	if c == nil {
		panic(fmt.Sprintf("discordtest: no channel %s", id))
	}
	return c
}

func (s *Server) user(id string) User {
	if u, known := s.users[id]; known {
		return u
	}
	return User{ID: id, Name: "user" + id}
}

func (u User) wire() object {
	o := object{
		"id": u.ID, "username": u.Name, "avatar": nil, "discriminator": "0", "public_flags": 0, "flags": 0,
		"global_name": nil, "primary_guild": nil,
	}
	if u.Display != "" {
		o["global_name"] = u.Display
	}
	if u.Bot {
		o["bot"] = true
	}
	return o
}

// wire is a member as an event has it beside the user; with the user for a member of its own.
func (g *guild) wire(m *member) object {
	o := object{
		"avatar": nil, "banner": nil, "communication_disabled_until": nil, "flags": 0, "joined_at": stamp(joined), "nick": nil,
		"pending": false, "premium_since": nil, "roles": append([]string{}, m.roles...), "mute": false, "deaf": false,
	}
	if m.nick != "" {
		o["nick"] = m.nick
	}
	return o
}

func (s *Server) memberWire(g *guild, user string) object {
	m := g.members[user]
	if m == nil {
		m = &member{}
	}
	o := g.wire(m)
	o["user"] = s.user(user).wire()
	return o
}

func (s *Server) channelWire(c *channel) object {
	o := object{"id": c.id, "type": c.kind, "flags": 0, "last_message_id": nil}
	if n := len(c.messages); n > 0 {
		o["last_message_id"] = c.messages[n-1].id
	}
	switch c.kind {
	case typeDM, typeGroupDM:
		list := []any{}
		for _, p := range c.people {
			list = append(list, s.user(p).wire())
		}
		o["recipients"] = list
		if c.kind == typeGroupDM {
			o["name"], o["icon"], o["owner_id"] = any(c.name), nil, c.owner
			if c.name == "" {
				o["name"] = nil
			}
		}
	default:
		o["guild_id"], o["name"], o["parent_id"], o["rate_limit_per_user"] = c.guild.id, c.name, nil, 0
		if c.kind == typeThread {
			o["parent_id"], o["owner_id"], o["message_count"], o["total_message_sent"] = c.parent, c.owner, len(c.messages), len(c.messages)
			o["member_count"] = len(c.people)
			o["thread_metadata"] = object{
				"archived": false, "archive_timestamp": stamp(joined), "auto_archive_duration": 1440, "locked": false, "create_timestamp": stamp(joined),
			}
		} else {
			o["position"], o["topic"], o["nsfw"], o["permission_overwrites"] = 0, nil, false, []any{}
		}
	}
	return o
}

// guildWire is what GUILD_CREATE carries.
func (s *Server) guildWire(g *guild) object {
	channels, threads := []any{}, []any{}
	for _, id := range slices.Sorted(maps.Keys(s.channels)) {
		switch c := s.channels[id]; {
		case c.guild != g:
		case c.kind == typeThread:
			threads = append(threads, s.channelWire(c))
		default:
			channels = append(channels, s.channelWire(c))
		}
	}
	o := g.update()
	maps.Copy(o, object{
		"joined_at": stamp(g.joined), "large": false, "unavailable": false, "member_count": len(g.members), "members": []any{s.memberWire(g, BotID)},
		"channels": channels, "threads": threads, "presences": []any{}, "voice_states": []any{},
	})
	return o
}

// update is what GUILD_UPDATE carries.
func (g *guild) update() object {
	roles := []any{}
	for _, id := range slices.Sorted(maps.Keys(g.roles)) {
		r := object{
			"id": id, "name": g.roles[id], "color": 0, "hoist": false, "position": 0, "permissions": "0", "managed": false, "mentionable": true, "flags": 0,
		}
		if id == BotRole(g.id) {
			r["managed"], r["tags"] = true, object{"bot_id": BotID}
		}
		roles = append(roles, r)
	}
	o := object{
		"id": g.id, "name": g.name, "owner_id": g.id, "roles": roles, "emojis": []any{}, "stickers": []any{}, "features": []any{}, "icon": nil,
		"system_channel_id": nil, "preferred_locale": "en-US",
	}
	if g.system != "" {
		o["system_channel_id"] = g.system
	}
	return o
}

// find gives a message of the channel.
func (c *channel) find(id string) *message {
	i := slices.IndexFunc(c.messages, func(m *message) bool { return m.id == id })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}

// add keeps a message in the order of the ids.
func (c *channel) add(m *message) {
	i, _ := slices.BinarySearchFunc(c.messages, m, func(a, b *message) int { return compareIDs(a.id, b.id) })
	c.messages = slices.Insert(c.messages, i, m)
}

func compareIDs(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
