package turn

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"parley/agent"
	"parley/router/chain"
	"parley/router/lane"
	"parley/router/settings"
	"parley/sessions"
	"parley/tools"
)

//go:embed prompts/*.md
var promptFiles embed.FS

var prompts = template.Must(template.New("").Funcs(template.FuncMap{"quote": quote, "name": quoteName}).ParseFS(promptFiles, "prompts/*.md"))

// quote writes a text that people or other agents made as one line in quotes, a JSON string: it cannot leave its place in a prompt.
func quote(s string) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// quoteName quotes what people call a chat or a program, without the brackets of the lines that the host writes above messages.
func quoteName(s string) (string, error) {
	return quote(strings.Map(func(c rune) rune {
		if c == '[' || c == ']' || c >= utf8.RuneSelf && unicode.In(c, unicode.Ps, unicode.Pe) {
			return '_'
		}
		return c
	}, s))
}

// PromptFacts is the data of the prompt templates.
type PromptFacts struct {
	Instructions, Name, Title  string
	Files                      []agent.PromptFile
	Zone                       string
	About                      string // the configuration's words about the chat
	Agent                      sessions.AgentID
	Group, Repeat, Carry       bool
	Spawns, Chat, Unread       bool
	Session, Requester, Target string
	Channel, Side              string
	Request, Round1, Latest    string
	Status, Error              string // of an exchange or a sub-agent: how it ended, and why
	Turn, Turns                int
	Before, Look, Lines        string // of a summary
	Messages, Words            int
	Items                      []string // what is under way
}

// Prompt returns a text of prompts/, filled in with facts.
func Prompt(name string, f PromptFacts) (string, error) {
	var b strings.Builder
	if err := prompts.ExecuteTemplate(&b, name+".md", f); err != nil {
		return "", fmt.Errorf("prompt %s: %w", name, err)
	}
	return strings.TrimSpace(b.String()), nil
}

// Compose gathers all that a run's turn needs from the store and the settings. What waits with the turn is merged into it: at is the
// run as it stands then.
func (w *Worker) Compose(ctx context.Context, set *settings.Snapshot, s sessions.Session, at *sessions.Run, again bool) (*agent.Turn, error) {
	told := make(ended)
	steps, err := w.mergeWaiting(ctx, set, s, at, again, told)
	if err != nil {
		return nil, err
	}
	run := *at
	entry := set.Entry(run.Agent)
	name := cmp.Or(run.Model, s.Settings.Model, entry.Model)
	model, err := w.model(name)
	if err != nil {
		return nil, err
	}
	past, err := w.Transcripts.past(ctx, run)
	if err != nil {
		return nil, err
	}
	history, covered, err := w.Transcripts.view(ctx, past, model.Label, run, steps)
	if err != nil {
		return nil, err
	}
	may, err := w.rights.Of(ctx, set, s, run, append(slices.Clip(history), steps...))
	if err != nil {
		return nil, err
	}
	toolset := w.rights.ToolsFor(ctx, run, may)
	system, err := w.system(ctx, set, entry, s, run, toolset)
	if err != nil {
		return nil, err
	}
	if run.System != "" {
		system += "\n\n" + run.System
	}
	caller := &tools.Caller{Session: s, Run: run, Sandboxed: set.Sandboxed(s.Key)} // the one copy that the turn's parts keep
	t := &agent.Turn{
		Model: model.Model, Name: model.Name, Label: model.Label, Facts: model.Facts, Fallbacks: w.fallbacks(entry, name), System: system,
		History: history, Steps: withShownNames(steps, run, set.Session.Scope), Covered: covered,
		Tools: tools.FitRequest(w.watched(toolset), model.Facts.MaxTools), Caller: *caller,
		Place:    placeOf(run, steps),
		Step:     run.Kind == sessions.ReplyRun || run.Kind == sessions.AnnounceRun,
		Thinking: cmp.Or(run.Thinking, s.Settings.Thinking, entry.Thinking), Zone: zoneOf(set), MaxSteps: set.Agents.Defaults.MaxSteps,
		Failing: judge(past, model.Label).isFailing(run.ID),
		Record: func(msgs ...sessions.Message) error {
			if !w.lanes.FixInput(ctx, caller.Run.Key, caller.Run.ID) {
				w.budgets.KeepUnrecorded(ctx, caller.Run, msgs...)
				return lane.ErrRestartTry
			}
			if err := w.store.Record(ctx, caller.Run.ID, msgs...); err != nil {
				w.Transcripts.Forget(caller.Run.Session) // they may be there all the same
				return err
			}
			w.Transcripts.add(caller.Run.Session, msgs...)
			w.watchers.Messages(caller.Run, msgs...)
			return nil
		},
	}
	w.budgets.Meter(s, run).Pay(ctx, t)
	w.compacts(set, caller, t)
	w.listen(at, caller, t, told)
	if take := t.Take; take != nil {
		t.Take = func(ctx context.Context) ([]sessions.Message, error) {
			msgs, err := take(ctx)
			may.Add(msgs...)
			return withShownNames(msgs, caller.Run, set.Session.Scope), err
		}
	}
	return t, nil
}

// system words the system prompt: the stable part first, what is special about this run last.
func (w *Worker) system(ctx context.Context, set *settings.Snapshot, e agent.Entry, s sessions.Session, run sessions.Run, toolset []tools.Tool) (string, error) {
	show := func(k sessions.Key) string { return k.Display(run.Agent, set.Session.Scope) }
	f := PromptFacts{Instructions: e.Instructions, Name: e.Name, Agent: e.ID, Title: s.Title, Group: s.Last.Type.Several(), Session: show(s.Key),
		Files: w.PromptFiles(e.ID, !sessions.IsSubagent(s.Key)), Zone: zoneName(zoneOf(set)), About: set.About(s, run)}
	c := run.Chain
	if c != nil {
		f.Requester, f.Target, f.Request, f.Round1, f.Latest = show(c.Requester), show(c.Target), c.Request, c.Round1, c.Latest
		f.Turn, f.Turns, f.Status, f.Error = c.Turn, set.Session.AgentToAgent.MaxPingPongTurns, string(c.Status), c.Error
		f.Side = "target"
		if s.Key == c.Requester {
			f.Side, f.Repeat = "requester", c.Waited
			f.Carry = c.Waited && !w.repliedInline(ctx, run.Source)
		}
		f.Unread = c.Unread
		f.Channel, f.Chat = string(c.From.Channel), !c.Origin.IsZero()
	}
	base := "turn"
	if sessions.IsSubagent(s.Key) {
		base, f.Requester = "child", show(s.SpawnedBy)
		f.Spawns = tools.Depth(s) < settings.OrDefault(set.Agents.Defaults.Subagents.MaxSpawnDepth, 1) && slices.ContainsFunc(toolset, func(t tools.Tool) bool { return t.Spec().Name == "sessions_spawn" })
	}
	text, err := Prompt(base, f)
	if err != nil || c == nil {
		return text, err
	}
	step := map[sessions.RunKind]string{sessions.AskRun: "ask", sessions.ReplyRun: "reply", sessions.AnnounceRun: "announce", sessions.ResultRun: "result", sessions.JobRun: "job", sessions.FollowUpRun: "follow-up"}[run.Kind]
	if run.Kind == sessions.AnnounceRun && c.Kind == chain.Spawn {
		step = "report"
	}
	if step == "" {
		return text, nil
	}
	extra, err := Prompt(step, f)
	return text + "\n\n" + extra, err
}

// repliedInline reports whether the tool call that began a chain returned the reply itself: its wait was long enough.
func (w *Worker) repliedInline(ctx context.Context, source string) bool {
	asker, call, ok := strings.Cut(strings.TrimPrefix(source, "tool:"), ":")
	if !ok {
		return false
	}
	steps, err := w.store.Steps(ctx, sessions.RunID(asker))
	return err == nil && tools.RepliedInline(steps, call)
}

// fallbacks gives the models that answer when the first one fails. One that cannot be found is left out: the configuration check
// names it.
func (w *Worker) fallbacks(e agent.Entry, first string) (out []agent.Candidate) {
	for _, name := range e.Fallbacks {
		c, err := w.model(name)
		switch {
		case err != nil:
			w.log.Warn("cannot use a fallback model", keyErr, err)
		case c.Label != first && !slices.ContainsFunc(out, func(o agent.Candidate) bool { return o.Label == c.Label }):
			out = append(out, c)
		}
	}
	return out
}
