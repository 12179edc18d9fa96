package main

import (
	"strings"

	"parley/agent"
	"parley/channels"
	"parley/gateway/api"
	"parley/router/chain"
	"parley/sessions"
)

type traceCmd struct {
	ID string `arg:"" help:"Message id of a platform, run id or delivery id. For a run of a sub-agent or of an exchange, the command shows the whole chain."`
	asJSON
}

func (c traceCmd) Run(e *env) error {
	if c.ID == "" {
		return misuse("name an id: the id of a message on its platform, of a run or of a delivery")
	}
	ts, err := request[[]sessions.Trace](e, "GET /api/trace/{id}", api.TraceCall{ID: c.ID})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, ts, func(p *page, ts []sessions.Trace) {
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
			printTrace(p, t)
		}
	})
}

func printTrace(p *page, t sessions.Trace) {
	if t.Source != "" || t.Run == nil || t.Run.Chain == nil {
		p.printf("%s  accepted%s\n", p.stamp(t.Accepted), origin(t))
	}
	if t.Skip != "" {
		p.detail(plain, "skipped: "+t.Skip)
	}
	if t.Run != nil {
		printRun(p, *t.Run)
	}
	for _, m := range t.Steps {
		switch m.Role {
		case sessions.ToolResult:
			p.printf("%s  tool %s answered, error %t\n", p.stamp(m.Time), m.ToolName, m.IsError)
		case sessions.Assistant:
			for _, b := range m.ToolCalls() {
				p.printf("%s  tool %s called (%s)\n", p.stamp(m.Time), b.Name, b.ID)
			}
			p.printf("%s  %s: %s, %s\n", p.stamp(m.Time), m.Model, channels.Plural(len(m.Text()), "character"), m.Stop)
		}
	}
	for _, d := range t.Deliveries {
		printDelivery(p, d)
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

func printRun(p *page, r sessions.Run) {
	p.printf("%s  run %s (%s) in %s: %s", p.stamp(r.Started), r.ID, r.Kind, r.Key, r.Status)
	switch {
	case r.Status == sessions.Done && r.MergedInto != "":
		p.printf(", merged into run %s, which answers it", r.MergedInto)
	case r.Status == sessions.Done && r.Attempt == 0: // by an earlier version
		p.printf(", merged into the running turn")
	case r.Attempt > 0:
		p.printf(", attempt %d", r.Attempt)
	}
	if r.Status != sessions.Done && r.MergedInto != "" {
		p.printf(", answered by run %s", r.MergedInto)
	}
	if word := chain.Silence(r); word != agent.Speak {
		p.printf(", silent: %s", word)
	}
	p.printf("\n")
	if r.Error != "" {
		p.detail(plain, "error: "+r.Error)
	}
	if c := r.Chain; c != nil && c.Parent != nil && r.Status == sessions.Done && chain.Silence(r) == agent.Speak && r.Attempt > 0 {
		p.printf("  its result went to the sub-agent that asked for it, %s (run %s)\n", c.Requester, c.Parent.Root)
	}
}
