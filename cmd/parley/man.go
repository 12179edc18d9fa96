package main

import (
	"io"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
	mangokong "github.com/alecthomas/mango-kong"
	"github.com/muesli/roff"
)

type manCmd struct{}

// Run prints the manual page: parley man > parley.1, or parley man | man -l -
func (manCmd) Run(e *env, k *kong.Kong) error {
	_, err := io.WriteString(e.page().out, manPage(k.Model))
	return err
}

var manDate = regexp.MustCompile(`(?m)^(\.TH \S+ \d+) "[^"]*"`)

// manPage is the manual page. It carries no date: what it says follows from the program alone.
func manPage(app *kong.Application) string {
	var examples strings.Builder
	gather(app.Node, &examples)
	m := mangokong.NewManPage(1, app).
		WithSection("Exit status", exitTable()).
		WithSection("Files", "~/.config/parley/config.yaml, or ./config.yaml, or what PARLEY_CONFIG names: the configuration.\n~/.local/state/parley, or what PARLEY_STATE or state: in the configuration names: everything that the host keeps.").
		WithSection("Environment", "PARLEY_CONFIG, PARLEY_STATE: see above. NO_COLOR: no colours.")
	return manDate.ReplaceAllString(strings.TrimSpace(m.Build(roff.NewDocument())), `$1 ""`) + "\n.SH EXAMPLES\n.nf\n" + examples.String() + ".fi\n"
}

// gather takes the examples out of the commands' help: in a manual page they have a place of their own.
func gather(n *kong.Node, into *strings.Builder) {
	_, text, _ := strings.Cut(n.Detail, "Examples:\n")
	n.Detail = ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			into.WriteString(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(line) + "\n")
		}
	}
	for _, c := range n.Children {
		if !c.Hidden {
			gather(c, into)
		}
	}
}

// exitTable is the table of exit codes as the manual page has it.
func exitTable() string {
	return "0 done\n1 what was asked for did not work\n2 the command line or the configuration is wrong\n3 the host is not running\n4 what was named is not there\n" +
		"5 refused: token, scope or send policy\n6 it took too long\n7 stopped\n8 the run reached its time limit\n9 the text did not reach its chat\n130 interrupted"
}
