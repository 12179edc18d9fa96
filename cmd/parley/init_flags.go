package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"parley/agent"
	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/filesystem"
	"parley/gateway/models"
	"parley/gateway/wizard"
)

// answers takes them from the flags. Without --yes, a flag with a wrong value is reported and leaves its question open. The notes say why there is
// no model, where there is none.
func (c initCmd) answers(e *env, d wizard.Dialog) (a wizard.Answers, notes []models.Note, err error) {
	a.Agent, a.Env = c.Name, !c.Inline
	for _, kind := range slices.Sorted(maps.Keys(c.Token)) {
		row, err := channelRow(d, "--token "+kind, kind)
		if err != nil {
			return a, nil, err
		}
		if !wizard.HasToken(row) {
			return a, nil, misuse("--token %s: the channel has no token; use --channel %s", kind, kind)
		}
		ch, err := c.tokenOf(e, d, kind)
		if err != nil {
			if err = c.openQuestion(d, err); err != nil {
				return a, nil, err
			}
			continue
		}
		if name, ok := strings.CutPrefix(c.Token[kind], "$"); ok {
			a.Stored = append(a.Stored, name)
		}
		a.Channels = append(a.Channels, ch)
	}
	for _, kind := range c.Channel {
		if _, err := channelRow(d, "--channel "+kind, kind); err != nil {
			return a, nil, err
		}
		a.Channels = append(a.Channels, wizard.Channel{Kind: channels.Kind(kind), APIURL: c.APIURL[kind]})
	}
	for _, o := range c.Owner {
		kind, id, ok := strings.Cut(o, ":")
		if !ok || id == "" {
			err = misuse("--owner %s: write CHANNEL:ID, for example telegram:1001", o)
		} else if row, missing := channelRow(d, "--owner "+o, kind); missing != nil {
			return a, nil, missing
		} else if o, err = d.Owner(bot(a.Channels, row.Kind), row, id); err != nil {
			err = misuse("--owner %s:%s: %w", kind, id, err)
		}
		if err == nil {
			a.Owners = append(a.Owners, o)
		} else if err = c.openQuestion(d, err); err != nil {
			return a, nil, err
		}
	}
	if notes, err = c.model(e, d, &a); err != nil {
		return a, nil, err
	}
	if len(a.Channels) > 0 && len(a.Owners) == 0 && c.Yes {
		notes = append(notes, models.Note{Text: "no owner is named. The first person whom you approve becomes the owner, if no person was let in before", Fix: "use --owner CHANNEL:ID, or later parley pairing approve CHANNEL CODE"})
	}
	return a, notes, nil
}

// unused names what the answers say of channels that have no account.
func (c initCmd) unused(a wizard.Answers) (notes []models.Note) {
	has := func(kind string) bool {
		return slices.ContainsFunc(a.Channels, func(ch wizard.Channel) bool { return string(ch.Kind) == kind })
	}
	for _, o := range a.Owners {
		if kind, _, _ := strings.Cut(o, ":"); !has(kind) {
			notes = append(notes, models.Note{Text: "the file names the owner " + o + ", but has no account of " + kind, Fix: "add channels." + kind + " to the file"})
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(c.APIURL)) {
		if !has(kind) {
			notes = append(notes, models.Note{Text: "--api-url " + kind + " is not used: the file has no account of " + kind, Fix: "add channels." + kind + " to the file"})
		}
	}
	return notes
}

// bot returns the channel of a kind; zero = it is not among them.
func bot(list []wizard.Channel, kind channels.Kind) (c wizard.Channel) {
	if i := slices.IndexFunc(list, func(c wizard.Channel) bool { return c.Kind == kind }); i >= 0 {
		c = list[i]
	}
	return c
}

// channelRow returns the row of a channel that a flag names.
func channelRow(d wizard.Dialog, flag, kind string) (accounts.Adapter, error) {
	i := slices.IndexFunc(d.Adapters, func(r accounts.Adapter) bool { return string(r.Kind) == kind })
	if i < 0 {
		return accounts.Adapter{}, misuse("%s: there is no channel %q; the channels are %s", flag, kind, strings.Join(channelKinds(d), ", "))
	}
	return d.Adapters[i], nil
}

// channelKinds returns the names of the chat platforms.
func channelKinds(d wizard.Dialog) (kinds []string) {
	for _, row := range d.Adapters {
		if row.Platform != nil {
			kinds = append(kinds, string(row.Kind))
		}
	}
	return kinds
}

// openQuestion reports the wrong value of a flag whose question is asked then. With --yes nothing is asked: it returns the error.
func (c initCmd) openQuestion(d wizard.Dialog, err error) error {
	if c.Yes {
		return err
	}
	_, err = fmt.Fprintln(d.Out, err)
	return err
}

// tokenOf returns the channel of a flag --token, and tests the token.
func (c initCmd) tokenOf(e *env, d wizard.Dialog, kind string) (ch wizard.Channel, err error) {
	token, err := valueOf(c.Token[kind])
	if err != nil {
		return ch, misuse("--token %s=%s: %w", kind, c.Token[kind], err) // the name of a file or a variable
	}
	ch = wizard.Channel{Kind: channels.Kind(kind), Token: channels.NewSecret(token), APIURL: c.APIURL[kind]}
	if ch.Name, err = d.Check(e.ctx, ch); err != nil {
		problem := d.TokenProblem(ch, err)
		if wizard.Wrong(err) {
			return ch, failed(exitRefused, "unauthorized", "--token %s: %s", kind, problem)
		}
		fmt.Fprintf(os.Stderr, "--token %s: %s parley uses the token anyway.\n", kind, problem)
	}
	return ch, nil
}

// model takes the model that the flags name, or that is found, and tests its key. The notes say why there is none.
func (c initCmd) model(e *env, d wizard.Dialog, a *wizard.Answers) (notes []models.Note, err error) {
	switch {
	case c.Model == "none":
		a.Model.None = true
		return nil, nil
	case !c.Yes && c.Model == "":
		return nil, nil // the question looks for one
	}
	m, why, found := d.Detect(e.ctx, c.Model)
	provider, _, _ := strings.Cut(c.Model, "/")
	found = found && (c.Model == "" || strings.HasPrefix(m.Name, provider+"/"))
	switch {
	case found:
		m.Name = cmp.Or(c.Model, m.Name)
	case c.Model != "" && !wizard.HasAPI(provider):
		help := "--model takes a model of openai or anthropic, or of a server that runs on this machine, for example openai/gpt-5.1"
		if program, start := models.HowToStart(provider, agent.Provider{}); start != "" {
			help = "to start " + program + ": " + start
		}
		return nil, c.openQuestion(d, misuse("--model %s: no server of %q was found; %s", c.Model, provider, help))
	case c.Model != "" && !c.Yes:
		return nil, d.NamedModel(e.ctx, c.Model, a)
	case c.Model != "":
		return nil, misuse("--model %s: the environment has no key of %q: set %s_API_KEY, or let parley ask for it: parley init", c.Model, provider, strings.ToUpper(provider))
	default:
		return []models.Note{{Text: "no language model was found (" + why + "). The built-in offline model answers; it understands only a few phrases",
			Fix: "set OPENAI_API_KEY or ANTHROPIC_API_KEY, start Ollama (ollama serve) and give it a model (ollama pull qwen3:8b), or name a provider with its model in the file"}}, nil
	}
	if !c.Yes {
		return nil, d.FoundModel(e.ctx, m, a)
	}
	a.Model = m
	if m.Var != "" {
		problem, rejected := d.Try(e.ctx, m)
		if rejected {
			return nil, failed(exitRefused, "unauthorized", "%s Set another key in %s, or remove the variable from the environment and from .env.", problem, m.Var)
		}
		if problem != "" {
			fmt.Fprintf(os.Stderr, "%s parley uses the key anyway.\n", problem)
		}
		if d.InFile == nil || !d.InFile(m.Var) {
			a.Stored = append(a.Stored, m.Var)
			a.Model = m.Stored(d.Getenv)
		}
	}
	return nil, nil
}

// valueOf reads a secret that is not on the command line, where other users see it.
func valueOf(s string) (string, error) {
	if name, ok := strings.CutPrefix(s, "@"); ok {
		b, err := filesystem.Read(name)
		return strings.TrimSpace(string(b)), err
	}
	if name, ok := strings.CutPrefix(s, "$"); ok {
		if v := os.Getenv(name); v != "" {
			return v, nil
		}
		return "", misuse("the variable %s is not set", name)
	}
	return s, nil
}
