package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"parley/cmd/internal/tables"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"parley/agent"
	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/backup"
	"parley/gateway/chatclient"
	"parley/gateway/config"
	"parley/gateway/configfile"
	"parley/gateway/filesystem"
	"parley/gateway/models"
	"parley/gateway/wizard"
)

type initCmd struct {
	Yes     bool              `short:"y" help:"Ask no questions: use the other flags, and the model that parley finds."`
	Force   bool              `help:"Replace an existing configuration; the old file is kept beside it."`
	Name    string            `placeholder:"NAME" help:"Name of the agent."`
	Token   map[string]string `placeholder:"CHANNEL=TOKEN" help:"Token of a bot. @FILE reads the token from a file, $$NAME from a variable."`
	Channel []string          `placeholder:"CHANNEL" help:"Channel without a token, to be linked later with parley login."`
	APIURL  map[string]string `name:"api-url" placeholder:"CHANNEL=URL" help:"URL of another server in place of the platform's own."`
	Owner   []string          `placeholder:"CHANNEL:ID" help:"Owner of the host: channel and user id."`
	Model   string            `placeholder:"PROVIDER/MODEL" help:"Language model, or none. Its key comes from OPENAI_API_KEY or ANTHROPIC_API_KEY. Default: the model that parley finds."`
	Inline  bool              `help:"Write secrets into the configuration, not into a file .env beside it."`
	State   string            `placeholder:"DIR" help:"State folder."`
	asJSON
}

// initialised is what the command answers.
type initialised struct {
	Config string   `json:"config"`
	Env    string   `json:"env,omitempty"` // the file of secrets; "" = there are none in it
	Kept   []string `json:"kept"`          // copies of what was there
	Login  []string `json:"login"`         // channels that are linked later
	// ForeignEnv are the variables of a file .env that was there before and is not known to be the user's: the folder is not trusted.
	ForeignEnv []string `json:"foreign_env,omitempty"`
	// Remaining are the variables that the file .env held before, and keeps.
	Remaining []string `json:"remaining,omitempty"`
	// Stored are the variables of the environment whose values were stored: in Env, or in Config.
	Stored []string `json:"stored,omitempty"`

	Notes []models.Note `json:"notes,omitempty"` // what may surprise about the model
}

// Run writes a configuration, by questions or by flags.
func (c initCmd) Run(e *env) error {
	path := cmp.Or(e.config, os.Getenv("PARLEY_CONFIG"))
	if path == "" {
		path = usualConfig()
	}
	d := wizard.Dialog{In: wizard.NewInput(os.Stdin), Out: os.Stdout, Adapters: tables.Adapters(), Providers: tables.Providers(), Getenv: os.Getenv, APIURLs: map[channels.Kind]string{}, Inline: c.Inline}
	fd := int(os.Stdin.Fd())
	terminal := term.IsTerminal(fd)
	if c.JSON || !terminal {
		d.Out = os.Stderr // the questions: only the result goes to a program
	}
	if terminal {
		d.Hidden = func(ask func()) (string, error) { return hidden(fd, ask) }
	}
	for k, u := range c.APIURL {
		d.APIURLs[channels.Kind(k)] = u
		if _, err := channelRow(d, "--api-url "+k, k); err != nil {
			return err
		}
		if bad := d.BadURL(channels.Kind(k)); bad != "" {
			return misuse("--api-url %s=%s: %s", k, u, bad)
		}
	}
	if err := c.mayReplace(d, path); err != nil {
		return err
	}
	foreign, err := c.foreignEnv(d, filepath.Dir(path))
	if err != nil {
		return err
	}
	if len(foreign) == 0 {
		d.Getenv = configfile.WithEnvFile(path, os.Getenv)
		d.InFile = func(name string) bool { return os.Getenv(name) == "" && d.Getenv(name) != "" }
	}
	a, notes, err := c.answers(e, d)
	if err == nil && !c.Yes {
		a, err = d.Ask(e.ctx, a)
	}
	if errors.Is(err, wizard.ErrEnded) {
		return misuse("%w%s", err, missing(a))
	}
	if err != nil {
		return err
	}
	a.State = c.State
	return c.write(e, a, path, append(notes, c.unused(a)...), foreign)
}

// hidden reads a line that the terminal does not show, from before the question is there.
func hidden(fd int, ask func()) (string, error) {
	was, err := term.MakeRaw(fd) // ReadPassword hides the input, too late
	if err != nil {
		return "", err
	}
	ask()
	b, err := term.ReadPassword(fd)
	return string(b), errors.Join(err, term.Restore(fd, was))
}

// missing names the flags for what was not answered, one line each.
func missing(a wizard.Answers) string {
	var b strings.Builder
	line := func(flag, what string) { fmt.Fprintf(&b, "\n  %-24s %s", flag, what) }
	b.WriteString("\nWithout a terminal, run parley init --yes with flags:")
	if a.Agent == "" {
		line("--name NAME", "the name of the agent")
	}
	if m := a.Model; m.Name == "" && !m.None {
		line("--model PROVIDER/MODEL", "the language model; its key comes from OPENAI_API_KEY or ANTHROPIC_API_KEY")
	} else if wizard.HasAPI(m.API) && m.BaseURL == "" && m.Key.IsZero() && m.Var == "" {
		line(strings.ToUpper(m.API)+"_API_KEY", "the key of "+m.Name+", as a variable of the environment")
	}
	if len(a.Channels) == 0 {
		line("--token 'CHANNEL=$NAME'", "the token of a bot, from a variable")
	}
	if len(a.Owners) == 0 {
		line("--owner CHANNEL:ID", "the owner; default: the first person ever approved")
	}
	return b.String()
}

// usualConfig is where a configuration goes that is not named.
func usualConfig() string {
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".config", "parley", "config.yaml")
	}
	return "config.yaml"
}

// mayReplace asks before a file is replaced.
func (c initCmd) mayReplace(d wizard.Dialog, path string) error {
	_, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || c.Force:
		return nil
	case err != nil:
		return err
	}
	exists := misuse("%s exists; use --force to replace the file, or --config FILE to write another", path)
	if c.Yes {
		return exists
	}
	yes, err := d.Yes(path+" exists. Replace the file? (parley keeps the old one beside it)", false)
	if errors.Is(err, wizard.ErrEnded) {
		return exists
	}
	if err == nil && !yes {
		err = failed(exitRefused, "kept", "%s was left as it is", path)
	}
	return err
}

// foreignEnv gives the variables of a file .env beside the configuration that parley did not write. A person on a terminal may say that the file
// is theirs: then there are none.
func (c initCmd) foreignEnv(d wizard.Dialog, folder string) ([]string, error) {
	names, err := configfile.ForeignEnv(folder, os.Getenv)
	if err != nil || len(names) == 0 || c.Yes || d.Hidden == nil {
		return names, err
	}
	yes, err := d.Yes(chatclient.OneLine(fmt.Sprintf("%s exists and sets %s. parley did not write this file, which could send your keys to other servers. Is the file yours, and may parley use it?",
		filepath.Join(folder, configfile.EnvName), strings.Join(names, ", "))), false)
	if yes {
		names = nil
	}
	return names, err
}

// write checks what was made as `parley check` would, then writes it. What it replaces is kept under another name.
func (c initCmd) write(e *env, a wizard.Answers, path string, notes []models.Note, foreign []string) error {
	text, vars := a.Files()
	envPath := filepath.Join(filepath.Dir(path), configfile.EnvName)
	old, err := filesystem.Read(envPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	merged := old
	if len(vars) > 0 {
		merged = wizard.MergeEnv(old, vars)
	}
	values, err := configfile.ParseEnv(envPath, merged)
	if err != nil {
		return usageError{err}
	}
	getenv := func(name string) string { return cmp.Or(os.Getenv(name), values[name]) }
	if _, _, err := config.Parse(path, text, accounts.Table(tables.Adapters()), getenv); err != nil {
		return fmt.Errorf("these answers do not make a valid configuration: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	out := initialised{Config: path, Kept: []string{}, Login: []string{}, Notes: notes, ForeignEnv: foreign, Stored: a.Stored}
	fresh, err := configfile.ParseEnv(envPath, vars)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, written := fresh[name]; !written && len(foreign) == 0 {
			out.Remaining = append(out.Remaining, name)
		}
	}
	keep := func(path string) error {
		to, err := keepOld(path)
		if to != "" {
			out.Kept = append(out.Kept, to)
		}
		return err
	}
	if len(vars) > 0 && !bytes.Equal(old, merged) {
		if !bytes.HasPrefix(merged, old) { // a line of it is replaced
			if err := keep(envPath); err != nil {
				return err
			}
		}
		if err := replaceFile(envPath, merged); err != nil {
			return err
		}
	}
	if err := keep(path); err != nil {
		return err
	}
	if err := replaceFile(path, text); err != nil {
		return err
	}
	if filepath.Base(path) == configfile.Name && len(foreign) == 0 {
		_, _ = configfile.Trust(filepath.Dir(path), os.Getenv) // where that fails, the last lines name the file with --config
	}
	if len(vars) > 0 {
		out.Env = envPath
	}
	if m := a.Model; m.API != "" {
		key := m.Key
		if m.Var != "" {
			key = channels.NewSecret(getenv(m.Var))
		}
		out.Notes = append(out.Notes, models.NotesOn(e.ctx, m.Name, agent.Provider{API: m.API, BaseURL: m.BaseURL, APIKey: key})...)
	}
	for _, ch := range a.Channels {
		if ch.Token.IsZero() {
			out.Login = append(out.Login, string(ch.Kind))
		}
	}
	return tell(e, c.asJSON, out, initWords)
}

// initWords says what was written, and what to do now.
func initWords(p *page, out initialised) {
	p.printf("\nWrote %s", out.Config)
	if out.Env != "" {
		p.printf(" and %s", out.Env)
	}
	p.printf(".\n")
	if len(out.Stored) > 0 {
		in := out.Env
		if in == "" {
			in = out.Config
		}
		p.printf("Stored %s from the environment in %s.\n", strings.Join(out.Stored, ", "), in)
	}
	if len(out.Remaining) > 0 {
		p.printf("%s keeps %s from before. Remove the lines that parley must not use.\n", filepath.Join(filepath.Dir(out.Config), configfile.EnvName), strings.Join(out.Remaining, ", "))
	}
	switch n := len(out.Kept); {
	case n == 1:
		p.printf("The old file is kept as %s.\n", out.Kept[0])
	case n > 1:
		p.printf("The old files are kept as %s.\n", strings.Join(out.Kept, " and "))
	}
	for _, n := range out.Notes {
		if !n.Minor {
			p.printf("Note: %s\n", n)
		}
	}
	next := "Next"
	if folder := filepath.Dir(out.Config); len(out.ForeignEnv) > 0 {
		next = "Then"
		p.printf("Note: %s existed before and sets %s, so parley does not trust the folder.\n\nFirst look at that file. If the file is yours:\n  parley trust %s\nOtherwise remove the file: parley reads it with --config, too.\n",
			chatclient.OneLine(filepath.Join(folder, configfile.EnvName)), strings.Join(out.ForeignEnv, ", "), quoted(folder))
	}
	name := "parley"
	if found, err := configfile.Find("", os.Getenv); err != nil || !sameFile(found, out.Config) {
		name += " --config " + quoted(out.Config)
	}
	p.printf("\n%s:\n  %s doctor\n  %s\n", next, name, name)
	for _, kind := range out.Login {
		p.printf("and, while the host runs:\n  %s login %s\n", name, kind)
	}
}

// keepOld keeps a file under a name that is free: config.yaml.old, config.yaml.old.2, and so on. "" = there is none.
func keepOld(path string) (to string, err error) {
	text, err := filesystem.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		if to = path + ".old"; n > 1 {
			to = fmt.Sprintf("%s.old.%d", path, n)
		}
		f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(text)
		return to, errors.Join(err, f.Sync(), f.Close())
	}
}

func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// replaceFile writes a file that only its owner can read, all of it or nothing. A link leads to the new one as it did to the old one, or to one that
// is made now.
func replaceFile(path string, text []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if to, isNoLink := os.Readlink(path); isNoLink == nil {
		if !errors.Is(err, fs.ErrNotExist) { // it leads to itself
			return err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		return replaceFile(to, text)
	}
	f, err := filesystem.Part(path)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error counts
		return err
	}
	return backup.SyncFolder(filepath.Dir(path))
}
