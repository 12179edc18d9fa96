package web

import (
	"slices"
	"time"

	"parley/gateway/api"
	"parley/sessions"
)

// runGroup is a chain of runs, or one run that belongs to none, with what its runs began below them.
type runGroup struct {
	Chain string // ask, spawn, …; empty = a single run
	Quiet bool   // it is nothing but a post
	Steps []*runStep
}

// runStep is a run and the chains that it began.
type runStep struct {
	api.Run
	Took  time.Duration // so far
	Below []*runGroup
	Posts []*runStep // what it put into transcripts
	Where string     // what people call its session
}

// Post reports whether the run is no turn: the host noted what it posted into a chat.
func (s *runStep) Post() bool { return s.Kind == sessions.PostRun }

// Undelivered is the first of its messages that did not arrive, or not yet; nil = there is none.
func (s *runStep) Undelivered() *sessions.Mark { return undelivered(s.Deliveries) }

func undelivered(marks []sessions.Mark) *sessions.Mark {
	i := slices.IndexFunc(marks, func(m sessions.Mark) bool { return m.State.Final() && m.State != sessions.Sent })
	if i < 0 {
		i = slices.IndexFunc(marks, func(m sessions.Mark) bool { return !m.State.Final() })
	}
	if i < 0 {
		return nil
	}
	return &marks[i]
}

// Asked reports whether what the run answers says more than its kind.
func (s *runStep) Asked() bool { return asks(s.Kind) }

// Says reports whether the run's title says what it is about, not only its kind.
func (s *runStep) Says() bool { return s.Label != "" || s.Asked() && s.Request != "" }

// asks: what the others answer are the words of the host.
func asks(k sessions.RunKind) bool {
	switch k {
	case sessions.ReplyRun, sessions.AnnounceRun, sessions.ResultRun, sessions.FollowUpRun:
		return false
	}
	return true
}

func worked(began, ended, now time.Time) time.Duration {
	switch {
	case began.IsZero():
		return 0
	case ended.IsZero():
		return now.Sub(began)
	}
	return ended.Sub(began)
}

// newest is when something was last queued in a group.
func (g *runGroup) newest() (t time.Time) {
	for _, s := range g.Steps {
		if s.Created.After(t) {
			t = s.Created
		}
		for _, b := range s.Below {
			if n := b.newest(); n.After(t) {
				t = n
			}
		}
	}
	return t
}

// Live reports whether something of a group, or below it, is queued or at work.
func (g *runGroup) Live() bool {
	return slices.ContainsFunc(g.Steps, func(s *runStep) bool {
		return !s.Status.Final() || slices.ContainsFunc(s.Below, (*runGroup).Live)
	})
}

// runTree puts runs in order: the steps of a chain one after the other, a chain below the run that began it, the newest on top. The
// run that began a chain is the one that was at work in the requester's session at that time: a session has one at a time. One that
// is not in the list leaves its chain at the top. A post stands at the run that made it.
func runTree(list []api.Run, now time.Time, n names) []*runGroup {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b api.Run) int { return a.Created.Compare(b.Created) })
	groups := map[sessions.RunID]*runGroup{}
	var order []*runGroup
	var posts []*runStep
	inSession := map[sessions.Key][]*runStep{} // of the groups that are placed: what begins something is older than what it begins
	for i := range list {
		s := &runStep{Run: list[i], Took: worked(list[i].Started, list[i].Ended, now), Where: n.Of(list[i].Key)}
		if s.Post() && s.Root == "" {
			posts = append(posts, s)
			continue
		}
		root := s.Root
		if root == "" {
			root = s.ID
		}
		g := groups[root]
		if g == nil {
			g = &runGroup{Chain: s.Chain}
			groups[root] = g
			by := beganBy(s, inSession[s.Requester])
			if above := groups[s.Parent]; by == nil && s.Parent != "" && above != nil {
				by = above.Steps[len(above.Steps)-1]
			}
			if by != nil {
				by.Below = append(by.Below, g)
			} else {
				order = append(order, g)
			}
		}
		g.Steps = append(g.Steps, s)
		inSession[s.Key] = append(inSession[s.Key], s)
	}
	for _, s := range posts {
		if by := postedBy(s, inSession); by != nil {
			by.Posts = append(by.Posts, s)
		} else {
			order = append(order, &runGroup{Quiet: true, Steps: []*runStep{s}})
		}
	}
	slices.SortStableFunc(order, func(a, b *runGroup) int { return b.newest().Compare(a.newest()) })
	return order
}

// postedBy finds the run that made a post: it has the same cause, in the session whose words they are when that is known. The tool message
// has a cause of its own: then it is the run that was at work there.
func postedBy(p *runStep, inSession map[sessions.Key][]*runStep) (by *runStep) {
	for key, of := range inSession {
		if p.From != "" && p.From != key {
			continue
		}
		for _, s := range of {
			if p.Source != "" && s.Source == p.Source && !s.Created.After(p.Created) && (by == nil || s.Created.After(by.Created)) {
				by = s
			}
		}
	}
	if by == nil && p.From != "" {
		by = atWork(p.Created, inSession[p.From])
	}
	return by
}

// beganBy finds the run that was at work when s was queued, among those of the session that asked for s.
func beganBy(s *runStep, of []*runStep) *runStep {
	if s.Requester == "" {
		return nil
	}
	return atWork(s.Created, of)
}

// atWork gives the run of a session that was at work at a time.
func atWork(at time.Time, of []*runStep) *runStep {
	for _, r := range slices.Backward(of) {
		began := r.Started
		if r.Attempt > 1 {
			began = r.Created // Started is of the newest attempt, and an earlier one may have begun it
		}
		if !began.IsZero() && !began.After(at) && (r.Ended.IsZero() || !r.Ended.Before(at)) {
			return r
		}
	}
	return nil
}
