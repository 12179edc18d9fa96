package gateway

import (
	"errors"
	"net/http"

	"parley/channels"
	"parley/router"
	"parley/sessions"
)

// explainTools is GET /api/tools/explain?tool=&agent=&session=&chatType=&sender=&subagent=&sandboxed=: which tools a turn would have.
func (h *Host) explainTools(r *http.Request) (t router.ToolTable, err error) {
	p := r.URL.Query()
	q := router.ToolQuery{Tool: p.Get("tool"), Agent: sessions.AgentID(p.Get("agent")), ChatType: channels.ChatType(p.Get("chatType")), Sender: p.Get("sender"),
		Subagent: p.Get("subagent") == "true", Sandboxed: p.Get("sandboxed") == "true"}
	if ref := p.Get("session"); ref != "" {
		if q.Session, err = h.sessionKey(r, ref); err != nil {
			return t, err
		}
	}
	if t, err = h.router.ExplainTools(r.Context(), q); errors.Is(err, router.ErrQuery) {
		err = bad("%v", err)
	}
	return t, err
}
