package openclaw

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/openclaw/convert"
	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/source"
	"parley/sessions"
)

// Job is a scheduled job in the words of parley cron add. Exactly one of At, Every and Cron is set.
type Job struct {
	What     string // the line of the report under NeedsYou that asks for it
	Name     string
	Agent    string
	Message  string
	At       string // RFC 3339
	Every    time.Duration
	Cron     string
	Zone     string
	To       string // address of a chat, last, or "" = nowhere
	Model    string // provider/model
	Thinking string
	Timeout  time.Duration
	Off      bool
}

// Command returns the command line that makes the job.
func (j Job) Command() string {
	args := []string{"parley cron add"}
	for _, f := range []struct{ flag, value string }{{"name", j.Name}, {"at", j.At}, {"every", span(j.Every)}, {"cron", j.Cron}, {"zone", j.Zone}, {"agent", j.Agent}, {"to", j.To}, {"model", j.Model}, {"thinking", j.Thinking}, {"timeout", span(j.Timeout)}} {
		if f.value != "" {
			args = append(args, quoted("--"+f.flag+"="+f.value))
		}
	}
	if j.Off {
		args = append(args, "--off")
	}
	return strings.Join(append(args, "--", quoted(j.Message)), " ")
}

func span(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

// quoted writes a text for a POSIX shell.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+=") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// jobsAndNotes takes what is in the folder beside configuration and sessions. Jobs stand in the report as commands.
func (x *reader) jobsAndNotes(src *source.Source, table config.Table) {
	for _, w := range src.Workspaces {
		agent := ids.Agent(w.Agent)
		for _, text := range w.Notes {
			x.Notes = append(x.Notes, sessions.AddNote{Agent: agent, Key: sessions.MainKey(agent), Text: text})
		}
	}
	model := convert.Models(src.Tree, src.Getenv)
	for _, j := range src.Jobs {
		notes := slices.Clone(j.Notes)
		if convert.RunsOverACP(src.Tree, j.Agent) {
			x.Report.Need(j.What, "its agent runs over ACP, which parley does not support: make the job for another agent with parley cron add --agent")
			continue
		}
		out := Job{What: j.What, Name: j.Name, Message: j.Message, Every: j.Every, Cron: j.Cron, Zone: j.Zone, Thinking: j.Thinking, Timeout: j.Timeout, Off: j.Off}
		if j.Agent != "" {
			out.Agent = string(ids.Agent(j.Agent))
		}
		if !j.At.IsZero() {
			out.At = j.At.Format(time.RFC3339)
		}
		if j.Cron != "" {
			if _, err := (sessions.Job{Cron: j.Cron, Zone: j.Zone}).After(time.Now()); err != nil {
				x.Report.Need(j.What, fmt.Sprintf("make it again with parley cron add: %v", err))
				continue
			}
		}
		if j.Model != "" {
			var why string
			if out.Model, why = model(j.Model); why != "" {
				notes = append(notes, "its model "+j.Model+" cannot be used, so the agent's model answers: "+why)
			}
		}
		address, why := address(table, j.To)
		if out.To = address; why != "" {
			notes = append(notes, why)
		}
		if slices.ContainsFunc(x.Jobs, func(o Job) bool { o.What = out.What; return o == out }) {
			continue // a database and a file may have the same job
		}
		for n, name := 2, j.What; slices.ContainsFunc(x.Jobs, func(o Job) bool { return o.What == j.What }); n++ {
			j.What = fmt.Sprintf("%s (%d)", name, n) // another job has the name
		}
		out.What = j.What
		x.Jobs = append(x.Jobs, out)
		shown := out
		if shown.Message = src.Redact(out.Message); shown.Message != out.Message {
			notes = append(notes, "its message has a secret, so the command shows [secret]; --jobs imports the whole message")
		}
		x.Report.Need(j.What, "make it with the host running: "+shown.Command())
		if len(notes) > 0 {
			x.Report.Differ(j.What, strings.Join(notes, "; "))
		}
	}
}

// address returns where the answer of a job goes, or why it goes nowhere.
func address(table config.Table, t source.JobTarget) (to, why string) {
	if t == (source.JobTarget{}) || t.Last {
		return map[bool]string{true: "last"}[t.Last], ""
	}
	kind := channels.Kind(t.Channel)
	id := t.To
	if word, rest, ok := strings.Cut(id, ":"); ok && kind == "" {
		kind, id = channels.Kind(word), rest
	}
	lost := fmt.Sprintf("its answer went to %q, which names no chat here; now it stays in the job's session", strings.TrimSpace(t.Channel+" "+t.To))
	i := slices.IndexFunc(table, func(a config.Adapter) bool { return a.Kind == kind })
	switch {
	case t.Channel == "" && i < 0:
		return "", lost
	case i < 0:
		return "", fmt.Sprintf("its answer went to the channel %q, which parley does not have; now it stays in the job's session", t.Channel)
	}
	a := channels.Address{Channel: kind, Account: channels.DefaultAccount, Type: channels.Direct}
	if t.Account != "" {
		a.Account = ids.Account(t.Account)
	}
	for more := true; more; {
		more = false
		for _, word := range []string{string(kind), "tg", "group", "channel", "user", "dm", "direct"} {
			if rest, ok := strings.CutPrefix(id, word+":"); ok {
				switch id, more = rest, true; word {
				case "group":
					a.Type = channels.Group
				case "channel":
					a.Type = channels.Room
				}
			}
		}
	}
	if chat, topic, ok := strings.Cut(id, ":topic:"); ok {
		id, a.Thread = chat, channels.ThreadID(topic)
	} else if chat, topic, ok := strings.Cut(id, ":"); ok && kind == "telegram" {
		id, a.Thread = chat, channels.ThreadID(topic)
	}
	switch {
	case strings.HasSuffix(id, "@g.us"), kind == "telegram" && strings.HasPrefix(id, "-"):
		a.Type = channels.Group
	}
	a.Chat = channels.ChatID(id)
	if id == "" || strings.HasPrefix(id, "@") || strings.HasPrefix(id, "#") {
		return "", lost
	}
	if write := table[i].Person; a.Type == channels.Direct && write != nil {
		p, err := write(id)
		if err != nil {
			return "", lost
		}
		a.Chat = channels.ChatID(p)
	}
	if write := table[i].Chat; a.Type != channels.Direct && write != nil {
		c, err := write(id)
		if err != nil {
			return "", lost
		}
		a.Chat = c
	}
	return a.String(), ""
}
