package operations

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Jobs are the operations on scheduled jobs.
type Jobs struct {
	config func() *config.Config
	store  *sqlstore.Store
	router *router.Router
	names  *Resolver
}

// Table lists the operations.
func (o *Jobs) Table() api.Table {
	return api.Table{
		api.Op("cron.list", "GET /api/cron", api.Read, "Scheduled jobs, next first.", o.listJobs),
		api.Op("cron.get", "GET /api/cron/{job}", api.Read, "One scheduled job.", o.getJob),
		api.Op("cron.add", "POST /api/cron", api.Admin, "Create a scheduled job: at its times the agent gets the message.", o.addJob),
		api.Op("cron.update", "PATCH /api/cron/{job}", api.Admin, "Change a scheduled job: omitted fields keep their value.", o.updateJob),
		api.Op("cron.remove", "DELETE /api/cron/{job}", api.Admin, "Remove a scheduled job. Runs that it has started continue, and its history stays.", o.removeJob),
		api.Op("cron.run", "POST /api/cron/{job}/run", api.Admin, "Run a scheduled job now; its next time stays.", o.runJob).Accepts(),
		api.Op("cron.runs", "GET /api/cron/{job}/runs", api.Read, "History of a scheduled job, newest first, including finished jobs.", o.jobRuns),
		api.Op("cron.history", "GET /api/cron-runs", api.Read, "History of all scheduled jobs, newest first, including finished jobs.", o.allJobRuns),
	}
}

func (o *Jobs) listJobs(ctx context.Context, q api.JobsQuery) ([]api.Job, error) {
	jobs, err := o.store.ListJobs(ctx, sessions.AgentID(q.Agent))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(jobs, func(a, b sessions.Job) int {
		switch {
		case a.Off == b.Off:
			return 0
		case a.Off:
			return 1
		}
		return -1
	})
	rows := make([]api.Job, 0, len(jobs))
	for _, j := range jobs {
		row, err := o.jobRow(ctx, j)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (o *Jobs) getJob(ctx context.Context, c api.JobCall) (api.Job, error) {
	id, err := o.names.wholeJob(ctx, c.ID)
	if err != nil {
		return api.Job{}, err
	}
	j, err := o.store.GetJob(ctx, id)
	if err != nil {
		return api.Job{}, err
	}
	return o.jobRow(ctx, j)
}

// maxComing is how many of its next times a job is shown with.
const maxComing = 3

// jobRow is a job as it is shown.
func (o *Jobs) jobRow(ctx context.Context, j sessions.Job) (api.Job, error) {
	row := api.Job{ID: j.ID, Name: j.Name, Agent: j.Agent, Key: sessions.Parts{Form: sessions.FormCron, Agent: j.Agent, ID: j.ID}.Key(), When: scheduleText(j), At: j.At, Cron: j.Cron, Zone: j.Zone,
		Message: j.Message, To: j.To.String(), From: j.From, Model: j.Model, Thinking: j.Thinking, Timeout: int(j.Timeout / time.Second), Off: j.Off, Next: j.Next, Last: j.Last, Created: j.Created}
	if j.Every > 0 {
		row.Every = j.Every.String()
	}
	if j.From != "" {
		s, err := o.store.Get(ctx, j.From)
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return row, err
		}
		row.To = s.Last.String()
	}
	if !j.Off && !j.Next.IsZero() { // it is not over
		later, err := j.Coming(j.Next, maxComing-1)
		if err != nil {
			row.Trouble = err.Error()
		}
		row.Coming = append([]time.Time{j.Next}, later...)
	}
	if ids, _ := o.config().Agents.IDs(); !slices.Contains(ids, j.Agent) {
		row.Trouble = "the agent " + string(j.Agent) + " is not configured"
	}
	last, err := o.history(ctx, j.ID, 1)
	if err == nil && len(last) > 0 {
		row.Last, row.Status, row.Skipped = last[0].At, last[0].Status, last[0].Skipped
	}
	return row, err
}

// scheduleText says when a job comes: of one that comes once, with the date and the zone.
func scheduleText(j sessions.Job) string {
	zone, err := sessions.Zone(j.Zone)
	if j.At.IsZero() || err != nil {
		return j.When()
	}
	if j.Zone == "" {
		return j.At.In(zone).Format("once, 2006-01-02 15:04 MST")
	}
	return j.At.In(zone).Format("once, 2006-01-02 15:04 ") + j.Zone
}

// jobError returns the Error of a request about a job, in words for the client.
func jobError(err error) error {
	if errors.Is(err, sessions.ErrBadRequest) {
		return api.Bad("%v", err)
	}
	return err
}

// errNeedlessZone is what a zone gets that nothing would be read in.
var errNeedlessZone = api.Bad("zone: a job with every has no time zone. Leave zone out, or use cron")

func (o *Jobs) addJob(ctx context.Context, q api.JobAdd) (row api.Job, err error) {
	j := sessions.Job{Name: q.Name, Agent: sessions.AgentID(q.Agent), Message: q.Message, Zone: q.Zone, Owner: true, Model: q.Model, Thinking: q.Thinking, Timeout: time.Duration(q.Timeout) * time.Second, Off: q.Off}
	if err := readSchedule(&j, time.Now(), q.At, q.In, q.Every, q.Cron); err != nil {
		return row, err
	}
	if q.Zone != "" && j.Every > 0 {
		return row, errNeedlessZone
	}
	if j, err = o.router.Scheduler.MakeJob(ctx, api.Source(ctx), j, q.To); err != nil {
		return row, jobError(err)
	}
	return o.jobRow(ctx, j)
}

// readSchedule reads when a job is due. Exactly one is written.
func readSchedule(j *sessions.Job, now time.Time, at, in, every, expr string) (err error) {
	n := 0
	for _, s := range []string{at, in, every, expr} {
		if s != "" {
			n++
		}
	}
	if n != 1 {
		return api.Bad("give exactly one of at, in, every and cron")
	}
	j.At, j.Every, j.Cron = time.Time{}, 0, expr
	if at != "" {
		zone, err := sessions.Zone(j.Zone)
		if err != nil {
			return api.Bad("zone: %v", err)
		}
		if j.At, err = sessions.ParseWhen(at, zone, now); err != nil {
			return api.Bad("%v", err)
		}
	}
	for _, d := range []struct {
		name, text string
		set        func(time.Duration)
	}{{"in", in, func(v time.Duration) { j.At = now.Add(v) }}, {"every", every, func(v time.Duration) { j.Every = v }}} {
		if d.text == "" {
			continue
		}
		v, err := time.ParseDuration(d.text)
		if err != nil || v <= 0 {
			return api.Bad("%s %.50q is not a duration: write 90m or 36h", d.name, d.text)
		}
		d.set(v)
	}
	return nil
}

func (o *Jobs) updateJob(ctx context.Context, q api.JobPatch) (row api.Job, err error) {
	if q.ID, err = o.names.wholeJob(ctx, q.ID); err != nil {
		return row, err
	}
	j, err := o.router.Scheduler.ChangeJob(ctx, api.Source(ctx), q.ID, func(j *sessions.Job) error { return o.patchJob(ctx, q, j) })
	if err != nil {
		return row, jobError(err)
	}
	return o.jobRow(ctx, j)
}

func (o *Jobs) patchJob(ctx context.Context, q api.JobPatch, j *sessions.Job) (err error) {
	for _, f := range []struct {
		from api.Optional[string]
		to   *string
	}{{q.Name, &j.Name}, {q.Message, &j.Message}, {q.Zone, &j.Zone}, {q.Model, &j.Model}, {q.Thinking, &j.Thinking}} {
		if f.from.Set {
			*f.to = f.from.Value
		}
	}
	if q.Timeout.Set {
		j.Timeout = time.Duration(q.Timeout.Value) * time.Second
	}
	if q.Off.Set {
		j.Off = q.Off.Value
	}
	if q.At.Set || q.In.Set || q.Every.Set || q.Cron.Set {
		if err := readSchedule(j, time.Now(), q.At.Value, q.In.Value, q.Every.Value, q.Cron.Value); err != nil {
			return err
		}
	}
	switch zone := q.Zone.Set && q.Zone.Value != ""; {
	case zone && j.Every > 0:
		return errNeedlessZone
	case zone && !j.At.IsZero() && !q.At.Set:
		return api.Bad("zone applies to at: give at as well")
	}
	if q.To.Set && j.From != "" {
		return api.Bad("to: an agent created this job; its result goes to the chat of the session that created it")
	}
	if q.To.Set {
		j.To = channels.Address{}
		j.To, err = o.router.Scheduler.ChatOf(ctx, j.Agent, q.To.Value)
	}
	return err
}

func (o *Jobs) removeJob(ctx context.Context, c api.JobCall) (api.None, error) {
	id, err := o.names.wholeJob(ctx, c.ID)
	if err != nil {
		return api.None{}, err
	}
	return api.None{}, o.router.Scheduler.RemoveJob(ctx, api.Source(ctx), id)
}

func (o *Jobs) runJob(ctx context.Context, c api.JobCall) (row api.JobRun, err error) {
	if c.ID, err = o.names.wholeJob(ctx, c.ID); err != nil {
		return row, err
	}
	run, err := o.router.Scheduler.RunJob(ctx, api.Source(ctx), c.ID)
	if err != nil {
		return row, jobError(err)
	}
	return api.JobRun{Job: c.ID, Name: run.Label, Due: run.Created, At: run.Created, Forced: true, Run: run.ID, Key: run.Key, Status: string(run.Status)}, nil
}

func (o *Jobs) jobRuns(ctx context.Context, q api.JobRunsQuery) ([]api.JobRun, error) {
	id, err := o.names.wholeJob(ctx, q.ID)
	if err != nil {
		return nil, err
	}
	q.ID = id
	rows, err := o.history(ctx, q.ID, q.Limit)
	if err == nil && len(rows) == 0 {
		_, err = o.store.GetJob(ctx, q.ID) // a job that has not come yet has an empty history
	}
	return notNil(rows), err
}

func (o *Jobs) allJobRuns(ctx context.Context, q api.Limit) ([]api.JobRun, error) {
	rows, err := o.history(ctx, "", q.Limit)
	return notNil(rows), err
}

// history reads what became of the times of a job, or of all.
func (o *Jobs) history(ctx context.Context, job string, limit int) (rows []api.JobRun, err error) {
	list, err := o.store.Occurrences(ctx, job, limit)
	var runs []sessions.Run
	for _, x := range list {
		row := api.JobRun{Job: x.Job, Name: x.Name, Due: x.Due, At: x.At, Forced: x.Forced, Skipped: x.Skipped, Run: x.Run, Status: "skipped"}
		if x.Run != "" {
			run, err := o.store.GetRun(ctx, x.Run)
			switch {
			case errors.Is(err, sessions.ErrNotFound):
				row.Status = "deleted"
			case err != nil:
				return nil, err
			default:
				row.Status, row.Result, row.Error, row.Key = string(run.Status), run.Result, run.Error, run.Key
				runs = append(runs, run)
			}
		}
		rows = append(rows, row)
	}
	if err != nil {
		return nil, err
	}
	left, err := deliveriesOf(ctx, o.store, runs)
	for i := range rows {
		rows[i].Deliveries = left[rows[i].Run]
	}
	return rows, err
}
