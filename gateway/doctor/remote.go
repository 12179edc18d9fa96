package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
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

// How far the clock may be off before something is said, and before new certificates may be rejected.
const (
	maxClockOffset    = 30 * time.Second
	certificateOffset = 10 * time.Minute
)

func (x *exam) running(context.Context) []Finding {
	const check = "host"
	if x.hostErr != nil {
		why, fix, _ := strings.Cut(x.hostErr.Error(), "\n")
		return []Finding{wrong(check, cmp.Or(fix, "run parley logs, then restart the host"), "the host of this state folder does not answer: %s", why)}
	}
	if x.unasked {
		return []Finding{warn(check, "correct the configuration first", "cannot ask for a running host while the configuration is invalid")}
	}
	if x.host == nil {
		return []Finding{skipped(check, "start the host: parley", "no host is running, so the checks that need one were not made")}
	}
	s := x.host
	out := []Finding{fine(check, "parley %s has been running since %s", s.Version, s.Started.Local().Format(time.DateTime))}
	if s.Version != x.Version {
		out = append(out, warn(check, "restart the host to use the new program", "the host is parley %s, this program is %s", s.Version, x.Version))
	}
	if !s.Ready {
		out = append(out, wrong(check, "see the other lines, and run parley logs", "the host is not ready: %s", s.Why))
	}
	if n := s.Deliveries["failed"] + s.Deliveries["expired"] + s.Deliveries["held"]; n > 0 {
		out = append(out, warn(check, "run parley deliveries list --state failed (or expired, held)", "not delivered: %s", channels.Plural(n, "outgoing message")))
	}
	if s.SetAside > 0 {
		out = append(out, warn(check, "run parley skipped --limit 1000 --json, and report the reasons as a bug", "processing failed repeatedly for %s of the last week; parley keeps them in quarantine", channels.Plural(s.SetAside, "message")))
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
				return append(out, fine(check, "the host reports: %s", s.Line()))
			}
			fix := cmp.Or(s.Todo, "check the network, a firewall and a proxy on the way; the host keeps trying")
			s.Todo = "" // it is the line below
			return append(out, wrong(check, fix, "the host reports: %s", s.Line()))
		}
		return append(out, warn(check, "run parley reload", "the running host does not have this account yet"))
	}
	if Worst(out) == Failure {
		return out
	}
	ch, err := row.Open(a, accounts.Env{Log: slog.New(slog.DiscardHandler), Dir: x.Config.State})
	if err != nil {
		return append(out, wrong(check, "correct the account in the configuration, or restart the host", "cannot open the account: %v", err))
	}
	who := channels.Probe(ch).Identifier
	if who == nil {
		return append(out, skipped(check, "start the host, then run parley channels", "not checked whether the account is linked: only a running host can tell"))
	}
	name, err := who.Identify(ctx)
	switch {
	case err == nil:
		return append(out, fine(check, "the platform accepts the token of %s", name))
	case channels.Classify(err).Class == channels.Unauthorized:
		return append(out, wrong(check, "get a new token from the platform and put it into the configuration or .env", "the platform rejected the token: %v", err))
	}
	return append(out, warn(check, "run parley doctor again in a moment", "cannot check the token: %v", err))
}

// models gives a group for each provider.
func (x *exam) models() (out []group) {
	return []group{{"model", func(ctx context.Context) []Finding {
		m := gateway.OpenModels(ctx, x.Config, x.Providers, x.Getenv, slog.New(slog.DiscardHandler))
		chosen := m.Chosen
		if chosen.Offline() {
			return []Finding{warn("model", "set OPENAI_API_KEY or ANTHROPIC_API_KEY, start Ollama (ollama serve), or describe a provider under models.providers and set agents.defaults.model", "no language model is configured (%s); the built-in offline model answers, which understands only a few phrases", chosen.Why)}
		}
		found := []Finding{fine("model", "%s is selected (%s)", chosen.Model, chosen.Why)}
		for _, name := range slices.Sorted(maps.Keys(chosen.Providers)) {
			if p := chosen.Providers[name]; p.API != "offline" {
				found = append(found, x.provider(ctx, name, p, chosen.Model)...)
			}
		}
		found = append(found, x.facts(ctx, m)...)
		return append(found, skipped("model", "parley models test "+chosen.Model, "the model itself was not called, because calls may cost money"))
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
		beyond = ", plus the tools of MCP servers"
	}
	out := []Finding{fine(check, "%s%s has a context window of %d tokens (%s); prompt and tools use about %d tokens%s", row.Name, at, row.Window, row.From.Window, models.PromptSize(nil), beyond)}
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
		return append(x.reach(ctx, check, models.ServerOf(p), p.BaseURL == ""), skipped(check, "parley models test "+chosen, "the API key was not tested, because each call of this API costs money"))
	}
	names, err := x.list(ctx, x.Providers[i], p)
	if isLoading(err) {
		return []Finding{warn(check, "wait until the server has loaded the model; a large one takes minutes", "the server answers and is still loading its model")}
	}
	if err != nil {
		if f := x.reach(ctx, check, models.ServerOf(p), false); Worst(f) == Failure {
			if program, start := models.HowToStart(name, p); start != "" && !isElsewhere(models.ServerOf(p)) {
				f[0].Fix = fmt.Sprintf("start %s at %s: %s", program, models.Place(p), start)
			}
			return f
		}
		return []Finding{x.refused(check, name, p, err)}
	}
	own, model, _ := strings.Cut(chosen, "/")
	if own == name && len(names) > 0 && !slices.Contains(names, model) {
		chats := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !models.Served{Name: n}.CanChat() })
		return []Finding{warn(check, "set agents.defaults.model to one of: "+strings.Join(chats[:min(len(chats), 5)], ", "), "the provider answers, but does not list the model %q", model)}
	}
	return []Finding{fine(check, "the provider answers and lists %s", channels.Plural(len(names), "model"))}
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
		return []Finding{wrong(check, "correct the address in the configuration", "%q is not the address of a server", address)}
	}
	ctx, cancel := context.WithTimeout(ctx, 6*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}).String(), nil)
	if err != nil {
		return []Finding{wrong(check, "correct the address in the configuration", "%q is not the address of a server", address)}
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = func(*http.Request) (*url.URL, error) { return x.proxyOf(req.URL) }
	defer t.CloseIdleConnections()
	began := x.Now()
	resp, err := (&http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	if err != nil {
		return []Finding{x.unreachable(check, req.URL, err)}
	}
	_ = resp.Body.Close() // it has none
	took := x.Now().Sub(began)
	out := []Finding{fine(check, "%s answers within %d ms", u.Host, took.Milliseconds())}
	at, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil || !clock {
		return out
	}
	if off := began.Add(took / 2).Sub(at); off.Abs() > maxClockOffset {
		effect := "jobs run at wrong times"
		if off.Abs() > certificateOffset {
			effect += ", and certificates may be rejected"
		}
		out = append(out, warn("time", "let the system set the clock: timedatectl set-ntp true", "the clock of this machine differs by %s from that of %s; %s", off.Abs().Round(time.Second), u.Host, effect))
	}
	return out
}

// dsnAddress gives host and port of a postgres:// DSN.
func dsnAddress(dsn string) (host, port string) {
	u, err := url.Parse(dsn)
	if err != nil || u.Host == "" {
		return "", ""
	}
	return u.Hostname(), cmp.Or(u.Port(), "5432")
}
