package wizard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"parley/agent"
	"parley/channels"
	"parley/gateway/models"
)

// known are the protocols that a person may choose, with the model that is proposed.
var known = []struct{ name, api, model string }{{"openai", "openai", "gpt-5.1"}, {"anthropic", "anthropic", "claude-sonnet-4-6"}}

func (d Dialog) model(ctx context.Context, a *Answers) error {
	if m, why, ok := d.Detect(ctx, ""); ok {
		d.say("Found a language model: %s (%s).\n", m.Name, why)
		yes, err := d.Yes("Use this model?", true)
		if err != nil {
			return err
		}
		if yes {
			if yes, err = d.found(ctx, m, a); err != nil || yes {
				return err
			}
		}
	}
	for {
		s, err := d.Line("Which language model? Type openai, anthropic, the address of a server with the OpenAI API, or none", "none")
		if err != nil {
			return err
		}
		if s == "none" {
			a.Model = Model{None: true}
			d.say("  The built-in offline model answers; it understands only a few phrases. Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or name a provider with its model later.\n")
			return nil
		}
		i := slices.IndexFunc(known, func(k struct{ name, api, model string }) bool { return k.name == s })
		u, bad := url.Parse(s)
		switch {
		case i >= 0:
			a.Model = d.named(known[i].name + "/" + known[i].model)
		case bad == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https"):
			a.Model = Model{Name: "local/", API: "openai", BaseURL: s}
		default:
			d.say("  %q is none of these; an address begins with http:// or https://\n", s)
			continue
		}
		names, err := d.key(ctx, &a.Model)
		if err != nil {
			return err
		}
		return d.modelName(&a.Model, names)
	}
}

// HasAPI reports whether a provider is one whose server is known by its name.
func HasAPI(provider string) bool {
	return slices.ContainsFunc(known, func(k struct{ name, api, model string }) bool { return k.name == provider })
}

// NamedModel takes the model provider/model of a provider of HasAPI, and asks for its key.
func (d Dialog) NamedModel(ctx context.Context, name string, a *Answers) error {
	a.Model = d.named(name)
	_, err := d.key(ctx, &a.Model)
	return err
}

// named is the model provider/model of a provider of HasAPI, on the server that the environment names.
func (d Dialog) named(name string) Model {
	provider, _, _ := strings.Cut(name, "/")
	return Model{Name: name, API: provider, BaseURL: d.Getenv(variable(provider) + "_BASE_URL")}
}

// FoundModel takes a model whose key the environment has. Without a key that works, the question about the model stays open.
func (d Dialog) FoundModel(ctx context.Context, m Model, a *Answers) error {
	_, err := d.found(ctx, m, a)
	return err
}

// found takes a model that the environment has, unless its provider rejects the key, and asks whether the key is stored as well.
func (d Dialog) found(ctx context.Context, m Model, a *Answers) (ok bool, err error) {
	if m.Var != "" {
		if _, err := d.try(ctx, m); err != nil {
			ok, err := d.keep(m, err)
			if err != nil || !ok {
				return false, err
			}
		}
		if d.InFile != nil && d.InFile(m.Var) {
			a.Model = m
			return true, nil
		}
		store, err := d.Yes("Store "+m.Var+" for parley? Otherwise parley has the key only when its environment sets "+m.Var, true)
		if err != nil {
			return false, err
		}
		if store {
			a.Stored = append(a.Stored, m.Var)
			m = m.Stored(d.Getenv)
		}
	}
	a.Model = m
	return true, nil
}

// Stored is the model with its key, instead of the variable that has it.
func (m Model) Stored(getenv func(string) string) Model {
	if m.Var != "" {
		m.Key, m.Var = channels.NewSecret(getenv(m.Var)), ""
	}
	return m
}

// try asks a provider for its models: whether it takes the key.
func (d Dialog) try(ctx context.Context, m Model) (names []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	m = m.Stored(d.Getenv)
	provider, _, _ := strings.Cut(m.Name, "/")
	p := agent.Provider{API: m.API, BaseURL: m.BaseURL, APIKey: m.Key}
	for _, row := range d.Providers {
		switch {
		case row.API != m.API:
		case row.List != nil:
			return row.List(ctx, p)
		case row.API == agent.AnthropicAPI:
			x, err := models.Asker{}.Ask(ctx, provider, p, "")
			for _, served := range x.List {
				names = append(names, served.Name)
			}
			return names, err
		}
	}
	return nil, nil
}

// Try returns what is wrong with the key of a model, in a sentence, and whether its provider does not know it; "" = nothing. A 403 may mean that
// the key may not list models.
func (d Dialog) Try(ctx context.Context, m Model) (problem string, rejected bool) {
	_, err := d.try(ctx, m)
	if err == nil {
		return "", false
	}
	return keyProblem(m, err), refusedStatus(err) == http.StatusUnauthorized
}

// keyProblem says what an error of try means for the key, in a sentence.
func keyProblem(m Model, err error) string {
	provider, _, _ := strings.Cut(m.Name, "/")
	if status := refusedStatus(err); status != 0 {
		which := "the API key"
		if m.Var != "" {
			which += " of " + m.Var
		}
		return fmt.Sprintf("Provider %s rejected %s (HTTP %d).", provider, which, status)
	}
	return fmt.Sprintf("Could not check the API key of %s: %s.", provider, cause(err, models.ServerOf(agent.Provider{API: m.API, BaseURL: m.BaseURL})))
}

// refusedStatus is the status with which a provider refused a key; 0 = it did not.
func refusedStatus(err error) int {
	status := 0
	if e, ok := errors.AsType[*agent.ModelError](err); ok {
		status = e.Status
	}
	if e, ok := errors.AsType[models.OddAnswer](err); ok {
		status = e.Status
	}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return status
	}
	return 0
}

// keep says why a key could not be tried, or was rejected, and asks whether it is used anyway. A key that the provider does not know is not.
func (d Dialog) keep(m Model, err error) (bool, error) {
	d.say("  %s\n", keyProblem(m, err))
	status := refusedStatus(err)
	if status == http.StatusUnauthorized {
		return false, nil
	}
	return d.Yes("  Use the key anyway?", status == 0) // 403: also a key that may not list models
}

// key asks for the key of a model, and returns the models that its provider has; nil = unknown.
func (d Dialog) key(ctx context.Context, m *Model) (names []string, err error) {
	provider, _, _ := strings.Cut(m.Name, "/")
	question := "  Key for " + provider
	if m.BaseURL != "" {
		question += " at " + m.BaseURL + "; press Enter if the server needs none"
	}
	for {
		if m.Key, err = d.secret(question); err != nil {
			return nil, err
		}
		names, err := d.try(ctx, *m)
		if err == nil {
			return names, nil
		}
		if m.Key.IsZero() && refusedStatus(err) != 0 {
			d.say("  Provider %s needs a key (HTTP %d).\n", provider, refusedStatus(err))
			continue
		}
		if keep, err := d.keep(*m, err); err != nil || keep {
			return nil, err
		}
	}
}

// modelName asks for the model of a provider, and shows those that the provider has.
func (d Dialog) modelName(m *Model, names []string) error {
	provider, model, _ := strings.Cut(m.Name, "/")
	if names != nil {
		d.say("  The provider has %s: %s\n", channels.Plural(len(names), "model"), strings.Join(names[:min(len(names), 8)], ", "))
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
		d.say("  A model needs a name, for example %s.\n", known[0].model)
	}
}
