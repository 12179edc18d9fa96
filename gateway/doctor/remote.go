package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/gateway"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/models"
)

// maxClockOffset is how far the clock may be off before something is said.
const maxClockOffset = 30 * time.Second

func (x *exam) running(context.Context) []Finding {
	const check = "host"
	if x.hostErr != nil {
		return []Finding{wrong(check, "look at its log; restart it", "a host runs on this state folder, but it does not answer: %v", x.hostErr)}
	}
	if x.unasked {
		return []Finding{warn(check, "put the configuration right first", "whether a host runs cannot be asked as long as the configuration is at fault")}
	}
	if x.host == nil {
		return []Finding{fine(check, "no host is running: what only it can tell is not looked at")}
	}
	s := x.host
	out := []Finding{fine(check, "parley %s runs since %s", s.Version, s.Started.Local().Format(time.DateTime))}
	if s.Version != x.Version {
		out = append(out, warn(check, "restart the host to use the new program", "the host is parley %s, this program is %s", s.Version, x.Version))
	}
	if !s.Ready {
		out = append(out, wrong(check, "see the lines below, and its log", "it is not ready: %s", s.Why))
	}
	if n := s.Deliveries["failed"] + s.Deliveries["expired"] + s.Deliveries["held"]; n > 0 {
		out = append(out, warn(check, "parley deliveries list --state failed (expired, held)", "%d messages were not delivered", n))
	}
	if s.SetAside > 0 {
		out = append(out, warn(check, "parley skipped --limit 1000 --json lists them; tell who wrote them, and report why they were refused", "%d messages of the last week could not be taken and are set aside", s.SetAside))
	}
	for _, m := range s.Servers {
		if m.Detail != "" {
			out = append(out, warn(check, "parley status", "%s", m))
		}
	}
	return out
}

// accounts gives a group for each account.
func (x *exam) accounts() (out []group) {
	for _, a := range x.Config.Channels {
		i := slices.IndexFunc(x.Adapters, func(r accounts.Adapter) bool { return r.Kind == a.Kind })
		if i >= 0 && x.Adapters[i].Platform != nil {
			name := string(a.Kind)
			if a.ID != channels.DefaultAccount {
				name += "/" + string(a.ID)
			}
			out = append(out, group{name, func(ctx context.Context) []Finding { return x.account(ctx, name, a, x.Adapters[i]) }})
		}
	}
	return out
}

func (x *exam) account(ctx context.Context, check string, a config.Account, row accounts.Adapter) []Finding {
	out := x.reach(ctx, check, row.Platform(a), true)
	if x.host != nil {
		for _, s := range x.host.Accounts {
			if s.Channel != a.Kind || s.Account != a.ID {
				continue
			}
			if s.Live {
				return append(out, fine(check, "the host says: %s", s.Line()))
			}
			mend := cmp.Or(s.Todo, "what answers there breaks off, or something on the way does: look at the network, a firewall and HTTPS_PROXY. The host tries on by itself")
			s.Todo = "" // it is the line below
			return append(out, wrong(check, mend, "the host says: %s", s.Line()))
		}
		return append(out, warn(check, "reload the configuration: kill -HUP its process, or restart it", "the running host does not know this account"))
	}
	if Worst(out) == Failure {
		return out
	}
	ch, err := row.Open(a, accounts.Env{Log: slog.New(slog.DiscardHandler), Dir: x.Config.State})
	if err != nil {
		return append(out, wrong(check, "", "%v", err))
	}
	who := channels.Probe(ch).Identifier
	if who == nil {
		return append(out, fine(check, "whether it is linked only a running host knows: parley channels"))
	}
	name, err := who.Identify(ctx)
	switch {
	case err == nil:
		return append(out, fine(check, "the platform knows the token: it is %s", name))
	case channels.Classify(err).Class == channels.Unauthorized:
		return append(out, wrong(check, "get a new token from the platform and put it into the configuration", "the platform does not know the token: %v", err))
	}
	return append(out, warn(check, "try again", "whether the token is right could not be found out: %v", err))
}

// models gives a group for each provider.
func (x *exam) models() (out []group) {
	return []group{{"model", func(ctx context.Context) []Finding {
		m := gateway.OpenModels(ctx, x.Config, x.Providers, x.Getenv, slog.New(slog.DiscardHandler))
		chosen := m.Chosen
		if chosen.Offline() {
			return []Finding{warn("model", "set OPENAI_API_KEY or ANTHROPIC_API_KEY, start Ollama, or name a provider with its model under models.providers", "there is no language model (%s): the built-in one answers, which is none", chosen.Why)}
		}
		found := []Finding{fine("model", "%s is configured (%s)", chosen.Model, chosen.Why)}
		for _, name := range slices.Sorted(maps.Keys(chosen.Providers)) {
			if p := chosen.Providers[name]; p.API != "offline" {
				found = append(found, x.provider(ctx, name, p, chosen.Model)...)
			}
		}
		found = append(found, x.facts(ctx, m)...)
		return append(found, fine("model", "parley models test %s makes real calls: a plain, a tool, an image and a thinking turn", chosen.Model))
	}}}
}

// facts says what is known of the model that answers, and what may surprise. A running host knows more: it is asked instead.
func (x *exam) facts(ctx context.Context, m gateway.Models) []Finding {
	const check = "model"
	row := m.Facts(ctx, m.Chosen.Model)
	if row.Program == models.Ollama && row.From.Window == models.Guessed && x.host == nil {
		if load, cancel := context.WithTimeout(ctx, loadTimeout); m.Load(load, m.Chosen.Model) == nil {
			cancel()
			row = m.Facts(ctx, m.Chosen.Model)
		} else {
			cancel()
		}
	}
	at := ""
	if row.Address != "" {
		at = " at " + row.Address
	}
	beyond := ""
	if x.Config != nil && len(x.Config.Tools.MCP.Servers) > 0 {
		beyond = ", and what the tools of MCP servers take"
	}
	out := []Finding{fine(check, "%s%s has a window of %d tokens (%s); prompt and tools take about %d%s", row.Name, at, row.Window, row.From.Window, models.PromptSize(nil), beyond)}
	notes := row.Notes
	if x.host != nil {
		notes = x.host.ModelNotes
	}
	for _, n := range notes {
		f := warn(check, n.Fix, "%s", n.Text)
		if n.Minor {
			f.Level = Fine
		}
		out = append(out, f)
	}
	return out
}

// loadTimeout is how long a server may take to load a model: Ollama, so that it knows the model's window. loadInterval is between two questions to one
// that is at it.
const (
	loadTimeout  = 5 * time.Second
	loadInterval = 500 * time.Millisecond
)

// provider lists the models of a provider: that needs its key, and costs nothing.
func (x *exam) provider(ctx context.Context, name string, p agent.Provider, chosen string) []Finding {
	check := "model " + name
	i := slices.IndexFunc(x.Providers, func(t models.Provider) bool { return t.API == p.API })
	if i < 0 {
		return nil // the configuration was checked
	}
	if x.Providers[i].List == nil {
		return append(x.reach(ctx, check, cmp.Or(p.BaseURL, "https://api."+p.API+".com"), p.BaseURL == ""), fine(check, "whether the key works cannot be asked without paying: the first message shows it"))
	}
	names, err := x.list(ctx, x.Providers[i], p)
	if isLoading(err) {
		return []Finding{warn(check, "wait until the server has loaded it: a large model takes minutes", "it answers, and is still loading its model")}
	}
	if err != nil {
		if f := x.reach(ctx, check, cmp.Or(p.BaseURL, "https://api."+p.API+".com"), false); Worst(f) == Failure {
			return f
		}
		fix := "check apiKey and baseUrl of models.providers." + name
		if e, ok := errors.AsType[*agent.ModelError](err); ok && e.Class == agent.Overloaded {
			fix = "try again in a moment; the log of that server may say more"
		}
		return []Finding{wrong(check, fix, "its models cannot be listed: %v", err)}
	}
	own, model, _ := strings.Cut(chosen, "/")
	if own == name && len(names) > 0 && !slices.Contains(names, model) {
		chats := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !models.Served{Name: n}.CanChat() })
		return []Finding{warn(check, "set agents.defaults.model to one of: "+strings.Join(chats[:min(len(chats), 5)], ", "), "it answers, but %q is not among its %d models", model, len(names))}
	}
	return []Finding{fine(check, "it answers, and takes the key")}
}

// list lists the models of a provider. It waits a little for a server that is loading one.
func (x *exam) list(ctx context.Context, t models.Provider, p agent.Provider) (names []string, err error) {
	wait, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	for {
		if names, err = t.List(ctx, p); !isLoading(err) {
			return names, err
		}
		select {
		case <-wait.Done():
			return nil, err
		case <-time.After(loadInterval):
		}
	}
}

// isLoading reports whether a server on the way to its first answer says so.
// source: github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (GET /health: 503, Loading model)
func isLoading(err error) bool {
	e, ok := errors.AsType[*agent.ModelError](err)
	return ok && e.Class == agent.Overloaded && strings.Contains(strings.ToLower(e.Error()), "loading")
}

// reach asks a server for anything: name, connection, certificate, and its clock when that can be trusted.
func (x *exam) reach(ctx context.Context, check, address string, clock bool) []Finding {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return []Finding{wrong(check, "mend it", "%q is no address of a server", address)}
	}
	ctx, cancel := context.WithTimeout(ctx, 6*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}).String(), nil)
	if err != nil {
		return []Finding{wrong(check, "mend it", "%q is no address of a server", address)}
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	defer t.CloseIdleConnections()
	began := x.Now()
	resp, err := (&http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		return []Finding{unreachable(check, u.Host, err)}
	}
	_ = resp.Body.Close() // it has none
	took := x.Now().Sub(began)
	out := []Finding{fine(check, "%s answers within %d ms", u.Host, took.Milliseconds())}
	at, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || !clock {
		return out
	}
	if off := began.Add(took / 2).Sub(at); off.Abs() > maxClockOffset {
		out = append(out, warn("time", "let the system set it: timedatectl set-ntp true", "the clock of this machine is %s off that of %s: jobs run at wrong times, and certificates may not be accepted", off.Abs().Round(time.Second), u.Host))
	}
	return out
}

// unreachable says at which step a server could not be reached.
func unreachable(check, host string, err error) Finding {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the address
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return wrong(check, "check the name, and the name servers of this machine (/etc/resolv.conf)", "the name %s is not known: %v", host, e)
	}
	_, cert := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	if cert || unknown {
		return wrong(check, "check the clock, the CA certificates of this machine (package ca-certificates), and whether a proxy is in between", "the certificate of %s is not accepted: %v", host, err)
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return wrong(check, "check the network, a firewall, and HTTPS_PROXY if there is a proxy", "there is no connection to %s: %v", host, err)
	}
	return wrong(check, "check the network, a firewall, and HTTPS_PROXY if there is a proxy", "%s does not answer: %v", host, err)
}

// dsnAddress gives host and port of a postgres:// DSN.
func dsnAddress(dsn string) (host, port string) {
	u, err := url.Parse(dsn)
	if err != nil || u.Host == "" {
		return "", ""
	}
	return u.Hostname(), cmp.Or(u.Port(), "5432")
}
