package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/channels"
	"parley/router/chain"
	"parley/sessions"
	"parley/tools"
)

// The commands about sessions and sub-agents show what the session tools show, under the same rule (contract V4): what the session
// of the chat sees, not what the person who asks may know.

// The bounds of what a command shows.
const (
	maxSessionsShown = 20
	maxChildrenShown = 20
	maxLogShown      = 20
	maxShownLog      = 200
	logBytes         = 12_000 // of a log in one answer
	maxLine          = 300    // characters of one message or task
)

// caller is the session of the chat that a command was written in.
func (c Call) caller() tools.Caller {
	return tools.Caller{Session: c.Session, Sandboxed: c.Set.Sandboxed(c.Session.Key)}
}

func cmdSessions(ctx context.Context, r *Table, c Call) (Result, error) {
	rows, more, mode, err := r.tools.Sessions(ctx, c.caller(), c.Arg, maxSessionsShown)
	if err != nil {
		return Result{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**Sessions** that this one can see (`tools.sessions.visibility` is `%s`)", mode)
	if c.Arg != "" {
		fmt.Fprintf(&b, " with %s", channels.Code(c.Arg, maxLine))
	}
	b.WriteString(":\n\n")
	for _, s := range rows {
		fmt.Fprintf(&b, "- %s", channels.Code(s.Key, maxLine))
		if name := cmp.Or(s.Label, s.DisplayName); name != "" {
			fmt.Fprintf(&b, " %s", channels.Code(name, 60))
		}
		fmt.Fprintf(&b, " · %s · %s · %s ago · %s tokens\n", s.Kind, s.Channel, formatAge(time.Since(time.UnixMilli(s.UpdatedAt))), sessions.ShortCount(s.TotalTokens))
	}
	switch {
	case len(rows) == 0:
		b.WriteString("None.")
	case more:
		b.WriteString("\nThere are more. `/sessions WORD` finds sessions by a part of their key or name.")
	}
	return Result{Text: b.String()}, nil
}

func cmdAgents(_ context.Context, r *Table, c Call) (Result, error) {
	var b strings.Builder
	b.WriteString("**Agents** that this one may start as sub-agents, itself first:\n\n")
	for _, a := range r.tools.Agents(c.Session.Agent) {
		fmt.Fprintf(&b, "- %s", channels.Code(string(a.ID), 64))
		if a.Name != "" {
			fmt.Fprintf(&b, " %s", channels.Code(a.Name, 60))
		}
		if a.Model != "" {
			fmt.Fprintf(&b, " · %s", channels.Code(a.Model, 100))
		}
		b.WriteString("\n")
	}
	return Result{Text: b.String()}, nil
}

const subagentsUsage = "⚙️ Usage: `/subagents list`, `log ID [LIMIT] [tools]`, `info ID`, `stop ID` or `stop all`, `send ID TEXT`. " +
	"ID is the number in the list, `last`, the label, the beginning of the run id, or the key."

func cmdSubagents(ctx context.Context, r *Table, c Call) (Result, error) {
	verb, rest := cutWord(c.Arg)
	id, rest := cutWord(rest)
	verb = strings.ToLower(verb)
	switch verb {
	case "", "list":
		answer, err := r.listChildren(ctx, c)
		return Result{Text: answer}, err
	case "stop":
		if strings.EqualFold(id, "all") {
			return r.stopChildren(ctx, c)
		}
	case "log", "info", "send":
	default:
		return Result{Text: subagentsUsage}, nil
	}
	child, err := r.tools.Child(ctx, c.caller(), id)
	if no, ok := errors.AsType[*tools.NoChild](err); ok {
		return Result{Text: "⚠️ " + no.Reason + "."}, nil
	}
	if err != nil {
		return Result{}, err
	}
	switch verb {
	case "log":
		answer, err := r.childLog(ctx, c, child, strings.Fields(rest))
		return Result{Text: answer}, err
	case "info":
		answer, err := r.childInfo(ctx, child)
		return Result{Text: answer}, err
	case "send":
		return r.sendChild(ctx, c, child, rest)
	}
	return r.stopping(ctx, child.Session)
}

func (t *Table) listChildren(ctx context.Context, c Call) (string, error) {
	list, total, err := t.tools.Children(ctx, c.caller(), maxChildrenShown)
	if err != nil {
		return "", err
	}
	if total == 0 {
		return "This session has no sub-agents.", nil
	}
	var b strings.Builder
	b.WriteString("**Sub-agents** of this session, newest first:\n\n")
	for _, x := range list {
		fmt.Fprintf(&b, "- **%d** %s · %s · %s · %s tokens", x.Index, childName(x), x.Status(), formatAge(x.Runtime(time.Now())), sessions.ShortCount(x.Session.Usage.Total()))
		if x.Task != "" {
			fmt.Fprintf(&b, " · %s", channels.Code(x.Task, 80))
		}
		b.WriteString("\n")
	}
	if n := total - len(list); n > 0 {
		fmt.Fprintf(&b, "\n%d older sub-agents are not shown.", n)
	}
	return b.String(), nil
}

// childName is what people can call a sub-agent by.
func childName(x tools.Child) string {
	if x.Label != "" {
		return channels.Code(x.Label, 64)
	}
	if id := string(x.Run.ID); id != "" {
		return "run " + channels.Code(id[:min(len(id), 8)], 8)
	}
	return channels.Code(string(x.Session.Key), maxLine)
}

func (t *Table) childInfo(ctx context.Context, x tools.Child) (string, error) {
	s, run := x.Session, x.Run
	report, err := t.Reported(ctx, run)
	if err != nil {
		return "", err
	}
	lines := []string{
		"Session: " + channels.Code(string(s.Key), maxLine) + " (" + channels.Code(string(s.ID), 64) + ")",
		"Status: " + x.Status(),
		"Runtime: " + formatAge(x.Runtime(time.Now())),
		"Agent: " + channels.Code(string(s.Agent), 64) + ", model " + channels.Code(x.Model, 100),
		fmt.Sprintf("Tokens: %s in, %s out; context %s", sessions.ShortCount(s.Usage.Input), sessions.ShortCount(s.Usage.Output), sessions.ShortCount(s.Context)),
	}
	if run.ID != "" {
		lines = slices.Insert(lines, 1, "Run: "+channels.Code(string(run.ID), 64))
	}
	if x.Task != "" {
		lines = append(lines, "Task: "+channels.Code(x.Task, 1000))
	}
	if x.Error != "" {
		lines = append(lines, "Error: "+channels.Code(x.Error, maxLine))
	}
	if report != "" {
		lines = append(lines, "Report: "+report)
	}
	if run.Chain != nil && run.Chain.Cleanup == "delete" {
		lines = append(lines, "The host deletes it after its report.")
	} else if !s.ArchiveAt.IsZero() && !s.Archived {
		lines = append(lines, "The host archives it at "+s.ArchiveAt.Local().Format(time.DateTime)+".")
	}
	if t.tools.TranscriptPath != nil {
		lines = append(lines, "Transcript: "+channels.Code(t.tools.TranscriptPath(s.Agent, s.ID), 1000))
	}
	return "**Sub-agent** " + childName(x) + "\n\n- " + strings.Join(lines, "\n- "), nil
}

// childLog shows the newest messages of a sub-agent, oldest first, as many as one answer may hold.
func (t *Table) childLog(ctx context.Context, c Call, x tools.Child, words []string) (string, error) {
	limit, withTools := maxLogShown, false
	for _, w := range words {
		if n, err := strconv.Atoi(w); err == nil && n > 0 {
			limit = min(n, maxShownLog)
		} else if strings.EqualFold(w, "tools") {
			withTools = true
		} else {
			return subagentsUsage, nil
		}
	}
	msgs, more, err := t.tools.Log(ctx, c.caller(), x, limit, withTools)
	if err != nil {
		return "", err
	}
	var lines []string
	room := logBytes
	for _, m := range slices.Backward(msgs) {
		line := messageLine(m)
		if room -= len(line); room < 0 {
			more = true
			break
		}
		lines = append(lines, line)
	}
	slices.Reverse(lines)
	answer := "**Log** of sub-agent " + childName(x)
	switch {
	case len(lines) == 0:
		return answer + ": no messages yet.", nil
	case more:
		answer += ", the newest " + channels.Plural(len(lines), "message")
	}
	return answer + ":\n\n" + strings.Join(lines, ""), nil
}

// messageLine is one message of a log.
func messageLine(m sessions.Message) string {
	var said []string
	if t := strings.TrimSpace(m.Text()); t != "" {
		said = append(said, channels.Code(t, maxLine))
	}
	for _, call := range m.ToolCalls() {
		said = append(said, "calls "+channels.Code(call.Name+" "+string(call.Arguments), maxLine))
	}
	if m.Error != "" {
		said = append(said, "error "+channels.Code(m.Error, maxLine))
	}
	who := string(m.Role)
	if m.Role == sessions.ToolResult {
		who = "result of " + channels.Code(m.ToolName, 64)
	}
	return "- " + m.Time.Local().Format(time.TimeOnly) + " " + who + ": " + cmp.Or(strings.Join(said, ", "), "nothing") + "\n"
}

// sendChild tells a sub-agent something more, in the same commit as the message that asked for it.
func (t *Table) sendChild(ctx context.Context, c Call, x tools.Child, text string) (Result, error) {
	switch {
	case text == "":
		return Result{Text: "⚠️ The text is missing: `/subagents send ID TEXT`"}, nil
	case x.Session.Archived:
		return Result{Text: "⚠️ This sub-agent is archived. Start a new one instead."}, nil
	}
	change, err := t.host.FollowUp(ctx, tools.SteerRequest{Source: string(c.In.ID), From: c.Session, Child: x.Session.Key, Message: text})
	if no, ok := errors.AsType[*tools.Refused](err); ok {
		return Result{Text: "⚠️ " + no.Reason + "."}, nil
	}
	return Result{Text: "⚙️ Sent to sub-agent " + childName(x) + ". I will report the result.", Change: &change}, err
}

// stopChildren ends what every sub-agent of this session is at that it sees.
func (t *Table) stopChildren(ctx context.Context, c Call) (Result, error) {
	list, _, err := t.tools.Children(ctx, c.caller(), maxStop)
	if err != nil {
		return Result{}, err
	}
	var all []sessions.Session
	for _, x := range list {
		all = append(all, x.Session)
	}
	return t.stopping(ctx, all...)
}

// maxStop is how many sub-agents of one session are looked at.
const maxStop = 1000

// stopping words and makes the end of what sub-agents, and those below them, are at.
func (t *Table) stopping(ctx context.Context, all ...sessions.Session) (Result, error) {
	var keys []sessions.Key
	for _, s := range all {
		keys = append(keys, s.Key)
	}
	open, err := t.store.Stoppable(ctx, keys...)
	if err != nil || len(keys) == 0 {
		return Result{Text: "⚙️ " + stoppedWords(0)}, err
	}
	n := chain.Ended(open, t.leaving(open.Deliveries)) // none of them is the session of the chat
	words := []string{stoppedWords(n.Subagents)}
	if n.Subagents = 0; n != (sessions.Ended{}) {
		words = chain.StoppedSentences(chain.Ended(open, t.leaving(open.Deliveries)))
	}
	return Result{Text: "⚙️ " + strings.Join(words, " "), Change: &sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: keys}}}}, nil
}

func stoppedWords(n int) string {
	if n == 0 {
		return "No sub-agent is running."
	}
	return "Stopped " + channels.Plural(n, "sub-agent") + "."
}

// cutWord takes the first word off.
func cutWord(s string) (word, rest string) {
	word, rest, _ = strings.Cut(strings.TrimSpace(s), " ")
	return word, strings.TrimSpace(rest)
}

// formatAge writes a time span as people do: 42s, 5m, 3h, 2d.
func formatAge(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
