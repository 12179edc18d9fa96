package router_test

import (
	"testing"

	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/rights"
	"parley/router/routertest"
	"parley/router/settings"
	"parley/tools"
)

// TestExplainMissing asks about tools that no turn has: none of them is allowed, and an MCP server's own rules are named.
func TestExplainMissing(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{}, func(s *settings.Snapshot) {
			s.Tools.MCP.Servers = map[string]tools.MCPServer{"git": {Deny: []string{"push*"}}, "disk": {Allow: []string{"read"}}}
		})
		for name, rule := range map[string]string{
			"git_push_all": "tools.mcp.servers.git.deny[0]",
			"disk_write":   "tools.mcp.servers.disk.allow",
			"git_log":      "tools", // the server has none
			"disk_read":    "tools",
			"nothing":      "tools",
		} {
			table, err := g.Router.Rights.ExplainTools(t.Context(), rights.ToolQuery{Tool: name})
			if err != nil {
				t.Fatal(err)
			}
			x := table.Tools[0]
			if last := x.Layers[len(x.Layers)-1]; x.Known || x.Verdict.Action != policy.Deny || x.Verdict.Rule != rule || last != x.Verdict {
				t.Errorf("%s: %+v", name, x)
			}
		}
	})
}
