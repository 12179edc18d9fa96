package gateway

import (
	"slices"
	"testing"

	"parley/agent"
	"parley/gateway/config"
)

// TestServersSeeNoWorkspace counts the folders of the agents' files, configured one by one or together, as the host's own.
func TestServersSeeNoWorkspace(t *testing.T) {
	t.Parallel()
	c := &config.Config{State: "/srv/state", Path: "/etc/parley.yaml"}
	c.Agents.List = []agent.Entry{{ID: "a"}, {ID: "b", Workspace: "/srv/b"}}
	if got := private(c); !slices.Equal(got, []string{"/srv/state", "/etc/parley.yaml", "/srv/state/workspace/a", "/srv/b"}) {
		t.Errorf("%q", got)
	}
	c.Agents.Defaults.Workspace = "/srv/p/ws" // also of agents that come later
	if got := private(c); !slices.Equal(got, []string{"/srv/state", "/etc/parley.yaml", "/srv/p/ws", "/srv/p/ws/a", "/srv/b"}) {
		t.Errorf("%q", got)
	}
}
