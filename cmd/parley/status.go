package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/sessions"
)

type openCmd struct {
	asJSON
}

// openLink is what parley open prints as JSON.
type openLink struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// Help says what the link is.
func (openCmd) Help() string {
	return "The link signs the operator in on the first browser that opens the link. The link works once and expires after 2 minutes."
}

// Run prints a new link: standard output only, for people.
func (c openCmd) Run(e *env) error {
	x, err := request[api.PageLink](e, "POST /api/link", api.None{})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, openLink{e.found.base + x.Path, x.Expires}, func(p *page, l openLink) {
		p.printf("%s\n", l.URL)
	})
}

type signOutCmd struct {
	asJSON
}

// Help says what ends and what stays.
func (signOutCmd) Help() string {
	return "All cookies and all links of parley open become invalid, and open pages end. Tokens stay valid: change gateway.token if others know it."
}

// Run signs every browser out.
func (c signOutCmd) Run(e *env) error {
	x, err := request[api.SignedOut](e, "POST /api/sign-out", api.None{})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, x, func(p *page, _ api.SignedOut) {
		p.note("Signed all browsers out. parley open prints a new link.\n")
	})
}

type statusCmd struct {
	asJSON
}

// Help shows examples.
func (statusCmd) Help() string {
	return "Exit code 0: the host answers, ready or not. Scripts that wait until the host is ready use /readyz or the second example.\n\nExamples:\n\n  parley status\n  parley status --json | jq -e .ready"
}

func (c statusCmd) Run(e *env) error {
	s, err := request[api.HostStatus](e, "GET /api/status", api.None{})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, s, printStatus)
}

func printStatus(p *page, s api.HostStatus) {
	ready := p.paint(green, "ready")
	if !s.Ready {
		ready = p.paint(red, "not ready: "+chatclient.OneLine(s.Why))
	}
	_, _ = fmt.Fprintf(p.out, "parley %s, up %s, %s\n", chatclient.OneLine(s.Version), p.now.Sub(s.Started).Round(time.Second), ready) // cleaned word by word
	p.printf("model %s (%s)%s\n", s.Model, s.ModelWhy, mark(s.ModelAt != "", " at "+s.ModelAt))
	for _, n := range s.ModelNotes {
		p.painted(yellow, "! "+chatclient.OneLine(n.String()))
	}
	p.printf("store %s, %s\nconfiguration %s\n", s.Store, s.State, cmp.Or(s.Config, "none (the defaults)"))
	if s.Address != "" {
		p.printf("address %s\n", s.Address)
	}
	for _, a := range s.Accounts {
		p.printf("%s\n", chatclient.OneLine(a.Line()))
	}
	for _, m := range s.Servers {
		p.printf("%s, %s\n", chatclient.OneLine(fmt.Sprint(m)), channels.Plural(m.Tools, "tool"))
		for _, note := range m.Notes() {
			p.printf("%s\n", chatclient.OneLine(note))
		}
	}
	for _, m := range s.Sandbox {
		p.printf("MCP servers of sandboxed sessions run %s\n", m)
	}
	for _, state := range slices.Sorted(maps.Keys(s.Deliveries)) {
		p.printf("deliveries %s: %d\n", state, s.Deliveries[state])
	}
	if s.SetAside > 0 {
		p.printf("messages in quarantine, last week: %d (parley skipped)\n", s.SetAside)
	}
	if len(s.Working) > 0 {
		p.printf("running: %s (parley runs list --status running)\n", channels.Plural(len(s.Working), "session"))
	}
	if s.Waiting > 0 {
		p.printf("waiting: %s\n", channels.Plural(s.Waiting, "session"))
	}
	if s.Version != version {
		p.painted(yellow, versions(s.Version))
	}
}

type agentsCmd struct {
	asJSON
}

func (c agentsCmd) Run(e *env) error {
	list, err := request[[]api.Agent](e, "GET /api/agents", api.None{})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, list, func(p *page, list []api.Agent) {
		g := p.grid("AGENT", "NAME", "MODEL", "SESSIONS", "RUNNING", "~MAY START")
		for _, a := range list {
			g.row(string(a.ID)+mark(a.Default, " (default)"), a.Name, a.Model, a.Sessions, a.Working, strings.Join(a.Spawns, ", "))
		}
		g.print("There are no agents.")
	})
}

// mark is a word that is there or not.
func mark(on bool, word string) string {
	if on {
		return word
	}
	return ""
}

type skippedCmd struct {
	Limit int `default:"50" help:"Maximum number of rows."`
	asJSON
}

func (c skippedCmd) Run(e *env) error {
	list, err := request[[]sessions.SkippedEvent](e, "GET /api/skipped", api.Limit{Limit: c.Limit})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, list, func(p *page, list []sessions.SkippedEvent) {
		g := p.grid("WHEN", "FROM", "ID", "~WHY")
		for _, s := range list {
			g.row(p.ago(s.Time), s.Address, s.ID, s.Reason)
		}
		g.print("The host processed all updates.")
	})
}

type versionCmd struct {
	asJSON
}

// versionOf is what parley version prints as JSON.
type versionOf struct {
	Version string `json:"version"`
	Host    string `json:"host,omitempty"` // of the host that is running
}

// Run prints the version, and that of the running host where it is another one.
func (c versionCmd) Run(e *env) error {
	v := versionOf{Version: version}
	e.asksNothing = true // the program's own version needs no host
	if h, err := e.reach(); err == nil {
		var s api.HostStatus
		if h.callWithin(e.ctx, 2*time.Second, http.MethodGet, "/api/status", nil, nil, &s) == nil {
			v.Host = s.Version
		}
	}
	return tell(e, c.asJSON, v, func(p *page, v versionOf) {
		p.printf("parley %s\n", v.Version)
		if v.Host != "" && v.Host != v.Version {
			p.note("%s\n", versions(v.Host))
		}
	})
}
