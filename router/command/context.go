package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/router/turn"
	"parley/sessions"
)

// cmdCompact queues the summing up of the session behind what it is at. The answer comes with its end.
func cmdCompact(_ context.Context, _ *Table, c Call) (Result, error) {
	run := turn.NewRun(c.In, c.Session.Key, c.Session.Agent, "", nil, c.Owner)
	run.Kind, run.Input.Content = sessions.CompactRun, sessions.TextContent(c.Arg)
	return Result{Change: &sessions.Change{Run: &sessions.Enqueue{Run: *run}}}, nil
}

// share is what one part of a prompt takes.
type share struct {
	what   string
	n      int
	tokens int
}

// cmdContext says what fills the window of the session's model.
func cmdContext(ctx context.Context, r *Table, c Call) (Result, error) {
	detail := strings.EqualFold(c.Arg, "detail")
	switch {
	case !detail && c.Arg != "" && !strings.EqualFold(c.Arg, "list"):
		return Result{Text: "⚙️ Usage: /context list|detail"}, nil
	case c.Session.ID == "":
		return Result{Text: "This session has no messages yet."}, nil
	}
	if err := r.modelKnown(c.Set.ModelOf(c.Session)); err != nil {
		return Result{Text: fmt.Sprintf("⚠️ The model of this session, %s, cannot be used. `/model` lists the models that I know.", channels.Code(c.Set.ModelOf(c.Session), 100))}, nil
	}
	run := turn.NewRun(c.In, c.Session.Key, c.Session.Agent, "", nil, c.Owner)
	run.Kind, run.Session = sessions.CompactRun, c.Session.ID // a turn that never begins: what is queued is left alone
	t, err := r.worker.Compose(ctx, c.Set, c.Session, run, false)
	if err != nil {
		return Result{}, err
	}
	sum, msgs, err := r.worker.Transcripts.Shown(ctx, c.Session.ID, t.Label)
	if err != nil {
		return Result{}, err
	}
	files := make(map[string]*share)
	system, own, kit := agent.TextTokens(t.System), 0, 0
	for _, f := range r.worker.PromptFiles(c.Session.Agent, !sessions.IsSubagent(c.Session.Key)) {
		files[f.Name] = &share{what: f.Name, n: 1, tokens: agent.TextTokens(f.Text)}
		own += files[f.Name].tokens
	}
	tool := make(map[string]*share)
	for _, have := range t.Tools {
		spec := have.Spec()
		tool[spec.Name] = &share{what: spec.Name, n: 1, tokens: agent.SpecTokens(spec)}
		kit += tool[spec.Name].tokens
	}
	summary, messages := agent.TextTokens(sum.Text), agent.Tokens(msgs...)
	total := max(system+kit+summary+messages, c.Session.Context)
	var b strings.Builder
	fmt.Fprintf(&b, "**Context** of this session: about %s of %s tokens", sessions.ShortCount(total), sessions.ShortCount(t.Facts.ContextWindow))
	if w := t.Facts.ContextWindow; w > 0 {
		fmt.Fprintf(&b, " (%d %%)", total*100/w)
	}
	fmt.Fprintf(&b, ", model %s. Estimated parts:\n\n- System prompt: %s (workspace files: %s)\n", channels.Code(t.Label, 100), sessions.ShortCount(system), sessions.ShortCount(own))
	if detail {
		writeShares(&b, files)
	}
	fmt.Fprintf(&b, "- Tools (%d): %s\n", len(t.Tools), sessions.ShortCount(kit))
	if detail {
		writeShares(&b, tool)
	}
	if sum.ID != "" {
		fmt.Fprintf(&b, "- Summary of %s, made %s ago: %s\n", channels.Plural(sum.Messages, "message"), formatAge(time.Since(sum.Time)), sessions.ShortCount(summary))
	}
	fmt.Fprintf(&b, "- Messages (%d): %s\n", len(msgs), sessions.ShortCount(messages))
	if detail {
		writeShares(&b, byKind(msgs))
	}
	if c.Set.Agents.Defaults.Compaction.Off {
		fmt.Fprintf(&b, "\nAbove %s tokens or %d messages I leave out the older ones.", sessions.ShortCount(t.CompactAt), t.CompactOver)
	} else {
		fmt.Fprintf(&b, "\nAbove %s tokens or %d messages I summarize the older part; `/compact` does so now.", sessions.ShortCount(t.CompactAt), t.CompactOver)
	}
	return Result{Text: b.String()}, nil
}

// byKind sums up messages by who made them.
func byKind(msgs []sessions.Message) map[string]*share {
	all := make(map[string]*share)
	for _, m := range msgs {
		what := map[sessions.Role]string{sessions.User: "of people and sessions", sessions.Assistant: "of the agent"}[m.Role]
		if m.Role == sessions.ToolResult {
			what = "results of " + m.ToolName
		}
		if all[what] == nil {
			all[what] = &share{what: what}
		}
		all[what].n++
		all[what].tokens += agent.Tokens(m)
	}
	return all
}

// maxSharesShown bounds the lines of one part.
const maxSharesShown = 30

// writeShares lists shares, the largest first.
func writeShares(b *strings.Builder, all map[string]*share) {
	list := make([]*share, 0, len(all))
	for _, s := range all {
		list = append(list, s)
	}
	slices.SortFunc(list, func(x, y *share) int { return cmp.Or(y.tokens-x.tokens, cmp.Compare(x.what, y.what)) })
	for i, s := range list {
		if i == maxSharesShown {
			fmt.Fprintf(b, "  - and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(b, "  - %s", channels.Code(s.what, 100))
		if s.n > 1 {
			fmt.Fprintf(b, " (%d)", s.n)
		}
		fmt.Fprintf(b, ": %s\n", sessions.ShortCount(s.tokens))
	}
}
