package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/sessions"
)

// The bounds of what is looked at below a session.
const (
	treeDepth = 8    // levels
	maxTree   = 1000 // sub-agents of one session, those that were at work last
	childRuns = 50   // runs of one sub-agent, the newest
)

// Child is a sub-agent that a session may look at and direct: one below it, under any agent and in every mode of visibility (contract
// N16, N19). All runs of one sub-agent, follow-ups included, are one Child.
type Child struct {
	Index   int // its number in the list, 1 = started last; 0 = it is archived, so in no list
	Session sessions.Session
	Run     sessions.Run // the run that says how it stands; zero when none is kept
	Label   string       // secrets taken out
	Task    string       // what it was started for, secrets taken out
	Error   string       // of that run, secrets taken out
	Model   string

	runs []sessions.RunID // newest first
}

// Status says how the sub-agent stands: queued, running, done, failed, timeout, aborted, or unknown.
func (c Child) Status() string {
	if c.Run.ID == "" {
		return "unknown"
	}
	return string(c.Run.Status)
}

// Runtime is how long its run has taken, up to now.
func (c Child) Runtime(now time.Time) time.Duration {
	switch {
	case c.Run.Started.IsZero():
		return 0
	case !c.Run.Ended.IsZero():
		now = c.Run.Ended
	}
	return now.Sub(c.Run.Started)
}

// NoChild is what Deps.Child says of an id that means no sub-agent, or several.
type NoChild struct{ Reason string }

func (n *NoChild) Error() string { return n.Reason }

func noChild(format string, a ...any) error { return &NoChild{fmt.Sprintf(format, a...)} }

// Children gives the live sub-agents below the caller's session, the one that was started last first: up to most of them, and how
// many there are.
func (d Deps) Children(ctx context.Context, c Caller, most int) (list []Child, total int, err error) {
	all, err := d.tree(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	list = all[:min(most, len(all))]
	for i := range list {
		if err := d.describe(ctx, &list[i]); err != nil {
			return nil, 0, err
		}
	}
	return list, len(all), nil
}

// Child finds a sub-agent below the caller's session: by its number in the list, `last`, its label, the beginning of a run id, or
// its key, which finds archived ones as well. An id that finds none, or several, is a *NoChild. What is there and not visible, and
// what belongs to another session, is not told from what is not there.
func (d Deps) Child(ctx context.Context, c Caller, id string) (Child, error) {
	id = strings.ReplaceAll(strings.TrimSpace(id), "`", "'")
	if id == "" {
		return Child{}, noChild("a sub-agent is required: its number in the list, last, its label, the beginning of its run id, or its key")
	}
	if p, err := sessions.Key(id).Parse(); err == nil && p.Form == sessions.FormSubagent {
		return d.childByKey(ctx, c, sessions.Key(id))
	}
	all, err := d.tree(ctx, c)
	if err != nil {
		return Child{}, err
	}
	if len(all) == 0 {
		return Child{}, noChild("this session has no sub-agents")
	}
	if strings.EqualFold(id, "last") {
		return d.described(ctx, all[0])
	}
	n, err := strconv.Atoi(strings.TrimPrefix(id, "#"))
	switch number := err == nil; {
	case number && n >= 1 && n <= len(all):
		return d.described(ctx, all[n-1])
	case number && (len(id) < 4 || id[0] == '#'): // too short for the run id that it may begin by chance
		return Child{}, noChild("there is no sub-agent number %d; there are %d", n, len(all))
	}
	for i := range all {
		if all[i].Session.Label == id {
			return d.described(ctx, all[i])
		}
	}
	found, err := d.byRun(ctx, all, strings.ToLower(id))
	switch {
	case err != nil:
		return Child{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var which []string
		for _, f := range found[:min(len(found), 10)] {
			which = append(which, fmt.Sprintf("%d (run `%s`)", f.Index, f.Run.ID))
		}
		return Child{}, noChild("the run id `%s` matches %d sub-agents: %s; give a longer part of it, or the number", id, len(found), strings.Join(which, ", "))
	}
	short, _ := clip(strings.Join(strings.Fields(id), " "), 100)
	return Child{}, noChild("no sub-agent of this session has the label or run id `%s`; there are %d", short, len(all))
}

// byRun gives those that have a run whose id begins like this.
func (d Deps) byRun(ctx context.Context, all []Child, prefix string) (found []Child, err error) {
	for i := range all {
		if err := d.describe(ctx, &all[i]); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all[i].runs, func(id sessions.RunID) bool { return strings.HasPrefix(string(id), prefix) }) {
			found = append(found, all[i])
		}
	}
	return found, nil
}

// childByKey climbs from a session to the caller's.
func (d Deps) childByKey(ctx context.Context, c Caller, key sessions.Key) (Child, error) {
	none := noChild("`%s` is not a sub-agent of this session", key)
	var child Child
	at := key
	for depth := 0; depth < treeDepth; depth++ {
		s, err := d.Store.Get(ctx, at)
		if errors.Is(err, sessions.ErrNotFound) {
			return Child{}, none
		}
		if err != nil {
			return Child{}, err
		}
		if depth == 0 {
			child = Child{Session: s}
		}
		switch s.SpawnedBy {
		case "":
			return Child{}, none
		case c.Session.Key:
			return d.described(ctx, child)
		}
		at = s.SpawnedBy
	}
	return Child{}, none
}

// tree gives the live sub-agents below a session, numbered, without their runs. The numbers go by when they were
// started: what they do meanwhile does not move them.
func (d Deps) tree(ctx context.Context, c Caller) ([]Child, error) {
	var all []Child
	parents := []sessions.Key{c.Session.Key}
	for depth := 0; len(parents) > 0 && depth < treeDepth; depth++ {
		var below []sessions.Key
		for _, p := range parents {
			kids, err := lineage{d.Store}.kids(ctx, p, false)
			if err != nil {
				return nil, err
			}
			for _, s := range kids {
				below = append(below, s.Key)
				all = append(all, Child{Session: s})
			}
		}
		parents = below
	}
	slices.SortFunc(all, func(a, b Child) int {
		if n := b.Session.Created.Compare(a.Session.Created); n != 0 {
			return n
		}
		return strings.Compare(string(a.Session.Key), string(b.Session.Key))
	})
	for i := range all {
		all[i].Index = i + 1
	}
	return all, nil
}

func (d Deps) described(ctx context.Context, c Child) (Child, error) {
	err := d.describe(ctx, &c)
	return c, err
}

// describe fills in what a sub-agent's runs tell.
func (d Deps) describe(ctx context.Context, c *Child) error {
	if c.runs != nil {
		return nil
	}
	runs, err := d.Store.ListRuns(ctx, sessions.RunQuery{Key: c.Session.Key, Limit: childRuns})
	if err != nil {
		return err
	}
	runs = slices.DeleteFunc(runs, func(r sessions.Run) bool { return r.Kind != sessions.ChildRun })
	show := shown{redact: d.Redact, block: maxBlock}
	c.Label, c.Model = show.text(c.Session.Label), d.model(c.Session)
	c.runs = []sessions.RunID{}
	for _, r := range runs {
		c.runs = append(c.runs, r.ID)
		if weight(r) > weight(c.Run) {
			c.Run = r
		}
	}
	c.Error = show.text(c.Run.Error)
	if c.Run.Model != "" {
		c.Model = c.Run.Model
	}
	if n := len(runs); n > 0 && runs[n-1].Chain != nil {
		c.Task = show.text(runs[n-1].Chain.Request)
	}
	return nil
}

// weight orders the runs of a sub-agent by how much they say about how it stands; among equals the newest does. A message that a
// turn at work took up was a run as well, done without a turn of its own.
func weight(r sessions.Run) int {
	switch {
	case r.ID == "":
		return 0
	case r.Status == sessions.Done && r.Attempt == 0:
		return 1
	case r.Status == sessions.Running:
		return 3
	}
	return 2
}
