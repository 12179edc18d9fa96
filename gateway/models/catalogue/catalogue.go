package catalogue

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"parley/agent"
)

// Entry describes one model at one provider. A zero number is not known. Prices are dollars for a million tokens.
type Entry struct {
	ID         string // as the catalogue has it
	Window     int    // tokens, prompt and answer
	MaxTokens  int    // longest answer that is usually asked for
	Input      float64
	Output     float64
	CacheRead  float64
	CacheWrite float64
	Images     bool     // it looks at pictures
	Levels     []string // efforts that it takes; [] = it does not think; nil = not known
	Effort     string   // the effort that it has unless told
}

// Find looks a model up: by the provider's address, else by its name in the configuration, and by the model's name as the provider
// has it. Dated snapshots, tags and vendors' prefixes are seen through; a name that is otherwise unknown is not guessed at.
func Find(name string, p agent.Provider, model string) (Entry, bool) {
	if p.API == agent.OfflineAPI || model == "" {
		return Entry{}, false
	}
	if u, err := url.Parse(p.BaseURL); err == nil && p.BaseURL != "" && Local(u.Hostname()) {
		return Entry{}, false // reading the catalogue takes a start some 20 ms
	}
	c := load()
	for _, id := range c.providers(name, p) {
		if e, ok := c.models[id].find(model); ok {
			return e, true
		}
	}
	return Entry{}, false
}

// Default returns the model that the catalogue takes for a provider's usual large one; "" = there is no such provider.
func Default(provider string) string { return load().defaults[provider] }

// Cloud reports whether an address is that of a provider of the catalogue: such a server is no program on somebody's machine.
func Cloud(p agent.Provider) bool { return load().at(p) != nil }

// index is the catalogue, by provider.
type index struct {
	models   map[string]models
	hosts    map[string][]site // by host name
	defaults map[string]string
}

// site is a provider at a path of a host.
type site struct{ path, provider string }

// models are a provider's models: by their own names, and by their names without date and tag.
type models struct{ exact, loose map[string]*Entry }

// ownHosts are the addresses of providers whose entry in the catalogue leaves them to the environment.
var ownHosts = map[string]string{"api.openai.com": "openai", "api.anthropic.com": "anthropic", "generativelanguage.googleapis.com": "gemini", "api.moonshot.cn": "moonshot"}

// otherNames are names that people give to providers of the catalogue.
var otherNames = map[string]string{"google": "gemini", "kimi": "moonshot", "moonshotai": "moonshot", "x-ai": "xai", "grok": "xai", "z.ai": "zai", "z-ai": "zai", "azure-openai": "azure", "claude": "anthropic", "open-router": "openrouter"}

var load = sync.OnceValue(func() *index {
	c := &index{models: map[string]models{}, hosts: map[string][]site{}, defaults: map[string]string{}}
	for _, p := range embedded.GetAll() {
		id := string(p.ID)
		c.defaults[id] = p.DefaultLargeModelID
		m := models{map[string]*Entry{}, map[string]*Entry{}}
		for _, x := range p.Models {
			e := entryOf(x)
			m.exact[strings.ToLower(x.ID)] = e
			for _, n := range looser(x.ID) {
				if _, taken := m.loose[n]; !taken { // the newest comes first
					m.loose[n] = e
				}
			}
		}
		c.models[id] = m
		if u, err := url.Parse(p.APIEndpoint); err == nil && u.Host != "" {
			c.hosts[u.Hostname()] = append(c.hosts[u.Hostname()], site{u.Path, id})
		}
	}
	for host, id := range ownHosts {
		c.hosts[host] = append(c.hosts[host], site{"", id})
	}
	return c
})

func entryOf(m catwalk.Model) *Entry {
	e := &Entry{ID: m.ID, Window: int(m.ContextWindow), MaxTokens: int(m.DefaultMaxTokens), Input: m.CostPer1MIn, Output: m.CostPer1MOut,
		Images: m.SupportsImages, Effort: m.DefaultReasoningEffort}
	if !m.CanReason {
		e.Levels = []string{}
	} else if len(m.ReasoningLevels) > 0 {
		e.Levels = slices.Clone(m.ReasoningLevels)
	}
	// The two prices of cached tokens are written now as read and write, now the other way round. Reading costs less than an ordinary
	// token, writing more.
	for _, price := range []float64{m.CostPer1MInCached, m.CostPer1MOutCached} {
		switch {
		case price <= 0:
		case price > e.Input:
			if price < 3*e.Input && e.CacheWrite == 0 && price == m.CostPer1MInCached {
				e.CacheWrite = price
			}
		case e.CacheRead == 0 || price < e.CacheRead:
			e.CacheRead = price
		}
	}
	return e
}

// at gives the sites of the provider's address, the longest path first.
func (c *index) at(p agent.Provider) []site {
	if p.BaseURL == "" {
		switch p.Protocol() {
		case agent.ResponsesAPI, agent.CompletionsAPI:
			return c.hosts["api.openai.com"]
		case agent.AnthropicAPI:
			return c.hosts["api.anthropic.com"]
		}
		return nil
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return nil
	}
	host := strings.ToLower(u.Hostname())
	switch {
	case agent.AzureHost(host):
		return []site{{"", "azure"}, {"", "openai"}}
	case strings.HasSuffix(host, ".api.openai.com"):
		host = "api.openai.com"
	}
	all := slices.Clone(c.hosts[host])
	slices.SortStableFunc(all, func(a, b site) int {
		score := func(s site) int {
			if strings.HasPrefix(u.Path, s.path) {
				return len(s.path) + 1
			}
			return 0
		}
		return score(b) - score(a)
	})
	return all
}

// providers gives the catalogue's names of a provider, the likeliest first. One at an address that is not known is taken for the one that
// it is named after, unless it is on this machine or in this network: there a name says little.
func (c *index) providers(name string, p agent.Provider) (out []string) {
	for _, s := range c.at(p) {
		out = append(out, s.provider)
	}
	if len(out) > 0 {
		return out
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil || Local(u.Hostname()) {
		return nil
	}
	name = strings.ToLower(name)
	if other, ok := otherNames[name]; ok {
		name = other
	}
	if _, ok := c.models[name]; ok {
		return []string{name}
	}
	return nil
}

// Local reports whether a host is this machine or one of a private network.
func Local(host string) bool {
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsUnspecified() || ip.IsLinkLocalUnicast()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal") || strings.HasSuffix(host, ".lan")
}

// find looks for a model's name, then for its looser forms. What has a tag may cost less than the model without: its price is not known.
func (m models) find(model string) (Entry, bool) {
	name := strings.ToLower(model)
	if e := m.exact[name]; e != nil {
		return *e, true
	}
	bare := strings.TrimPrefix(name, "models/")
	for _, loose := range append([]string{bare}, looser(bare)...) {
		for _, n := range []string{loose, loose + "-preview"} {
			e := m.exact[n]
			if e == nil {
				e = m.loose[n]
			}
			if e == nil {
				continue
			}
			found := *e
			if strings.HasSuffix(name, ":free") && !strings.HasSuffix(strings.ToLower(e.ID), ":free") {
				found.Input, found.Output, found.CacheRead, found.CacheWrite = 0, 0, 0, 0
			}
			return found, true
		}
	}
	return Entry{}, false
}

var (
	// snapshot is the date of a model that stays as it was on that day, or the word for the newest.
	snapshot = regexp.MustCompile(`[-@](20\d\d-\d\d-\d\d|20\d{6}|latest)$`)
	// tag is what a provider adds to say how a model is served.
	tag = regexp.MustCompile(`[:@][a-z0-9._-]+$`)
)

// looser gives the names that a model is also found by, lower case: without tag, without date, without the vendor in front.
func looser(model string) (out []string) {
	name := strings.ToLower(model)
	add := func(n string) {
		if n != "" && n != name && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	for _, n := range []string{name, tag.ReplaceAllString(name, "")} {
		dated := snapshot.ReplaceAllString(n, "")
		add(n)
		add(dated)
		for _, n := range []string{n, dated} {
			if i := strings.LastIndexByte(n, '/'); i >= 0 {
				add(n[i+1:])
			}
		}
	}
	return out
}
