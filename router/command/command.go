package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// Who may use a command. Strangers, who are not let in at all, are not answered.
type Who string

// The people who may use a command.
const (
	OwnerOnly Who = "owner"
	Allowed   Who = "allowed" // people whom a list of the account names, or a person has let in
	Anyone    Who = "anyone"  // everybody who is let in, also by an open group
)

// Where a command can be used.
type Where string

// The chats that a command can be used in.
const (
	Anywhere   Where = ""
	GroupsOnly Where = "groups"
	DirectOnly Where = "direct chats"
)

// Command is one row of the table of chat commands.
type Command struct {
	Name    string
	Aliases []string
	args    string // shown in /commands
	About   string
	Who     Who
	Where   Where
	Native  bool // in the platform's own menu as well
	// takes says whether the words behind the name belong to the command; otherwise the message is text for the agent. nil = any do.
	takes func(arg string) bool
	// Run gives the answer and what is committed with it. It reads, it changes nothing.
	Run func(ctx context.Context, r *Table, c Call) (res Result, err error)
}

// nothing and oneWord are what a command may take.
func nothing(arg string) bool { return arg == "" }

func oneWord(arg string) bool { return !strings.ContainsAny(arg, " \t") }

// fewWords is at most n words.
func fewWords(n int) func(arg string) bool {
	return func(arg string) bool { return len(strings.Fields(arg)) <= n }
}

// Call is one use of a command.
type Call struct {
	Name, Arg string
	In        channels.Inbound
	Set       *settings.Snapshot
	Session   sessions.Session // as it stands; only Key and Agent are set when it is new
	Owner     bool
	Inside    bool // written to the host itself, in no chat
	paired    bool // the sender was let in by a code
}

// allCommands lists every chat command, in the order of /commands.
func allCommands() []Command {
	return []Command{
		{Name: "help", Aliases: []string{"start"}, About: "How to talk to me", Who: Anyone, Native: true, takes: oneWord, Run: cmdHelp}, // a link may have a word behind /start
		{Name: "commands", About: "All commands, and who may use them", Who: Anyone, Native: true, takes: nothing, Run: cmdCommands},
		{Name: "status", About: "Status of this session and the host", Who: Anyone, Native: true, takes: nothing, Run: cmdStatus},
		{Name: "whoami", Aliases: []string{"id"}, About: "Who you are to me", Who: Anyone, Native: true, takes: nothing, Run: cmdWhoami},
		{Name: "new", Aliases: []string{"reset"}, args: "[model|text]", About: "Start a new session; text after it is the first message", Who: Allowed, Native: true, Run: cmdNew},
		{Name: "stop", About: "Stop what I am doing here", Who: Anyone, Native: true, Run: cmdStop},
		{Name: "send", args: "on|off|inherit", About: "Let my messages out of this session, or hold them back", Who: OwnerOnly, Native: true, takes: oneWord, Run: cmdSend},
		{Name: "queue", args: "[mode] [debounce:2s] [cap:20] [drop:rule]|default", About: "How I queue messages that arrive while I work", Who: OwnerOnly, Native: true, Run: cmdQueue},
		{Name: "model", args: "[name|default]", About: "The language model of this session", Who: Allowed, Native: true, takes: oneWord, Run: cmdModel},
		{Name: "think", Aliases: []string{"thinking", "t"}, args: "[off|minimal|low|medium|high|default]", About: "How much the model thinks", Who: Allowed, Native: true, takes: oneWord, Run: cmdThink},
		{Name: "compact", args: "[focus of the summary]", About: "Summarize the older part of this session now", Who: Allowed, Native: true, Run: cmdCompact},
		{Name: "context", args: "[list|detail]", About: "Use of the model's context window", Who: Allowed, Native: true, takes: oneWord, Run: cmdContext},
		{Name: "usage", args: "[off|tokens|full|lift [session|agent|host|key]]", About: "Tokens and cost of today; the usage footer of replies; owners lift a budget", Who: Allowed, Native: true, takes: fewWords(2), Run: cmdUsage},
		{Name: "export", About: "Write the transcript into a file on the host", Who: OwnerOnly, takes: nothing, Run: cmdExport},
		{Name: "pair", args: "[list]|approve|reject code|remove id", About: "Approve or reject people who ask to talk to me", Who: OwnerOnly, Where: DirectOnly, Native: true, Run: cmdPair},
		{Name: "activation", args: "mention|always", About: "Answer every message in this group, or only mentions", Who: OwnerOnly, Where: GroupsOnly, Native: true, takes: oneWord, Run: cmdActivation},
		{Name: "sessions", args: "[search]", About: "Sessions that this one can see", Who: OwnerOnly, Native: true, Run: cmdSessions},
		{Name: "subagents", args: "list|log|info|stop|send", About: "Show, stop and instruct the sub-agents of this session", Who: OwnerOnly, Native: true, Run: cmdSubagents},
		{Name: "agents", About: "Agents that this one may start as sub-agents", Who: Anyone, Native: true, takes: nothing, Run: cmdAgents},
	}
}

// Commands lists the chat commands that belong into a platform's own menu.
func (t *Table) Commands() []channels.Command {
	var out []channels.Command
	for _, c := range t.All {
		if c.Native {
			about := c.About
			if c.Who == OwnerOnly {
				about += " (owners)"
			}
			out = append(out, channels.Command{Name: c.Name, Description: about})
		}
	}
	return out
}

// Parse finds the command in a message: one line, "/name", "/name arg" or "/name: arg", the bot's own name taken off by the
// adapter. ok is false for text that only looks like one; /stop is one whatever stands behind it.
func (t *Table) Parse(text string) (c Command, arg string, ok bool) {
	if arg, ok = cutStop(text); ok {
		return t.named("stop"), arg, true
	}
	name, arg, ok := commandWord(text)
	if !ok {
		return c, "", false
	}
	name = strings.ToLower(strings.TrimSuffix(name, ":"))
	i := slices.IndexFunc(t.All, func(c Command) bool { return c.Name == name || slices.Contains(c.Aliases, name) })
	if i < 0 || t.All[i].takes != nil && !t.All[i].takes(arg) {
		return c, "", false
	}
	return t.All[i], arg, true
}

// named gives the row of a command that is there.
func (t *Table) named(name string) Command {
	return t.All[slices.IndexFunc(t.All, func(c Command) bool { return c.Name == name })]
}

// commandWord splits a line that begins with a slash.
func commandWord(text string) (name, arg string, ok bool) {
	text, ok = strings.CutPrefix(strings.TrimSpace(text), "/")
	if !ok || strings.ContainsAny(text, "\n\r") {
		return "", "", false
	}
	name, arg = cutWord(text)
	return name, arg, name != ""
}

// ForAnotherBot reports whether a line is a command for another bot of the chat: a name that is still there is not ours.
func ForAnotherBot(text string) bool {
	name, _, ok := commandWord(text)
	name, bot, at := strings.Cut(name, "@")
	return ok && at && IsName(name) && IsName(bot)
}

// IsName reports whether s has only characters that names of commands and bots have.
func IsName(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789_:") == ""
}

// Execute runs a command's row and adds its answer. Where only the command fails, that is the answer: sent again, it would fail again.
func (t *Table) Execute(ctx context.Context, cmd Command, c Call) (Result, error) {
	if !c.Owner && !c.In.Address.Type.Several() {
		var err error
		if c.paired, err = t.store.Paired(ctx, c.In.Address.Channel, c.In.Address.Account, c.In.Sender.ID); err != nil {
			return Result{}, fmt.Errorf("/%s: %w", cmd.Name, err) // the platform sends the message again
		}
	}
	if no := cmd.Refuse(c); no != "" {
		return t.withAnswer(c, Result{Text: no}), nil
	}
	res, err := t.Attempt(ctx, cmd, c)
	if err != nil {
		if _, down := t.store.Get(ctx, c.Session.Key); down != nil && !errors.Is(down, sessions.ErrNotFound) {
			return res, fmt.Errorf("/%s: %w", cmd.Name, err) // the platform sends it again
		}
		t.log.Error("chat command failed", keyCommand, cmd.Name, keySession, c.Session.Key, keyErr, err)
		return t.withAnswer(c, Result{Text: "⚠️ That command failed. The details are in the log."}), nil
	}
	t.log.Info("command", keyCommand, cmd.Name, keySession, c.Session.Key, "owner", c.Owner)
	return t.withAnswer(c, res), nil
}

// Attempt is one run of a command's row.
func (t *Table) Attempt(ctx context.Context, cmd Command, c Call) (res Result, err error) {
	defer channels.RecoverPanic(t.log, "/"+cmd.Name, &err)
	return cmd.Run(ctx, t, c)
}

// Refuse says in one sentence why somebody cannot use a command here; "" when they can.
func (c Command) Refuse(call Call) string {
	group := call.In.Address.Type.Several()
	switch {
	case c.Who == OwnerOnly && !call.Owner:
		return "Only an owner can use /" + c.Name + "." + call.howToOwn()
	case c.Who == Allowed && !call.Owner && !call.named():
		return "Only people on my allow list can use /" + c.Name + " here." + call.howToBeListed()
	case c.Where == GroupsOnly && !group, c.Where == DirectOnly && group:
		return "/" + c.Name + " works in " + string(c.Where) + " only."
	}
	return ""
}

// howToOwn says how the sender becomes an owner: in a direct chat exactly, in a group where to ask.
func (c Call) howToOwn() string {
	switch {
	case c.Inside:
		return " Use a token with the scope admin."
	case c.In.Address.Type.Several():
		return " Send me `/whoami` in a direct chat to read how to become one."
	}
	return " To become one, " + c.wayToOwn()
}

// wayToOwn says what is to be done on the host to make the sender an owner: the approval of a person who was let in by a code is enough.
func (c Call) wayToOwn() string {
	if c.paired {
		return fmt.Sprintf("run `parley pairing approve %s %s --owner` on the host.", c.In.Address.Channel, c.In.Sender.ID)
	}
	return c.add("commands.ownerAllowFrom")
}

// howToBeListed says how the sender gets onto the allow list of a group: in a direct chat everybody who is let in is on it.
func (c Call) howToBeListed() string {
	if c.Inside {
		return " Use a token with the scope admin."
	}
	at := settings.Ref(c.In.Address)
	key, _ := c.Set.Accounts[at].Access.GroupList(policy.FactsOf(c.In))
	return fmt.Sprintf(" Ask an owner to add `%s:%s` to `%s` of the account `%s/%s`.", at.Channel, c.In.Sender.ID, key, at.Channel, at.Account)
}

// add says what is to be done on the host to put the sender into a list of the configuration.
func (c Call) add(list string) string {
	return fmt.Sprintf("add `%s:%s` to `%s` in the host's configuration and run `parley reload`.", c.In.Address.Channel, c.In.Sender.ID, list)
}

// named reports whether a list of the account lets the sender in by name.
func (c Call) named() bool {
	return !c.Inside && c.Set.Accounts[settings.Ref(c.In.Address)].Access.Named(policy.FactsOf(c.In))
}

// withAnswer adds a command's answer, as a delivery, to what is committed with it. The answer to a policy flip may leave when either the old or the new policy lets
// it: the flip is acknowledged in the chat, and nothing follows.
func (t *Table) withAnswer(c Call, res Result) Result {
	if res.Text == "" { // the run that the command queued answers
		return res
	}
	var change sessions.Change
	if res.Change != nil {
		change = *res.Change
	}
	d := sessions.NewNotice(c.Session.Key, c.In, res.Text, time.Now().Add(c.Set.Delivery.TTL(sessions.Notice)))
	if p, ok := sessions.FindOp[sessions.PatchSession](change); ok && p.SendPolicy != nil {
		after := c.Session
		after.Settings.SendPolicy = *p.SendPolicy
		decide := t.settings().SendPolicyTo(c.In.Address)
		if v := decide(c.Session); v.Allowed() && !decide(after).Allowed() {
			v.Reason = "answers a change of the send policy; decided by the earlier policy: " + v.Reason
			d.PreAuthorized = &v
		}
	}
	change.Ops = append(slices.Clip(change.Ops), sessions.EnqueueDelivery(d))
	res.Change = &change
	return res
}
