package gateway

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"parley/channels/webchat"
	"parley/gateway/api"
	"parley/gateway/operations"
)

// URL returns where the page is.
func (h *Host) URL() string { return h.server.URL() }

// Link is a new link to the page: the first browser that opens it in time is let in as the owner.
func (h *Host) Link() string {
	inv, _ := h.server.Invite(api.Principal{Name: api.Owner, Scope: api.Admin}) // who has a token for as long as the host runs
	return h.server.URL() + inv.Path
}

// Screen is the one screen that a person sees at start: where the page is, what is connected, what is not and why. With a link the page
// can be opened from it.
func (h *Host) Screen(ctx context.Context, took time.Duration, link bool) string {
	c, chosen := h.config(), h.models.Chosen()
	var b strings.Builder
	line := func(name, format string, a ...any) { fmt.Fprintf(&b, "  %-9s %s\n", name, fmt.Sprintf(format, a...)) }
	fmt.Fprintf(&b, "\n  parley %s · ready in %d ms\n\n", h.deps.Version, took.Milliseconds())
	if h.accounts.Page() != nil {
		if link {
			line("page", "%s", h.Link())
			line("", "Works once, within 2 minutes. `parley open` prints a new one.")
		} else {
			line("page", "%s/ (`parley open` prints the link)", h.server.URL())
		}
		line("terminal", "parley chat")
	}
	if e := h.server.Exposure(); e != "" {
		line("network", "%s", e)
	}
	line("model", "%s (%s)", chosen.Model, chosen.Why)
	if chosen.Offline() {
		line("", "Built-in offline model; it understands only a few phrases. For a real model set OPENAI_API_KEY or ANTHROPIC_API_KEY, start Ollama, or run `parley init`.")
	}
	if at := h.models.PlaceOf(chosen.Model); at != "" {
		line("", "at %s", at)
	}
	if p, f, _, ok := h.models.Facts(chosen.Model, nil); ok {
		for _, n := range f.Notes(chosen.Model, p, operations.PromptSize(ctx, h.servers)) {
			if !n.Minor {
				line("", "! %s", n)
			}
		}
	}
	line("store", "%s, %s", c.Store.Name(), c.State)
	if c.Path != "" {
		line("config", "%s", c.Path)
	} else {
		line("config", "none: defaults are in use (`parley init` writes one)")
	}
	seen := map[string]bool{}
	for _, a := range h.accounts.All() {
		ref := a.Ref()
		seen[string(ref.Channel)] = true
		switch {
		case a.Err() != nil:
			line(string(ref.Channel), "✗ %s: %v", ref.Account, a.Err())
		case ref.Channel == webchat.Kind:
			line(string(ref.Channel), "✓ on this machine")
		default:
			line(string(ref.Channel), "… %s: connecting (parley channels)", ref.Account)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tools.MCP.Servers)) {
		if s := c.Tools.MCP.Servers[name]; s.Enabled {
			line("mcp", "… %s: starting (parley status)", name)
		} else {
			line("mcp", "– %s: disabled (enabled: false)", name)
		}
	}
	if set := c.MCPSettings(); set.Confined() {
		lacks := h.servers.Lacks(set)
		for _, m := range lacks {
			line("sandbox", "! MCP servers of sandboxed sessions run %s", m)
		}
		if len(lacks) == 0 {
			line("sandbox", "✓ MCP servers of sandboxed sessions run confined; a test just now was refused: %s", strings.Join(h.servers.Refused(), ", "))
		}
	}
	for _, d := range c.Disabled {
		seen[string(d.Kind)] = true
		line(string(d.Kind), "– %s: disabled (enabled: false)", d.ID)
	}
	for _, row := range h.deps.Adapters {
		if !seen[string(row.Kind)] {
			line(string(row.Kind), "– not configured (channels.%s)", row.Kind)
		}
	}
	b.WriteString("\n")
	return b.String()
}
