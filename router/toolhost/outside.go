package toolhost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/channels"
	"parley/policy"
	"parley/router/chain"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// externalTools are the tools that an external agent may be given; the rights layers decide on each.
var externalTools = []string{"sessions_list", "sessions_history", "sessions_search", "sessions_send", "sessions_spawn", "session_status", "agents_list", "message"}

// ExternalAgent is an agent that is not one of this host's: it calls session tools from outside, over MCP.
type ExternalAgent struct {
	Name  string // of the principal; its session is named after it
	Owner bool   // its words count as the owner's
}

// ExternalCall is one tool call of an external agent.
type ExternalCall struct {
	By   ExternalAgent
	Conn string // names the connection that the call came over
	ID   string // of the call, unique in its connection: a repeat has no second effect (contract S14)
	Tool string
	Args json.RawMessage // a JSON object; it is checked against the tool's schema
}

// externalKey is the session that an external agent calls from.
func externalKey(s *settings.Snapshot, name string) sessions.Key {
	_, agent := s.Agents.IDs()
	return sessions.Parts{Form: sessions.FormOther, Agent: agent, Channel: chain.ExternalKind, ID: name}.Key()
}

// ExternalTools lists the tools that an external agent may use now.
func (h *Host) ExternalTools(ctx context.Context, by ExternalAgent) ([]tools.Spec, error) {
	caller, err := h.externalCaller(ctx, by, "")
	if err != nil {
		return nil, err
	}
	may, err := h.rights.Of(ctx, h.settings(), caller.Session, caller.Run, nil)
	if err != nil {
		return nil, err
	}
	var out []tools.Spec
	for _, t := range may.Permitted(h.rights.Tools) {
		if s := t.Spec(); slices.Contains(externalTools, s.Name) {
			out = append(out, s)
		}
	}
	return out, nil
}

// CallExternal makes a tool call on behalf of an external agent, under the same rights, visibility and send policy as calls of this host's
// agents. It may block as long as the tool's arguments say; the end of ctx ends the wait, not what was begun. An error is a fault of
// the host; everything else is a result that says what is wrong.
func (h *Host) CallExternal(ctx context.Context, c ExternalCall) (res tools.Result, err error) {
	defer channels.RecoverPanic(h.log, "outside", &err)
	i := slices.IndexFunc(h.rights.Tools, func(t tools.Tool) bool { return t.Spec().Name == c.Tool })
	if i < 0 || !slices.Contains(externalTools, c.Tool) {
		return tools.Forbidden("There is no tool %.100q. Nothing was done. The tools are: %s.", c.Tool, strings.Join(externalTools, ", ")), nil
	}
	spec := h.rights.Tools[i].Spec()
	args := c.Args
	if text := string(bytes.TrimSpace(args)); text == "" || text == "null" { // as clients write that there are none
		args = json.RawMessage("{}")
	}
	args, ignored, refused := tools.FitArguments(spec, args)
	if refused != nil {
		return *refused, nil
	}
	if err := fits(spec.Schema, args); err != nil {
		return tools.Mistake("The arguments of %s do not fit its schema: %.2000s. Nothing was done.", c.Tool, tools.SchemaProblem(err)), nil
	}
	caller, err := h.externalCaller(ctx, c.By, c.Conn)
	if err != nil {
		return res, err
	}
	set := h.settings()
	may, err := h.rights.Of(ctx, set, caller.Session, caller.Run, nil)
	if err != nil {
		return res, err
	}
	if v, _ := may.Verdict(c.Tool); !v.Allowed() {
		return refusedExternal(c.Tool, v), nil
	}
	if caller.Session.ID == "" || caller.Session.Archived {
		if caller.Session, err = h.openExternal(ctx, caller.Session); err != nil {
			return res, err
		}
	}
	limited := ctx
	if spec.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, spec.Timeout)
		defer cancel()
	}
	h.log.Info("external agent calls a tool", keySession, caller.Session.Key, "tool", c.Tool)
	res, err = may.Guard(h.rights.Tools[i]).Call(limited, tools.Call{ID: c.ID, Args: args, Caller: caller, Progress: func(string) {}})
	return tools.WithIgnored(res, ignored), err
}

func refusedExternal(tool string, v policy.Verdict) tools.Result {
	return tools.Forbidden("external agents may not use %s: %s (%s). Nothing was done.", tool, v.Reason, strings.TrimSpace(v.Rule))
}

// externalCaller makes the caller of an external agent: its session as it stands, or as it will be made, and a run that is kept nowhere. The
// run's id is that of the connection, so that the same call over it has the same source.
func (h *Host) externalCaller(ctx context.Context, by ExternalAgent, conn string) (tools.Caller, error) {
	set := h.settings()
	key := externalKey(set, by.Name)
	s, err := h.store.Get(ctx, key)
	if errors.Is(err, sessions.ErrNotFound) {
		s, err = sessions.Session{Key: key, Agent: key.Agent(), Title: channels.TitleOf(channels.Inbound{Title: by.Name})}, nil
	}
	id := sessions.RunID(sessions.IDFor("mcp:"+by.Name+":"+conn, "connection"))
	run := sessions.Run{ID: id, Kind: sessions.TurnRun, Key: key, Agent: key.Agent(), Status: sessions.Running, Session: s.ID,
		Input: sessions.Message{Role: sessions.User, Time: time.Now(), Run: id,
			Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: by.Name, Owner: by.Owner, Tool: string(chain.ExternalKind)}}}
	return tools.Caller{Session: s, Run: run, Sandboxed: set.Sandboxed(key), Owner: by.Owner}, err
}

// openExternal makes the session of an external agent, or takes it out of the archive.
func (h *Host) openExternal(ctx context.Context, s sessions.Session) (sessions.Session, error) {
	acc, err := h.commit.Submit(ctx, sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: s.Key, Agent: s.Agent, Title: s.Title}}})
	return acc.Session, err
}

// fits checks arguments against a tool's schema.
func fits(schema, args json.RawMessage) error {
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		return err
	}
	if _, ok := v.(map[string]any); !ok {
		return errors.New("the arguments are not a JSON object")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return fmt.Errorf("read schema: %w", err)
	}
	return resolved.Validate(v)
}
