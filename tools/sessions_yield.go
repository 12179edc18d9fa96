package tools

import (
	"context"
	_ "embed"
	"slices"

	"parley/sessions"
)

//go:embed sessions_yield.md
var sessionsYieldText string

// yieldScan is how many open runs are looked at for sends of the caller; yieldMost how many sub-agents a result names.
const (
	yieldScan = 1000
	yieldMost = 50
)

type yieldArgs struct{}

type yieldResult struct {
	Status   string       `json:"status"` // resumed or yielded
	Children []yieldChild `json:"children"`
}

type yieldChild struct {
	ChildSessionKey string `json:"childSessionKey"`
	Label           string `json:"label,omitempty"`
	Status          string `json:"status"`
}

type sessionsYield struct{ deps Deps }

// SessionsYield is the tool sessions_yield (contract N16). A sub-agent's turn must not end before its work is done: there the call
// waits. Elsewhere it ends the turn, and what was waited for comes as a message.
func SessionsYield(d Deps) Tool { return sessionsYield{d} }

var sessionsYieldSchema = schemaOf[yieldArgs](nil)

func (sessionsYield) Spec() Spec {
	return Spec{Name: "sessions_yield", Description: sessionsYieldText, Schema: sessionsYieldSchema}
}

func (t sessionsYield) Call(ctx context.Context, c Call) (Result, error) {
	if _, bad := decode[yieldArgs](c.Args); bad != nil {
		return bad.result(), nil
	}
	r := yieldResult{Status: "resumed"}
	if subagent(c.Caller.Session) {
		if err := t.deps.Host.Idle(ctx, c.Caller); err != nil {
			return Result{}, err
		}
	} else {
		open, err := t.open(ctx, c.Caller)
		if err != nil {
			return Result{}, err
		}
		if !open {
			return mistake("There is nothing to wait for: no sub-agent of this session is at work and no message of yours is without its answer. Finish your turn.").result(), nil
		}
		r.Status = "yielded"
	}
	var err error
	if r.Children, err = t.children(ctx, c.Caller); err != nil {
		return Result{}, err
	}
	out := reply(r)
	out.Yield = r.Status == "yielded"
	return out, nil
}

// open reports whether something is to come for a session: a sub-agent is at work, a result of one waits, a session that it wrote
// to has not answered.
func (t sessionsYield) open(ctx context.Context, c Caller) (bool, error) {
	own := c.Session.Key
	below, err := t.deps.atWork(ctx, own)
	if err != nil || len(below) > 0 {
		return len(below) > 0, err
	}
	for _, status := range []sessions.RunStatus{sessions.Queued, sessions.Running} {
		runs, err := t.deps.Store.ListRuns(ctx, sessions.RunQuery{Status: status, Limit: yieldScan})
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(runs, func(r sessions.Run) bool {
			switch r.Kind {
			case sessions.ResultRun:
				return r.Key == own && r.ID != c.Run.ID
			case sessions.AskRun, sessions.ReplyRun:
				return r.Chain != nil && r.Chain.Requester == own && r.ID != c.Run.ID
			}
			return false
		}) {
			return true, nil
		}
	}
	return false, nil
}

// children says how the session's own sub-agents stand.
func (t sessionsYield) children(ctx context.Context, c Caller) ([]yieldChild, error) {
	list, _, err := t.deps.Children(ctx, c, yieldMost)
	out := []yieldChild{}
	for _, x := range list {
		if x.Session.SpawnedBy == c.Session.Key {
			out = append(out, yieldChild{ChildSessionKey: string(x.Session.Key), Label: x.Label, Status: x.Status()})
		}
	}
	return out, err
}
