package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"parley/channels"
	"parley/gateway/access"
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/hooks"
	"parley/gateway/mcpserver"
	"parley/gateway/openai"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Parts are the handlers behind the mounts of a host.
type Parts struct {
	Router   *router.Router
	Store    *sqlstore.Store
	Accounts *accounts.Supervisor
	Health   *Health
	Metrics  *prometheus.Registry
	API      api.Table // whole
	Page     http.Handler
	Version  string
	Began    time.Time       // of the process
	Stopping <-chan struct{} // closed when the host begins to stop
}

// mount is what is served at a pattern of http.ServeMux.
type mount struct {
	pattern string
	handler http.Handler
}

// mountsOf is everything that is served.
func (s *Server) mountsOf(p Parts) []mount {
	return append(s.external(p),
		mount{"GET /healthz", http.HandlerFunc(p.Health.healthz)},
		mount{"GET /readyz", http.HandlerFunc(p.Health.readyz)},
		mount{"GET /metrics", promhttp.HandlerFor(p.Metrics, promhttp.HandlerOpts{})},
		mount{"/api/", compress(p.API.Handler())},
		mount{accounts.WebhookPattern, http.HandlerFunc(p.Accounts.ServeWebhook)},
		s.inbound(p.Router),
		mount{"/", compress(p.Page)})
}

// handler serves everything: health and metrics for machines, the page and the API for people. The door in front has let it in: what
// needs no token stands in doorSettings.
func (s *Server) handler(p Parts) http.Handler {
	mux := http.NewServeMux()
	for _, m := range s.mounts {
		mux.Handle(m.pattern, m.handler)
	}
	return api.PanicGuard{Log: s.log, Done: p.Stopping, Fail: func(w http.ResponseWriter, r *http.Request, err error) {
		if openai.Ours(r) {
			openai.Fail(w, err)
			return
		}
		api.WriteError(w, err)
	}}.Wrap(mux)
}

// external is what programs of others talk to: the OpenAI endpoints and the MCP server. Each answers that it is off unless the
// configuration, as it is at that moment, says that it is on.
func (s *Server) external(p Parts) []mount {
	return []mount{{"/v1/", openai.Handler(openai.Deps{Host: p.Router, Receiver: p.Router.Receiver, Store: p.Store, Log: s.log, Done: p.Stopping, Since: p.Began,
		On:          func() bool { return s.config().Gateway.OpenAI.Enabled },
		IgnoreTools: func() bool { return s.config().Gateway.OpenAI.Tools == config.OpenAIToolsIgnore },
		Agents:      func() ([]sessions.AgentID, sessions.AgentID) { return s.config().Agents.IDs() }})},
		{"/mcp", mcpserver.Handler(mcpserver.Deps{Host: p.Router.ToolHost, Log: s.log, Version: p.Version, Done: p.Stopping,
			On: func() bool { return s.config().Gateway.MCP.Enabled }})}}
}

// inbound is what programs outside send to. It needs no token of the gateway: hooks have their own. Their path is that of the start.
func (s *Server) inbound(r *router.Router) mount {
	path := s.config().Hooks.Path
	return mount{path + "/", hooks.New(hooks.Deps{
		Path: path, Config: func() *hooks.Config { return &s.config().Hooks },
		Agents:   func() ([]sessions.AgentID, sessions.AgentID) { return s.config().Agents.IDs() },
		Receiver: r.Receiver, ChatOf: r.Scheduler.ChatOf, From: access.Client, Log: s.log,
		Try: func(from netip.Addr, right func() bool) (bool, time.Duration) {
			f := s.door.Failures()
			if f.Wait(from) > 0 && isGuessable(&s.config().Hooks) {
				right = func() bool { return false }
			}
			return f.Try(from, right)
		},
	})}
}

// isGuessable reports whether a secret of the hooks is so short that a guesser could find it.
func isGuessable(c *hooks.Config) bool {
	short := func(s channels.Secret) bool { return !s.IsZero() && len(s.Reveal()) < access.Long }
	return short(c.Token) || slices.ContainsFunc(c.Mappings, func(m hooks.Mapping) bool { return short(m.Signature.Secret) })
}

// passes says which requests need no token of the gateway, because something else checks them: those of platforms and of programs
// outside.
func (s *Server) passes() func(*http.Request) bool {
	inbound := s.config().Hooks.Path + "/"
	return func(r *http.Request) bool { return accounts.IsWebhook(r) || strings.HasPrefix(r.URL.Path, inbound) }
}
