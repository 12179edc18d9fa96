package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/gateway/api"
	"parley/gateway/chatclient"
)

type cronCmd struct {
	List    cronListCmd    `cmd:"" default:"withargs" help:"List scheduled jobs, next first (the default)."`
	Add     cronAddCmd     `cmd:"" help:"Add a job: at its times the host sends the message to an agent."`
	Show    cronShowCmd    `cmd:"" help:"Show one job."`
	Update  cronUpdateCmd  `cmd:"" help:"Change a job."`
	On      cronOnCmd      `cmd:"" help:"Switch a job on."`
	Off     cronOffCmd     `cmd:"" help:"Switch a job off without removing it."`
	Run     cronRunCmd     `cmd:"" help:"Run a job now; its next time does not change."`
	Rm      cronRmCmd      `cmd:"" help:"Remove a job. The host keeps its history for 90 days."`
	History cronHistoryCmd `cmd:"" help:"List the past runs of one job or of all jobs, newest first."`
}

// cronSchedule says when a job is due.
type cronSchedule struct {
	At    string `help:"Run once at this time: 2026-12-01 09:00, tomorrow 9:00 or 18:30." placeholder:"TIME"`
	In    string `help:"Run once after this time: 90m or 36h." placeholder:"SPAN"`
	Every string `help:"Run at this interval: 24h." placeholder:"SPAN"`
	Cron  string `help:"Run at the times of five fields: minute hour day month weekday, such as 0 9 * * 1-5." placeholder:"FIELDS"`
	Zone  string `help:"IANA time zone of --at and --cron, such as Europe/Berlin. Default: the host's time zone." placeholder:"ZONE"`
}

// cronTurn says how a job's turns are.
type cronTurn struct {
	Name     string        `help:"Short name of the job." placeholder:"NAME"`
	Model    string        `help:"Model of the job's turns, as provider/model." placeholder:"MODEL"`
	Thinking string        `enum:"off,minimal,low,medium,high," default:"" help:"Thinking level: off, minimal, low, medium or high." placeholder:"LEVEL"`
	Timeout  time.Duration `help:"Time limit of one turn." placeholder:"SPAN"`
}

type cronListCmd struct {
	Agent string `help:"List only jobs of this agent." placeholder:"AGENT"`
	asJSON
}

func (c cronListCmd) Run(e *env) error {
	jobs, err := request[[]api.Job](e, "GET /api/cron", api.JobsQuery{Agent: c.Agent})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, jobs, func(p *page, jobs []api.Job) {
		g := p.grid("ID", "~NAME", "WHEN", "NEXT", "LAST", "STATUS", "AGENT", "~TO", "~MESSAGE")
		for _, j := range jobs {
			next := p.ago(j.Next)
			if j.Off {
				next = "off"
			}
			g.row(idOf(j), inQuotes(j.Name), j.When, next, p.ago(j.Last), cmp.Or(j.Status, "–"), j.Agent, cmp.Or(j.To, "–"), j.Message)
		}
		g.print("There are no scheduled jobs. To add one, run parley cron add.")
	})
}

// idOf is the beginning of a job's id: every command takes it.
func idOf(j api.Job) string { return cutRunes(j.ID, 8) }

// pickJob finds a job by its id, the beginning of that, or its name.
func pickJob(e *env, ref string) (api.Job, error) {
	j, err := request[api.Job](e, "GET /api/cron/{job}", api.JobCall{ID: ref})
	if f, ok := errors.AsType[*failure](err); ok && f.exit == exitMissing {
		err = failed(exitMissing, "not_found", "there is no scheduled job %.100q: parley cron list shows the jobs, and parley cron history the finished ones", ref)
	}
	return j, err
}

type cronAddCmd struct {
	Message []string `arg:"" help:"Message to the agent."`
	cronSchedule
	cronTurn
	Agent string `help:"Agent that gets the message. Default: the default agent." placeholder:"AGENT"`
	To    string `help:"Address of the chat that gets the answer; the chat must have written before. last means the chat that wrote last to the main session, except the page. Default: the answer stays in the job's session." placeholder:"ADDRESS"`
	Off   bool   `help:"Add the job switched off."`
	asJSON
}

// Help shows examples.
func (cronAddCmd) Help() string {
	return "Examples:\n\n  parley cron add --cron '0 9 * * 1-5' --zone Europe/Berlin --to last 'Say what is in my calendar today.'\n  parley cron add --in 90m --to telegram/default/direct/1001 'Remind me of the cake.'\n  parley cron add --every 24h --name disks 'Look whether the disks are full.'"
}

func (c cronAddCmd) Run(e *env) error {
	j, err := request[api.Job](e, "POST /api/cron", api.JobAdd{Name: c.Name, Agent: c.Agent, Message: strings.Join(c.Message, " "), At: c.At, In: c.In, Every: c.Every, Cron: c.Cron, Zone: c.Zone,
		To: c.To, Model: c.Model, Thinking: c.Thinking, Timeout: int(c.Timeout.Seconds()), Off: c.Off})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, j, printJob)
}

type cronShowCmd struct {
	Job string `arg:"" help:"Id, start of the id, or name."`
	asJSON
}

func (c cronShowCmd) Run(e *env) error {
	j, err := pickJob(e, c.Job)
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, j, printJob)
}

func printJob(p *page, j api.Job) {
	p.printf("job %s", j.ID)
	if j.Name != "" {
		p.printf("  %s", inQuotes(j.Name))
	}
	p.printf("\n  when     %s", j.When)
	if j.Off {
		p.printf(", switched off")
	}
	for i, at := range j.Coming {
		p.printf("\n  %-8s %s", map[bool]string{true: "next"}[i == 0], p.stampIn(at, j.Zone))
		if ago := p.ago(at); !strings.HasPrefix(p.stamp(at), ago) {
			p.printf("  (%s)", ago)
		}
	}
	p.printf("\n  agent    %s, in session %s\n  answers  %s\n", j.Agent, j.Key, cmp.Or(j.To, "stay in the session"))
	if j.From != "" {
		p.printf("  made by  the agent of %s\n", j.From)
	}
	if more := strings.Join(slices.DeleteFunc([]string{labelled("model ", j.Model), labelled("thinking ", j.Thinking), seconds(j.Timeout)}, func(s string) bool { return s == "" }), ", "); more != "" {
		p.printf("  with     %s\n", more)
	}
	if j.Status != "" {
		p.printf("  last     %s: %s\n", p.stamp(j.Last), strings.TrimSuffix(j.Status+", "+j.Skipped, ", "))
	}
	if j.Trouble != "" {
		p.printf("  trouble  %s\n", chatclient.OneLine(j.Trouble))
	}
	p.printf("  message  %s\n", chatclient.OneLine(j.Message))
}

func labelled(label, s string) string {
	if s == "" {
		return ""
	}
	return label + s
}

func seconds(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("at most %s", time.Duration(n)*time.Second)
}

type cronUpdateCmd struct {
	Job     string `arg:"" help:"Id, start of the id, or name."`
	Message string `help:"New message to the agent." placeholder:"TEXT"`
	cronSchedule
	cronTurn
	To string `help:"Address of the chat that gets the answer; none clears." placeholder:"ADDRESS"`
	asJSON
}

func (c cronUpdateCmd) Run(e *env) error {
	q := api.JobPatch{}
	for _, f := range []struct {
		text string
		to   *api.Optional[string]
	}{{c.Message, &q.Message}, {c.At, &q.At}, {c.In, &q.In}, {c.Every, &q.Every}, {c.Cron, &q.Cron}, {c.Zone, &q.Zone}, {c.Name, &q.Name}, {c.Model, &q.Model}, {c.Thinking, &q.Thinking}, {c.To, &q.To}} {
		if f.text != "" {
			*f.to = api.Some(f.text)
		}
	}
	if c.To == "none" {
		q.To = api.Clear[string]()
	}
	if c.Timeout > 0 {
		q.Timeout = api.Some(int(c.Timeout.Seconds()))
	}
	if q == (api.JobPatch{}) {
		return misuse("nothing to change: name a setting, for example --every 24h")
	}
	return patchJob(e, c.Job, q, c.asJSON)
}

func patchJob(e *env, ref string, q api.JobPatch, asked asJSON) error {
	j, err := pickJob(e, ref)
	if err != nil {
		return err
	}
	q.ID = j.ID
	if j, err = request[api.Job](e, "PATCH /api/cron/{job}", q); err != nil {
		return err
	}
	return tell(e, asked, j, printJob)
}

type cronOnCmd struct {
	Job string `arg:"" help:"Id, start of the id, or name."`
	asJSON
}

func (c cronOnCmd) Run(e *env) error {
	return patchJob(e, c.Job, api.JobPatch{Off: api.Some(false)}, c.asJSON)
}

type cronOffCmd struct {
	Job string `arg:"" help:"Id, start of the id, or name."`
	asJSON
}

func (c cronOffCmd) Run(e *env) error {
	return patchJob(e, c.Job, api.JobPatch{Off: api.Some(true)}, c.asJSON)
}

type cronRunCmd struct {
	Job string `arg:"" help:"Id, start of the id, or name."`
	asJSON
}

func (c cronRunCmd) Run(e *env) error {
	j, err := pickJob(e, c.Job)
	if err != nil {
		return err
	}
	run, err := request[api.JobRun](e, "POST /api/cron/{job}/run", api.JobCall{ID: j.ID})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, run, func(p *page, r api.JobRun) {
		p.printf("run %s\n", r.Run)
		p.note("parley runs show %s shows the run.\n", r.Run)
	})
}

type cronRmCmd struct {
	Job string `arg:"" help:"Id, start of the id, or name."`
	asJSON
}

func (c cronRmCmd) Run(e *env) error {
	j, err := pickJob(e, c.Job)
	if err != nil {
		return err
	}
	if _, err := request[api.None](e, "DELETE /api/cron/{job}", api.JobCall{ID: j.ID}); err != nil {
		return err
	}
	return tell(e, c.asJSON, j, func(p *page, j api.Job) { p.note("Removed: %s\n", strings.TrimSpace(j.ID+" "+inQuotes(j.Name))) })
}

type cronHistoryCmd struct {
	Job   string `arg:"" optional:"" help:"Id, start of the id, or name; for a finished job the id. Default: all jobs."`
	Limit int    `default:"50" help:"Maximum number of rows."`
	asJSON
}

func (c cronHistoryCmd) Run(e *env) (err error) {
	var rows []api.JobRun
	if c.Job == "" {
		rows, err = request[[]api.JobRun](e, "GET /api/cron-runs", api.Limit{Limit: c.Limit})
	} else {
		rows, err = c.ofOne(e)
	}
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, rows, func(p *page, rows []api.JobRun) {
		g := p.grid("JOB", "~NAME", "DUE", "STARTED", "STATUS", "RUN", "~RESULT")
		for _, r := range rows {
			what := cmp.Or(r.Skipped, r.Error, r.Result)
			if r.Forced {
				what = strings.TrimSuffix("manual: "+what, ": ")
			}
			g.row(cutRunes(r.Job, 8), inQuotes(r.Name), p.stamp(r.Due), p.stamp(r.At), withMarks(r.Status, r.Deliveries), idShort(r.Run), what)
		}
		g.print("No job has run yet.")
	})
}

// ofOne gives the history of one job, which may be over.
func (c cronHistoryCmd) ofOne(e *env) ([]api.JobRun, error) {
	var id string
	j, missing := pickJob(e, c.Job)
	if missing == nil {
		id = j.ID
	} else {
		all, err := request[[]api.JobRun](e, "GET /api/cron-runs", api.Limit{Limit: 1000})
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(r api.JobRun) bool {
			return strings.EqualFold(r.Name, c.Job) || len(c.Job) >= 4 && strings.HasPrefix(r.Job, c.Job)
		})
		if i < 0 {
			return nil, missing
		}
		id = all[i].Job
	}
	return request[[]api.JobRun](e, "GET /api/cron/{job}/runs", api.JobRunsQuery{ID: id, Limit: c.Limit})
}
