package wizard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/configfile"
)

// Answers are the values that a first configuration is written from.
type Answers struct {
	Agent    string    // display name; "" = none
	State    string    // state folder; "" = the default
	Channels []Channel // in this order
	Owners   []string  // channel:id
	Model    Model
	Env      bool     // secrets go into the file .env, otherwise into the configuration
	Stored   []string // variables of the environment whose values are stored
}

// Channel is one account.
type Channel struct {
	Kind   channels.Kind
	Token  channels.Secret // zero: it has none
	APIURL string          // "" = the platform's own
	Name   string          // of the account, when the platform told it
}

// Model is the model that answers, with its provider and key.
type Model struct {
	Name    string // provider/model; "" = whatever the host finds
	API     string
	BaseURL string
	Key     channels.Secret
	None    bool   // the built-in offline model, by choice
	Var     string // the key is in this variable of the environment already
}

// secret reports whether there is a key to keep. A server on this machine wants any: its own name.
func (m Model) secret() bool {
	provider, _, _ := strings.Cut(m.Name, "/")
	return !m.Key.IsZero() && m.Key.Reveal() != provider
}

// secret is a value that is kept in .env under a name.
type secret struct {
	name  string
	value channels.Secret
}

// Files makes the text of the configuration file, and of .env; that is empty when there is nothing to keep in it.
func (a Answers) Files() (text, env []byte) {
	var b strings.Builder
	var secrets []secret
	keep := func(name string, v channels.Secret) string {
		if !a.Env {
			return quote(literal(v.Reveal()))
		}
		secrets = append(secrets, secret{name, v})
		return "${" + name + "}"
	}
	b.WriteString("# Written by parley init. Every key is described by: parley config reference\n")
	if a.Env {
		b.WriteString("# ${NAME} takes a value from the environment, or from the file .env beside this one.\n")
	}
	if a.State != "" {
		fmt.Fprintf(&b, "\nstate: %s\n", quote(literal(a.State)))
	}
	b.WriteString("\nagents:\n")
	if a.Model.Name != "" {
		fmt.Fprintf(&b, "  defaults:\n    model: %s\n", quote(literal(a.Model.Name)))
	}
	b.WriteString("  list:\n    - id: main\n      default: true\n")
	if a.Agent != "" {
		fmt.Fprintf(&b, "      name: %s\n", quote(literal(a.Agent)))
	}
	if m := a.Model; m.API != "" {
		provider, _, _ := strings.Cut(m.Name, "/")
		fmt.Fprintf(&b, "\nmodels:\n  providers:\n    %s:\n      api: %s\n", quote(provider), m.API)
		if m.BaseURL != "" {
			fmt.Fprintf(&b, "      baseUrl: %s\n", quote(literal(m.BaseURL)))
		}
		switch {
		case m.Var != "":
			fmt.Fprintf(&b, "      apiKey: ${%s}\n", m.Var)
		case !m.Key.IsZero() && !m.secret():
			fmt.Fprintf(&b, "      apiKey: %s\n", quote(provider))
		case m.secret():
			fmt.Fprintf(&b, "      apiKey: %s\n", keep(variable(provider)+"_API_KEY", m.Key))
		}
	}
	b.WriteString("\n# Owners: they may use every command. Without one, the first person ever approved becomes the owner. Send /whoami to a bot to see your id.\ncommands:\n  ownerAllowFrom: [")
	for i, o := range a.Owners {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(literal(o)))
	}
	b.WriteString("]\n")
	a.channels(&b, keep)
	return []byte(b.String()), envFile(secrets)
}

func (a Answers) channels(b *strings.Builder, keep func(string, channels.Secret) string) {
	if len(a.Channels) == 0 {
		return
	}
	b.WriteString("\n# Strangers who write to a bot directly get a code, which you approve: parley pairing approve. In a group, a bot reads messages\n# only where this file lets the group in (docs/channels.md).\nchannels:\n")
	for _, c := range a.Channels {
		fmt.Fprintf(b, "  %s:", c.Kind)
		if c.Token.IsZero() && c.APIURL == "" {
			b.WriteString(" {}\n")
			continue
		}
		b.WriteString("\n")
		if !c.Token.IsZero() {
			fmt.Fprintf(b, "    token: %s", keep(variable(string(c.Kind))+"_TOKEN", c.Token))
			if c.Name != "" && !strings.ContainsAny(c.Name, "\r\n") {
				fmt.Fprintf(b, " # %s", c.Name)
			}
			b.WriteString("\n")
		}
		if c.APIURL != "" {
			fmt.Fprintf(b, "    apiUrl: %s\n", quote(literal(c.APIURL)))
		}
	}
}

// variable makes the beginning of a variable's name.
func variable(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, strings.ToUpper(s))
}

// quote writes a text in double quotes: what JSON takes, YAML takes.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}

// literal keeps what looks like a variable from being one.
func literal(s string) string { return strings.ReplaceAll(s, "${", "$${") }

func envFile(secrets []secret) []byte {
	if len(secrets) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("# Secrets of config.yaml. Only you may read this file.\n")
	for _, s := range secrets {
		line, _ := configfile.EnvLine(s.name, s.value) // one line was asked for
		b.WriteString(line)
	}
	return []byte(b.String())
}

// MergeEnv puts the lines of a new .env in the place of those of the same names in an old one; all others stay.
func MergeEnv(old, fresh []byte) []byte {
	name := func(line string) string {
		n, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		return strings.TrimSpace(n)
	}
	var names []string
	for line := range strings.Lines(string(fresh)) {
		if !strings.HasPrefix(line, "#") {
			names = append(names, name(line))
		}
	}
	var b strings.Builder
	for line := range strings.Lines(string(old)) {
		if !slices.Contains(names, name(line)) {
			b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	for line := range strings.Lines(string(fresh)) {
		if b.Len() == 0 || !strings.HasPrefix(line, "#") || len(old) == 0 {
			b.WriteString(line)
		}
	}
	return []byte(b.String())
}
