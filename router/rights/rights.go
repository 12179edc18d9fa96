package rights

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// facts gathers what the layers of rights look at.
func factsOf(s *settings.Snapshot, x sessions.Session, a Requesters, from []sessions.Place) tools.Facts {
	f := tools.Facts{Agent: x.Agent, Own: s.Entry(x.Agent).Tools, Owner: a.Owner, Sandboxed: s.Sandboxed(x.Key), Sub: sessions.IsSubagent(x.Key)}
	f.Mixed = !a.Owner && slices.ContainsFunc(a.People, func(p sessions.Person) bool {
		return s.Owners.Is(p.Channel, s.Person(p.Channel, channels.Sender{ID: p.ID, Username: p.User}))
	})
	for _, o := range from {
		f.Chats = append(f.Chats, o.Chat.Type)
		section := "channels." + string(o.Chat.Channel)
		if o.Chat.Account != channels.DefaultAccount {
			section += ".accounts." + string(o.Chat.Account)
		}
		f.Groups = append(f.Groups, s.Account(o.Chat).Access.GroupTools(section, s.ConfigAddress(o.Chat), sessions.ParentChat(o), s.People(a.on(o.Chat.Channel), o.Chat.Channel))...)
	}
	if !f.Sub {
		return f
	}
	f.Spawns = tools.Depth(x) < settings.OrDefault(s.Agents.Defaults.Subagents.MaxSpawnDepth, 1)
	above := x.Above
	if len(above) == 0 && x.SpawnedBy != "" {
		above = []sessions.AgentID{x.SpawnedBy.Agent()}
	}
	for _, id := range above {
		f.Above = append(f.Above, tools.AgentRights{Agent: id, Rights: s.Entry(id).Tools})
	}
	return f
}

// Rights decide about the tools of one turn: when it begins and again at each call, because a turn that takes up further messages
// answers more people.
type Rights struct {
	set     *settings.Snapshot
	session sessions.Session
	from    []sessions.Place
	keep    func(*tools.Result) // keeps the files of a result

	mu     sync.Mutex
	asked  Requesters
	layers []policy.ToolRules
}

// Of returns the rights of a run's turn; msgs may have the messages that it has merged.
func (r *Resolver) Of(ctx context.Context, set *settings.Snapshot, s sessions.Session, run sessions.Run, msgs []sessions.Message) (*Rights, error) {
	if s.Agent == "" {
		s.Agent = run.Agent
	}
	a, from, err := r.Lineage(ctx, s, run, sessions.MergedMessages(run, msgs)...)
	if err != nil {
		return nil, fmt.Errorf("decide the tools of the turn: %w", err)
	}
	x := &Rights{set: set, session: s, from: from, keep: r.media.PutResult, asked: a}
	x.Add()
	return x, nil
}

// Add says that the turn answers further messages.
func (x *Rights) Add(msgs ...sessions.Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked.Add(msgs...)
	x.layers = tools.Rules(x.set.Tools, factsOf(x.set, x.session, x.asked, x.from))
}

// Verdict returns the verdict on a tool, and the people for whom the turn would use it.
func (x *Rights) Verdict(tool string) (v policy.Verdict, asked Requesters) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return policy.Permits(tool, x.layers...), Requesters{x.asked.Owner, slices.Clone(x.asked.People)}
}

// may reports whether the turn may use a tool.
func (x *Rights) may(tool string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return policy.Permits(tool, x.layers...).Allowed()
}

// Permitted gives the tools that the turn may use, each under guard.
func (x *Rights) Permitted(all []tools.Tool) []tools.Tool {
	out, kept := make([]tools.Tool, 0, len(all)), make([]guarded, 0, len(all))
	for _, t := range all {
		if x.may(t.Spec().Name) {
			kept = append(kept, guarded{t, x})
			out = append(out, &kept[len(kept)-1])
		}
	}
	return out
}

// Guard returns a tool as a turn with these rights has it.
func (x *Rights) Guard(t tools.Tool) tools.Tool { return guarded{t, x} }

// guarded is a tool that is called only while the turn may use it.
type guarded struct {
	tools.Tool
	rights *Rights
}

// Call implements tools.Tool.
func (g guarded) Call(ctx context.Context, c tools.Call) (tools.Result, error) {
	v, asked := g.rights.Verdict(g.Spec().Name)
	if !v.Allowed() {
		return tools.Forbidden("%s is no longer allowed in this turn, because the turn now answers more people: %s (%s). Nothing was done; continue without that tool.",
			g.Spec().Name, v.Reason, strings.TrimSpace(v.Rule)), nil
	}
	c.Caller.Owner, c.Caller.Asker = asked.Owner, askerAmong(g.rights.set, asked, c.Caller.Session.Key, &c.Caller.Run)
	c.Caller.May = g.rights.may
	res, err := g.Tool.Call(ctx, c)
	g.rights.keep(&res)
	return res, err
}

// ToolsFor lists the tools of a run: none in the steps that only word a text.
func (r *Resolver) ToolsFor(ctx context.Context, run sessions.Run, may *Rights) []tools.Tool {
	if run.Kind == sessions.AnnounceRun || run.Kind == sessions.ReplyRun {
		return nil
	}
	return may.Permitted(r.toolsetFor(ctx, may.set.Sandboxed(may.session.Key)))
}

// toolsetFor lists all tools that there are now. One that comes later never takes the name of one that comes with parley: rights go by
// names.
func (r *Resolver) toolsetFor(ctx context.Context, sandboxed bool) []tools.Tool {
	all := slices.Clone(r.Tools)
	if r.more != nil {
		for _, t := range r.more(ctx, sandboxed) {
			if !policy.BuiltInTool(t.Spec().Name) {
				all = append(all, t)
			}
		}
	}
	return all
}
