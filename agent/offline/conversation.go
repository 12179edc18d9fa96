package offline

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"parley/sessions"
)

// conversation is one turn: its request is understood, and its answer depends on the results so far.
type conversation struct {
	turn
	now     time.Time
	offered map[string]bool
	table   []intent
}

// result reads the newest tool result into v. fault is set when the call failed: a text for people.
func (c *conversation) result(v any) (done bool, fault string) {
	if len(c.results) == 0 {
		return false, ""
	}
	m := c.results[len(c.results)-1]
	var p struct{ Status, Error string }
	parsed := json.Unmarshal([]byte(m.Text()), &p) == nil
	switch {
	case parsed && p.Status == "forbidden":
		return true, "I am not allowed to do that. " + clip(p.Error, 1000)
	case parsed && p.Status == "error" && m.IsError:
		return true, "That did not work: " + clip(p.Error, 1000)
	case m.IsError:
		return true, "That did not work: " + clip(m.Text(), 1000)
	case json.Unmarshal([]byte(m.Text()), v) != nil:
		return true, "The tool " + m.ToolName + " answered in a way that I cannot read. Its answer is in the transcript."
	}
	return true, ""
}

func listSessions(c *conversation, _ request) answer {
	var r listed
	done, fault := c.result(&r)
	switch {
	case !done:
		return call("sessions_list", map[string]any{})
	case fault != "":
		return say("%s", fault)
	}
	return say("%s", r.describe(c.now))
}

func agents(c *conversation, _ request) answer {
	var r struct {
		Requester string
		AllowAny  bool
		Agents    []struct{ ID, Name string }
	}
	done, fault := c.result(&r)
	switch {
	case !done:
		return call("agents_list", map[string]any{})
	case fault != "":
		return say("%s", fault)
	}
	var b strings.Builder
	b.WriteString("Agents that I can give work to from here:\n\n")
	for _, a := range r.Agents {
		b.WriteString("- **" + plain(a.ID, 80) + "**")
		if a.Name != "" && a.Name != a.ID {
			b.WriteString(" (" + plain(a.Name, 80) + ")")
		}
		if a.ID == r.Requester {
			b.WriteString(": that is me")
		}
		b.WriteString("\n")
	}
	if len(r.Agents) == 1 && !r.AllowAny {
		b.WriteString("\nMore agents come from `agents.list` in the configuration; `subagents.allowAgents` says which of them I may use.")
	}
	return say("%s", strings.TrimSpace(b.String()))
}

func remember(c *conversation, r request) answer {
	done, fault := c.result(&struct{}{})
	switch {
	case !done:
		return call("remember", map[string]any{"text": clip(unquote(r.what), 2000)})
	case fault != "":
		return say("%s", fault)
	}
	return say("Noted. *What do you remember?* brings it back, also after a restart.")
}

func recall(c *conversation, r request) answer {
	var notes struct {
		Notes []struct {
			Text string
			When time.Time
			From string
		}
		Truncated bool
	}
	done, fault := c.result(&notes)
	topic := strings.TrimRight(unquote(r.what), "?!. ")
	switch {
	case !done:
		args := map[string]any{}
		if topic != "" {
			args["query"] = clip(topic, 200)
		}
		return call("recall", args)
	case fault != "":
		return say("%s", fault)
	case len(notes.Notes) == 0 && topic != "":
		return say("I have no note about that. *What do you remember?* shows all of them.")
	case len(notes.Notes) == 0:
		return say("I have no notes yet. Try: *remember that I like tea*.")
	}
	var b strings.Builder
	b.WriteString("I remember:\n\n")
	for _, n := range notes.Notes {
		b.WriteString("- " + plain(n.Text, 500))
		if !n.When.IsZero() {
			b.WriteString(" (" + ago(c.now, n.When) + ")")
		}
		b.WriteString("\n")
	}
	if notes.Truncated {
		b.WriteString("\nThere are more; ask *about* something to narrow it down.")
	}
	return say("%s", strings.TrimSpace(b.String()))
}

func background(c *conversation, r request) answer {
	var run struct{ ChildSessionKey, ReportTo string }
	done, fault := c.result(&run)
	switch {
	case !done:
		task := strings.TrimSpace(unquote(r.what))
		args := map[string]any{"task": clip(task, 16_000)}
		if l := label(c.input, task); l != "" {
			args["label"] = l
		}
		return call("sessions_spawn", args)
	case fault != "":
		return say("%s", fault)
	}
	switch run.ReportTo {
	case "":
		return say("Started in the background as %s. Its result is posted here when it is done.", code(run.ChildSessionKey))
	case "none":
		return say("Started in the background as %s. This session has no chat, so the result stays in that session.", code(run.ChildSessionKey))
	}
	return say("Started in the background as %s. Its result is posted in %s when it is done.", code(run.ChildSessionKey), code(run.ReportTo))
}

// label names a sub-agent's session. A label is unique among live sessions, so a piece of the message's id makes it so.
func label(m sessions.Message, task string) string {
	id := strings.ReplaceAll(m.ID, "-", "")
	if len(id) < 8 {
		return ""
	}
	words := strings.Fields(strings.Map(func(r rune) rune {
		if r == '-' || r == '\'' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x7f {
			return r
		}
		return ' '
	}, task))
	return clip(strings.Join(words[:min(len(words), 6)], " "), 40) + " #" + id[len(id)-8:]
}

func history(c *conversation, r request) answer {
	key, a, found := c.session(r.who, "sessions_history")
	if !found {
		return a
	}
	var h struct {
		SessionKey string
		Messages   []sessions.Message
		HasMore    bool
	}
	done, fault := c.resultOf("sessions_history", &h)
	switch {
	case !done:
		args := map[string]any{"sessionKey": key, "limit": historyLines}
		if r.tools {
			args["includeTools"] = true
		}
		return call("sessions_history", args)
	case fault != "":
		return say("%s", fault)
	}
	return say("%s", describeHistory(c.now, h.SessionKey, h.Messages, h.HasMore, r.tools))
}

func tell(c *conversation, r request, wait bool) answer {
	key, a, found := c.session(r.who, "sessions_send")
	if !found {
		return a
	}
	var sent struct{ Status, SessionKey, Reply, Error string }
	done, fault := c.resultOf("sessions_send", &sent)
	switch {
	case !done:
		args := map[string]any{"sessionKey": key, "message": unquote(r.what)}
		if !wait {
			args["timeoutSeconds"] = 0
		}
		return call("sessions_send", args)
	case fault != "":
		return say("%s", fault)
	}
	switch name := code(sent.SessionKey); sent.Status {
	case "accepted":
		return say("Sent to %s.", name)
	case "timeout":
		return say("%s has not answered yet. It is still working. Try *show the history of %s* later.", name, sent.SessionKey)
	case "ok":
		if strings.TrimSpace(sent.Reply) == "" {
			return say("%s is done and had nothing to say.", name)
		}
		return say("%s answered:\n\n%s", name, quote(clip(sent.Reply, 8000)))
	default:
		return say("%s could not answer: %s", name, clip(sent.Error, 1000))
	}
}

// resultOf reads the newest result when it is one of this tool.
func (c *conversation) resultOf(tool string, v any) (done bool, fault string) {
	if n := len(c.results); n == 0 || c.results[n-1].ToolName != tool {
		return false, ""
	}
	return c.result(v)
}

var (
	uuidRE  = regexp.MustCompile(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	hereRE  = regexp.MustCompile(`(?i)^(?:` + strings.ReplaceAll(here, " ", `\s+`) + `)?$`)
	aroundW = regexp.MustCompile(`(?i)^(?:the|my|our|agent|session|chat|group|room|channel)\s+|\s+(?:group|chat|session|room|channel|agent)$`)
)

// session finds the key of what a person calls a session. A key is taken as it is; a name is looked up first: then found is
// false, and the answer is the call to make, or what to tell the person. next is the tool that needs the key.
func (c *conversation) session(who, next string) (key string, a answer, found bool) {
	if hereRE.MatchString(strings.TrimSpace(who)) {
		return "current", answer{}, true
	}
	name := who
	for {
		bare := strings.TrimSpace(aroundW.ReplaceAllString(name, ""))
		if bare == name || bare == "" {
			break
		}
		name = bare
	}
	name = unquote(strings.TrimRight(name, "?!.,"))
	if strings.EqualFold(name, "main") {
		return "main", answer{}, true
	}
	if strings.Contains(name, ":") || uuidRE.MatchString(name) || !c.offered["sessions_list"] || !c.offered[next] {
		return name, answer{}, true
	}
	if len(c.results) == 0 {
		return "", call("sessions_list", map[string]any{"search": clip(name, 200), "limit": 20}), false
	}
	var r listed
	if c.results[0].IsError || json.Unmarshal([]byte(c.results[0].Text()), &r) != nil {
		return name, answer{}, true // the tool that needs it will say what is wrong
	}
	return r.pick(name)
}
