package discordtest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// message is one message of a channel, whoever wrote it.
type message struct {
	id        string
	channel   *channel
	author    User
	webhook   string
	kind      int
	flags     int
	text      string
	at        time.Time
	edited    time.Time
	edits     int
	nonce     any
	mentions  []string
	roles     []string
	everyone  bool
	files     []object
	data      []File
	reply     *message
	forward   *message
	reactions []*reaction
	act       *interaction // what it answers
	deleted   bool
	fields    object // what a test set
}

type reaction struct {
	emoji string
	users []string
}

// The flags of a message.
const (
	flagCrossposted    = 1 << 0
	flagSuppressEmbeds = 1 << 2
	flagEphemeral      = 1 << 6
	flagLoading        = 1 << 7
	flagSilent         = 1 << 12
	flagVoice          = 1 << 13
	flagComponents     = 1 << 15
)

// The types of a message.
const (
	kindDefault = 0
	kindReply   = 19
	kindCommand = 20
	kindStarter = 21
)

// wire is the message as REST gives it. The caller holds s.mu.
func (s *Server) wire(m *message) object {
	o := s.plain(m)
	if m.kind == kindReply || m.kind == kindStarter {
		o["referenced_message"] = nil
		if m.reply != nil && !m.reply.deleted {
			o["referenced_message"] = s.plain(m.reply)
		}
	}
	if len(m.reactions) > 0 {
		list := []any{}
		for _, r := range m.reactions {
			list = append(list, object{
				"emoji": emojiWire(r.emoji), "count": len(r.users), "count_details": object{"burst": 0, "normal": len(r.users)},
				"burst_colors": []any{}, "me_burst": false, "me": slices.Contains(r.users, BotID),
			})
		}
		o["reactions"] = list
	}
	return o
}

// plain is the message without what it answers.
func (s *Server) plain(m *message) object {
	mentions := []any{}
	for _, id := range m.mentions {
		mentions = append(mentions, s.user(id).wire())
	}
	o := object{
		"id": m.id, "channel_id": m.channel.id, "author": m.author.wire(), "type": m.kind, "content": m.text, "mentions": mentions,
		"mention_roles": append([]string{}, m.roles...), "mention_everyone": m.everyone, "attachments": anys(s.links(m.files)), "embeds": []any{},
		"components": []any{}, "timestamp": stamp(m.at), "edited_timestamp": nil, "flags": m.flags, "pinned": false, "tts": false,
	}
	if !m.edited.IsZero() {
		o["edited_timestamp"] = stamp(m.edited)
	}
	if m.webhook != "" {
		o["webhook_id"] = m.webhook
	}
	if m.reply != nil {
		o["message_reference"] = reference(0, m.reply)
	}
	if m.forward != nil {
		f := m.forward
		o["message_reference"] = reference(1, f)
		shot := object{
			"type": f.kind, "content": f.text, "mentions": []any{}, "mention_roles": []any{}, "attachments": anys(s.links(f.files)), "embeds": []any{},
			"timestamp": stamp(f.at), "edited_timestamp": nil, "flags": 0, "components": []any{},
		}
		for _, k := range []string{"embeds", "flags", "components", "sticker_items"} {
			if v, set := f.fields[k]; set {
				shot[k] = v
			}
		}
		o["message_snapshots"] = []any{object{"message": shot}}
	}
	maps.Copy(o, m.fields)
	return o
}

func reference(kind int, to *message) object {
	o := object{"type": kind, "message_id": to.id, "channel_id": to.channel.id}
	if to.channel.guild != nil {
		o["guild_id"] = to.channel.guild.id
	}
	return o
}

func anys(list []object) []any {
	out := []any{}
	for _, o := range list {
		out = append(out, o)
	}
	return out
}

// event is the message as the gateway gives it: with the guild and the member who wrote it.
func (s *Server) event(m *message) object {
	o := s.wire(m)
	if m.nonce != nil {
		o["nonce"] = m.nonce
	}
	g := m.channel.guild
	if g == nil {
		return o
	}
	o["guild_id"] = g.id
	if mem := g.members[m.author.ID]; mem != nil && m.webhook == "" {
		o["member"] = g.wire(mem)
	}
	for i, id := range m.mentions {
		if mem := g.members[id]; mem != nil {
			o["mentions"].([]any)[i].(object)["member"] = g.wire(mem)
		}
	}
	return o
}

var mentionPattern = regexp.MustCompile(`<@([!&]?)(\d+)>`)

// mentioned finds what a text mentions.
func mentioned(text string) (users, roles []string, everyone bool) {
	for _, found := range mentionPattern.FindAllStringSubmatch(text, -1) {
		list := &users
		if found[1] == "&" {
			list = &roles
		}
		if !slices.Contains(*list, found[2]) {
			*list = append(*list, found[2])
		}
	}
	return users, roles, strings.Contains(text, "@everyone") || strings.Contains(text, "@here")
}

// emojiWire takes an emoji apart that is written as in a path: the character itself, or name:id.
func emojiWire(emoji string) object {
	if name, id, custom := strings.Cut(emoji, ":"); custom {
		return object{"id": id, "name": name}
	}
	return object{"id": nil, "name": emoji}
}

// File is a file that came with a message.
type File struct {
	Name string
	Type string
	Data []byte
}

// Sent is one message that the bot has shown.
type Sent struct {
	ID, Channel, Text string
	Files             []File
	ReplyTo           string
	Nonce             string
	Pinged            []string // users by id, roles as "&id", "@everyone"
	Flags             int
	Ephemeral         bool   // only the person who gave the command sees it
	Loading           bool   // a deferred answer that has not come yet
	Command           string // the interaction that it answers
	Edits             int
	Deleted           bool
	At                time.Time
}

// Sent gives what the bot has posted so far, oldest first, as it stands now; with channels only what is in those.
func (s *Server) Sent(channels ...string) []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Sent
	for _, m := range s.sent {
		if len(channels) > 0 && !slices.Contains(channels, m.channel.id) {
			continue
		}
		x := Sent{
			ID: m.id, Channel: m.channel.id, Text: m.text, Files: slices.Clone(m.data), Pinged: m.pinged(), Flags: m.flags,
			Ephemeral: m.flags&flagEphemeral != 0, Loading: m.flags&flagLoading != 0, Edits: m.edits, Deleted: m.deleted, At: m.at,
		}
		if m.reply != nil {
			x.ReplyTo = m.reply.id
		}
		if m.act != nil {
			x.Command = m.act.id
		}
		if n, is := m.nonce.(string); is {
			x.Nonce = n
		}
		list = append(list, x)
	}
	return list
}

func (m *message) pinged() []string {
	list := slices.Clone(m.mentions)
	for _, r := range m.roles {
		list = append(list, "&"+r)
	}
	if m.everyone {
		list = append(list, "@everyone")
	}
	return list
}

// Typing gives how often the bot showed "typing…" in a channel.
func (s *Server) Typing(channelID string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.typing[channelID]
}

// Reactions gives the bot's own reactions below a message.
func (s *Server) Reactions(channelID, id string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.channel(channelID).find(id)
	if m == nil {
		return nil
	}
	var list []string
	for _, r := range m.reactions {
		if slices.Contains(r.users, BotID) {
			list = append(list, r.emoji)
		}
	}
	return list
}

// Forget empties the logs of calls, messages and typing. The messages stay in their channels.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.sent = nil, nil
	clear(s.typing)
}
