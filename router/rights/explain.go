package rights

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

// ToolQuery asks what a turn might use. Empty fields are taken from the session; without one, from the agent's direct chat with an
// owner.
type ToolQuery struct {
	Tool      string // only this one; need not exist
	Agent     sessions.AgentID
	Session   sessions.Key
	ChatType  channels.ChatType
	Sender    string // owner, other, or an id or @username of the session's channel
	Subagent  bool   // a sub-agent of that turn
	Sandboxed bool
}

// ToolTable is the answer: whom it is about, and each tool with what every layer says.
type ToolTable struct {
	Agent     sessions.AgentID    `json:"agent"`
	Session   sessions.Key        `json:"session,omitempty"`
	ChatTypes []channels.ChatType `json:"chatTypes,omitempty"`
	Senders   []tools.Sender      `json:"senders"`
	Subagent  bool                `json:"subagent"`
	Sandboxed bool                `json:"sandboxed"`
	Tools     []ToolVerdict       `json:"tools"`
}

// ToolVerdict is what is decided about one tool. The verdict of a layer says what it would say alone; the tool can be used when
// all layers allow it.
type ToolVerdict struct {
	Name    string           `json:"name"`
	Known   bool             `json:"known"`
	About   string           `json:"about,omitempty"` // first sentence of its description
	Verdict policy.Verdict   `json:"verdict"`
	Layers  []policy.Verdict `json:"layers"`
}

// ErrQuery marks what is wrong with a ToolQuery.
var ErrQuery = errors.New("cannot be explained")

// ExplainTools says which tools a turn would have, and which layer decides.
func (r *Resolver) ExplainTools(ctx context.Context, q ToolQuery) (ToolTable, error) {
	set := r.settings()
	x, f, err := r.imagine(ctx, set, q)
	if err != nil {
		return ToolTable{}, err
	}
	t := ToolTable{Agent: f.Agent, Session: q.Session, ChatTypes: f.Chats, Senders: f.Senders(), Subagent: f.Sub, Sandboxed: f.Sandboxed, Tools: []ToolVerdict{}}
	layers := tools.Rules(set.Tools, f)
	toolset := r.toolsetFor(ctx, set.Sandboxed(x.Key) || q.Sandboxed)
	for _, tool := range toolset {
		spec := tool.Spec()
		if q.Tool == "" || strings.EqualFold(q.Tool, spec.Name) {
			about, _, _ := strings.Cut(spec.Description, ". ")
			t.Tools = append(t.Tools, verdictOn(spec.Name, layers, true, strings.TrimSuffix(strings.TrimSpace(about), ".")))
		}
	}
	if q.Tool != "" && len(t.Tools) == 0 {
		t.Tools = append(t.Tools, missingToolVerdict(q.Tool, layers, set.Tools.MCP.Servers))
	}
	return t, nil
}

// missingToolVerdict is the verdict on a tool that no turn has: the rules of the MCP server that its name belongs to took it away, or there is none.
func missingToolVerdict(name string, layers []policy.ToolRules, servers map[string]tools.MCPServer) ToolVerdict {
	x := verdictOn(name, layers, false, "")
	none := policy.Verdict{Action: policy.Deny, Rule: "tools", Reason: "there is no such tool now"}
	for server, conf := range servers {
		own, ok := strings.CutPrefix(name, server+"_")
		if !ok {
			continue
		}
		if v := policy.Permits(own, policy.ToolRules{Name: "tools.mcp.servers." + server, Allow: conf.Allow, Deny: conf.Deny}); !v.Allowed() {
			none = v
		}
	}
	x.Verdict, x.Layers = none, append(x.Layers, none)
	return x
}

func verdictOn(name string, layers []policy.ToolRules, known bool, about string) ToolVerdict {
	return ToolVerdict{Name: name, Known: known, About: about, Verdict: policy.Permits(name, layers...), Layers: policy.ToolVerdicts(name, layers...)}
}

// imagine makes the turn that a query is about.
func (r *Resolver) imagine(ctx context.Context, set *settings.Snapshot, q ToolQuery) (x sessions.Session, f tools.Facts, err error) {
	ids, def := set.Agents.IDs()
	x = sessions.Session{Key: sessions.MainKey(cmp.Or(q.Agent, def)), Agent: cmp.Or(q.Agent, def)}
	if q.Session != "" {
		if x, err = r.store.Get(ctx, q.Session); err != nil {
			return x, f, err
		}
	}
	if q.Agent != "" {
		x.Agent = q.Agent
	}
	if !slices.Contains(ids, x.Agent) {
		return x, f, fmt.Errorf("%w: there is no agent %q; there are %s", ErrQuery, x.Agent, sessions.JoinIDs(ids))
	}
	a, from, err := r.Lineage(ctx, x, sessions.Run{Key: x.Key, Kind: sessions.AskRun, Chain: &sessions.Chain{Owner: true}})
	if err != nil {
		return x, f, err
	}
	if q.Session == "" && q.ChatType == "" {
		q.ChatType = channels.Direct
	}
	if q.ChatType != "" {
		if q.ChatType != channels.Direct && !q.ChatType.Several() {
			return x, f, fmt.Errorf("%w: %q is not a kind of chat; write direct, group or channel", ErrQuery, q.ChatType)
		}
		if len(from) == 0 {
			from = []sessions.Place{{}}
		}
		for i := range from {
			from[i].Chat.Type = q.ChatType
		}
	}
	if q.Sender != "" || !sessions.IsSubagent(x.Key) {
		a = senderNamed(set, q.Sender, from)
	}
	f = factsOf(set, x, a, from)
	if q.Subagent && !f.Sub {
		child := x
		child.Key, child.Above, child.SpawnedBy = sessions.SubagentKey(x.Agent, "?"), []sessions.AgentID{x.Agent}, x.Key
		sandboxed := f.Sandboxed
		f = factsOf(set, child, a, from)
		f.Sandboxed = f.Sandboxed || sandboxed
	}
	f.Sandboxed = f.Sandboxed || q.Sandboxed
	return x, f, nil
}

// sender reads whom a turn is to answer: an owner when nothing is said, or somebody whom no list names, or one person of the channel.
func senderNamed(s *settings.Snapshot, name string, from []sessions.Place) Requesters {
	var kind channels.Kind
	if len(from) > 0 {
		kind = from[0].Chat.Channel
	}
	nobody := []sessions.Person{{Channel: kind}} // whom no list names
	switch name {
	case "", string(tools.FromOwner):
		return Requesters{Owner: true, People: nobody}
	case string(tools.FromOther):
		return Requesters{People: nobody}
	}
	u := channels.Sender{ID: channels.UserID(name)}
	if rest, ok := strings.CutPrefix(name, "@"); ok {
		u = channels.Sender{Username: rest}
	}
	return Requesters{Owner: s.Owners.Is(kind, s.Person(kind, u)), People: []sessions.Person{{Channel: kind, ID: u.ID, User: u.Username}}}
}
