// Command parley is a host for chat agents: one binary that connects chat platforms to agents.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"parley/gateway/config"
	"parley/tools/mcp/confine"
)

// version is set by the linker for releases.
var version = "dev"

// common is what every command takes.
type common struct {
	Config string           `short:"c" type:"path" placeholder:"FILE" help:"Configuration file. Without it: $$PARLEY_CONFIG, ./config.yaml (of a trusted folder), ~/.config/parley/config.yaml, or none at all."`
	UTC    bool             `name:"utc" help:"Times as they are, in UTC; without it as seen from now."`
	Ver    kong.VersionFlag `name:"version" help:"Print the version."`
	Quiet  bool             `short:"q" help:"Print results only, no words about them."`
}

// hostLine is the command line of the host alone.
type hostLine struct {
	common
	Run runCmd `cmd:"" default:"1"`
}

// cli is the command line.
type cli struct {
	common

	Run        runCmd        `cmd:"" default:"1" help:"Run the host (the default)."`
	Chat       chatCmd       `cmd:"" help:"Chat with an agent of the running host in the terminal."`
	Say        sayCmd        `cmd:"" help:"Say something to the agent of a session."`
	Agent      agentCmd      `cmd:"" help:"Have an agent work on something."`
	Send       sendCmd       `cmd:"" help:"Send a text to a chat, without an agent."`
	Open       openCmd       `cmd:"" help:"Print the link to the page of the running host."`
	SignOut    signOutCmd    `cmd:"" name:"sign-out" help:"Sign every browser out of the page."`
	Status     statusCmd     `cmd:"" help:"Say how the running host is."`
	Events     eventsCmd     `cmd:"" help:"Print what happens, as it happens."`
	Sessions   sessionsCmd   `cmd:"" help:"List, read, search, change, delete sessions."`
	Runs       runsCmd       `cmd:"" help:"What agents work on and have worked on."`
	Agents     agentsCmd     `cmd:"" help:"List the agents."`
	Models     modelsCmd     `cmd:"" help:"List, test the language models, and forget what was learned about them."`
	Usage      usageCmd      `cmd:"" help:"What model calls cost, by day, agent and model."`
	Channels   channelsCmd   `cmd:"" help:"How the accounts are connected."`
	Login      loginCmd      `cmd:"" help:"Link an account with a phone."`
	Logout     logoutCmd     `cmd:"" help:"End the link of an account."`
	Pairing    pairingCmd    `cmd:"" help:"Let people in."`
	Policy     policyCmd     `cmd:"" help:"About the send policy."`
	Tools      toolsCmd      `cmd:"" help:"Which tools there are, and who may use them."`
	Mcp        mcpCmd        `cmd:"" help:"The running host's MCP server on standard input and output, for programs that start such servers."`
	Cron       cronCmd       `cmd:"" help:"Jobs that begin by themselves at a time."`
	Deliveries deliveriesCmd `cmd:"" help:"What was sent, what waits, what failed."`
	Trace      traceCmd      `cmd:"" help:"Follow a message through the host: update, run, tools, deliveries, receipts."`
	Skipped    skippedCmd    `cmd:"" help:"List updates that could not be read or taken."`
	Reload     reloadCmd     `cmd:"" help:"Reload the configuration of the running host."`
	Stop       stopCmd       `cmd:"" help:"Stop the running host and wait for its end."`
	Logs       logsCmd       `cmd:"" help:"Print the log of the running host."`
	Check      checkCmd      `cmd:"" help:"Check the configuration."`
	Conf       configCmd     `cmd:"" name:"config" help:"About the configuration."`
	Init       initCmd       `cmd:"" help:"Write a configuration by questions."`
	Trust      trustCmd      `cmd:"" help:"Let the config.yaml of a folder count when parley is started there."`
	Doctor     doctorCmd     `cmd:"" help:"Look for what keeps the host from working, and say how to mend it."`
	Backup     backupCmd     `cmd:"" help:"Back up all that the host keeps."`
	Restore    restoreCmd    `cmd:"" help:"Put a backup in the place of the state of a host that is stopped."`
	Import     importCmd     `cmd:"" help:"Take over what another program kept."`
	Bench      benchCmd      `cmd:"" help:"Measure this program as a whole against stand-in servers."`
	Completion completionCmd `cmd:"" help:"Print a script that completes commands in a shell."`
	Complete   completeCmd   `cmd:"" hidden:"" help:"What could come next on a command line."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// env is what every command gets.
type env struct {
	ctx    context.Context //nolint:containedctx // the life of one command
	config string
	began  time.Time
	trace  func(op, phase string) // of the store's commits; nil outside of tests

	utc, quiet bool
	out        io.Writer // nil = standard output
	found      *host     // that answers; see reach
	conf       *string   // the configuration file; see configFile

	asksNothing bool // of a command that works without a configuration
}

func main() { parley(traced()) }

// parley is the whole program. Tests hand it a trace of the store's commits.
func parley(trace func(op, phase string)) {
	began := time.Now()
	if len(os.Args) > 1 && os.Args[1] == confine.Command { // hidden: the host starts confined MCP servers with it
		code, err := confine.Main(os.Args[2:], os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, "parley:", err)
		}
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	c := &common{}
	k := hostAlone(os.Args[1:], c)
	if k == nil {
		k, c = whole(os.Args[1:])
	}
	err := k.Run(k.Kong, &env{ctx: ctx, config: c.Config, began: began, trace: trace, utc: c.UTC, quiet: c.Quiet})
	exit(printError(os.Stderr, err, wantsJSON(k)))
}

// hostAlone reads a command line that starts the host, and is nil for every other, also for one with a mistake or that asks for help.
// Reading all commands takes as long as half the start, and what is read stays in memory.
func hostAlone(args []string, c *common) *kong.Context {
	var line hostLine
	parser, err := kong.New(&line, kong.NoDefaultHelp(), kong.Exit(exit), versionVar())
	if err != nil {
		return nil
	}
	k, err := parser.Parse(args)
	if err != nil {
		return nil
	}
	*c = line.common
	return k
}

// whole reads any command line, and ends the process when it is wrong.
func whole(args []string) (*kong.Context, *common) {
	var c cli
	parser := grammar(&c)
	k, err := parser.Parse(args)
	parser.FatalIfErrorf(meant(err))
	return k, &c.common
}

// meant adds to an argument that nobody knows the command that was probably meant. kong does so only where no command is the default.
func meant(err error) error {
	p, ok := errors.AsType[*kong.ParseError](err)
	if !ok || p.Context == nil || p.Context.Selected() == nil {
		return err
	}
	word, ok := strings.CutPrefix(err.Error(), "unexpected argument ")
	node := p.Context.Selected()
	if !ok || node.Parent == nil || strings.Contains(word, "did you mean") {
		return err
	}
	var names []string
	for _, n := range slices.Concat(node.Children, node.Parent.Children) {
		if !n.Hidden {
			names = append(names, n.Name)
		}
	}
	if near, ok := config.Closest(word, names); ok {
		return fmt.Errorf("%w, did you mean %q?", err, near)
	}
	return err
}

// grammar is the command line as kong reads it.
func grammar(c *cli) *kong.Kong {
	return kong.Must(c, kong.Name("parley"), kong.Description("A self-hosted host for chat agents."), kong.ShortUsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 110}), kong.Exit(exit),
		versionVar())
}

// versionVar is what --version prints.
func versionVar() kong.Vars { return kong.Vars{"version": "parley " + version} }

// kongUsage is kong's exit code for a wrong command line.
const kongUsage = 80

// exit ends the process.
func exit(code int) {
	if code == kongUsage {
		code = exitUsage
	}
	os.Exit(code)
}

// wantsJSON reports whether the command was told to print JSON: then its error is JSON as well.
func wantsJSON(k *kong.Context) bool {
	for _, f := range k.Flags() {
		if v, ok := f.Target.Interface().(bool); ok && f.Name == "json" {
			return v
		}
	}
	return false
}
