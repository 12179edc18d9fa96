package whatsapp

import (
	"context"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"
)

const (
	mostGroups    = 4096
	groupAge      = 24 * time.Hour   // changes are told by events; this is for those that were missed
	groupRetry    = 10 * time.Minute // before a group that did not answer is asked again
	groupPatience = 5 * time.Second
)

// groups keeps what is known of groups, asked for when it is first needed.
type groups struct {
	ask func(ctx context.Context, group types.JID) (groupFacts, error)

	mu    sync.Mutex
	known map[types.JID]groupFacts
}

type groupFacts struct {
	title   string
	members []types.GroupParticipant // nil = not known, or not any more
	until   time.Time
}

func newGroups(ask func(context.Context, types.JID) (groupFacts, error)) *groups {
	return &groups{ask: ask, known: map[types.JID]groupFacts{}}
}

// of gives a group's title; empty when it is not known.
func (g *groups) of(ctx context.Context, group types.JID) string {
	return g.facts(ctx, group, false).title
}

// members gives the people of a group; none when they are not known.
func (g *groups) members(ctx context.Context, group types.JID) []types.GroupParticipant {
	return g.facts(ctx, group, true).members
}

func (g *groups) facts(ctx context.Context, group types.JID, people bool) groupFacts {
	g.mu.Lock()
	have, ok := g.known[group]
	g.mu.Unlock()
	if ok && time.Now().Before(have.until) && (!people || have.members != nil) {
		return have
	}
	ctx, cancel := context.WithTimeout(ctx, groupPatience)
	defer cancel()
	facts, err := g.ask(ctx, group)
	if err != nil {
		g.keep(group, have, groupRetry)
		return have
	}
	g.keep(group, facts, groupAge)
	return facts
}

// set takes over a group's title from an event.
func (g *groups) set(group types.JID, title string) {
	g.mu.Lock()
	facts := g.known[group]
	g.mu.Unlock()
	facts.title = title
	g.keep(group, facts, groupAge)
}

// changed forgets who is in a group.
func (g *groups) changed(group types.JID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if facts, ok := g.known[group]; ok {
		facts.members = nil
		g.known[group] = facts
	}
}

func (g *groups) keep(group types.JID, facts groupFacts, age time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, there := g.known[group]; !there && len(g.known) >= mostGroups {
		clear(g.known)
	}
	facts.until = time.Now().Add(age)
	g.known[group] = facts
}

// groupFacts asks the server about a group.
func (l *link) groupFacts(ctx context.Context, group types.JID) (groupFacts, error) {
	info, err := l.cli.GetGroupInfo(ctx, group)
	if err != nil {
		return groupFacts{}, err
	}
	l.timers.learnGroup(ctx, group, info.GroupEphemeral)
	return groupFacts{title: info.Name, members: info.Participants}, nil
}
