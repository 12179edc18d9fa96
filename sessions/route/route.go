package route

import (
	"slices"
	"strings"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// Table says which agent answers where and which session a message belongs to. It is data; it is replaced as a whole when the
// configuration changes.
type Table struct {
	Agents   []sessions.AgentID // all that are configured
	Default  sessions.AgentID   // answers where no binding matches
	Bindings []sessions.Binding
	Config   sessions.Config
	Owners   policy.Owners
	// Former gives the addresses that a chat has and had, newest first, by the former names of its account as well: bindings that name an old
	// one hold on. nil = no chat has moved.
	Former func(channels.Address) []channels.Address
}

// What decided a route, most specific first (contract K10).
const (
	ByPeer       = "binding.peer"
	ByPeerParent = "binding.peer.parent"
	ByPeerAny    = "binding.peer.wildcard"
	ByGuildRoles = "binding.guild+roles"
	ByGuild      = "binding.guild"
	ByTeam       = "binding.team"
	ByAccount    = "binding.account"
	ByChannel    = "binding.channel"
	ByDefault    = "default"
	ByScope      = "session.scope" // global: there is one session, and it belongs to the default agent
)

var precedence = []string{ByPeer, ByPeerParent, ByPeerAny, ByGuildRoles, ByGuild, ByTeam, ByAccount, ByChannel}

// anyOf stands for every account or every peer in a binding.
const anyOf = "*"

// Key returns the session that an inbound message belongs to, the agent that answers in it, and what decided for that agent.
func (r Table) Key(in channels.Inbound) (sessions.Key, sessions.AgentID, string) {
	if r.Config.Scope == sessions.Global {
		return sessions.GlobalKey, r.Default, ByScope
	}
	agent, by := r.agent(in)
	if in.Address.Type == channels.Direct {
		return r.directParts(in, agent).Key(), agent, by
	}
	chat, thread := chatPlace(in)
	p := sessions.Parts{Form: sessions.FormGroup, Agent: agent, Channel: in.Address.Channel, Account: in.Address.Account, ID: string(chat), Thread: thread}
	if in.Address.Type == channels.Room {
		p.Form = sessions.FormRoom
	}
	return p.Key(), agent, by
}

// chatPlace gives the chat and the thread in it. Where a platform gives threads a chat id of their own, the key shows the parent and
// the thread all the same (contract K3).
func chatPlace(in channels.Inbound) (channels.ChatID, channels.ThreadID) {
	a := in.Address
	if in.Parent != "" && in.Parent != a.Chat && a.Thread == "" {
		return in.Parent, channels.ThreadID(a.Chat)
	}
	return a.Chat, a.Thread
}

// peerID is the person behind a direct chat.
func peerID(in channels.Inbound) string {
	if in.Sender.ID != "" {
		return string(in.Sender.ID)
	}
	return string(in.Address.Chat)
}

// directParts applies session.dmScope and session.identityLinks (contract K7).
func (r Table) directParts(in channels.Inbound, agent sessions.AgentID) sessions.Parts {
	a, peer := in.Address, peerID(in)
	p := sessions.Parts{Agent: agent, Channel: a.Channel, Account: a.Account, ID: peer, Thread: a.Thread}
	scope := r.Config.DMScope
	if scope == "" {
		scope = sessions.OwnerMain
	}
	name, linked := r.person(a.Channel, peer)
	if !linked {
		name, linked = r.person(a.Channel, string(in.Sender.Also))
	}
	switch {
	case scope == sessions.DMMain, scope == sessions.OwnerMain && r.isOwner(in, name, linked):
		p.Form = sessions.FormMain
	case linked: // one person's ids meet in one session, whatever separates strangers
		p.Form, p.ID = sessions.FormPeer, name
	case scope == sessions.PerPeer && !r.isName(peer):
		p.Form = sessions.FormPeer
	case scope == sessions.PerAccountChannelPeer:
		p.Form = sessions.FormAccountPeer
	default: // also per-peer, for a stranger whose id is spelled like a linked person's name
		p.Form = sessions.FormChannelPeer
	}
	return p
}

// isOwner reports whether the sender is an owner, or one of the ids of a linked person who is. The latter decides only about the
// session; commands ask policy.Owners.
func (r Table) isOwner(in channels.Inbound, name string, linked bool) bool {
	if r.Owners.Is(in.Address.Channel, in.Sender) {
		return true
	}
	if !linked || in.Sender.Bot {
		return false
	}
	return slices.ContainsFunc(r.Config.IdentityLinks[name], func(e string) bool {
		kind, id, ok := strings.Cut(strings.TrimSpace(e), ":")
		return ok && r.Owners.Is(channels.Kind(kind), channels.Sender{ID: channels.UserID(id)})
	})
}

// Person names a person by what session.identityLinks calls all ids of theirs, else by the id.
func (r Table) Person(kind channels.Kind, id channels.UserID) string {
	if name, linked := r.person(kind, string(id)); linked {
		return name
	}
	return string(kind) + ":" + string(id)
}

// person finds the name under which session.identityLinks knows an id. An entry with its channel beats one without; among
// several names the first in alphabetical order wins.
func (r Table) person(kind channels.Kind, peer string) (string, bool) {
	found, exact := "", false
	for name, ids := range r.Config.IdentityLinks {
		for _, e := range ids {
			k, id, ok := strings.Cut(strings.TrimSpace(e), ":")
			full := ok && strings.EqualFold(k, string(kind)) && id == peer
			if peer == "" || !full && strings.TrimSpace(e) != peer {
				continue
			}
			if found == "" || full && !exact || full == exact && name < found {
				found, exact = name, full
			}
		}
	}
	return found, found != ""
}

func (r Table) isName(peer string) bool {
	_, ok := r.Config.IdentityLinks[peer]
	return ok
}

// agent finds the first binding of the most specific kind that matches. Bindings to agents that do not exist are passed over;
// Check reports them.
//
// A binding that names a chat, a person or an account by an id that they had before holds unless one names them as they are called now.
func (r Table) agent(in channels.Inbound) (sessions.AgentID, string) {
	agent, by := r.bound(in)
	if by == ByPeer {
		return agent, by
	}
	for _, old := range r.former(in) {
		renamed := old.Address.Account != in.Address.Account // then any binding of the account does
		if a, b := r.bound(old); b == ByPeer || b == ByPeerParent && by != ByPeerParent || renamed && rank(b) < rank(by) {
			return a, b
		}
	}
	return agent, by
}

// former gives an event as it was when its person, its chat or its account had another id.
func (r Table) former(in channels.Inbound) (was []channels.Inbound) {
	direct := in.Address.Type == channels.Direct
	if direct && in.Sender.Also != "" {
		old := in
		old.Sender.ID = in.Sender.Also
		was = append(was, old)
	}
	if r.Former == nil {
		return was
	}
	for _, at := range r.Former(in.Address)[1:] {
		if direct && at.Account == in.Address.Account { // the person says which one it is
			continue
		}
		old := in
		old.Address = at
		was = append(was, old)
	}
	return was
}

// rank says how specific a kind of binding is; the lower, the more.
func rank(by string) int {
	if i := slices.Index(precedence, by); i >= 0 {
		return i
	}
	return len(precedence)
}

func (r Table) bound(in channels.Inbound) (sessions.AgentID, string) {
	best := len(precedence)
	agent := r.Default
	for _, b := range r.Bindings {
		if !r.known(b.AgentID) {
			continue
		}
		if i := slices.Index(precedence, tier(b.Match, in)); i >= 0 && i < best {
			best, agent = i, b.AgentID
		}
	}
	if best == len(precedence) {
		return agent, ByDefault
	}
	return agent, precedence[best]
}

func (r Table) known(id sessions.AgentID) bool {
	return id == r.Default || slices.Contains(r.Agents, id)
}

// tier says how specifically the binding matches, "" when it does not.
func tier(m sessions.BindingMatch, in channels.Inbound) string {
	if !strings.EqualFold(string(m.Channel), string(in.Address.Channel)) || !matchesAccount(m, in.Address.Account) {
		return ""
	}
	if m.GuildID != "" && m.GuildID != in.Guild || m.TeamID != "" && m.TeamID != in.Team || !matchesRoles(m, in) {
		return ""
	}
	switch {
	case m.Peer != nil:
		return peerTier(*m.Peer, in)
	case m.GuildID != "" && len(m.Roles) > 0:
		return ByGuildRoles
	case m.GuildID != "":
		return ByGuild
	case m.TeamID != "":
		return ByTeam
	case m.AccountID != anyOf:
		return ByAccount
	}
	return ByChannel
}

func matchesAccount(m sessions.BindingMatch, have channels.AccountID) bool {
	switch m.AccountID {
	case anyOf:
		return true
	case "":
		return have == channels.DefaultAccount
	}
	return m.AccountID == have
}

func matchesRoles(m sessions.BindingMatch, in channels.Inbound) bool {
	return len(m.Roles) == 0 || slices.ContainsFunc(m.Roles, func(x string) bool { return slices.Contains(in.Roles, x) })
}

// peerTier compares the peer with the person (direct), the chat, its topic ("-100:topic:7") or the thread, and then with the chat
// that the topic or thread is in.
func peerTier(p sessions.Peer, in channels.Inbound) string {
	if p.Kind != in.Address.Type {
		return ""
	}
	self, parent := peerID(in), ""
	if p.Kind != channels.Direct {
		chat, thread := chatPlace(in)
		self = string(chat)
		if thread != "" {
			parent = string(chat)
			self = string(thread)
			if in.Parent == "" { // the thread's id means something only inside its chat
				word := sessions.FormGroup
				if p.Kind == channels.Room {
					word = sessions.FormRoom
				}
				self = string(chat) + ":" + word.ThreadWord() + ":" + string(thread)
			}
		}
	}
	switch {
	case p.ID == anyOf:
		return ByPeerAny
	case p.ID == self:
		return ByPeer
	case parent != "" && p.ID == parent:
		return ByPeerParent
	}
	return ""
}
