package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"parley/gateway/api"
	"parley/gateway/chatclient"
)

//go:embed completion/parley.bash
var bashScript string

//go:embed completion/parley.zsh
var zshScript string

//go:embed completion/parley.fish
var fishScript string

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help shows how a shell learns it.
func (completionCmd) Help() string {
	return "Examples:\n\n  parley completion bash > ~/.local/share/bash-completion/completions/parley\n  parley completion zsh > \"${fpath[1]}/_parley\"\n  parley completion fish > ~/.config/fish/completions/parley.fish"
}

// Run prints the script that makes a shell ask this program what could come next.
func (c completionCmd) Run(e *env) error {
	_, err := io.WriteString(e.page().out, map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell])
	return err
}

// completeCmd is what the scripts call.
type completeCmd struct {
	Line string `arg:"" help:"The command line up to the cursor."`
}

// askWithin bounds what a person who presses Tab waits for the host.
const askWithin = time.Second

// Run prints what could come next, one a line with a tab and a description.
func (c completeCmd) Run(e *env, k *kong.Kong) error {
	e.asksNothing = true
	words := splitLine(c.Line)
	w := e.page()
	for _, o := range completions(k.Model, words, func(what string) []option { return known(e, what, words) }) {
		_, _ = fmt.Fprintf(w.out, "%s\t%s\n", chatclient.OneLine(o.word), chatclient.OneLine(o.about)) // cleaned word by word
	}
	return nil
}

// option is a word that could come next.
type option struct{ word, about string }

// splitLine splits what was typed into words, as a shell does for simple ones; the last is the one that is being written.
func splitLine(line string) (words []string) {
	var word strings.Builder
	var quote rune
	begun := false
	for _, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	return append(words, word.String())
}

// completions says what may follow: words are those of the line, the program's name first, the last one unfinished. ask gives what
// only the running host knows.
func completions(app *kong.Application, words []string, ask func(what string) []option) (out []option) {
	if len(words) < 2 {
		return nil
	}
	node, flags, args := app.Node, slices.Clone(app.Flags), 0
	var pending *kong.Flag // a flag that waits for its value
	for _, w := range words[1 : len(words)-1] {
		switch {
		case pending != nil:
			pending = nil
		case strings.HasPrefix(w, "-"):
			if f := flagOf(flags, w); f != nil && !f.IsBool() && !strings.Contains(w, "=") {
				pending = f
			}
		default:
			if i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == w }); i >= 0 && args == 0 {
				node = node.Children[i]
				flags = append(flags, node.Flags...)
				continue
			}
			args++
		}
	}
	last := words[len(words)-1]
	switch {
	case pending != nil:
		out = values(pending.Value, ask)
	case strings.HasPrefix(last, "-"):
		for _, f := range flags {
			if !f.Hidden {
				out = append(out, option{"--" + f.Name, f.Help})
			}
		}
	default:
		for _, n := range node.Children {
			if !n.Hidden && args == 0 {
				out = append(out, option{n.Name, n.Help})
			}
		}
		takes := node // the command that is meant without a name takes the arguments
		if takes.DefaultCmd != nil && takes.Type != kong.ApplicationNode {
			takes = takes.DefaultCmd
		}
		if args < len(takes.Positional) {
			out = append(out, values(takes.Positional[args], ask)...)
		}
	}
	return slices.DeleteFunc(out, func(o option) bool { return !strings.HasPrefix(o.word, last) })
}

func flagOf(flags []*kong.Flag, word string) *kong.Flag {
	name, _, _ := strings.Cut(word, "=")
	for _, f := range flags {
		if name == "--"+f.Name || f.Short != 0 && name == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// values are those that an argument or a flag may have.
func values(v *kong.Value, ask func(what string) []option) (out []option) {
	for _, x := range v.EnumSlice() {
		if x != "" {
			out = append(out, option{word: x})
		}
	}
	if len(out) == 0 {
		out = ask(strings.ReplaceAll(v.Name, "-", ""))
	}
	return out
}

// known asks the running host for the names of things. Nothing is said when there is none: a shell shows no errors.
func known(e *env, what string, words []string) (out []option) {
	for i, w := range words[:len(words)-1] {
		if w == "--config" || w == "-c" {
			e.config = words[i+1]
		}
	}
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil { // warnings about the configuration
		os.Stderr = null
		defer func() { _ = null.Close() }()
	}
	switch what {
	case "session", "parent", "spawnedby":
		list, _ := requestOnce[[]api.Session](e, "GET /api/sessions", api.SessionsQuery{Limit: 200}, "", askWithin)
		out = append(out, option{"main", "the default agent's main session"})
		for _, s := range list {
			out = append(out, option{string(s.Key), nameOf(s)})
		}
	case "agent":
		list, _ := requestOnce[[]api.Agent](e, "GET /api/agents", api.None{}, "", askWithin)
		for _, a := range list {
			out = append(out, option{string(a.ID), a.Name})
		}
	case "model":
		list, _ := requestOnce[[]api.Model](e, "GET /api/models", api.None{}, "", askWithin)
		for _, m := range list {
			out = append(out, option{m.Name, m.Trouble})
		}
	case "run", "root":
		list, _ := requestOnce[[]api.Run](e, "GET /api/runs", api.RunsQuery{Limit: 30}, "", askWithin)
		for _, r := range list {
			out = append(out, option{string(r.ID), string(r.Status) + " " + runWords(r)})
		}
	case "channel", "account":
		list, _ := requestOnce[[]api.Account](e, "GET /api/channels", api.None{}, "", askWithin)
		for _, a := range list {
			out = append(out, option{map[bool]string{true: string(a.Channel), false: string(a.Account)}[what == "channel"], a.Words()})
		}
	case "job":
		list, _ := requestOnce[[]api.Job](e, "GET /api/cron", api.JobsQuery{}, "", askWithin)
		for _, j := range list {
			out = append(out, option{j.ID, cmp.Or(j.Name, j.Message)})
		}
	}
	return out
}
