package tools

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"time"

	"parley/sessions"
)

//go:embed session_status.md
var sessionStatusText string

// statusScan is how many open runs of a session are counted.
const statusScan = 1000

type statusArgs struct {
	SessionKey string `json:"sessionKey,omitempty" jsonschema:"key or session id; default this session"`
}

type statusResult struct {
	Key           string           `json:"key"`
	Kind          string           `json:"kind"`
	Channel       string           `json:"channel"`
	Label         string           `json:"label,omitempty"`
	SessionID     sessions.ID      `json:"sessionId"`
	Agent         sessions.AgentID `json:"agent"`
	Model         string           `json:"model,omitempty"`
	ContextTokens int              `json:"contextTokens"` // of the last model call
	TokensIn      int              `json:"tokensIn"`      // since the last reset
	TokensOut     int              `json:"tokensOut"`
	Turns         int              `json:"turns"`
	TurnsByAgents int              `json:"turnsByAgents"` // those that other agents caused
	Queued        int              `json:"queued"`        // runs that wait
	Running       *statusRun       `json:"running,omitempty"`
	AtWork        int              `json:"subagentsAtWork"`
	SendPolicy    string           `json:"sendPolicy,omitempty"` // overridden only
	Archived      bool             `json:"archived,omitempty"`
	UpdatedAt     int64            `json:"updatedAt"` // ms
	Now           string           `json:"now"`       // RFC 3339: the model reads it
}

type statusRun struct {
	RunID sessions.RunID `json:"runId"`
	Since int64          `json:"since"` // ms
}

type sessionStatus struct{ deps Deps }

// SessionStatus is the tool session_status: how a session that the caller sees stands (contract V4).
func SessionStatus(d Deps) Tool { return sessionStatus{d} }

var sessionStatusSchema = schemaOf[statusArgs](nil)

func (sessionStatus) Spec() Spec {
	return Spec{Name: "session_status", Description: sessionStatusText, Schema: sessionStatusSchema}
}

func (t sessionStatus) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[statusArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	if strings.TrimSpace(args.SessionKey) == "" {
		args.SessionKey = currentWord
	}
	s, bad, err := t.deps.find(ctx, c.Caller, args.SessionKey, "status")
	if err != nil || bad != nil {
		return bad.orError(err)
	}
	if s.Key == c.Caller.Session.Key { // as it stands now, not when the turn began
		if s, err = t.deps.Store.Get(ctx, s.Key); errors.Is(err, sessions.ErrNotFound) {
			s, err = c.Caller.Session, nil
		}
	}
	if err != nil {
		return Result{}, err
	}
	r, err := t.card(ctx, c.Caller, s)
	if err != nil {
		return Result{}, err
	}
	return reply(r), nil
}

func (t sessionStatus) card(ctx context.Context, c Caller, s sessions.Session) (statusResult, error) {
	name := shown{redact: t.deps.Redact, block: 200}
	now := t.deps.now()
	r := statusResult{
		Key: t.deps.display(c, s), Kind: t.deps.kind(s), Channel: t.deps.channel(s), Label: name.text(s.Label), SessionID: s.ID, Agent: s.Agent,
		Model: t.deps.model(s), ContextTokens: s.Context, TokensIn: s.Usage.Input, TokensOut: s.Usage.Output, Turns: s.Turns, TurnsByAgents: s.ByAgents,
		SendPolicy: string(s.Settings.SendPolicy), Archived: s.Archived, UpdatedAt: s.Updated.UnixMilli(), Now: now.Format(time.RFC3339),
	}
	queued, err := t.deps.Store.ListRuns(ctx, sessions.RunQuery{Key: s.Key, Status: sessions.Queued, Limit: statusScan})
	if err != nil {
		return r, err
	}
	r.Queued = len(queued)
	running, err := t.deps.Store.ListRuns(ctx, sessions.RunQuery{Key: s.Key, Status: sessions.Running, Limit: 1})
	if err != nil {
		return r, err
	}
	if len(running) > 0 {
		r.Running = &statusRun{RunID: running[0].ID, Since: running[0].Started.UnixMilli()}
	}
	below, err := lineage{t.deps.Store}.atWork(ctx, s.Key)
	if err != nil {
		return r, err
	}
	for _, key := range below {
		child, err := t.deps.Store.Get(ctx, key)
		switch {
		case errors.Is(err, sessions.ErrNotFound):
		case err != nil:
			return r, err
		case t.deps.sees(ctx, c, child):
			r.AtWork++
		}
	}
	return r, nil
}

// model gives the model that a session uses.
func (d Deps) model(s sessions.Session) string {
	if d.ModelOf == nil {
		return s.Settings.Model
	}
	return d.ModelOf(s)
}
