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
)

// Link is a new link to the page: whoever opens it first, and soon, is let in as the owner.
func (h *Host) Link() string {
	inv, _ := h.door.Invite(api.Principal{Name: api.Owner, Scope: api.Admin}) // who has a token for as long as the host runs
	return h.URL() + inv.Path
}

// Screen is the one screen that a person sees at start: where the page is, what is connected, what is not and why. With a link the page
// can be opened from it.
func (h *Host) Screen(ctx context.Context, took time.Duration, link bool) string {
	c := h.deps.Config.Config()
	var b strings.Builder
	line := func(name, format string, a ...any) { fmt.Fprintf(&b, "  %-9s %s\n", name, fmt.Sprintf(format, a...)) }
	fmt.Fprintf(&b, "\n  parley %s · ready in %d ms\n\n", h.deps.Version, took.Milliseconds())
	if h.page != nil {
		if link {
			line("page", "%s", h.Link())
			line("", "Good once, within 2 minutes. parley open prints a new one.")
		} else {
			line("page", "%s/ (parley open prints the link)", h.URL())
		}
		line("terminal", "parley chat")
	}
	if e := h.exposure(c); e != "" {
		line("network", "%s", e)
	}
	line("model", "%s (%s)", h.choice.Load().name, h.choice.Load().why)
	if h.choice.Load().offline() {
		line("", "Built in, understands a few phrases. For a real one set OPENAI_API_KEY or ANTHROPIC_API_KEY, start Ollama, or run parley init.")
	}
	if at := h.modelAt(h.choice.Load().name); at != "" {
		line("", "at %s", at)
	}
	if p, f, _, ok := h.models.facts(h.choice.Load().name, nil); ok {
		for _, n := range f.Notes(h.choice.Load().name, p, h.promptSize(ctx)) {
			if !n.Minor {
				line("", "! %s", n)
			}
		}
	}
	line("store", "%s, %s", h.storeName(), c.State)
	if c.Path != "" {
		line("config", "%s", c.Path)
	} else {
		line("config", "none: the defaults (parley init writes one by questions)")
	}
	seen := map[string]bool{}
	for _, a := range h.accounts.all() {
		seen[string(a.ref.Channel)] = true
		switch {
		case a.err != nil:
			line(string(a.ref.Channel), "✗ %s: %v", a.ref.Account, a.err)
		case a.ref.Channel == webchat.Kind:
			line(string(a.ref.Channel), "✓ on this machine")
		default:
			line(string(a.ref.Channel), "… %s: connecting (parley channels)", a.ref.Account)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tools.MCP.Servers)) {
		if s := c.Tools.MCP.Servers[name]; s.Enabled {
			line("mcp", "… %s: starting (parley status)", name)
		} else {
			line("mcp", "– %s: switched off (enabled: false)", name)
		}
	}
	if set := mcpSettings(c); set.Confined() {
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
		line(string(d.Kind), "– %s: switched off (enabled: false)", d.ID)
	}
	for _, row := range h.deps.Adapters {
		if !seen[string(row.Kind)] {
			line(string(row.Kind), "– not configured (channels.%s)", row.Kind)
		}
	}
	b.WriteString("\n")
	return b.String()
}
