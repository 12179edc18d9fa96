package models

import (
	"slices"
	"testing"

	"parley/agent"
	"parley/tools"
)

// TestPromptWithServers counts the tools of MCP servers into what a prompt takes, up to those that a request has no room for.
func TestPromptWithServers(t *testing.T) {
	t.Parallel()
	all := tools.All(tools.Deps{})
	one := agent.SpecTokens(all[0].Spec())
	many := func(n int) []tools.Tool { return slices.Repeat(all[:1], n) }
	for n, want := range map[int]int{0: 0, 3: 3, 500: tools.MaxInRequest - 2 - len(all)} {
		if got := PromptSize(many(n)) - PromptSize(nil); got != want*one {
			t.Errorf("%d tools of servers take %d tokens, not %d", n, got, want*one)
		}
	}
}
