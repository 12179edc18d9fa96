package gateway

import (
	"slices"
	"testing"

	"parley/agent"
	"parley/gateway/config"
	"parley/tools"
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

// TestPromptWithServers counts the tools of MCP servers into what a prompt takes, up to those that a request has no room for.
func TestPromptWithServers(t *testing.T) {
	t.Parallel()
	all := tools.All(tools.Deps{})
	one := agent.SpecTokens(all[0].Spec())
	many := func(n int) []tools.Tool { return slices.Repeat(all[:1], n) }
	for n, want := range map[int]int{0: 0, 3: 3, 500: tools.MaxInRequest - 2 - len(all)} {
		if got := promptWith(many(n)) - promptSize(); got != want*one {
			t.Errorf("%d tools of servers take %d tokens, not %d", n, got, want*one)
		}
	}
}
