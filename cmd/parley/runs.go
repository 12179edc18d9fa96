package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/sessions"
)

type runsCmd struct {
	List   runsListCmd   `cmd:"" default:"withargs" help:"List runs, newest first (the default)."`
	Show   runsShowCmd   `cmd:"" help:"Show one run."`
	Cancel runsCancelCmd `cmd:"" help:"Stop a run and the runs that it started."`
	Wait   runsWaitCmd   `cmd:"" help:"Wait for the end of a run and print its answer."`
	Tree   runsTreeCmd   `cmd:"" help:"Show which session started which sub-agents, and their status."`
}

type runsListCmd struct {
	Session string `help:"List only runs of this session." placeholder:"SESSION"`
	Parent  string `help:"List only runs of this session's sub-agents." placeholder:"SESSION"`
	Root    string `help:"List only runs of the chain that began with this run." placeholder:"RUN"`
	Status  string `enum:"queued,running,done,failed,timeout,aborted," default:"" help:"List only runs with this status: queued, running, done, failed, timeout or aborted." placeholder:"STATUS"`
	Kind    string `help:"List only runs of this kind: turn, child, job, …" placeholder:"KIND"`
	Active  int    `help:"List only runs queued in the last MINUTES minutes." placeholder:"MINUTES"`
	Limit   int    `default:"50" help:"Maximum number of rows."`
	asJSON
}

// Help shows examples.
func (runsListCmd) Help() string {
	return "Examples:\n\n  parley runs list --status running\n  parley runs list --session main --limit 5\n  parley runs list --parent main"
}

func (c runsListCmd) Run(e *env) error {
	q := api.RunsQuery{Root: sessions.RunID(c.Root), Status: sessions.RunStatus(c.Status), Kind: sessions.RunKind(c.Kind), Minutes: c.Active, Limit: c.Limit}
	var err error
	if q.Session, err = optionalSession(e, c.Session); err != nil {
		return err
	}
	if q.Parent, err = optionalSession(e, c.Parent); err != nil {
		return err
	}
	list, err := request[[]api.Run](e, "GET /api/runs", q)
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, list, func(p *page, list []api.Run) {
		g := p.grid("RUN", "STATUS", "KIND", "SESSION", "QUEUED", "TOOK", "COST", "~WHAT")
		for _, r := range list {
			g.row(r.ID, withMarks(string(r.Status), r.Deliveries), r.Kind, r.Key, p.ago(r.Created), p.took(r.Started, r.Ended), cost(r.Usage.Cost), runWords(r))
		}
		g.print(nothing("runs", q != api.RunsQuery{Limit: q.Limit}))
	})
}

// withMarks adds to a status what became of messages that did not arrive.
func withMarks(status string, marks []sessions.Mark) string {
	for _, m := range marks {
		switch m.State {
		case sessions.Withheld:
			return status + ", withheld by " + m.Rule
		case sessions.DeliveryFail, sessions.Expired, sessions.Dropped, sessions.Held:
			return status + ", delivery " + string(m.State)
		case sessions.Pending, sessions.Sending:
			status = strings.TrimSuffix(status, ", on its way") + ", on its way"
		case sessions.Sent:
		}
	}
	return status
}

// runWords says what a run is about: why it failed, its label, or what was asked.
func runWords(r api.Run) string {
	switch {
	case r.Error != "":
		return r.Error
	case r.Batch != "":
		return "answered by run " + string(r.Batch)
	}
	return cmp.Or(r.Label, r.Request)
}

type runArg struct {
	Run_ string `arg:"" name:"run" help:"Run id."` //nolint:revive // Run is the command's method
}

func (a runArg) id() sessions.RunID { return sessions.RunID(a.Run_) }

type runsShowCmd struct {
	runArg
	asJSON
}

func (c runsShowCmd) Run(e *env) error {
	r, err := request[sessions.Run](e, "GET /api/runs/{run}", api.RunCall{ID: c.id()})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, r, printRunDetail)
}

func printRunDetail(p *page, r sessions.Run) {
	p.painted(bold, string(r.ID))
	line := func(name, value string) {
		if value != "" {
			p.detail(plain, fmt.Sprintf("%-12s %s", name, value))
		}
	}
	line("status", string(r.Status)+map[bool]string{true: fmt.Sprintf(", attempt %d", r.Attempt)}[r.Attempt > 1])
	line("kind", string(r.Kind)+", agent "+string(r.Agent))
	line("session", string(r.Key))
	line("label", chatclient.OneLine(r.Label))
	line("model", r.Model)
	line("queued", p.ago(r.Created))
	line("took", p.took(r.Started, r.Ended))
	if !r.Reply.IsZero() {
		line("answer to", r.Reply.String())
	}
	if r.Chain != nil {
		line("for", string(r.Chain.Requester))
	}
	line("answered by", string(r.MergedInto))
	line("tokens", fmt.Sprintf("%s in, %s out", short(r.Usage.Input), short(r.Usage.Output)))
	line("cost", cost(r.Usage.Cost))
	line("error", chatclient.OneLine(r.Error))
	for _, x := range []struct{ head, text string }{{"asked", r.Input.Text()}, {"said", r.Result}} {
		if text := strings.TrimSpace(x.text); text != "" {
			p.printf("\n")
			p.painted(blue, x.head)
			p.body(text)
		}
	}
}

type runsCancelCmd struct {
	runArg
	asJSON
}

func (c runsCancelCmd) Run(e *env) error {
	a, err := request[api.Aborted](e, "POST /api/runs/{run}/cancel", api.RunCall{ID: c.id()})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, a, func(p *page, a api.Aborted) {
		for _, id := range a.Runs {
			p.printf("stopped %s\n", id)
		}
		switch {
		case a.Ended != nil:
			p.printf("stopped the unsent parts of %s\n", channels.Plural(a.Ended.Deliveries, "message"))
		case len(a.Runs) == 0:
			p.note("There is nothing to stop: the run has ended and has no unsent messages.\n")
		}
	})
}

type runsWaitCmd struct {
	runArg
	Timeout time.Duration `default:"10m" help:"Maximum wait; the run continues after it." placeholder:"TIME"`
	asJSON
}

func (c runsWaitCmd) Run(e *env) error { return waitAndTell(e, c.id(), c.Timeout, c.asJSON) }

type runsTreeCmd struct {
	Session string `arg:"" optional:"" help:"Show only the sub-agents of this session. Default: all sub-agents."`
	Active  int    `default:"1440" help:"Show only runs queued in the last MINUTES minutes." placeholder:"MINUTES"`
	Limit   int    `default:"1000" help:"Maximum number of runs to read."`
	asJSON
}

// Help shows examples.
func (runsTreeCmd) Help() string {
	return "Examples:\n\n  parley runs tree\n  parley runs tree main --active 60"
}

// treeNode is a run and what it has begun.
type treeNode struct {
	api.Run
	Children []treeNode `json:"children,omitempty"`
}

// treeRoot is a session and the runs that it has begun.
type treeRoot struct {
	Key  sessions.Key `json:"key"`
	Runs []treeNode   `json:"runs"`
}

func (c runsTreeCmd) Run(e *env) error {
	key, err := optionalSession(e, c.Session)
	if err != nil {
		return err
	}
	list, err := request[[]api.Run](e, "GET /api/runs", api.RunsQuery{Minutes: c.Active, Limit: c.Limit})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, forest(list, sessions.Key(key)), printForest)
}

// forest sorts runs by the sessions that began them. only = one session's; empty = all that no other run has begun.
func forest(list []api.Run, only sessions.Key) []treeRoot {
	by := map[sessions.Key][]api.Run{} // sub-agents' first runs, by who asked for them
	child := map[sessions.Key]bool{}
	for _, r := range slices.Backward(list) { // oldest first
		if r.Kind == sessions.ChildRun && r.Requester != "" {
			by[r.Requester] = append(by[r.Requester], r)
			child[r.Key] = true
		}
	}
	seen := map[sessions.Key]bool{}
	var below func(key sessions.Key) []treeNode
	below = func(key sessions.Key) (nodes []treeNode) {
		if seen[key] { // agents of two sessions may ask each other
			return nil
		}
		seen[key] = true
		told := map[sessions.Key]bool{} // a sub-agent that was told more has several runs: what it began is below the first
		for _, r := range by[key] {
			n := treeNode{Run: r}
			if !told[r.Key] {
				told[r.Key] = true
				n.Children = below(r.Key)
			}
			nodes = append(nodes, n)
		}
		return nodes
	}
	roots := []treeRoot{}
	for _, r := range slices.Backward(list) {
		if key := r.Requester; r.Kind == sessions.ChildRun && key != "" && !seen[key] && (only == key || only == "" && !child[key]) {
			roots = append(roots, treeRoot{Key: key, Runs: below(key)})
		}
	}
	return roots
}

func printForest(p *page, roots []treeRoot) {
	if len(roots) == 0 {
		p.note("No session started a sub-agent.\n")
	}
	for _, r := range roots {
		p.painted(bold, cut(string(r.Key), p.width))
		p.branches(r.Runs, "")
	}
}

func (p *page) branches(nodes []treeNode, indent string) {
	for i, n := range nodes {
		fork, next := "├─ ", "│  "
		if i == len(nodes)-1 {
			fork, next = "└─ ", "   "
		}
		status := string(n.Status)
		rest := " " + p.took(n.Started, n.Ended) + "  " + chatclient.OneLine(cmp.Or(n.Label, n.Request)) + "  " + chatclient.OneLine(string(n.Key))
		if n.Error != "" {
			rest = " " + chatclient.OneLine(n.Error) + "  " + chatclient.OneLine(string(n.Key))
		}
		room := 0
		if p.width > 0 {
			room = max(p.width-len([]rune(indent+fork+status)), 1)
		}
		_, _ = fmt.Fprint(p.out, indent, fork, p.paint(moods[status], status), cut(rest, room), "\n") // cleaned above
		p.branches(n.Children, indent+next)
	}
}
