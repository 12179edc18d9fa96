package wizard

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/models"
)

// Dialog asks a person.
type Dialog struct {
	In        *bufio.Reader
	Out       io.Writer
	Hidden    func() (string, error) // reads a line without showing it; nil = as any other
	Adapters  []accounts.Adapter
	Providers []models.Provider
	Getenv    func(string) string
	APIURLs   map[channels.Kind]string // instead of the platforms' own
}

// ErrEnded ends a dialog whose input ended.
var ErrEnded = errors.New("the answers ended before the questions did; nothing was written")

// checkTimeout bounds the question to a platform whether a token is right.
const checkTimeout = 10 * time.Second

func (d Dialog) say(format string, a ...any) { _, _ = fmt.Fprintf(d.Out, format, a...) }

// Line asks for one line; def is the answer to an empty one.
func (d Dialog) Line(question, def string) (string, error) {
	if def != "" {
		question += " [" + def + "]"
	}
	d.say("%s: ", question)
	text, err := d.In.ReadString('\n')
	if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
		d.say("\n")
		return "", ErrEnded
	}
	return cmp.Or(strings.TrimSpace(text), def), nil
}

// secret asks for something that is not to be seen.
func (d Dialog) secret(question string) (channels.Secret, error) {
	if d.Hidden == nil {
		s, err := d.Line(question, "")
		return channels.NewSecret(s), err
	}
	d.say("%s (it is not shown): ", question)
	s, err := d.Hidden()
	d.say("\n")
	if err != nil {
		return channels.Secret{}, ErrEnded
	}
	return channels.NewSecret(strings.TrimSpace(s)), nil
}

// Yes asks a question that is answered with yes or no.
func (d Dialog) Yes(question string, def bool) (bool, error) {
	hint := "y/N"
	if def {
		hint = "Y/n"
	}
	for {
		s, err := d.Line(question+" ("+hint+")", "")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(s) {
		case "":
			return def, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		d.say("  yes or no?\n")
	}
}

// Ask asks for everything.
func (d Dialog) Ask(ctx context.Context) (a Answers, err error) {
	if a.Agent, err = d.Line("What is your agent called?", "Parley"); err != nil {
		return a, err
	}
	if err := d.model(ctx, &a); err != nil {
		return a, err
	}
	for _, row := range d.Adapters {
		if row.Platform == nil {
			continue
		}
		if err := d.channel(ctx, &a, row); err != nil {
			return a, err
		}
	}
	if err := d.owners(&a); err != nil {
		return a, err
	}
	if !a.secrets() {
		return a, nil
	}
	a.Env, err = d.Yes("Keep the secrets in a file .env of their own, beside the configuration?", true)
	return a, err
}

func (a Answers) secrets() bool {
	return a.Model.secret() || slices.ContainsFunc(a.Channels, func(c Channel) bool { return !c.Token.IsZero() })
}

// channel asks about one platform: for its token, or whether it will be linked later.
func (d Dialog) channel(ctx context.Context, a *Answers, row accounts.Adapter) error {
	about, hasToken := tokenField(row)
	if !hasToken {
		yes, err := d.Yes(fmt.Sprintf("Connect %s? (it is linked with a phone later)", row.Kind), false)
		if yes {
			a.Channels = append(a.Channels, Channel{Kind: row.Kind})
		}
		return err
	}
	d.say("%s: %s\n", row.Kind, about)
	for {
		token, err := d.secret(fmt.Sprintf("  Token for %s; empty = not now", row.Kind))
		if err != nil {
			return err
		}
		if token.IsZero() {
			return nil
		}
		c := Channel{Kind: row.Kind, Token: token, APIURL: d.APIURLs[row.Kind]}
		name, err := d.Check(ctx, c)
		switch {
		case err == nil:
			d.say("  It is the token of %s.\n", name)
			c.Name = name
		case Wrong(err):
			d.say("  That is not right: %v\n", err)
			continue
		default:
			d.say("  Whether it is right could not be found out: %v\n", err)
			keep, err := d.Yes("  Keep it all the same?", true)
			if err != nil {
				return err
			}
			if !keep {
				continue
			}
		}
		a.Channels = append(a.Channels, c)
		return nil
	}
}

// tokenField finds the token of a channel's configuration, and what is said about it there.
func tokenField(row accounts.Adapter) (about string, ok bool) {
	if row.New == nil {
		return "", false
	}
	t := reflect.TypeOf(row.New()).Elem()
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") == "token" {
			return f.Tag.Get("doc"), true
		}
	}
	return "", false
}

// Wrong reports whether an error of Check says that the token is none, rather than that it could not be found out.
func Wrong(err error) bool {
	_, invalid := errors.AsType[*config.Invalid](err)
	return invalid || channels.Classify(err).Class == channels.Unauthorized
}

// Check asks a platform whose token it is.
func (d Dialog) Check(ctx context.Context, c Channel) (name string, err error) {
	text, _ := Answers{Channels: []Channel{c}}.Files()
	conf, _, err := config.Parse("token", text, accounts.Table(d.Adapters), d.Getenv)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(conf.Channels, func(a config.Account) bool { return a.Kind == c.Kind })
	j := slices.IndexFunc(d.Adapters, func(r accounts.Adapter) bool { return r.Kind == c.Kind })
	if i < 0 || j < 0 {
		return "", fmt.Errorf("there is no channel %q", c.Kind)
	}
	ch, err := d.Adapters[j].Open(conf.Channels[i], accounts.Env{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", err
	}
	who := channels.Probe(ch).Identifier
	if who == nil {
		return "", errors.New("this platform cannot be asked")
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	return who.Identify(ctx)
}

func (d Dialog) owners(a *Answers) error {
	for _, c := range a.Channels {
		row := d.Adapters[slices.IndexFunc(d.Adapters, func(r accounts.Adapter) bool { return r.Kind == c.Kind })]
		for {
			id, err := d.Line(fmt.Sprintf("Your own id on %s, so that you are the owner there; empty = not known yet", c.Kind), "")
			if err != nil {
				return err
			}
			if id == "" {
				break
			}
			owner, err := Owner(row, id)
			if err != nil {
				d.say("  %v\n", err)
				continue
			}
			a.Owners = append(a.Owners, owner)
			break
		}
	}
	return nil
}

// Owner makes channel:id out of an id as its platform has it.
func Owner(row accounts.Adapter, id string) (string, error) {
	if row.Person != nil {
		p, err := row.Person(id)
		if err != nil {
			return "", fmt.Errorf("%s: %w", row.Kind, err)
		}
		id = string(p)
	}
	return string(row.Kind) + ":" + id, nil
}

// Detect looks for a model that is there already: a key in the environment, an Ollama. wanted is the model that is meant, as
// provider/model, where there are several. ok is false when there is none.
func (d Dialog) Detect(ctx context.Context, wanted string) (m Model, why string, ok bool) {
	c := config.Default(nil, d.Getenv)
	choose := func(model string) models.Choice {
		return models.Choose(ctx, model, c.Models.Providers, d.Providers, d.Getenv)
	}
	chosen := choose(c.Agents.Defaults.Model)
	provider, _, _ := strings.Cut(wanted, "/")
	if _, there := chosen.Providers[provider]; there && provider != wanted {
		chosen = choose(wanted)
	}
	if chosen.Offline() {
		return m, chosen.Why, false
	}
	provider, _, _ = strings.Cut(chosen.Model, "/")
	p := chosen.Providers[provider]
	m = Model{Name: chosen.Model, API: p.API, BaseURL: p.BaseURL, Key: p.APIKey}
	if name := variable(provider) + "_API_KEY"; !p.APIKey.IsZero() && d.Getenv(name) == p.APIKey.Reveal() {
		m.Key, m.Var = channels.Secret{}, name
	}
	return m, chosen.Why, true
}

// known are the protocols that a person may choose, with the model that is proposed.
var known = []struct{ name, api, model string }{{"openai", "openai", "gpt-5.1"}, {"anthropic", "anthropic", "claude-sonnet-4-6"}}

func (d Dialog) model(ctx context.Context, a *Answers) error {
	m, why, ok := d.Detect(ctx, "")
	if ok {
		d.say("Found a language model: %s (%s).\n", m.Name, why)
		yes, err := d.Yes("Use it?", true)
		if err != nil {
			return err
		}
		if yes {
			a.Model = m
			return nil
		}
	}
	for {
		s, err := d.Line("Which language model? openai, anthropic, the address of a server that speaks OpenAI's protocol, or none", "none")
		if err != nil {
			return err
		}
		if s == "none" {
			d.say("  Then the built-in one answers, which is none. Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or name a provider with its model later.\n")
			return nil
		}
		i := slices.IndexFunc(known, func(k struct{ name, api, model string }) bool { return k.name == s })
		u, bad := url.Parse(s)
		switch {
		case i >= 0:
			k := known[i]
			a.Model = Model{Name: k.name + "/" + k.model, API: k.api}
		case bad == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"):
			a.Model = Model{Name: "local/", API: "openai", BaseURL: s}
		default:
			d.say("  %q is none of these; an address begins with http:// or https://\n", s)
			continue
		}
		return d.key(ctx, a)
	}
}

// key asks for the key of a provider and for the model, and shows what the provider has.
func (d Dialog) key(ctx context.Context, a *Answers) (err error) {
	m := &a.Model
	provider, model, _ := strings.Cut(m.Name, "/")
	if m.Key, err = d.secret("  Key for " + provider + "; empty = it needs none"); err != nil {
		return err
	}
	for _, p := range d.Providers {
		if p.API != m.API || p.List == nil {
			continue
		}
		ask, cancel := context.WithTimeout(ctx, checkTimeout)
		names, err := p.List(ask, agent.Provider{API: m.API, BaseURL: m.BaseURL, APIKey: m.Key})
		cancel()
		if err != nil {
			d.say("  Its models cannot be listed: %v\n", err)
			break
		}
		d.say("  It has %d models: %s\n", len(names), strings.Join(names[:min(len(names), 8)], ", "))
		if i := slices.IndexFunc(names, func(n string) bool { return models.Served{Name: n}.CanChat() }); i >= 0 && !slices.Contains(names, model) {
			model = names[i]
		}
	}
	for {
		s, err := d.Line("  Model", model)
		if err != nil {
			return err
		}
		if s != "" {
			m.Name = provider + "/" + s
			return nil
		}
		d.say("  A model has a name.\n")
	}
}
