package tools

import (
	"context"
	_ "embed"

	"parley/sessions"
)

//go:embed sessions_yield.md
var sessionsYieldText string

// Yield is the name of SessionsYield.
const Yield = "sessions_yield"

// maxYield is how many sub-agents a result names.
const maxYield = 50

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
// waits, and so it does in a turn that another session waits for. Elsewhere it ends the turn, and what was waited for comes as a message: only when something is sure to come.
func SessionsYield(d Deps) Tool { return sessionsYield{d} }

var sessionsYieldSchema = schemaOf[yieldArgs](nil)

func (sessionsYield) Spec() Spec {
	return Spec{Name: Yield, Description: sessionsYieldText, Schema: sessionsYieldSchema}
}

func (t sessionsYield) Call(ctx context.Context, c Call) (Result, error) {
	if _, bad := decode[yieldArgs](c.Args); bad != nil {
		return bad.result(), nil
	}
	r := yieldResult{Status: "resumed"}
	switch {
	case c.Caller.Run.Kind == sessions.AskRun && !subagent(c.Caller.Session): // another session waits for what this turn says (contract S16)
		if bad, err := t.wakes(ctx, c.Caller); bad != nil || err != nil {
			return bad.orError(err)
		}
		if err := t.deps.Host.Idle(ctx, c.Caller); err != nil {
			return Result{}, err
		}
	case !subagent(c.Caller.Session):
		if bad, err := t.wakes(ctx, c.Caller); bad != nil || err != nil {
			return bad.orError(err)
		}
		r.Status = "yielded"
	case c.Caller.Run.Kind != sessions.ChildRun:
		return mistake("There is nothing to wait for in this turn: another session asked you something. Answer that session. Results of sub-agents come in later turns.").result(), nil
	default:
		if err := t.deps.Host.Idle(ctx, c.Caller); err != nil {
			return Result{}, err
		}
	}
	var err error
	if r.Children, err = t.children(ctx, c.Caller); err != nil {
		return Result{}, err
	}
	out := reply(r)
	out.Yield = r.Status == "yielded"
	return out, nil
}

// wakes reports with nil that something will begin another turn of the caller's session: a result waits there, or a sub-agent is at
// work whose result comes to its agent. An answer to a send is no such thing, as a send that fails brings none.
func (t sessionsYield) wakes(ctx context.Context, c Caller) (*problem, error) {
	own := c.Session.Key
	queued, err := t.deps.Store.ListRuns(ctx, sessions.RunQuery{Key: own, Status: sessions.Queued, Limit: maxTree})
	if err != nil {
		return nil, err
	}
	for _, r := range queued {
		if r.Kind == sessions.ResultRun {
			return nil, nil
		}
	}
	below := false
	for _, status := range []sessions.RunStatus{sessions.Queued, sessions.Running} {
		runs, err := t.deps.Store.ListRuns(ctx, sessions.RunQuery{Parent: own, Status: status, Limit: maxTree})
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if t.comesBack(r) {
				return nil, nil
			}
			below = true
		}
	}
	if below {
		return mistake("The host posts results of sub-agents into this chat, so they do not wake you. Finish your turn, and tell people what you have started."), nil
	}
	return mistake("There is nothing to wait for: no sub-agent of this session is running. Finish your turn. To wait for another session's answer call sessions_send with timeoutSeconds."), nil
}

// comesBack reports whether the result of a run below goes to the agent that asked for it, not into a chat (contract N16).
func (t sessionsYield) comesBack(r sessions.Run) bool {
	if r.Kind != sessions.ChildRun {
		return false // its report is being worded for a chat
	}
	requester := t.deps.Announce != nil && t.deps.Announce() == "requester"
	return requester || r.Chain != nil && r.Chain.Origin.IsZero()
}

// children says how the session's own sub-agents stand, those left out that had ended before the turn was asked for: it does not wait for them.
func (t sessionsYield) children(ctx context.Context, c Caller) ([]yieldChild, error) {
	list, _, err := t.deps.Children(ctx, c, maxYield)
	out := []yieldChild{}
	for _, x := range list {
		earlier := !x.Run.Ended.IsZero() && x.Run.Ended.Before(c.Run.Created)
		if x.Session.SpawnedBy == c.Session.Key && !earlier {
			out = append(out, yieldChild{ChildSessionKey: string(x.Session.Key), Label: x.Label, Status: x.Status()})
		}
	}
	return out, err
}
