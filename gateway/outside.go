package gateway

import (
	"parley/gateway/config"
	"parley/gateway/mcpserver"
	"parley/gateway/openai"
	"parley/sessions"
)

// outside is what programs of others talk to: the OpenAI endpoints and the MCP server. Each answers that it is off unless the
// configuration, as it is at that moment, says that it is on.
func (h *Host) outside() []mount {
	return []mount{{"/v1/", openai.Handler(openai.Deps{Host: h.router, Store: h.store, Log: h.log, Done: h.done, Since: h.deps.Began,
		On:          func() bool { return h.deps.Config.Config().Gateway.OpenAI.Enabled },
		IgnoreTools: func() bool { return h.deps.Config.Config().Gateway.OpenAI.Tools == config.OpenAIToolsIgnore },
		Agents:      func() ([]sessions.AgentID, sessions.AgentID) { return h.deps.Config.Config().Agents.IDs() }})},
		{"/mcp", mcpserver.Handler(mcpserver.Deps{Router: h.router, Log: h.log, Version: h.deps.Version, Done: h.done,
			On: func() bool { return h.deps.Config.Config().Gateway.MCP.Enabled }})}}
}
