package discordtest

import (
	"slices"
	"time"
)

// Join makes people come: to a guild, a thread or a group DM, whichever has the id. The bot itself can come into a guild.
func (s *Server) Join(id string, users ...string) { s.move(id, users, true) }

// Leave makes people go. The bot itself can be put out of a guild.
func (s *Server) Leave(id string, users ...string) { s.move(id, users, false) }

func (s *Server) move(id string, users []string, in bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[id]; g != nil {
		for _, u := range users {
			s.moveMember(g, u, in)
		}
		return
	}
	c := s.channel(id)
	for _, u := range users {
		c.people = slices.DeleteFunc(c.people, func(p string) bool { return p == u })
		if in {
			c.people = append(c.people, u)
		}
	}
	if c.kind != typeThread {
		name := map[bool]string{true: "CHANNEL_RECIPIENT_ADD", false: "CHANNEL_RECIPIENT_REMOVE"}[in]
		for _, u := range users {
			s.emit(name, IntentDirectMessages, object{"channel_id": c.id, "user": s.user(u).wire()})
		}
		return
	}
	d := object{"id": c.id, "guild_id": c.guild.id, "member_count": len(c.people)}
	if in {
		list := []any{}
		for _, u := range users {
			list = append(list, object{
				"id": c.id, "user_id": u, "join_timestamp": stamp(time.Now()), "flags": 0, "member": s.memberWire(c.guild, u), "presence": nil,
			})
		}
		d["added_members"] = list
	} else {
		d["removed_member_ids"] = users
	}
	s.emit("THREAD_MEMBERS_UPDATE", IntentGuildMembers, d)
}

func (s *Server) moveMember(g *guild, user string, in bool) {
	switch {
	case in && user == BotID:
		g.members[user], g.joined = &member{roles: []string{BotRole(g.id)}}, time.Now()
		s.emit("GUILD_CREATE", IntentGuilds, s.guildWire(g))
	case in:
		g.members[user] = &member{}
		d := s.memberWire(g, user)
		d["guild_id"] = g.id
		s.emit("GUILD_MEMBER_ADD", IntentGuildMembers, d)
	case user == BotID:
		delete(g.members, user)
		s.emit("GUILD_DELETE", IntentGuilds, object{"id": g.id})
	default:
		delete(g.members, user)
		s.emit("GUILD_MEMBER_REMOVE", IntentGuildMembers, object{"guild_id": g.id, "user": s.user(user).wire()})
	}
}

// Outage makes a guild unavailable, as Discord does when a part of it is down; the bot is still a member.
func (s *Server) Outage(guildID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emit("GUILD_DELETE", IntentGuilds, object{"id": guildID, "unavailable": true})
}

// Rename gives a guild, channel, thread or group DM another name.
func (s *Server) Rename(id, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[id]; g != nil {
		g.name = name
		s.emit("GUILD_UPDATE", IntentGuilds, g.update())
		return
	}
	c := s.channel(id)
	c.name = name
	event, intent := "CHANNEL_UPDATE", IntentGuilds
	switch c.kind {
	case typeThread:
		event = "THREAD_UPDATE"
	case typeGroupDM:
		intent = IntentDirectMessages
	}
	s.emit(event, intent, s.channelWire(c))
}

// Nickname gives a member a name of their own in a guild.
func (s *Server) Nickname(guildID, user, nick string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[guildID]
	g.members[user].nick = nick
	d := s.memberWire(g, user)
	d["guild_id"] = g.id
	s.emit("GUILD_MEMBER_UPDATE", IntentGuildMembers, d)
}

// StartThread makes a person open a thread and gives its id. With a message of the channel the thread hangs below that and has its id.
func (s *Server) StartThread(parent, user, name, message string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := message
	if id == "" {
		id = s.newID(time.Now())
	}
	d := s.channelWire(s.addThread(parent, id, name, user))
	d["newly_created"] = true
	s.emit("THREAD_CREATE", IntentGuilds, d)
	return id
}

// Remove deletes a channel or thread.
func (s *Server) Remove(channelID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.channel(channelID)
	delete(s.channels, channelID)
	name := "CHANNEL_DELETE"
	d := s.channelWire(c)
	if c.kind == typeThread {
		name = "THREAD_DELETE"
		d = object{"id": c.id, "guild_id": c.guild.id, "parent_id": c.parent, "type": c.kind}
	}
	s.emit(name, IntentGuilds, d)
}
