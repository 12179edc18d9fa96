package gateway

import (
	"os"

	"parley/gateway/config"
)

// makeWorkspaces makes the agents' folders that are not there yet. One that cannot be made is no reason not to start.
func (h *Host) makeWorkspaces(c *config.Config) {
	for _, e := range c.Agents.List {
		if err := os.MkdirAll(c.Workspace(e.ID), 0o700); err != nil {
			h.log.Warn("cannot create a workspace", "agent", e.ID, "err", err)
		}
	}
}
