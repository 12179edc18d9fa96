package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/sessions"
)

//go:embed cron.md
var cronText string

// The bounds of scheduled jobs.
const (
	maxJobs    = 100  // that one session has made for one person
	maxJobText = 4000 // bytes of what the agent is told
	maxJobName = 80   // characters
)

type cronArgs struct {
	Action  string `json:"action" jsonschema:"what to do"`
	Name    string `json:"name,omitempty" jsonschema:"a short name, for add"`
	Message string `json:"message,omitempty" jsonschema:"what you are told when the time comes: complete in itself"`
	At      string `json:"at,omitempty" jsonschema:"once, at this time: RFC 3339 with offset, such as 2026-03-01T18:00:00+01:00"`
	In      string `json:"in,omitempty" jsonschema:"once, after this time: such as 90m or 36h"`
	Every   string `json:"every,omitempty" jsonschema:"again and again, each time after this time: such as 24h; at least 1m"`
	Cron    string `json:"cron,omitempty" jsonschema:"five fields: minute hour day month weekday"`
	Zone    string `json:"zone,omitempty" jsonschema:"IANA time zone of cron, such as Europe/Berlin; without it the one that you are told the time in"`
	ID      string `json:"id,omitempty" jsonschema:"of the job, for remove"`
}

type cronResult struct {
	Status string     `json:"status"`
	Job    *jobShown  `json:"job,omitempty"`
	Jobs   []jobShown `json:"jobs,omitzero"` // next first
}

type jobShown struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	When    string `json:"when"`
	Next    string `json:"next"` // RFC 3339
	Message string `json:"message"`
	From    string `json:"from"` // the session it was made in
}

type cronTool struct{ deps Deps }

// Cron is the tool cron: jobs that begin a turn of the agent at a time. A job belongs to the session that it was made in, whose chat
// gets the answer; a session sees the jobs of the sessions that it sees (contract V4).
func Cron(d Deps) Tool { return cronTool{d} }

var cronSchema = schemaOf[cronArgs](map[string][]string{"action": {"add", "list", "remove"}})

func (cronTool) Spec() Spec { return Spec{Name: "cron", Description: cronText, Schema: cronSchema} }

func (t cronTool) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[cronArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	if subagent(c.Caller.Session) {
		return forbidden("A sub-agent cannot schedule jobs. Say in your result what should be done later.").result(), nil
	}
	jobs, err := t.jobs(ctx, c.Caller)
	if err != nil {
		return Result{}, err
	}
	switch args.Action {
	case "list":
		out := cronResult{Status: "ok", Jobs: []jobShown{}}
		for _, j := range jobs {
			out.Jobs = append(out.Jobs, t.show(c.Caller, j))
		}
		return reply(out), nil
	case "remove":
		for _, j := range jobs {
			if j.ID == strings.TrimSpace(args.ID) {
				return reply(cronResult{Status: "removed"}), t.deps.Host.DropJob(ctx, c.Source(), j.ID)
			}
		}
		return mistake("This session sees no job %q. The action list shows the jobs.", args.ID).result(), nil
	case "add":
		return t.add(ctx, c, args, jobs)
	}
	return mistake("action must be add, list or remove").result(), nil
}

// add makes a job. The jobs that the session has made already for the same person are among jobs: those of others count for nothing here
// (contract V4).
func (t cronTool) add(ctx context.Context, c Call, args cronArgs, jobs []sessions.Job) (Result, error) {
	s := c.Caller.Session
	// The call's own id, so that the same call again, after a crash, makes the same job.
	j := sessions.Job{ID: uuid.NewSHA1(uuid.NameSpaceOID, []byte(c.Source())).String(), Agent: s.Agent, From: jobsOf(c.Caller), Created: t.deps.now(),
		Name: strings.TrimSpace(args.Name), Message: strings.TrimSpace(args.Message), Cron: strings.TrimSpace(args.Cron), Zone: strings.TrimSpace(args.Zone),
		Owner: c.Caller.Owner, Asker: c.Caller.Asker}
	switch run := c.Caller.Run; {
	case !run.Reply.IsZero():
		j.To = run.Reply
	case run.Chain != nil && (run.Kind == sessions.JobRun || run.Kind == sessions.TurnRun || run.Kind == sessions.ChildRun): // people read its answer there
		j.To = run.Chain.Origin
	}
	if j.Zone == "" && j.Cron != "" && t.deps.Zone != nil {
		j.Zone = t.deps.Zone() // the one in which the agent is told the time
	}
	own := slices.DeleteFunc(slices.Clone(jobs), func(x sessions.Job) bool { return x.From != j.From || x.Asker != j.Asker || x.ID == j.ID })
	switch {
	case j.Message == "":
		return mistake("message is required: the text that you get at that time").result(), nil
	case len(j.Message) > maxJobText:
		return mistake("message has %d bytes; %d are allowed", len(j.Message), maxJobText).result(), nil
	case len([]rune(j.Name)) > maxJobName:
		return mistake("name has more than %d characters", maxJobName).result(), nil
	case len(own) >= maxJobs:
		return mistake("This session has %d jobs of the person you answer, the maximum. Remove some first.", len(own)).result(), nil
	}
	if err := args.times(&j); err != nil {
		return mistake("%v", err).result(), nil
	}
	next, err := j.After(j.Created)
	if err == nil && next.IsZero() {
		err = fmt.Errorf("at is %s, which is in the past", j.At.Format(time.RFC3339))
	}
	if err != nil {
		return mistake("%v", err).result(), nil
	}
	j.Next = next
	if err := t.deps.Host.AddJob(ctx, c.Source(), j); err != nil {
		return refusal(err)
	}
	shown := t.show(c.Caller, j)
	return reply(cronResult{Status: "added", Job: &shown}), nil
}

// times reads at, in and every into a job.
func (a cronArgs) times(j *sessions.Job) (err error) {
	given := slices.DeleteFunc([]string{a.At, a.In, a.Every, a.Cron}, func(text string) bool { return strings.TrimSpace(text) == "" })
	if len(given) != 1 {
		return errors.New("give exactly one of at, in, every and cron")
	}
	if a.At != "" {
		if j.At, err = time.Parse(time.RFC3339, strings.TrimSpace(a.At)); err != nil {
			return fmt.Errorf("at %q is not a time: write it as 2026-03-01T18:00:00+01:00", a.At)
		}
	}
	for _, d := range []struct {
		name, text string
		set        func(time.Duration)
	}{
		{"in", a.In, func(v time.Duration) { j.At = j.Created.Add(v) }},
		{"every", a.Every, func(v time.Duration) { j.Every = v }},
	} {
		if d.text == "" {
			continue
		}
		v, err := time.ParseDuration(strings.TrimSpace(d.text))
		if err != nil || v <= 0 {
			return fmt.Errorf("%s %q is not a duration: write it as 90m or 36h", d.name, d.text)
		}
		d.set(v)
	}
	return nil
}

// jobs returns the jobs that the caller sees, next first. Those that people made are theirs.
func (t cronTool) jobs(ctx context.Context, c Caller) (out []sessions.Job, err error) {
	all, err := t.deps.Host.Jobs(ctx, c.Session.Agent)
	for _, j := range all {
		if j.From != "" && (j.From == jobsOf(c) || t.deps.sees(ctx, c, sessions.Session{Key: j.From, Agent: j.From.Agent()})) {
			out = append(out, j)
		}
	}
	return out, err
}

// jobsOf is the session whose jobs a turn makes: its own, and in the turn of a job the one that made that; of one that a person made its own.
func jobsOf(c Caller) sessions.Key {
	if c.Run.Kind == sessions.JobRun && c.Run.Chain != nil && c.Run.Chain.Requester != "" {
		return c.Run.Chain.Requester
	}
	return c.Session.Key
}

func (t cronTool) show(c Caller, j sessions.Job) jobShown {
	return jobShown{ID: j.ID, Name: j.Name, When: j.When(), Next: j.Next.Format(time.RFC3339), Message: j.Message, From: t.deps.name(c, j.From)}
}
