package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// who may use a command. Strangers, who are not let in at all, are not answered.
type who string

const (
	ownerOnly who = "owner"
	allowed   who = "allowed" // whoever a list of the account names, or a person has let in
	anyone    who = "anyone"  // whoever is let in, also by an open group
)

// where a command can be used.
type where string

const (
	anywhere   where = ""
	groupsOnly where = "groups"
	directOnly where = "direct chats"
)

// command is one row of the table of chat commands.
type command struct {
	name    string
	aliases []string
	args    string // shown in /commands
	about   string
	who     who
	where   where
	native  bool // in the platform's own menu as well
	// takes says whether the words behind the name belong to the command; otherwise the message is text for the agent. nil = any do.
	takes func(arg string) bool
	// run gives the answer and what is to be committed with it. It reads, it changes nothing.
	run func(ctx context.Context, r *Router, c commandCall) (answer string, e sessions.Effects, err error)
}

// nothing and oneWord are what a command may take.
func nothing(arg string) bool { return arg == "" }

func oneWord(arg string) bool { return !strings.ContainsAny(arg, " \t") }

// fewWords is at most n words.
func fewWords(n int) func(arg string) bool {
	return func(arg string) bool { return len(strings.Fields(arg)) <= n }
}

// commandCall is one use of a command.
type commandCall struct {
	name, arg string
	in        channels.Inbound
	set       *settings.Snapshot
	session   sessions.Session // as it stands; only Key and Agent are set when it is new
	owner     bool
	inside    bool // written to the host itself, in no chat
}

// commandTable lists every chat command, in the order of /commands.
func commandTable() []command {
	return []command{
		{name: "help", aliases: []string{"start"}, about: "How to talk to me", who: anyone, native: true, takes: nothing, run: cmdHelp},
		{name: "commands", about: "All that I understand, and who may use it", who: anyone, native: true, takes: nothing, run: cmdCommands},
		{name: "status", about: "How this session and the host are", who: anyone, native: true, takes: nothing, run: cmdStatus},
		{name: "whoami", aliases: []string{"id"}, about: "Who you are to me", who: anyone, native: true, takes: nothing, run: cmdWhoami},
		{name: "new", aliases: []string{"reset"}, args: "[model|text]", about: "Start over with an empty memory; a text is the first message", who: allowed, native: true, run: cmdNew},
		{name: "stop", about: "Stop what I am doing here", who: anyone, native: true, takes: nothing, run: cmdStop},
		{name: "send", args: "on|off|inherit", about: "Let my messages out of this session, or hold them back", who: ownerOnly, native: true, takes: oneWord, run: cmdSend},
		{name: "queue", args: "[mode] [debounce:2s] [cap:20] [drop:rule]|default", about: "What happens to messages that come while I am at work", who: ownerOnly, native: true, run: cmdQueue},
		{name: "model", args: "[name|default]", about: "The language model of this session", who: allowed, native: true, takes: oneWord, run: cmdModel},
		{name: "think", aliases: []string{"thinking", "t"}, args: "[off|minimal|low|medium|high|default]", about: "How much the model thinks", who: allowed, native: true, takes: oneWord, run: cmdThink},
		{name: "compact", args: "[what to look at]", about: "Sum up the older part of this session now", who: allowed, native: true, run: cmdCompact},
		{name: "context", args: "[list|detail]", about: "What fills the model's window", who: allowed, native: true, takes: oneWord, run: cmdContext},
		{name: "usage", args: "[off|tokens|full|lift [session|agent|host|key]]", about: "What was used today; figures below replies; owners lift a budget", who: allowed, native: true, takes: fewWords(2), run: cmdUsage},
		{name: "export", about: "Write the transcript into a file on the host", who: ownerOnly, takes: nothing, run: cmdExport},
		{name: "pair", args: "[list]|approve|reject code|remove id", about: "Let strangers in who ask for it", who: ownerOnly, where: directOnly, native: true, run: cmdPair},
		{name: "activation", args: "mention|always", about: "Answer everything in this group, or only what mentions me", who: ownerOnly, where: groupsOnly, native: true, takes: oneWord, run: cmdActivation},
		{name: "sessions", args: "[search]", about: "The sessions that this one sees", who: ownerOnly, native: true, run: cmdSessions},
		{name: "subagents", args: "list|log|info|stop|send", about: "Look at and direct the sub-agents of this session", who: ownerOnly, native: true, run: cmdSubagents},
		{name: "agents", about: "The agents that this one may start as sub-agents", who: anyone, native: true, takes: nothing, run: cmdAgents},
	}
}

// Commands lists the chat commands that belong into a platform's own menu.
func (r *Router) Commands() []channels.Command {
	var out []channels.Command
	for _, c := range r.commands {
		if c.native {
			about := c.about
			if c.who == ownerOnly {
				about += " (owners)"
			}
			out = append(out, channels.Command{Name: c.name, Description: about})
		}
	}
	return out
}

// parseCommand finds the command in a message: one line, "/name", "/name arg" or "/name: arg", the bot's own name taken off by the
// adapter. ok is false for text that only looks like one.
func (r *Router) parseCommand(text string) (c command, arg string, ok bool) {
	name, arg, ok := commandWord(text)
	if !ok {
		return c, "", false
	}
	name = strings.ToLower(strings.TrimSuffix(name, ":"))
	i := slices.IndexFunc(r.commands, func(c command) bool { return c.name == name || slices.Contains(c.aliases, name) })
	if i < 0 || r.commands[i].takes != nil && !r.commands[i].takes(arg) {
		return c, "", false
	}
	return r.commands[i], arg, true
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

// forAnotherBot reports whether a line is a command for another bot of the chat: a name that is still there is not ours.
func forAnotherBot(text string) bool {
	name, _, ok := commandWord(text)
	name, bot, at := strings.Cut(name, "@")
	return ok && at && isName(name) && isName(bot)
}

func isName(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789_:") == ""
}

// command runs a command's row and words its answer. Where only the command fails, that is the answer: sent again, it would fail again.
func (r *Router) command(ctx context.Context, cmd command, c commandCall) (sessions.Effects, error) {
	if no := cmd.refuse(c); no != "" {
		return r.answer(c, no, sessions.Effects{}), nil
	}
	text, e, err := r.try(ctx, cmd, c)
	if err != nil {
		if _, down := r.store.Get(ctx, c.session.Key); down != nil && !errors.Is(down, sessions.ErrNotFound) {
			return e, fmt.Errorf("/%s: %w", cmd.name, err) // the platform sends it again
		}
		r.log.Error("a command failed", keyCommand, cmd.name, keySession, c.session.Key, keyErr, err)
		return r.answer(c, "⚠️ That did not work; the details are in the log.", sessions.Effects{}), nil
	}
	r.log.Info("command", keyCommand, cmd.name, keySession, c.session.Key, "owner", c.owner)
	return r.answer(c, text, e), nil
}

// try is one run of a command's row.
func (r *Router) try(ctx context.Context, cmd command, c commandCall) (text string, e sessions.Effects, err error) {
	defer channels.RecoverPanic(r.log, "/"+cmd.name, &err)
	return cmd.run(ctx, r, c)
}

// refuse says in one sentence why somebody cannot use a command here; "" when they can.
func (c command) refuse(call commandCall) string {
	group := call.in.Address.Type.Several()
	switch {
	case c.who == ownerOnly && !call.owner:
		return "Only an owner can use /" + c.name + "."
	case c.who == allowed && !call.owner && !call.named():
		return "Only people on my allow list can use /" + c.name + " here."
	case c.where == groupsOnly && !group, c.where == directOnly && group:
		return "/" + c.name + " works in " + string(c.where) + " only."
	}
	return ""
}

// named reports whether a list of the account lets the sender in by name.
func (c commandCall) named() bool {
	return !c.inside && c.set.Accounts[settings.Ref(c.in.Address)].Access.Named(policy.FactsOf(c.in))
}

// answer adds a command's answer to its effects. The answer to a policy flip may leave when either the old or the new policy lets
// it: the flip is acknowledged in the chat, and nothing follows.
func (r *Router) answer(c commandCall, text string, e sessions.Effects) sessions.Effects {
	d := sessions.Delivery{ID: sessions.DeliveryID(uuid.NewString()), Kind: sessions.Notice, Session: c.session.Key, To: c.in.Address, Text: text,
		Expires: time.Now().Add(c.set.Delivery.TTL(sessions.Notice))}
	if c.in.Address.Type.Several() {
		d.ReplyTo = c.in.ID
	}
	if e.Patch != nil && e.Patch.SendPolicy != nil {
		after := c.session
		after.Settings.SendPolicy = *e.Patch.SendPolicy
		decide := r.settings.Load().Decide(c.in.Address)
		if v := decide(c.session); v.Allowed() && !decide(after).Allowed() {
			v.Reason = "answers a change of the send policy; decided by the policy before it: " + v.Reason
			d.Granted = &v
		}
	}
	if text != "" { // otherwise the run that the command queued answers
		e.Deliveries = append(e.Deliveries, d)
	}
	return e
}
