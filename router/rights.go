package router

import (
	"cmp"
	"context"
	"errors"
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

// whom is whom a turn answers. What it may use follows from it, so what nobody knows is nobody's: no owner's.
type whom struct {
	owner  bool              // nobody but owners
	people []sessions.Person // sorted
}

// add says that a turn answers further messages.
func (a *whom) add(msgs ...sessions.Message) {
	for _, m := range msgs {
		p := m.Provenance
		if a.owner = a.owner && p != nil && p.Owner; p == nil {
			continue
		}
		if a.join(p.People); p.Sender != "" {
			a.join([]sessions.Person{{Channel: p.Address.Channel, ID: channels.UserID(p.Sender), User: p.User}})
		}
	}
}

func (a *whom) join(people []sessions.Person) {
	a.people = append(slices.Clip(a.people), people...)
	slices.SortFunc(a.people, func(x, y sessions.Person) int {
		return cmp.Or(cmp.Compare(x.Channel, y.Channel), cmp.Compare(x.ID, y.ID), cmp.Compare(x.User, y.User))
	})
	a.people = slices.Compact(a.people)
}

// on gives those of one channel, as the policy knows them.
func (a *whom) on(kind channels.Kind) (out []channels.Sender) {
	for _, p := range a.people {
		if p.Channel == kind {
			out = append(out, channels.Sender{ID: p.ID, Username: p.User})
		}
	}
	return out
}

// comesFrom says where a run is and comes from, and whom it answers; more are the messages that it has taken up. What another session
// asks is held to where that one's turn was. A sub-agent's turn is held to what the turns were that started it and those above it, also
// when another session asks it something (contract N7).
func (r *Router) comesFrom(ctx context.Context, s sessions.Session, run sessions.Run, more ...sessions.Message) (a whom, from []sessions.Place, err error) {
	if c := run.Chain; c != nil {
		a.owner = c.Owner
		a.join(c.People)
	} else {
		a.owner = true
		a.add(run.Input)
	}
	a.add(more...)
	inPlace, err := r.inPlaceOf(ctx, run)
	if err != nil {
		return a, nil, err
	}
	a.add(inPlace...)
	if !sessions.IsSubagent(s.Key) {
		return a, places([]sessions.Place{sessions.OriginOf(s, run)}, run.Chain), nil
	}
	from = places(nil, run.Chain)
	c := run.Chain
	if run.Kind != sessions.ChildRun || c == nil {
		task, err := r.newestTask(ctx, s.Key)
		if err != nil {
			return a, nil, err
		}
		if c = task.Chain; c == nil {
			a.owner = false
		} else {
			a.owner = a.owner && c.Owner
			a.join(c.People)
		}
	}
	for ; c != nil; c = c.Parent {
		if !c.From.IsZero() {
			from = append(from, sessions.Place{Chat: c.From, Session: c.Requester})
		}
		from = places(from, c)
	}
	return a, from, nil
}

// places adds to where a run is what its chain comes from.
func places(from []sessions.Place, c *sessions.Chain) []sessions.Place {
	if c == nil {
		return from
	}
	for _, p := range c.Places {
		if !slices.Contains(from, p) {
			from = append(from, p)
		}
	}
	return from
}

// begins says in a chain which turn begins it, as far as the rights of its steps depend on that.
func (r *Router) begins(ctx context.Context, s sessions.Session, run sessions.Run, c *sessions.Chain) error {
	who, err := r.answers(ctx, s, run)
	if err != nil {
		return err
	}
	_, from, err := r.comesFrom(ctx, s, run)
	c.Owner, c.People, c.Asker = who.owner, who.people, askerAmong(r.settings.Load(), who, s.Key, &run)
	c.Places = slices.DeleteFunc(from, func(p sessions.Place) bool { return p.Chat.IsZero() })
	return err
}

// answers says whom a run at work answers; the zero Run stands for an owner who wrote a command.
func (r *Router) answers(ctx context.Context, s sessions.Session, run sessions.Run) (whom, error) {
	if run.ID == "" {
		return whom{owner: true}, nil
	}
	steps, err := r.store.Steps(ctx, run.ID)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		return whom{}, err
	}
	a, _, err := r.comesFrom(ctx, s, run, sessions.MergedMessages(run, steps)...)
	return a, err
}

// facts gathers what the layers of rights look at.
func factsOf(s *settings.Snapshot, x sessions.Session, a whom, from []sessions.Place) tools.Facts {
	f := tools.Facts{Agent: x.Agent, Own: s.Entry(x.Agent).Tools, Owner: a.owner, Sandboxed: s.Sandboxed(x.Key), Sub: sessions.IsSubagent(x.Key)}
	f.Mixed = !a.owner && slices.ContainsFunc(a.people, func(p sessions.Person) bool {
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

// rights decide about the tools of one turn: when it begins and again at each call, because a turn that takes up further messages
// answers more people.
type rights struct {
	set     *settings.Snapshot
	session sessions.Session
	from    []sessions.Place
	keep    func(*tools.Result) // keeps the files of a result

	mu     sync.Mutex
	asked  whom
	layers []policy.ToolRules
}

// rightsOf gives the rights of a run's turn; msgs may hold what it has taken up.
func (r *Router) rightsOf(ctx context.Context, set *settings.Snapshot, s sessions.Session, run sessions.Run, msgs []sessions.Message) (*rights, error) {
	if s.Agent == "" {
		s.Agent = run.Agent
	}
	a, from, err := r.comesFrom(ctx, s, run, sessions.MergedMessages(run, msgs)...)
	if err != nil {
		return nil, fmt.Errorf("finding out what the turn may use: %w", err)
	}
	x := &rights{set: set, session: s, from: from, keep: r.media.PutResult, asked: a}
	x.add()
	return x, nil
}

// add says that the turn answers further messages.
func (x *rights) add(msgs ...sessions.Message) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked.add(msgs...)
	x.layers = tools.Rules(x.set.Tools, factsOf(x.set, x.session, x.asked, x.from))
}

func (x *rights) decide(tool string) (v policy.Verdict, asked whom) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return policy.Permits(tool, x.layers...), whom{x.asked.owner, slices.Clone(x.asked.people)}
}

// permitted gives the tools that the turn may use, each under guard.
func (x *rights) permitted(all []tools.Tool) []tools.Tool {
	out, kept := make([]tools.Tool, 0, len(all)), make([]guarded, 0, len(all))
	for _, t := range all {
		if v, _ := x.decide(t.Spec().Name); v.Allowed() {
			kept = append(kept, guarded{t, x})
			out = append(out, &kept[len(kept)-1])
		}
	}
	return out
}

// guarded is a tool that is called only while the turn may use it.
type guarded struct {
	tools.Tool
	rights *rights
}

// Call implements tools.Tool.
func (g guarded) Call(ctx context.Context, c tools.Call) (tools.Result, error) {
	v, asked := g.rights.decide(g.Spec().Name)
	if !v.Allowed() {
		return tools.Forbidden("%s cannot be used any more in this turn, since it answers further people: %s (%s). Nothing was done; go on without it.",
			g.Spec().Name, v.Reason, strings.TrimSpace(v.Rule)), nil
	}
	c.Caller.Owner, c.Caller.Asker = asked.owner, askerAmong(g.rights.set, asked, c.Caller.Session.Key, &c.Caller.Run)
	c.Caller.May = func(tool string) bool {
		v, _ := g.rights.decide(tool)
		return v.Allowed()
	}
	res, err := g.Tool.Call(ctx, c)
	g.rights.keep(&res)
	return res, err
}

// toolsFor lists the tools of a run: none in the steps that only word a text.
func (r *Router) toolsFor(ctx context.Context, run sessions.Run, may *rights) []tools.Tool {
	if run.Kind == sessions.AnnounceRun || run.Kind == sessions.ReplyRun {
		return nil
	}
	return may.permitted(r.kitFor(ctx, may.set.Sandboxed(may.session.Key)))
}

// kitFor lists all tools that there are now. One that comes later never takes the name of one that comes with parley: rights go by
// names.
func (r *Router) kitFor(ctx context.Context, sandboxed bool) []tools.Tool {
	all := slices.Clone(r.tools)
	if r.deps.MoreTools != nil {
		for _, t := range r.deps.MoreTools(ctx, sandboxed) {
			if !policy.BuiltInTool(t.Spec().Name) {
				all = append(all, t)
			}
		}
	}
	return all
}
