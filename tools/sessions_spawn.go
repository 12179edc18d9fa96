package tools

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/sessions"
)

//go:embed sessions_spawn.md
var sessionsSpawnText string

const (
	maxSpawnTimeout = 7 * 24 * 3600 // seconds
	maxLabel        = 64            // characters
)

var cleanups = []string{"keep", "delete"}

type spawnArgs struct {
	Task              string  `json:"task" jsonschema:"what to do, complete in itself: the sub-agent does not see this chat"`
	Label             string  `json:"label,omitempty" jsonschema:"short name, at most 64 characters"`
	AgentID           string  `json:"agentId,omitempty" jsonschema:"an agent of agents_list; default your own"`
	Model             string  `json:"model,omitempty" jsonschema:"provider/model; default the agent's"`
	RunTimeoutSeconds integer `json:"runTimeoutSeconds,omitzero" jsonschema:"end it after this long; default 0 = no limit"`
	Cleanup           string  `json:"cleanup,omitempty" jsonschema:"keep (default) or delete the sub-agent's session after its report"`
}

type spawnResult struct {
	Status          string         `json:"status"`
	RunID           sessions.RunID `json:"runId"`
	ChildSessionKey string         `json:"childSessionKey"`
	ReportTo        string         `json:"reportTo,omitempty"` // the chat that the report goes to, when it is not the one that is answered; none = there is none
}

type sessionsSpawn struct{ deps Deps }

// SessionsSpawn is the tool sessions_spawn (contract N2–N6, N8).
func SessionsSpawn(d Deps) Tool { return sessionsSpawn{d} }

var sessionsSpawnSchema = schemaOf[spawnArgs](map[string][]string{"cleanup": cleanups})

func (sessionsSpawn) Spec() Spec {
	return Spec{Name: "sessions_spawn", Description: sessionsSpawnText, Schema: sessionsSpawnSchema}
}

func (t sessionsSpawn) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[spawnArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	if bad := t.deps.deep(c.Caller.Session); bad != nil {
		return bad.result(), nil
	}
	q := SpawnRequest{
		Source: c.Source(), From: c.Caller, Task: args.Task, Label: strings.TrimSpace(args.Label), Model: strings.TrimSpace(args.Model),
		Timeout: args.RunTimeoutSeconds.or(0), Cleanup: args.Cleanup,
	}
	if q.Cleanup == "" {
		q.Cleanup = "keep"
	}
	if bad := spawnArguments(args, q); bad != nil {
		return bad.result(), nil
	}
	if q.Agent, bad = t.deps.spawnable(c.Caller.Session.Agent, args.AgentID); bad != nil {
		return bad.result(), nil
	}
	if q.Model != "" {
		if err := t.deps.Host.ModelKnown(q.Model); err != nil {
			return mistake("cannot use model %q: %v", q.Model, err).result(), nil
		}
	}
	run, err := t.deps.Host.Spawn(ctx, q)
	if err != nil {
		return refusal(err)
	}
	return reply(spawnResult{Status: "accepted", RunID: run.ID, ChildSessionKey: string(run.Key), ReportTo: reportTo(c.Caller, run)}), nil
}

// reportTo names the chat that a report goes to when the answer of the caller's turn goes elsewhere. What sub-agents start reports to them.
func reportTo(c Caller, run sessions.Run) string {
	switch {
	case run.Chain == nil || Depth(c.Session) > 0 || run.Chain.Origin == c.Run.Reply && !c.Run.Reply.IsZero():
		return ""
	case run.Chain.Origin.IsZero():
		return "none"
	}
	return run.Chain.Origin.String()
}

// deep refuses a sub-agent that is as deep as sub-agents may be (contract N8).
func (d Deps) deep(s sessions.Session) *problem {
	depth, most := Depth(s), 1
	if d.SpawnDepth != nil {
		most = d.SpawnDepth()
	}
	switch {
	case depth < most:
		return nil
	case depth == 1:
		return forbidden("sessions_spawn is not allowed from sub-agent sessions. Do the task yourself.")
	}
	return forbidden("sessions_spawn is not allowed at this depth (depth %d, agents.defaults.subagents.maxSpawnDepth is %d). Do the task yourself.", depth, most)
}

func spawnArguments(a spawnArgs, q SpawnRequest) *problem {
	switch {
	case strings.TrimSpace(a.Task) == "":
		return mistake("task is required: what the sub-agent should do")
	case len(a.Task) > maxText:
		return mistake("task has %d bytes; %d are allowed", len(a.Task), maxText)
	case utf8.RuneCountInString(q.Label) > maxLabel:
		return mistake("label has more than %d characters", maxLabel)
	}
	if bad := oneOf("cleanup", q.Cleanup, cleanups); bad != nil {
		return bad
	}
	return seconds("runTimeoutSeconds", a.RunTimeoutSeconds, maxSpawnTimeout, "no limit")
}

// Agents gives the agents that from may spawn, as agents_list does: itself first.
func (d Deps) Agents(from sessions.AgentID) []AgentInfo {
	ids, _ := d.allowed(from)
	return ids
}

// allowed gives the agents that from may spawn, itself first and the others sorted, and whether it may spawn any (contract N1, N3).
func (d Deps) allowed(from sessions.AgentID) (ids []AgentInfo, anyAgent bool) {
	var list []string
	if d.AllowAgents != nil {
		list = d.AllowAgents(from)
	}
	own := AgentInfo{ID: from}
	for _, a := range d.Host.Agents() {
		for _, p := range list {
			anyAgent = anyAgent || strings.TrimSpace(p) == "*"
		}
		named := slices.ContainsFunc(list, func(p string) bool { return strings.EqualFold(strings.TrimSpace(p), string(a.ID)) })
		switch {
		case a.ID == from:
			own = a
		case anyAgent || named:
			ids = append(ids, a)
		}
	}
	slices.SortFunc(ids, func(a, b AgentInfo) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return append([]AgentInfo{own}, ids...), anyAgent
}

// spawnable gives the agent that from asks for, its own when it names none.
func (d Deps) spawnable(from sessions.AgentID, name string) (sessions.AgentID, *problem) {
	name = strings.ToLower(strings.TrimSpace(name))
	ids, anyAgent := d.allowed(from)
	if name == "" {
		return from, nil
	}
	names := make([]string, len(ids))
	for i, a := range ids {
		if strings.EqualFold(string(a.ID), name) {
			return a.ID, nil
		}
		names[i] = string(a.ID)
	}
	if anyAgent {
		return "", forbidden("agent %q does not exist; there are: %s", name, strings.Join(names, ", "))
	}
	return "", forbidden("agent %q is not allowed for sessions_spawn (allowed: %s). The owner can add agents to agents.list[].subagents.allowAgents.", name, strings.Join(names, ", "))
}

// refusal turns a Host's refusal into a result for the model. A fault of the host stays an error.
func refusal(err error) (Result, error) {
	if r, ok := errors.AsType[*Refused](err); ok {
		return forbidden("%s", r.Reason).result(), nil
	}
	if errors.Is(err, sessions.ErrStopped) {
		return forbidden("this turn was stopped: the host starts and sends nothing more for it").result(), nil
	}
	if errors.Is(err, sessions.ErrConflict) { // by whom is not told: the caller may not see that session (contract V4)
		return mistake("that label is already in use").result(), nil
	}
	if errors.Is(err, sessions.ErrNotFound) {
		return mistake("%v", err).result(), nil
	}
	return Result{}, fmt.Errorf("session tool: %w", err)
}

// resultStatus reads the status of a tool result.
func resultStatus(text string) (string, bool) {
	var v struct {
		Status string `json:"status"`
	}
	if json.Unmarshal([]byte(text), &v) != nil {
		return "", false
	}
	return v.Status, v.Status != ""
}
