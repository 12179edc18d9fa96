package gateway

import (
	"path/filepath"
	"slices"

	"parley/gateway/config"
	"parley/tools"
	"parley/tools/mcp"
)

// private are the files and folders that a confined server does not get to see because its program stands beside them.
func private(c *config.Config) []string {
	out := []string{c.State, c.Path, c.Agents.Defaults.Workspace}
	for _, e := range c.Agents.List {
		out = append(out, c.Workspace(e.ID))
	}
	return slices.DeleteFunc(out, func(p string) bool { return p == "" })
}

// openServers makes the MCP servers. Nothing runs yet.
func (h *Host) openServers(c *config.Config) {
	var taken []string
	for _, t := range tools.All(tools.Deps{}) {
		taken = append(taken, t.Spec().Name)
	}
	h.servers = mcp.New(mcp.Deps{Log: h.log, Dir: filepath.Join(c.State, "mcp"), Private: private(c), Version: h.deps.Version, Taken: taken,
		Redact: h.secrets.redact, Confine: h.deps.Confine, Getenv: h.deps.Getenv})
}

// troubles says what is not as it should be, one line each: model providers that are left alone, MCP servers that do not run, tools of theirs that
// agents have not got, and what of the sandbox is missing.
func (h *Host) troubles() []string {
	out := h.models.Troubles()
	for _, s := range h.servers.Status() {
		if s.State != mcp.Running {
			out = append(out, s.String())
		}
		out = append(out, s.Notes()...)
	}
	for _, m := range h.servers.Lacks(h.config().MCPSettings()) {
		out = append(out, "MCP servers of sandboxed sessions run "+m)
	}
	return out
}
