package router

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"parley/agent"
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

// promptFacts are what the templates may name.
type promptFacts struct {
	Instructions, Name, Title  string
	Files                      []agent.PromptFile
	Zone                       string
	About                      string // the configuration's words about the chat
	Agent                      sessions.AgentID
	Group, Repeat, Carry       bool
	Spawns, Chat               bool
	Session, Requester, Target string
	Channel, Side              string
	Request, Round1, Latest    string
	Status                     string
	Turn, Turns                int
	Before, Look, Lines        string // of a summary
	Messages, Words            int
	Items                      []string // what is under way
}

func prompt(name string, f promptFacts) (string, error) {
	var b strings.Builder
	if err := prompts.ExecuteTemplate(&b, name+".md", f); err != nil {
		return "", fmt.Errorf("prompt %s: %w", name, err)
	}
	return strings.TrimSpace(b.String()), nil
}

// compose gathers all that a run's turn needs from the store and the settings. The turn takes up what waits with it: at is the
// run as it stands then.
func (r *Router) compose(ctx context.Context, set *settings.Snapshot, s sessions.Session, at *sessions.Run, again bool) (agent.Turn, error) {
	told := make(ended)
	steps, err := r.gather(ctx, set, s, at, again, told)
	if err != nil {
		return agent.Turn{}, err
	}
	run := *at
	entry := set.Entry(run.Agent)
	name := cmp.Or(run.Model, s.Settings.Model, entry.Model)
	model, err := r.deps.Model(name)
	if err != nil {
		return agent.Turn{}, err
	}
	past, err := r.past(ctx, run)
	if err != nil {
		return agent.Turn{}, err
	}
	history, covered, err := r.view(ctx, past, model.Label, run, steps)
	if err != nil {
		return agent.Turn{}, err
	}
	may, err := r.rightsOf(ctx, set, s, run, append(slices.Clip(history), steps...))
	if err != nil {
		return agent.Turn{}, err
	}
	kit := r.toolsFor(ctx, run, may)
	system, err := r.system(ctx, set, entry, s, run, kit)
	if err != nil {
		return agent.Turn{}, err
	}
	if run.System != "" {
		system += "\n\n" + run.System
	}
	caller := tools.Caller{Session: s, Run: run, Sandboxed: set.Sandboxed(s.Key)}
	t := agent.Turn{
		Model: model.Model, Name: model.Name, Label: model.Label, Facts: model.Facts, Fallbacks: r.fallbacks(entry, name), System: system,
		History: history, Steps: steps, Covered: covered,
		Tools: tools.FitRequest(r.watched(kit), model.Facts.MaxTools), Caller: caller,
		Thinking: cmp.Or(run.Thinking, s.Settings.Thinking, entry.Thinking), Zone: zoneOf(set), MaxSteps: set.Agents.Defaults.MaxSteps,
		Failing: judge(past, model.Label).isFailing(run.ID),
		Record: func(msgs ...sessions.Message) error {
			if !r.lanes.Fix(ctx, run.Key, run.ID) {
				r.unkept(ctx, run, msgs...)
				return lane.ErrAgain
			}
			if err := r.store.Record(ctx, run.ID, msgs...); err != nil {
				r.histories.drop(run.Session) // they may be there all the same
				return err
			}
			r.histories.add(run.Session, r.readMost(), msgs...)
			r.watchers.Messages(run, msgs...)
			return nil
		},
	}
	r.meter(s, run).pay(ctx, &t)
	r.compacts(set, s, run, &t)
	r.listen(at, caller, &t, told)
	if take := t.Take; take != nil {
		t.Take = func(ctx context.Context) ([]sessions.Message, error) {
			msgs, err := take(ctx)
			may.add(msgs...)
			return msgs, err
		}
	}
	return t, nil
}

// system words the system prompt: the stable part first, what is special about this run last.
func (r *Router) system(ctx context.Context, set *settings.Snapshot, e agent.Entry, s sessions.Session, run sessions.Run, kit []tools.Tool) (string, error) {
	show := func(k sessions.Key) string { return k.Display(run.Agent, set.Session.Scope) }
	f := promptFacts{Instructions: e.Instructions, Name: e.Name, Agent: e.ID, Title: s.Title, Group: s.Last.Type.Several(), Session: show(s.Key),
		Files: r.promptFiles(e.ID, !sessions.IsSubagent(s.Key)), Zone: zoneName(zoneOf(set)), About: set.About(s, run)}
	c := run.Chain
	if c != nil {
		f.Requester, f.Target, f.Request, f.Round1, f.Latest = show(c.Requester), show(c.Target), c.Request, c.Round1, c.Latest
		f.Turn, f.Turns, f.Status = c.Turn, set.Session.AgentToAgent.MaxPingPongTurns, string(c.Status)
		f.Side = "target"
		if s.Key == c.Requester {
			f.Side, f.Repeat = "requester", c.Waited
			f.Carry = c.Waited && !r.repliedInline(ctx, run.Source)
		}
		f.Channel, f.Chat = string(c.From.Channel), !c.Origin.IsZero()
	}
	base := "turn"
	if sessions.IsSubagent(s.Key) {
		base, f.Requester = "child", show(s.SpawnedBy)
		f.Spawns = tools.Depth(s) < r.kit.SpawnDepth() && slices.ContainsFunc(kit, func(t tools.Tool) bool { return t.Spec().Name == "sessions_spawn" })
	}
	text, err := prompt(base, f)
	if err != nil || c == nil {
		return text, err
	}
	step := map[sessions.RunKind]string{sessions.AskRun: "ask", sessions.ReplyRun: "reply", sessions.AnnounceRun: "announce", sessions.ResultRun: "result", sessions.JobRun: "job"}[run.Kind]
	if run.Kind == sessions.AnnounceRun && c.Kind == chainSpawn {
		step = "report"
	}
	if step == "" {
		return text, nil
	}
	extra, err := prompt(step, f)
	return text + "\n\n" + extra, err
}

// repliedInline reports whether the tool call that began a chain returned the reply itself: its wait was long enough.
func (r *Router) repliedInline(ctx context.Context, source string) bool {
	asker, call, ok := strings.Cut(strings.TrimPrefix(source, "tool:"), ":")
	if !ok {
		return false
	}
	steps, err := r.store.Steps(ctx, sessions.RunID(asker))
	return err == nil && tools.RepliedInline(steps, call)
}

// called reports whether the tool call that began a chain is over: what comes now is too late to be its result.
func (r *Router) called(ctx context.Context, source string) (bool, error) {
	asker, call, _ := strings.Cut(strings.TrimPrefix(source, "tool:"), ":")
	run, err := r.store.GetRun(ctx, sessions.RunID(asker))
	if errors.Is(err, sessions.ErrNotFound) || err == nil && run.Status.Final() {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	steps, err := r.store.Steps(ctx, run.ID)
	return slices.ContainsFunc(steps, func(m sessions.Message) bool { return m.Role == sessions.ToolResult && m.ToolCallID == call }), err
}

// fallbacks gives the models that answer when the first one fails. One that cannot be found is left out: the configuration check
// names it.
func (r *Router) fallbacks(e agent.Entry, first string) (out []agent.Candidate) {
	for _, name := range e.Fallbacks {
		c, err := r.deps.Model(name)
		switch {
		case err != nil:
			r.log.Warn("a fallback cannot be used", keyErr, err)
		case c.Label != first && !slices.ContainsFunc(out, func(o agent.Candidate) bool { return o.Label == c.Label }):
			out = append(out, c)
		}
	}
	return out
}
