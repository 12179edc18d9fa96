package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"parley/agent"
	"parley/channels"
	"parley/router"
	"parley/sessions"
)

type traceCmd struct {
	ID   string `arg:"" help:"Message id of a platform, run id or delivery id. A run of a sub-agent or of an exchange shows all that came of it."`
	JSON bool   `help:"Print JSON."`
}

func (c traceCmd) Run(e *env) error {
	if c.ID == "" {
		return usageError{fmt.Errorf("which message? name its id on the platform, or a run's or delivery's id")}
	}
	ts, err := ask[[]sessions.Trace](e, http.MethodGet, "/api/trace/"+url.PathEscape(c.ID), nil, nil)
	if err != nil {
		return err
	}
	return show(c.JSON, ts, func(w io.Writer, ts []sessions.Trace) {
		began := map[sessions.RunID]string{}
		for _, t := range ts {
			if t.Run != nil && t.Run.Chain != nil {
				root := t.Run.Chain.Root
				if was, again := began[root]; again && was == t.Source {
					t.Source, t.Address = "", channels.Address{} // it is a later step of what is shown already
				} else {
					began[root] = t.Source
				}
			}
			printTrace(w, t)
		}
	})
}

func printTrace(w io.Writer, t sessions.Trace) {
	if t.Source != "" || t.Run == nil || t.Run.Chain == nil {
		_, _ = fmt.Fprintf(w, "%s  accepted%s\n", stamp(t.Accepted), origin(t))
	}
	if t.Skip != "" {
		_, _ = fmt.Fprintf(w, "  nothing was done: %s\n", t.Skip)
	}
	if t.Run != nil {
		printRun(w, *t.Run)
	}
	for _, m := range t.Steps {
		switch m.Role {
		case sessions.ToolResult:
			_, _ = fmt.Fprintf(w, "%s  tool %s answered, error %t\n", stamp(m.Time), m.ToolName, m.IsError)
		case sessions.Assistant:
			for _, b := range m.ToolCalls() {
				_, _ = fmt.Fprintf(w, "%s  tool %s called (%s)\n", stamp(m.Time), b.Name, b.ID)
			}
			_, _ = fmt.Fprintf(w, "%s  %s: %d characters, %s\n", stamp(m.Time), m.Model, len(m.Text()), m.Stop)
		}
	}
	for _, d := range t.Deliveries {
		printDelivery(w, d)
	}
}

// origin says what began a path: a message of a chat, or a tool call, whose source is tool:<run>:<call>.
func origin(t sessions.Trace) string {
	s := ""
	if t.Source != "" {
		s = " " + t.Source
	}
	if run, call, ok := strings.Cut(strings.TrimPrefix(t.Source, "tool:"), ":"); ok && strings.HasPrefix(t.Source, "tool:") {
		s = " by tool call " + call + " of run " + run
	}
	if !t.Address.IsZero() {
		s += " from " + t.Address.String()
	}
	return s
}

func printRun(w io.Writer, r sessions.Run) {
	_, _ = fmt.Fprintf(w, "%s  run %s (%s) in %s: %s", stamp(r.Started), r.ID, r.Kind, r.Key, r.Status)
	switch {
	case r.Status == sessions.Done && r.Batch != "":
		_, _ = fmt.Fprintf(w, ", taken up by run %s, which answers it", r.Batch)
	case r.Status == sessions.Done && r.Attempt == 0: // by an earlier version
		_, _ = fmt.Fprint(w, ", taken up by the turn at work")
	case r.Attempt > 0:
		_, _ = fmt.Fprintf(w, ", attempt %d", r.Attempt)
	}
	if r.Error != "" {
		_, _ = fmt.Fprintf(w, ": %s", r.Error)
	}
	if r.Status != sessions.Done && r.Batch != "" {
		_, _ = fmt.Fprintf(w, ", answered by run %s", r.Batch)
	}
	if word := router.Silence(r); word != agent.Speak {
		_, _ = fmt.Fprintf(w, ", silent: %s", word)
	}
	_, _ = fmt.Fprintln(w)
	if c := r.Chain; c != nil && c.Parent != nil && r.Status == sessions.Done && router.Silence(r) == agent.Speak && r.Attempt > 0 {
		_, _ = fmt.Fprintf(w, "  its result went to the sub-agent that asked for it, %s (run %s)\n", c.Requester, c.Parent.Root)
	}
}
