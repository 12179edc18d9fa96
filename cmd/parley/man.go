package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct{}

// Run prints the manual page: parley man > parley.1, or parley man | man -l -
func (manCmd) Run(e *env, k *kong.Kong) error {
	_, err := io.WriteString(e.page().out, manPage(k.Model))
	return err
}

// manPage is the manual page, in the macros of man(7). It carries no date: what it says follows from the program alone.
func manPage(app *kong.Application) string {
	m := &manual{}
	m.raw(".TH PARLEY 1 \"\" \"parley\" \"parley\"")
	m.section("NAME", "parley - "+strings.TrimSuffix(app.Help, "."))
	m.raw(".SH SYNOPSIS")
	m.raw(".B parley")
	m.raw("[" + roff("command") + "] [" + roff("argument") + "...] [" + roff("flag") + "...]")
	m.section("DESCRIPTION", manDescription...)
	m.raw(".SH OPTIONS")
	m.raw("These flags work with every command.")
	m.flags(app.Flags)
	m.raw(".SH COMMANDS")
	group := ""
	for _, c := range app.Children {
		if c.Hidden {
			continue
		}
		if c.Group != nil && c.Group.Title != group {
			group = c.Group.Title
			m.raw(".SS " + roff(strings.TrimSuffix(group, ":")))
		}
		m.command(c)
	}
	m.list("FILES", manFiles)
	m.list("ENVIRONMENT", manEnvironment)
	m.list("EXIT STATUS", manExits)
	m.section("EXAMPLES", "Start the host, chat with it, and stop it:")
	m.raw(".PP", ".nf", roff("parley &\nparley chat\nparley stop"), ".fi")
	for _, c := range app.Children {
		m.examples(c)
	}
	m.section("SEE ALSO", "The documentation is in the folder docs of the source. It describes every key of the configuration, the API and the channels.")
	return m.String()
}

var manDescription = []string{
	"parley connects chat platforms to agents: Telegram, Discord, WhatsApp, a web page, a terminal and programs.",
	"Without a command, parley runs the host. Every other command talks to the running host, which it finds by the configuration and the state folder.",
	"parley runs without a configuration: then the built-in offline model answers on the web page. parley init writes a configuration.",
}

// manual is a manual page while it is written.
type manual struct{ strings.Builder }

func (m *manual) raw(lines ...string) {
	for _, l := range lines {
		m.WriteString(l + "\n")
	}
}

// section writes a heading and paragraphs.
func (m *manual) section(title string, paragraphs ...string) {
	m.raw(".SH " + title)
	for i, p := range paragraphs {
		if i > 0 {
			m.raw(".PP")
		}
		m.raw(roff(p))
	}
}

// list writes a heading and terms with what they mean.
func (m *manual) list(title string, rows [][2]string) {
	m.raw(".SH " + title)
	for _, r := range rows {
		m.raw(".TP", ".B "+roff(r[0]), roff(r[1]))
	}
}

// command writes a command, its arguments and flags, and those below it.
func (m *manual) command(n *kong.Node) {
	if n.Hidden {
		return
	}
	if len(n.Children) == 0 {
		m.raw(".TP", ".B "+roff("parley "+strings.TrimSuffix(n.Summary(), " [flags]")), roff(n.Help))
		for _, p := range n.Positional {
			m.raw(".RS", ".TP", ".I "+roff(p.Name), roff(p.Help), ".RE")
		}
		if text, _, _ := strings.Cut(n.Detail, "Examples:"); strings.TrimSpace(text) != "" {
			m.raw(".IP", roff(strings.TrimSpace(text)))
		}
		if len(n.Flags) > 0 {
			m.raw(".RS")
			m.flags(n.Flags)
			m.raw(".RE")
		}
	}
	for _, c := range n.Children {
		m.command(c)
	}
}

// flags writes flags as a list of terms.
func (m *manual) flags(flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := "--" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		if f.Tag.Negatable != "" {
			name = strings.Replace(name, "--", "--[no-]", 1)
		}
		if !f.IsBool() {
			name += "=" + f.FormatPlaceHolder()
		}
		m.raw(".TP", ".B "+roff(name), roff(f.Help))
	}
}

// examples writes the examples of a command and of those below it.
func (m *manual) examples(n *kong.Node) {
	if _, text, ok := strings.Cut(n.Detail, "Examples:\n"); ok && !n.Hidden {
		m.raw(".PP", roff(n.Help), ".PP", ".nf")
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				m.raw(roff(line))
			}
		}
		m.raw(".fi")
	}
	for _, c := range n.Children {
		m.examples(c)
	}
}

// roff escapes text for a manual page: no line begins with a request, and hyphens stay those of the keyboard.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

var manFiles = [][2]string{
	{"~/.config/parley/config.yaml", "The configuration of the user. ./config.yaml comes first where its folder is trusted (parley trust)."},
	{".env", "Variables beside the configuration, one NAME=value a line. Variables of the environment come first."},
	{"~/.local/state/parley", "The state folder: database, transcripts, logins and files."},
	{"~/.config/parley/trusted.json", "The folders whose config.yaml and .env are trusted."},
}

var manEnvironment = [][2]string{
	{"PARLEY_CONFIG", "The configuration file, where --config names none."},
	{"PARLEY_STATE", "The state folder, where the configuration has no key state."},
	{"OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL", "A language model, where the configuration names none."},
	{"ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL", "The same; Anthropic comes first where both keys are set."},
	{"OLLAMA_HOST", "The address of Ollama, where no key is set."},
	{"HTTPS_PROXY, HTTP_PROXY, NO_PROXY", "The proxy for calls to platforms and models, and the hosts that parley calls without it."},
	{"TZ", "The time zone of jobs that name none."},
	{"NO_COLOR", "Print no colours."},
}

// manExits are the exit codes; docs/cli.md says more about each.
var manExits = exitRows()

func exitRows() (rows [][2]string) {
	for _, x := range []struct {
		code int
		text string
	}{
		{0, "The command succeeded."},
		{exitFailed, "The command failed."},
		{exitUsage, "The command line or the configuration is invalid."},
		{exitAway, "The host is not running."},
		{exitMissing, "The named object does not exist."},
		{exitRefused, "A token, a scope or the send policy forbids the command."},
		{exitTimeout, "The command timed out."},
		{exitStopped, "The run was stopped."},
		{exitOverrun, "The run reached its time limit."},
		{exitUndelivered, "The text did not reach its chat."},
		{exitInterrupted, "The user interrupted the command."},
	} {
		rows = append(rows, [2]string{fmt.Sprint(x.code), x.text})
	}
	return rows
}
