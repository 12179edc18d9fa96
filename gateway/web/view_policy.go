package web

import (
	"net/http"
	"strings"

	"parley/channels"
	"parley/gateway/api"
	"parley/policy"
	"parley/router/rights"
)

// policyView is view_policy.html.
type policyView struct {
	Rules     api.SendRules
	Overrides []api.Session // those with a send policy of their own
	Rows      []api.Session // to pick from
	Names     names
	Try       policyTry
	Tools     toolsTry
}

// policyTry is the tester of the send policy.
type policyTry struct {
	Session, To string
	Asked       bool
	api.Explanation
	Refused refusal
}

// toolsTry is the tester of the tool rules.
type toolsTry struct {
	Query   api.ToolsQuery
	Asked   bool
	Table   rights.ToolTable
	Refused refusal
}

func (s site) policy(r *http.Request) (any, error) {
	v := policyView{}
	var err error
	if r.Header.Get("HX-Target") == "tried" { // only the answer is shown again
		if v.Try, err = s.tryPolicy(r); v.Try.Asked {
			v.Names = s.names(r)
		}
		return v, err
	}
	if v.Rules, err = call[api.SendRules](s, r, "policy.rules", &api.None{}); err != nil {
		return nil, err
	}
	if v.Rows, err = call[[]api.Session](s, r, "sessions.list", &api.SessionsQuery{Limit: 1000}); err != nil {
		return nil, err
	}
	agents, err := call[[]api.Agent](s, r, "agents.list", &api.None{})
	if err != nil {
		return nil, err
	}
	v.Names = s.namesOf(r, v.Rows, agents)
	for _, x := range v.Rows {
		if x.SendPolicy != policy.Inherit {
			v.Overrides = append(v.Overrides, x)
		}
	}
	v.Try, err = s.tryPolicy(r)
	return v, err
}

func (s site) tryPolicy(r *http.Request) (t policyTry, err error) {
	q := r.URL.Query()
	t.Session, t.To = strings.TrimSpace(q.Get("session")), strings.TrimSpace(q.Get("to"))
	if !q.Has("session") && !q.Has("to") {
		return t, nil
	}
	session, err := s.pick(r, t.Session)
	if err == nil {
		t.Explanation, err = call[api.Explanation](s, r, "policy.explain", &api.ExplainQuery{Session: session, To: t.To})
	}
	if f, ok := refusedBy(err, "session", "to"); ok {
		t.Refused = f
		return t, nil
	}
	t.Asked = err == nil
	return t, err
}

func (s site) tryTools(r *http.Request) (any, error) {
	if !partOnly(r) {
		return nil, api.Refuse(http.StatusNotFound, "There is nothing at this address. Test the tool rules on the page Policy.")
	}
	q := r.URL.Query()
	t := toolsTry{Query: api.ToolsQuery{Tool: strings.TrimSpace(q.Get("tool")), Session: strings.TrimSpace(q.Get("session")), Agent: strings.TrimSpace(q.Get("agent")),
		ChatType: q.Get("chatType"), Sender: strings.TrimSpace(q.Get("sender")), Subagent: q.Get("subagent") != "", Sandboxed: q.Get("sandboxed") != ""}}
	var err error
	if t.Query.Session, err = s.pick(r, t.Query.Session); err == nil {
		t.Table, err = call[rights.ToolTable](s, r, "tools.explain", &t.Query)
	}
	if f, ok := refusedBy(err, "tool", "session", "agent", "chatType", "sender"); ok {
		t.Refused, err = f, nil
	} else {
		t.Asked = err == nil
	}
	v := policyView{Tools: t}
	if t.Asked {
		v.Names = s.names(r)
	}
	return v, err
}

// ruleWords says what a rule of the send policy applies to.
func ruleWords(m policy.SendMatch) string {
	words := map[channels.ChatType]string{channels.Direct: "direct chats", channels.Group: "groups", channels.Room: "channels"}[m.ChatType]
	if words == "" {
		words = "everything"
	}
	for _, x := range [][2]string{{" on ", string(m.Channel)}, {" by the account ", string(m.AccountID)}, {" to ", m.To},
		{" from sessions whose key begins with ", m.KeyPrefix}, {" from sessions whose whole key begins with ", m.RawKeyPrefix}} {
		if x[1] != "" {
			words += x[0] + x[1]
		}
	}
	return words
}
