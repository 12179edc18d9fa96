package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/channels"
)

// The types of channels that matter here, https://discord.com/developers/docs/resources/channel#channel-object-channel-types
const (
	typeText          = 0
	typeDM            = 1
	typeVoice         = 2
	typeGroupDM       = 3
	typeNews          = 5
	typeNewsThread    = 10
	typePublicThread  = 11
	typePrivateThread = 12
	typeStage         = 13
	typeForum         = 15
	typeMediaForum    = 16
)

// chatInfo is what is known about a chat.
type chatInfo struct {
	guild  string
	name   string
	kind   int
	parent string    // of a thread: the channel that it is in
	last   string    // the newest message that is known of; empty = it was never told
	closed bool      // the platform does not let the bot read it
	denied time.Time // when the platform refused to say what it is; zero = it is known. Nothing is sent there
}

func (p chatInfo) thread() bool { return isThread(p.kind) }

// whole reports whether it is known whose rules hold there: those of a thread are its channel's, too.
func (p chatInfo) whole() bool { return p.denied.IsZero() && (!p.thread() || p.parent != "") }

// isKind reports whether a type of channels is one that the platform had when this was written.
func isKind(kind int) bool {
	return kind >= typeText && kind <= typeNews || kind >= typeNewsThread && kind <= typeMediaForum
}

func isThread(kind int) bool {
	return kind == typeNewsThread || kind == typePublicThread || kind == typePrivateThread
}

// server is what is known about a guild.
type server struct {
	name   string
	system string            // the channel where the platform tells who joined
	roles  map[string]string // names by id
	owned  map[string]string // the roles that belong to bots, by the bot's user id
}

// names knows what chats, servers and roles are called, from the gateway's events and, for chats that those did not name, from REST.
type names struct {
	mu      sync.Mutex
	places  map[string]chatInfo
	servers map[string]*server
	told    map[string]bool // servers that the gateway described in this session
	missing map[string]bool // servers that it announced and did not describe yet
	opening bool            // the session has not begun: nothing is announced yet
	whole   chan struct{}   // closed when none is missing
}

const maxPlaces = 100_000

func newNames() *names {
	whole := make(chan struct{})
	close(whole)
	return &names{places: map[string]chatInfo{}, servers: map[string]*server{}, told: map[string]bool{}, missing: map[string]bool{}, whole: whole}
}

type (
	wireChannel struct {
		ID         string     `json:"id"`
		Type       *int       `json:"type"`
		GuildID    string     `json:"guild_id"`
		Name       string     `json:"name"`
		ParentID   string     `json:"parent_id"`
		Last       string     `json:"last_message_id"`
		Recipients []wireUser `json:"recipients"`
	}
	wireRole struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Tags *struct {
			BotID string `json:"bot_id"`
		} `json:"tags"`
	}
	wireGuild struct {
		ID            string            `json:"id"`
		Name          string            `json:"name"`
		Unavailable   bool              `json:"unavailable"`
		Joined        time.Time         `json:"joined_at"` // by the bot
		SystemChannel string            `json:"system_channel_id"`
		Channels      []json.RawMessage `json:"channels"`
		Threads       []json.RawMessage `json:"threads"`
		Roles         []wireRole        `json:"roles"`
	}
)

// find gives what is known about a chat.
func (n *names) find(id string) (chatInfo, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, known := n.places[id]
	return p, known
}

// hint remembers the type of a direct chat that is known from its messages on disk.
func (n *names) hint(a channels.Address) {
	if a.Type != channels.Direct {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.places[string(a.Chat)]; !known {
		n.put(string(a.Chat), chatInfo{kind: typeDM})
	}
}

// unknown notes that the platform refuses to say what a chat is, so that it is not asked for each of its events.
func (n *names) unknown(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.places[id]
	p.denied = time.Now()
	n.put(id, p)
}

// asks reports whether the platform has to be asked what a chat is.
func (n *names) asks(id string) bool {
	p, known := n.find(id)
	return !known || !p.whole() && time.Since(p.denied) > askAgain
}

// askAgain is how long a platform that refused to say what a chat is is not asked about it.
const askAgain = time.Minute

// unplaced returns the error for a message to a chat whose type Discord refuses to tell; nil = it is known, or was never asked. It may be a thread of a channel that nothing may be sent to.
func (n *names) unplaced(id channels.ChatID) error {
	if p, known := n.find(string(id)); !known || p.whole() {
		return nil
	}
	return &channels.Error{Class: channels.Rejected, Err: errUnplaced}
}

var errUnplaced = errors.New("discord hides this channel's type, so parley sends nothing there: give the bot permission to view the channel")

// placed is unplaced for what is written by address. About a chat that no event has named since the start it asks first: an earlier process
// may have been refused it. What is direct is so by its address.
func (c *Channel) placed(ctx context.Context, to channels.Address) error {
	id := string(to.Chat)
	if to.Type == channels.Direct || !isID(id) || !c.names.asks(id) {
		return c.names.unplaced(to.Chat)
	}
	err := c.lookup(ctx, id)
	if err != nil && permanent(err) {
		err = &channels.Error{Class: channels.Rejected, Err: errUnplaced}
	}
	return err
}

// put keeps a chat, within bounds; n.mu is held.
func (n *names) put(id string, p chatInfo) {
	if len(n.places) >= maxPlaces {
		clear(n.places) // what is needed is asked for again
	}
	n.places[id] = p
}

// channel learns one channel as the platform describes it; guild is the server when the description does not say so. It gives the
// id and the name before.
func (n *names) channel(raw json.RawMessage, guild string) (id, was string) {
	var w wireChannel
	if json.Unmarshal(raw, &w) != nil || w.ID == "" {
		return "", ""
	}
	if w.GuildID == "" {
		w.GuildID = guild
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	old, known := n.places[w.ID]
	if w.Type == nil && (!known || !old.denied.IsZero()) {
		return w.ID, ""
	}
	p := old
	p.denied = time.Time{}
	p.name = channels.CleanName(w.Name)
	if w.Type != nil {
		p.kind = *w.Type
	}
	if w.GuildID != "" {
		p.guild = w.GuildID
	}
	if p.thread() && w.ParentID != "" {
		p.parent = w.ParentID
	}
	if p.kind == typeGroupDM && p.name == "" {
		p.name = people(w.Recipients)
	}
	n.put(w.ID, p)
	return w.ID, old.name
}

// people is the title of a group that has no name.
func people(list []wireUser) string {
	var all []string
	for _, u := range list {
		all = append(all, u.name())
	}
	return cut(strings.Join(all, ", "), 100)
}

// learn takes what an event says about names. It gives the chats of which the event tells that something was missed.
func (n *names) learn(e *event) []missed {
	switch e.kind {
	case "MESSAGE_CREATE":
		n.heard(e.peek())
	case "GUILD_CREATE", "GUILD_UPDATE":
		return n.learnServer(e.data, e.kind == "GUILD_CREATE")
	case "GUILD_DELETE":
		n.forgetServer(e.data)
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		n.learnRole(e.data)
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		_, e.was = n.channel(e.data, "")
	case "CHANNEL_DELETE", "THREAD_DELETE":
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.places, e.peek().ID)
	case "THREAD_LIST_SYNC":
		var list struct {
			GuildID string            `json:"guild_id"`
			Threads []json.RawMessage `json:"threads"`
		}
		if json.Unmarshal(e.data, &list) == nil {
			for _, raw := range list.Threads {
				n.channel(raw, list.GuildID)
			}
		}
	}
	return nil
}

func (n *names) learnServer(raw json.RawMessage, whole bool) (list []missed) {
	var g wireGuild
	if json.Unmarshal(raw, &g) != nil || g.ID == "" || g.Unavailable {
		return nil
	}
	n.mu.Lock()
	s := n.servers[g.ID]
	if s == nil {
		s = &server{roles: map[string]string{}, owned: map[string]string{}}
		n.servers[g.ID] = s
	}
	s.name, s.system = channels.CleanName(g.Name), g.SystemChannel
	if len(g.Roles) > 0 { // all that there are
		s.roles, s.owned = map[string]string{}, map[string]string{}
	}
	for _, r := range g.Roles {
		s.role(r)
	}
	n.mu.Unlock()
	for _, raw := range slices.Concat(g.Channels, g.Threads) {
		n.channel(raw, g.ID)
		list = n.compare(list, g, raw)
	}
	if !whole { // its name has changed, or the like
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told[g.ID] = true
	delete(n.missing, g.ID)
	n.wake()
	return list
}

func (s *server) role(r wireRole) {
	s.roles[r.ID] = channels.CleanName(r.Name)
	if r.Tags != nil && r.Tags.BotID != "" {
		s.owned[r.Tags.BotID] = r.ID
	}
}

func (n *names) learnRole(raw json.RawMessage) {
	var said struct {
		GuildID string   `json:"guild_id"`
		Role    wireRole `json:"role"`
		Gone    string   `json:"role_id"` // of one that was deleted
	}
	if json.Unmarshal(raw, &said) != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.servers[said.GuildID]
	switch {
	case s == nil:
	case said.Gone != "":
		delete(s.roles, said.Gone)
		maps.DeleteFunc(s.owned, func(_, role string) bool { return role == said.Gone })
	default:
		s.role(said.Role)
	}
}

// forgetServer forgets a server that the bot is not in any more; one that is only out of order comes back.
func (n *names) forgetServer(raw json.RawMessage) {
	var g wireGuild
	if json.Unmarshal(raw, &g) != nil || g.Unavailable {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.servers, g.ID)
	delete(n.missing, g.ID)
	for id, p := range n.places {
		if p.guild == g.ID {
			delete(n.places, id)
		}
	}
	n.wake()
}

// title is what people call a chat; empty for direct chats.
func (n *names) title(id string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	p, known := n.places[id]
	if !known || p.kind == typeDM || p.name == "" {
		return ""
	}
	if p.kind == typeGroupDM {
		return p.name
	}
	name := p.name
	if !p.thread() {
		name = "#" + name
	}
	if s := n.servers[p.guild]; s != nil && s.name != "" {
		name += " · " + s.name
	}
	return name
}

// role gives the name of a role and whether it is the bot's own.
func (n *names) role(guild, id, bot string) (name string, own bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.servers[guild]
	if s == nil {
		return "", false
	}
	return s.roles[id], s.owned[bot] == id
}

// system is where a server tells who joined; empty = nowhere.
func (n *names) system(guild string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s := n.servers[guild]; s != nil {
		return s.system
	}
	return ""
}

// lookup asks the platform about a chat that no event has named. An answer that does not say what this chat is is none.
func (c *Channel) lookup(ctx context.Context, id string) error {
	var raw json.RawMessage
	where := route{path: "channels/id", verb: http.MethodGet, major: id}
	if err := c.rest.get(ctx, channelPath(channels.ChatID(id), ""), where, &raw); err != nil {
		return err
	}
	var w wireChannel
	if json.Unmarshal(raw, &w) != nil || w.ID != id || w.Type == nil || isThread(*w.Type) && w.ParentID == "" {
		return &channels.Error{Class: channels.Transient, Err: &apiError{Call: where.key(), Text: "the answer has no channel type"}}
	}
	if !isKind(*w.Type) { // a new one may have rules of another channel, as threads do
		return &channels.Error{Class: channels.Rejected, Err: fmt.Errorf("%s: unknown channel type %d", where.key(), *w.Type)}
	}
	c.names.channel(raw, "")
	return nil
}
