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
	Config string           `short:"c" type:"path" placeholder:"FILE" help:"Configuration file. Default: $$PARLEY_CONFIG, ./config.yaml of a trusted folder, or ~/.config/parley/config.yaml."`
	UTC    bool             `name:"utc" help:"Show absolute times in UTC instead of relative ones."`
	Ver    kong.VersionFlag `name:"version" help:"Print the version."`
	Quiet  bool             `short:"q" help:"Print only results."`
}

// hostLine is the command line of the host alone.
type hostLine struct {
	common
	Run runCmd `cmd:"" default:"1"`
}

// cli is the command line.
type cli struct {
	common

	Run     runCmd     `cmd:"" default:"1" group:"run" help:"Run the host (the default)."`
	Status  statusCmd  `cmd:"" group:"run" help:"Show the status of the running host."`
	Reload  reloadCmd  `cmd:"" group:"run" help:"Reload the configuration of the running host."`
	Stop    stopCmd    `cmd:"" group:"run" help:"Stop the running host and wait for its end."`
	Logs    logsCmd    `cmd:"" group:"run" help:"Print the log of the running host."`
	Open    openCmd    `cmd:"" group:"run" help:"Print a login link for the web page."`
	SignOut signOutCmd `cmd:"" name:"sign-out" group:"run" help:"Sign all browsers out of the web page."`

	Chat  chatCmd  `cmd:"" group:"talk" help:"Chat with an agent in the terminal."`
	Say   sayCmd   `cmd:"" group:"talk" help:"Send a message to the agent of a session."`
	Agent agentCmd `cmd:"" group:"talk" help:"Give an agent a task."`
	Send  sendCmd  `cmd:"" group:"talk" help:"Send a text to a chat, without an agent."`

	Sessions sessionsCmd `cmd:"" group:"agents" help:"List, read, search, change and delete sessions."`
	Runs     runsCmd     `cmd:"" group:"agents" help:"List, show, wait for and stop runs of agents."`
	Agents   agentsCmd   `cmd:"" group:"agents" help:"List the agents."`
	Models   modelsCmd   `cmd:"" group:"agents" help:"List and test language models; forget what parley learned about them."`
	Tools    toolsCmd    `cmd:"" group:"agents" help:"List tools and explain who may use them."`
	Usage    usageCmd    `cmd:"" group:"agents" help:"Show tokens and costs of model calls by day, agent and model."`
	Cron     cronCmd     `cmd:"" group:"agents" help:"Add, list, change and run scheduled jobs."`
	Mcp      mcpCmd      `cmd:"" group:"agents" help:"Serve the running host as an MCP server on standard input and output."`

	Channels   channelsCmd   `cmd:"" group:"chats" help:"List and restart the accounts of chat platforms."`
	Login      loginCmd      `cmd:"" group:"chats" help:"Link an account with a phone."`
	Logout     logoutCmd     `cmd:"" group:"chats" help:"Unlink an account."`
	Pairing    pairingCmd    `cmd:"" group:"chats" help:"List, approve and remove people who may write."`
	Policy     policyCmd     `cmd:"" group:"chats" help:"List and explain the rules of the send policy."`
	Deliveries deliveriesCmd `cmd:"" group:"chats" help:"List, show, retry and drop outgoing messages."`
	Trace      traceCmd      `cmd:"" group:"chats" help:"Follow a message from the update to the receipt."`
	Events     eventsCmd     `cmd:"" group:"chats" help:"Print events as they happen."`
	Skipped    skippedCmd    `cmd:"" group:"chats" help:"List updates that the host could not process."`

	Init    initCmd    `cmd:"" group:"setup" help:"Write a configuration, step by step."`
	Check   checkCmd   `cmd:"" group:"setup" help:"Check the configuration."`
	Doctor  doctorCmd  `cmd:"" group:"setup" help:"Find what keeps the host from working, and how to fix it."`
	Conf    configCmd  `cmd:"" name:"config" group:"setup" help:"Print the schema or the reference of the configuration."`
	Trust   trustCmd   `cmd:"" group:"setup" help:"Trust the config.yaml of a folder."`
	Backup  backupCmd  `cmd:"" group:"setup" help:"Back up the state of the host."`
	Restore restoreCmd `cmd:"" group:"setup" help:"Restore a backup; the host must be stopped."`
	Import  importCmd  `cmd:"" group:"setup" help:"Import from another program."`
	Bench   benchCmd   `cmd:"" group:"setup" help:"Benchmark this program against stand-in servers."`

	Help       helpCmd       `cmd:"" group:"shell" help:"Show help for a command."`
	Completion completionCmd `cmd:"" group:"shell" help:"Print a completion script for a shell."`
	Man        manCmd        `cmd:"" group:"shell" help:"Print the manual page."`
	Version    versionCmd    `cmd:"" group:"shell" help:"Print the version."`

	Complete completeCmd `cmd:"" hidden:"" group:"shell" help:"Print completions of a command line."`
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

// meant adds the command that was probably meant to an unknown argument, which kong does only where no command is the default, and what the argument
// is, with an example, to a missing one.
func meant(err error) error {
	p, ok := errors.AsType[*kong.ParseError](err)
	if !ok || p.Context == nil || p.Context.Selected() == nil {
		return err
	}
	word, ok := strings.CutPrefix(err.Error(), "unexpected argument ")
	node := p.Context.Selected()
	if missing, isMissing := strings.CutPrefix(err.Error(), "expected \"<"); isMissing {
		return fmt.Errorf("%w%s", err, missingArgument(node, missing))
	}
	if !ok || node.Parent == nil || strings.Contains(word, "did you mean") {
		return err
	}
	var names []string
	for _, n := range slices.Concat(node.Children, node.Parent.Children) {
		if !n.Hidden {
			names = append(names, n.Name)
		}
	}
	path := p.Context.Path
	if i := slices.IndexFunc(path, func(e *kong.Path) bool { return e.Command == node }); i > 0 && node == node.Parent.DefaultCmd {
		p.Context.Path = path[:i] // nobody named the default: the usage is the group's
	}
	if near, ok := config.Closest(word, names); ok {
		return fmt.Errorf("%w, did you mean %q?", err, near)
	}
	return err
}

// missingArgument says what the argument is that is missing, if only one is, and shows an example of the command.
func missingArgument(node *kong.Node, missing string) string {
	name, _, _ := strings.Cut(missing, ">")
	several := strings.Contains(missing, " <")
	i := slices.IndexFunc(node.Positional, func(v *kong.Positional) bool { return v.Name == name })
	_, lines, ok := strings.Cut(node.Detail, "Examples:\n\n")
	if i < 0 || !ok {
		return ""
	}
	example, _, _ := strings.Cut(lines, "\n")
	about := " (" + strings.TrimSuffix(node.Positional[i].Help, ".") + ")"
	if several {
		about = ""
	}
	return fmt.Sprintf("%s; for example: %s", about, strings.TrimSpace(example))
}

// grammar is the command line as kong reads it.
func grammar(c *cli) *kong.Kong {
	return kong.Must(c, kong.Name("parley"), kong.Description("A self-hosted host for chat agents."), kong.ShortUsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, FlagsLast: true, WrapUpperBound: 110}), kong.Help(printHelp),
		kong.ExplicitGroups(commandGroups), kong.PostBuild(func(k *kong.Kong) error {
			addExamples(k.Model.Node)
			return nil
		}), kong.Exit(exit), versionVar())
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
