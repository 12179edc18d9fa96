package main

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"The command. Default: list all commands."`
}

// Run prints the help of a command, as COMMAND --help does.
func (c helpCmd) Run() error {
	k := grammar(&cli{})
	if err := c.known(k.Model.Node); err != nil {
		return err
	}
	_, err := k.Parse(append(c.Command, "--help")) // prints, and ends the process
	return err
}

// known returns an error for a word that is no command.
func (c helpCmd) known(n *kong.Node) error {
	for i, word := range c.Command {
		at := slices.IndexFunc(n.Children, func(child *kong.Node) bool { return child.Name == word })
		if at < 0 {
			_, err := grammar(&cli{}).Parse(c.Command[:i+1])
			if err = meant(err); err == nil || !strings.Contains(err.Error(), "did you mean") {
				err = misuse("there is no command %q (parley help lists the commands)", strings.Join(c.Command[:i+1], " "))
			}
			return usageError{err}
		}
		n = n.Children[at]
	}
	return nil
}

// commandGroups are the headings of the list of commands, in their order.
var commandGroups = []kong.Group{
	{Key: "run", Title: "Run the host:"},
	{Key: "talk", Title: "Talk to agents:"},
	{Key: "agents", Title: "Sessions and agents:"},
	{Key: "chats", Title: "Chats and people:"},
	{Key: "setup", Title: "Set up and maintain:"},
	{Key: "shell", Title: "Help and shell:"},
}

// printHelp prints the help of a command without the flags that every command has, or of the program with them.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	if ctx.Selected() == nil {
		return kong.DefaultHelpPrinter(o, ctx)
	}
	for _, f := range ctx.Model.Flags {
		f.Hidden = true
	}
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil {
		return err
	}
	_, err := io.WriteString(ctx.Stdout, "\nEvery command also takes --config, --utc, --quiet and --help: see parley help.\n")
	return err
}

// addExamples adds the examples of a command and of those below it to its help, where the command has none of its own.
func addExamples(n *kong.Node) {
	path := strings.TrimPrefix(n.FullPath(), "parley ")
	if lines := examples[path]; lines != nil && !strings.Contains(n.Detail, "Examples:") {
		n.Detail = strings.TrimPrefix(n.Detail+"\n\nExamples:\n\n  parley "+strings.Join(lines, "\n  parley "), "\n\n")
	}
	for _, c := range n.Children {
		if n.Parent != nil {
			c.Group = &kong.Group{Key: "commands", Title: "Commands:"} // kong would print the heading of the parent's group
		}
		addExamples(c)
	}
}

// examples are command lines by command, without the program's name.
var examples = map[string][]string{
	"run":              {"run", "--config /etc/parley/config.yaml run 2>>parley.log"},
	"open":             {"open"},
	"sign-out":         {"sign-out"},
	"help":             {"help", "help sessions patch"},
	"sessions":         {"sessions", "sessions show main", "sessions history garden --limit 5"},
	"sessions show":    {"sessions show main", "sessions show garden --json"},
	"sessions search":  {`sessions search "blue bicycle"`, "sessions search invoice --agent work --limit 5"},
	"sessions reset":   {"sessions reset garden"},
	"sessions archive": {"sessions archive garden"},
	"sessions delete":  {"sessions delete garden", "sessions delete garden --yes"},
	"sessions compact": {"sessions compact main", `sessions compact garden "keep the dates"`},
	"runs":             {"runs", "runs wait RUN --timeout 30s"},
	"runs show":        {"runs show RUN"},
	"runs cancel":      {"runs cancel RUN"},
	"runs wait":        {"runs wait RUN --timeout 30s"},
	"agents":           {"agents", "agents --json"},
	"models list":      {"models list", "models list --json"},
	"models forget":    {"models forget openai/gpt-5.1"},
	"models test":      {"models test", "models test ollama/qwen3:8b"},
	"tools":            {"tools", "tools explain fetch --session main"},
	"tools list":       {"tools list"},
	"tools explain":    {"tools explain fetch --session main", "tools explain --sender other --chat-type group"},
	"mcp":              {"mcp"},
	"cron":             {"cron", "cron add --every 24h 'Look whether the disks are full.'"},
	"cron list":        {"cron list", "cron list --agent work"},
	"cron show":        {"cron show disks"},
	"cron update":      {"cron update disks --every 12h"},
	"cron on":          {"cron on disks"},
	"cron off":         {"cron off disks"},
	"cron run":         {"cron run disks"},
	"cron rm":          {"cron rm disks"},
	"cron history":     {"cron history disks --limit 10"},
	"channels":         {"channels", "channels restart telegram"},
	"channels list":    {"channels list --json"},
	"channels restart": {"channels restart telegram", "channels restart telegram work"},
	"login":            {"login whatsapp", "login whatsapp --phone +4915123456789"},
	"logout":           {"logout whatsapp"},
	"pairing":          {"pairing", "pairing approve telegram CODE"},
	"pairing list":     {"pairing list"},
	"pairing approve":  {"pairing approve telegram CODE", "pairing approve telegram 1001 --owner"},
	"pairing reject":   {"pairing reject telegram CODE"},
	"pairing remove":   {"pairing remove telegram 1001"},
	"policy":           {"policy rules", "policy explain garden"},
	"policy rules":     {"policy rules"},
	"deliveries":       {"deliveries list --state failed", "deliveries retry ID"},
	"deliveries show":  {"deliveries show ID"},
	"deliveries retry": {"deliveries retry ID"},
	"deliveries drop":  {"deliveries drop ID"},
	"trace":            {"trace ID"},
	"skipped":          {"skipped --limit 1000 --json"},
	"config":           {"config schema", "config reference"},
	"config schema":    {"config schema > config.schema.json"},
	"config reference": {"config reference | less"},
	"init":             {"init", "init --yes --token 'telegram=$TELEGRAM_TOKEN' --owner telegram:1001"},
	"doctor":           {"doctor", "doctor --json | jq '.[] | select(.level == \"error\")'"},
	"backup":           {"backup /var/backups/parley --keep 14", "backup - | ssh nas 'cat > parley.tar.gz'"},
	"restore":          {"restore parley.tar.gz --dry-run", "restore parley.tar.gz"},
	"import":           {"import openclaw ~/.openclaw"},
	"import openclaw":  {"import openclaw ~/.openclaw", "import openclaw ~/.openclaw --write"},
	"bench":            {"bench", "bench --messages 1000 --no-agents"},
	"man":              {"man | man -l -"},
	"version":          {"version", "version --json"},
}
