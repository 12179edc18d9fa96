package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/sessions"
)

const (
	historyLines = 20
	listedLines  = 20
)

// listed is what sessions_list answers, as far as we need it.
type listed struct {
	Sessions []listedSession
	HasMore  bool
	// Visibility says what is shown. Note is empty where every session is.
	Visibility struct {
		Mode, Note string
	}
}

type listedSession struct {
	Key, Kind, Channel, DisplayName, Label string
	UpdatedAt                              int64
}

func (s listedSession) describe(now time.Time) string {
	line := "- **" + code(s.Key) + "**"
	if n := s.name(); n != "" {
		line += " “" + plain(n, 80) + "”"
	}
	var facts []string
	switch s.Kind {
	case "main":
		facts = append(facts, "main session")
	case "other", "":
	default:
		facts = append(facts, s.Kind)
	}
	if s.Channel != "" && s.Channel != "unknown" && s.Channel != s.Kind {
		facts = append(facts, plain(s.Channel, 40))
	}
	if s.UpdatedAt > 0 {
		facts = append(facts, "last active "+ago(now, time.UnixMilli(s.UpdatedAt)))
	}
	return line + ": " + strings.Join(facts, ", ")
}

func (s listedSession) name() string {
	if s.DisplayName != "" {
		return s.DisplayName
	}
	return s.Label
}

func (r listed) describe(now time.Time) string {
	if len(r.Sessions) == 0 {
		return "I see no sessions." + r.limits()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "I see %s:\n\n", count(len(r.Sessions), "session", r.HasMore))
	for i, s := range r.Sessions {
		if i == listedLines {
			fmt.Fprintf(&b, "- … and %d more\n", len(r.Sessions)-i)
			break
		}
		b.WriteString(s.describe(now) + "\n")
	}
	return strings.TrimSpace(b.String()) + r.limits()
}

func (r listed) limits() string {
	if r.Visibility.Note == "" {
		return ""
	}
	return fmt.Sprintf("\n\nThere may be more sessions that I am not allowed to see from here (`tools.sessions.visibility: %s`).", plain(r.Visibility.Mode, 20))
}

// pick finds the session that is meant by a name: the only one found, or the only one called exactly so.
func (r listed) pick(name string) (key string, a answer, found bool) {
	hits := r.Sessions
	if exact := slices.DeleteFunc(slices.Clone(hits), func(s listedSession) bool {
		return !strings.EqualFold(s.DisplayName, name) && !strings.EqualFold(s.Label, name)
	}); len(exact) == 1 {
		hits = exact
	}
	switch len(hits) {
	case 1:
		return hits[0].Key, answer{}, true
	case 0:
		return "", say("I see no session with that name. *List my sessions* shows the sessions that I see, with their keys and names.%s", r.limits()), false
	}
	var b strings.Builder
	b.WriteString("Several sessions have that name. Which one? Please use its key:\n\n")
	for _, s := range hits[:min(len(hits), 8)] {
		b.WriteString("- " + code(s.Key) + " “" + plain(s.name(), 80) + "”\n")
	}
	return "", say("%s", strings.TrimSpace(b.String())), false
}

func describeHistory(now time.Time, key string, msgs []sessions.Message, more, tools bool) string {
	var lines []string
	for _, m := range msgs {
		if l := describeMessage(now, m, tools); l != "" {
			lines = append(lines, l)
		}
	}
	if len(lines) == 0 {
		return "Nothing has been said in " + code(key) + " yet."
	}
	head := "The latest messages in " + code(key)
	if !more {
		head = "All messages in " + code(key)
	}
	return head + ":\n\n" + strings.Join(lines, "\n")
}

// emphasis is markup that only gets in the way in one line of text.
var emphasis = regexp.MustCompile("\\*\\*([^*\n]+)\\*\\*|\\*([^*\n]+)\\*|`([^`\n]+)`")

func describeMessage(now time.Time, m sessions.Message, tools bool) string {
	text := clip(m.Text(), 2000)
	for range 2 { // **`both`**
		text = emphasis.ReplaceAllString(text, "$1$2$3")
	}
	text = plain(text, 300)
	who := "Agent"
	switch m.Role {
	case sessions.User:
		who = "Person"
		if p := m.Provenance; p != nil {
			switch {
			case p.Kind == sessions.InterSession:
				who = "Session " + code(string(p.Source))
			case p.Kind == sessions.InternalSystem:
				who = "parley"
			case p.Name != "":
				who = plain(p.Name, 40)
			}
		}
	case sessions.ToolResult:
		who = "Tool " + code(m.ToolName)
	}
	if calls := m.ToolCalls(); tools && len(calls) > 0 {
		var names []string
		for _, c := range calls[:min(len(calls), 5)] {
			names = append(names, code(c.Name))
		}
		text = strings.TrimSpace(text + " (used " + strings.Join(names, ", ") + ")")
	}
	if text == "" {
		return ""
	}
	when := ""
	if !m.Time.IsZero() {
		when = ", " + ago(now, m.Time)
	}
	return "- **" + who + "**" + when + ": " + text
}

// ago words a time as people do.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return count(int(d/time.Minute), "minute", false) + " ago"
	case d < 24*time.Hour:
		return count(int(d/time.Hour), "hour", false) + " ago"
	case d < 14*24*time.Hour:
		return count(int(d/(24*time.Hour)), "day", false) + " ago"
	}
	return "on " + t.Format("2 January 2006")
}

func count(n int, what string, more bool) string {
	switch {
	case more:
		return fmt.Sprintf("more than %d %ss", n, what)
	case n == 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// plain makes foreign text safe inside our Markdown: one line, nothing in it works as markup, at most n characters.
func plain(s string, n int) string {
	s = clip(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " "), n)
	return markup.Replace(s)
}

// markup leaves alone what means something only at the start of a line: our lines start with our own words.
var markup = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "~", `\~`)

// code shows a key as it must be typed.
func code(s string) string {
	return "`" + clip(strings.Join(strings.Fields(strings.ReplaceAll(s, "`", "'")), " "), 300) + "`"
}

// quote shows what somebody else said, markup and all, set off from our own words.
func quote(s string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n> ")
}

// clip cuts s to n characters, visibly.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	runes := 0
	for i := range s {
		if runes == n {
			return s[:i] + "…"
		}
		runes++
	}
	return s
}

const connect = "To talk to a real language model, set `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`, or run Ollama on this machine, or name a provider with its model under `models.providers` in the configuration; then start parley again."

// help lists what the grammar understands.
func (c *conversation) help() string {
	var b strings.Builder
	for _, in := range c.table {
		if in.example != "" {
			b.WriteString("- *" + in.example + "*: " + in.about + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

// examples are what to try first.
const examples = "- *list my sessions*\n- *in the background, what time is it?*\n- *remember that I like tea*, then *what do you remember?*\n- *show the history of this chat*\n- *what can you do?*"

const hello = "Hello! I am parley's built-in offline model: not a language model, but the host behind me is real. Try one of these:\n\n" + examples + "\n\n" + connect

const sorry = "I did not understand that: I am parley's built-in offline model, not a language model, and I know only a few phrases. Try:\n\n" + examples + "\n\n" + connect

// explainMissingTool explains that a tool is not there and how to get it.
func explainMissingTool(tool string) answer {
	return say("For that I need the tool `%s`, which is not enabled here. Sub-agents get session tools only when `tools.subagents.tools.allow` names them; everywhere else `tools.allow`, `tools.deny` and the agent's own `tools` in the configuration decide.", tool)
}
