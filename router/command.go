package router

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// who may use a command.
type who string

const (
	ownerOnly who = "owner"
	allowed   who = "allowed" // whoever may talk to the bot
)

// command is one row of the table of chat commands.
type command struct {
	name    string
	aliases []string
	args    string // shown in /help
	about   string
	who     who
	// run gives the answer and what is to be committed with it. It reads, it changes nothing.
	run func(ctx context.Context, r *Router, c commandCall) (answer string, e sessions.Effects, err error)
	// alone: with words behind it the message is no command but text for the agent.
	alone bool
	// argOK says whether the word behind an `alone` command belongs to it.
	argOK func(arg string) bool
}

// commandCall is one use of a command.
type commandCall struct {
	name, arg string
	in        channels.Inbound
	set       *Settings
	session   sessions.Session // as it stands; only Key and Agent are set when it is new
	owner     bool
}

// commandTable lists every chat command, in the order of /help.
func commandTable() []command {
	return []command{
		{name: "help", aliases: []string{"commands", "start"}, about: "What I understand", who: allowed, alone: true, run: cmdHelp},
		{name: "status", about: "How this session and the host are", who: allowed, alone: true, run: cmdStatus},
		{name: "whoami", aliases: []string{"id"}, about: "Who you are to me", who: allowed, alone: true, run: cmdWhoami},
		{name: "new", aliases: []string{"reset"}, about: "Start over with an empty memory", who: allowed, alone: true, run: cmdNew},
		{name: "stop", about: "Stop what I am doing here", who: allowed, alone: true, run: cmdStop},
		{name: "send", args: "on|off|inherit", about: "Let my messages out of this session, or hold them back", who: ownerOnly, alone: true,
			argOK: func(a string) bool { return !strings.ContainsAny(a, " \t") }, run: cmdSend},
		{name: "sessions", args: "[search]", about: "The sessions that this one sees", who: ownerOnly, run: cmdSessions},
		{name: "subagents", args: "list|log|info|stop|send", about: "Look at and direct the sub-agents of this session", who: ownerOnly, run: cmdSubagents},
		{name: "agents", about: "The agents that this one may start as sub-agents", who: allowed, alone: true, run: cmdAgents},
	}
}

// parseCommand finds the command in a message: the first line, "/name", "/name arg" or "/name: arg", a mention of the bot
// stripped by the adapter. ok is false for text that only looks like one.
func (r *Router) parseCommand(text string) (c command, arg string, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") || strings.ContainsRune(text, '\n') {
		return c, "", false
	}
	name, arg, _ := strings.Cut(text[1:], " ")
	name = strings.TrimSuffix(name, ":")
	if i := strings.IndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	name, arg = strings.ToLower(name), strings.TrimSpace(arg)
	for _, c := range r.commands {
		if c.name != name && !slices.Contains(c.aliases, name) {
			continue
		}
		if c.alone && arg != "" && (c.argOK == nil || !c.argOK(arg)) {
			return c, "", false
		}
		return c, arg, true
	}
	return c, "", false
}

func cmdHelp(_ context.Context, r *Router, _ commandCall) (string, sessions.Effects, error) {
	var b strings.Builder
	b.WriteString("Write to me as you would to a person. These commands work as well:\n\n")
	for _, c := range r.commands {
		fmt.Fprintf(&b, "- `/%s`", strings.TrimSpace(c.name+" "+c.args))
		fmt.Fprintf(&b, ": %s", c.about)
		if c.who == ownerOnly {
			b.WriteString(" (owners)")
		}
		b.WriteString("\n")
	}
	return b.String(), sessions.Effects{}, nil
}

func cmdWhoami(_ context.Context, _ *Router, c commandCall) (string, sessions.Effects, error) {
	role := "allowed to talk to me"
	if c.owner {
		role = "one of my owners"
	}
	name := firstOf(c.in.Sender.Name, c.in.Sender.Username, string(c.in.Sender.ID))
	return fmt.Sprintf("You are %s, `%s:%s`, %s.\n\nThis chat is `%s`.", name, c.in.Address.Channel, c.in.Sender.ID, role, c.in.Address), sessions.Effects{}, nil
}

func cmdNew(_ context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	model := firstOf(c.session.Settings.Model, c.set.entry(c.session.Agent).Model)
	return "✅ New session started · model: " + model, sessions.Effects{Stop: []sessions.Key{c.session.Key}, Reset: true}, nil
}

func cmdStop(ctx context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	own, err := r.stoppable(ctx, sessions.RunQuery{Key: c.session.Key})
	if err != nil {
		return "", sessions.Effects{}, err
	}
	below, err := r.workingBelow(ctx, c.session)
	if err != nil {
		return "", sessions.Effects{}, err
	}
	var did []string
	if len(own) > 0 {
		did = append(did, "Agent was aborted.")
	}
	if len(own) > 1 {
		did = append(did, fmt.Sprintf("%d messages that waited are dropped.", len(own)-1))
	}
	if len(below) > 0 {
		did = append(did, stoppedWords(len(below)))
	}
	if len(did) == 0 {
		did = []string{"Nothing is running here."}
	}
	return "⚙️ " + strings.Join(did, " "), sessions.Effects{Stop: []sessions.Key{c.session.Key}}, nil
}

func cmdSend(_ context.Context, _ *Router, c commandCall) (string, sessions.Effects, error) {
	var to policy.Override
	word := strings.ToLower(c.arg)
	switch word {
	case "on", "allow":
		word, to = "on", policy.Allow
	case "off", "deny":
		word, to = "off", policy.Deny
	case "inherit", "default", "reset":
		word, to = "inherit", policy.Inherit
	default:
		return "⚙️ Usage: /send on|off|inherit", sessions.Effects{}, nil
	}
	return "⚙️ Send policy set to " + word + ".", sessions.Effects{Patch: &sessions.Patch{SendPolicy: &to}}, nil
}

func cmdStatus(ctx context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	s := c.session
	v := c.set.Session.SendPolicy.Decide(policy.Subject{Key: string(s.Key), StrippedKey: s.Key.Stripped(), PlainKey: string(s.Key.Plain()), To: c.in.Address, Override: s.Settings.SendPolicy})
	queued, err := r.store.ListRuns(ctx, sessions.RunQuery{Key: s.Key, Status: sessions.Queued, Limit: 100})
	if err != nil {
		return "", sessions.Effects{}, err
	}
	counts, err := r.store.CountDeliveries(ctx)
	if err != nil {
		return "", sessions.Effects{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**parley %s**, up %s\n\n", r.deps.Version, time.Since(r.started).Round(time.Second))
	fmt.Fprintf(&b, "- Session: `%s`", s.Key.Display(s.Agent, c.set.Session.Scope))
	if s.ID != "" {
		fmt.Fprintf(&b, " (%s)", s.ID)
	}
	fmt.Fprintf(&b, "\n- Agent: %s, model %s\n", s.Agent, firstOf(s.Settings.Model, c.set.entry(s.Agent).Model))
	fmt.Fprintf(&b, "- Tokens: %s in, %s out; context %s\n", short(s.Usage.Input), short(s.Usage.Output), short(s.Context))
	fmt.Fprintf(&b, "- Waiting here: %d\n", len(queued))
	fmt.Fprintf(&b, "- Sending: %s (%s)\n", v.Action, v.Rule)
	fmt.Fprintf(&b, "- Deliveries: %d pending, %d failed, %d withheld\n", counts[sessions.Pending]+counts[sessions.Sending], counts[sessions.DeliveryFail]+counts[sessions.Expired]+counts[sessions.Held], counts[sessions.Withheld])
	for _, line := range r.gate.states() {
		fmt.Fprintf(&b, "- %s\n", line)
	}
	return b.String(), sessions.Effects{}, nil
}
