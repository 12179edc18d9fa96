package tools

import (
	"context"
	_ "embed"
	"errors"
	"strings"

	"parley/sessions"
)

//go:embed subagents.md
var subagentsText string

// The bounds of subagents.
const (
	childrenDefault = 20
	maxChildren     = 200
	logDefault      = 20
	maxLog          = 200
	maxTask         = 200 // characters of a task in the list
)

var subagentActions = []string{"list", "log", "cancel", "steer"}

type subagentsArgs struct {
	Action       string  `json:"action" jsonschema:"what to do"`
	ID           string  `json:"id,omitempty" jsonschema:"which one: number in the list, last, label, beginning of its run id, or key"`
	Message      string  `json:"message,omitempty" jsonschema:"steer: what to tell it"`
	Limit        integer `json:"limit,omitzero" jsonschema:"rows or messages; default 20, at most 200"`
	IncludeTools bool    `json:"includeTools,omitempty" jsonschema:"log: tool results too"`
}

type subagentsResult struct {
	Count      int            `json:"count"`
	Children   []childRow     `json:"children"` // started last first
	HasMore    bool           `json:"hasMore,omitempty"`
	Visibility listVisibility `json:"visibility"`
}

type childRow struct {
	Index           int            `json:"index"`
	ChildSessionKey string         `json:"childSessionKey"`
	RunID           sessions.RunID `json:"runId,omitempty"`
	Label           string         `json:"label,omitempty"`
	Task            string         `json:"task"`
	Status          string         `json:"status"`
	RuntimeSeconds  int            `json:"runtimeSeconds"`
	Model           string         `json:"model,omitempty"`
	Tokens          int            `json:"tokens"`
}

// subagentDone is the result of cancel and steer.
type subagentDone struct {
	Status          string         `json:"status"` // canceled, idle, accepted
	ChildSessionKey string         `json:"childSessionKey"`
	RunID           sessions.RunID `json:"runId,omitempty"`
	Stopped         int            `json:"stopped,omitempty"` // runs, those of sub-agents below it included that the caller sees
}

type subagents struct{ deps Deps }

// SubagentsTool is the tool subagents: it looks at and directs the sub-agents below the caller (contract N16, V4).
func SubagentsTool(d Deps) Tool { return subagents{d} }

var subagentsSchema = schemaOf[subagentsArgs](map[string][]string{"action": subagentActions})

func (subagents) Spec() Spec {
	return Spec{Name: "subagents", Description: subagentsText, Schema: subagentsSchema}
}

func (t subagents) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[subagentsArgs](c.Args)
	if bad == nil {
		args.Action = strings.ToLower(strings.TrimSpace(args.Action))
		bad = oneOf("action", args.Action, subagentActions)
	}
	if bad == nil && args.Action == "steer" {
		bad = steerArguments(args)
	}
	if bad != nil {
		return bad.result(), nil
	}
	if args.Action == "list" {
		return t.list(ctx, c.Caller, args.Limit.bound(childrenDefault, maxChildren))
	}
	child, err := t.deps.Child(ctx, c.Caller, args.ID)
	if no, ok := errors.AsType[*NoChild](err); ok {
		return mistake("%s", no.Reason).result(), nil
	}
	if err != nil {
		return Result{}, err
	}
	switch args.Action {
	case "log":
		return t.log(ctx, c.Caller, child, reading{limit: args.Limit.bound(logDefault, maxLog), tools: args.IncludeTools})
	case "cancel":
		return t.cancel(ctx, c, child)
	}
	return t.steer(ctx, c, child, args.Message)
}

func steerArguments(a subagentsArgs) *problem {
	switch {
	case strings.TrimSpace(a.Message) == "":
		return mistake("message is required: what to tell the sub-agent")
	case len(a.Message) > maxText:
		return mistake("message has %d bytes; %d are allowed", len(a.Message), maxText)
	}
	return nil
}

func (t subagents) list(ctx context.Context, c Caller, limit int) (Result, error) {
	list, total, err := t.deps.Children(ctx, c, limit)
	if err != nil {
		return Result{}, err
	}
	r := subagentsResult{Children: []childRow{}, Visibility: t.deps.visibility(c)}
	now, room := t.deps.now(), maxRows-slack
	for _, x := range list {
		task, _ := clip(x.Task, maxTask)
		row := childRow{Index: x.Index, ChildSessionKey: string(x.Session.Key), RunID: x.Run.ID, Label: x.Label, Task: task, Status: x.Status(),
			RuntimeSeconds: int(x.Runtime(now).Seconds()), Model: x.Model, Tokens: x.Session.Usage.Total()}
		if room -= len(encode(row)) + 1; room < 0 {
			break
		}
		r.Children = append(r.Children, row)
	}
	r.Count = len(r.Children)
	r.HasMore = total > r.Count
	return reply(r), nil
}

func (t subagents) log(ctx context.Context, c Caller, child Child, want reading) (Result, error) {
	r, err := t.deps.history(ctx, c, child.Session, want)
	if errors.Is(err, sessions.ErrNotFound) {
		return unknownSession(string(child.Session.Key)).result(), nil
	}
	if err != nil {
		return Result{}, err
	}
	return reply(r), nil
}

// Log gives the newest messages of a sub-agent as its parent is shown them, oldest first, and whether there are older ones.
func (d Deps) Log(ctx context.Context, c Caller, child Child, limit int, withTools bool) (msgs []sessions.Message, more bool, err error) {
	r, err := d.history(ctx, c, child.Session, reading{limit: min(max(limit, 1), maxLog), tools: withTools})
	return r.Messages, r.HasMore, err
}

func (t subagents) cancel(ctx context.Context, c Call, child Child) (Result, error) {
	stopped, err := t.deps.Host.Cancel(ctx, c.Source(), child.Session.Key)
	if err != nil {
		return refusal(err)
	}
	n := 0
	for _, run := range stopped { // those that the caller does not see have ended as well, and are not told of (contract V4)
		if s, err := t.deps.Store.Get(ctx, run.Key); err == nil && t.deps.sees(ctx, c.Caller, s) {
			n++
		}
	}
	r := subagentDone{Status: "canceled", ChildSessionKey: string(child.Session.Key), Stopped: n}
	if n > 0 {
		return reply(r), nil
	}
	now := Child{Session: child.Session}
	if err := t.deps.describe(ctx, &now); err != nil {
		return Result{}, err
	}
	if now.Run.Status != sessions.Stopped { // else it was canceled before, by this very call perhaps
		r.Status = "idle"
	}
	return reply(r), nil
}

func (t subagents) steer(ctx context.Context, c Call, child Child, text string) (Result, error) {
	if child.Session.Archived {
		return mistake("%s is archived. Start a new sub-agent instead.", child.Session.Key).result(), nil
	}
	run, err := t.deps.Host.Steer(ctx, SteerRequest{Source: c.Source(), From: c.Caller.Session, Run: c.Caller.Run, Child: child.Session.Key, Message: text})
	if err != nil {
		return refusal(err)
	}
	return reply(subagentDone{Status: "accepted", ChildSessionKey: string(run.Key), RunID: run.ID}), nil
}
