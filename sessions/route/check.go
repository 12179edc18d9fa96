package route

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// Check finds what is wrong with the agents, the bindings and the section session, its send policy apart (contract K10).
func (r Table) Check() []policy.Problem {
	var out []policy.Problem
	add := func(warning bool, path, format string, a ...any) {
		out = append(out, policy.Problem{Path: path, Message: fmt.Sprintf(format, a...), Warning: warning})
	}
	for i, a := range r.Agents {
		switch {
		case a == "":
			add(false, fmt.Sprintf("agents.list[%d].id", i), "an agent needs an id")
		case slices.Index(r.Agents, a) < i:
			add(false, fmt.Sprintf("agents.list[%d].id", i), "%q is the id of agents.list[%d] as well", a, slices.Index(r.Agents, a))
		}
	}
	if len(r.Agents) > 0 && !slices.Contains(r.Agents, r.Default) {
		add(false, "agents.list", "the default agent %q is not in the list", r.Default)
	}
	switch r.Config.Scope {
	case "", sessions.PerSender:
	case sessions.Global:
		if len(r.Bindings) > 0 {
			add(true, "bindings", "bindings have no effect with session.scope global: all chats share one session, of the agent %q", r.Default)
		}
	default:
		add(false, "session.scope", "%q is none of per-sender, global", r.Config.Scope)
	}
	switch r.Config.DMScope {
	case "", sessions.OwnerMain, sessions.DMMain, sessions.PerPeer, sessions.PerChannelPeer, sessions.PerAccountChannelPeer:
	default:
		add(false, "session.dmScope", "%q is none of owner-main, main, per-peer, per-channel-peer, per-account-channel-peer", r.Config.DMScope)
	}
	for i, b := range r.Bindings {
		path := fmt.Sprintf("bindings[%d]", i)
		if !r.known(b.AgentID) {
			add(false, path+".agentId", "there is no agent %q in agents.list", b.AgentID)
		}
		checkMatch(b.Match, func(warning bool, field, format string, a ...any) { add(warning, path+".match."+field, format, a...) })
		if j := slices.IndexFunc(r.Bindings[:i], func(o sessions.Binding) bool { return reflect.DeepEqual(o.Match, b.Match) }); j >= 0 {
			add(true, path, "has no effect: bindings[%d] matches the same", j)
		}
	}
	return append(out, r.checkLinks()...)
}

func checkMatch(m sessions.BindingMatch, add func(warning bool, field, format string, a ...any)) {
	if m.Channel == "" {
		add(false, "channel", "a binding needs a channel")
	}
	if len(m.Roles) > 0 && m.GuildID == "" {
		add(false, "roles", "roles need guildId as well")
	}
	if m.Peer == nil {
		return
	}
	switch m.Peer.Kind {
	case channels.Direct, channels.Group, channels.Room:
	default:
		add(false, "peer.kind", "%q is none of direct, group, channel", m.Peer.Kind)
	}
	if m.Peer.ID == "" {
		add(false, "peer.id", `empty: write the chat's id, or "*" for any`)
	}
}

func (r Table) checkLinks() []policy.Problem {
	var out []policy.Problem
	owner := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(r.Config.IdentityLinks)) {
		path := "session.identityLinks." + name
		if strings.TrimSpace(name) == "" {
			out = append(out, policy.Problem{Path: path, Message: "a person needs a name"})
		}
		for i, e := range r.Config.IdentityLinks[name] {
			at := fmt.Sprintf("%s[%d]", path, i)
			e = strings.TrimSpace(e)
			kind, id, ok := strings.Cut(e, ":")
			if ok {
				e = strings.ToLower(kind) + ":" + id
			}
			switch {
			case e == "" || ok && id == "":
				out = append(out, policy.Problem{Path: at, Message: "names no person: write <channel>:<user id>"})
			case owner[e] != "" && owner[e] != name:
				out = append(out, policy.Problem{Path: at, Message: fmt.Sprintf("%s already belongs to %q", e, owner[e])})
			case !ok:
				out = append(out, policy.Problem{Path: at, Warning: true, Message: fmt.Sprintf("%q names no channel: every person with this id, on any channel, counts as %s", e, name)})
			}
			owner[e] = name
		}
	}
	return out
}
