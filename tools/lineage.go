package tools

import (
	"context"
	"errors"
	"slices"

	"parley/sessions"
)

// lineage knows which sessions spawned which.
type lineage struct{ store Store }

// spawned reports whether a session spawned another one, itself or by sub-agents of its own, whatever agent that runs as
// (contract V1, N19). What cannot be read counts as not spawned.
func (l lineage) spawned(ctx context.Context, by sessions.Key, s sessions.Session) bool {
	for depth := 0; depth < treeDepth && s.SpawnedBy != ""; depth++ {
		if s.SpawnedBy == by {
			return true
		}
		up, err := l.store.Get(ctx, s.SpawnedBy)
		if err != nil {
			return false
		}
		s = up
	}
	return false
}

// inTree reports whether the rule of visibility lets the caller see what it spawned.
func (d Deps) inTree(ctx context.Context, c Caller, s sessions.Session) bool {
	return d.mode(c) != VisibleSelf && lineage{d.Store}.spawned(ctx, c.Session.Key, s)
}

// kids lists what a session spawned, under any agent.
func (l lineage) kids(ctx context.Context, parent sessions.Key, archived bool) ([]sessions.Session, error) {
	if parent == "" {
		return nil, nil
	}
	return l.store.List(ctx, sessions.Query{SpawnedBy: parent, Archived: archived, Limit: maxTree})
}

// descendants gives what a session spawned at any depth, archived or not; all is false when there are more than it looks at.
func (l lineage) descendants(ctx context.Context, key sessions.Key) (list []sessions.Session, all bool, err error) {
	all = true
	parents := []sessions.Key{key}
	for depth := 0; len(parents) > 0 && depth < treeDepth && len(list) < maxTree; depth++ {
		var below []sessions.Key
		for _, p := range parents {
			for _, archived := range []bool{false, true} {
				kids, err := l.kids(ctx, p, archived)
				if err != nil && !errors.Is(err, sessions.ErrNotFound) {
					return nil, false, err
				}
				all = all && len(kids) < maxTree
				for _, s := range kids {
					below, list = append(below, s.Key), append(list, s)
				}
			}
		}
		parents = below
	}
	return list, all, nil
}

// elsewhere gives the keys of what a session spawned that a listing of its own agents' sessions, or of its children, leaves out.
func (d Deps) elsewhere(ctx context.Context, c Caller, listed func(sessions.Session) bool) ([]sessions.Key, error) {
	list, _, err := lineage{d.Store}.descendants(ctx, c.Session.Key)
	keys := []sessions.Key{}
	for _, s := range list {
		if !listed(s) {
			keys = append(keys, s.Key)
		}
	}
	slices.Sort(keys)
	return keys, err
}

// atWork gives the sub-agents of a session that have a run under way.
func (l lineage) atWork(ctx context.Context, parent sessions.Key) ([]sessions.Key, error) {
	var keys []sessions.Key
	if parent == "" {
		return nil, nil
	}
	for _, status := range []sessions.RunStatus{sessions.Queued, sessions.Running} {
		runs, err := l.store.ListRuns(ctx, sessions.RunQuery{Parent: parent, Status: status, Limit: maxTree})
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if !slices.Contains(keys, r.Key) {
				keys = append(keys, r.Key)
			}
		}
	}
	return keys, nil
}
