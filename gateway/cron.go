package gateway

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/router"
	"parley/sessions"
)

func (h *Host) jobOperations() api.Table {
	return api.Table{
		api.Op("cron.list", "GET /api/cron", api.Read, "Scheduled jobs, next first.", h.listJobs),
		api.Op("cron.get", "GET /api/cron/{job}", api.Read, "One scheduled job.", h.getJob),
		api.Op("cron.add", "POST /api/cron", api.Admin, "Make a scheduled job: at its times an agent is told the message.", h.addJob),
		api.Op("cron.update", "PATCH /api/cron/{job}", api.Admin, "Change a scheduled job: a field that is left out stays.", h.updateJob),
		api.Op("cron.remove", "DELETE /api/cron/{job}", api.Admin, "Remove a scheduled job. What it has begun goes on, and its history stays.", h.removeJob),
		api.Op("cron.run", "POST /api/cron/{job}/run", api.Admin, "Begin a scheduled job now; its next time stays.", h.runJob).Accepts(),
		api.Op("cron.runs", "GET /api/cron/{job}/runs", api.Read, "The history of a scheduled job, newest first, also of one that is over.", h.jobRuns),
		api.Op("cron.history", "GET /api/cron-runs", api.Read, "The history of all scheduled jobs, newest first, those that are over too.", h.allJobRuns),
	}
}

func (h *Host) listJobs(ctx context.Context, q api.JobsQuery) ([]api.Job, error) {
	jobs, err := h.store.ListJobs(ctx, sessions.AgentID(q.Agent))
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
		row, err := h.jobRow(ctx, j)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (h *Host) getJob(ctx context.Context, c api.JobCall) (api.Job, error) {
	id, err := h.wholeJob(ctx, c.ID)
	if err != nil {
		return api.Job{}, err
	}
	j, err := h.store.GetJob(ctx, id)
	if err != nil {
		return api.Job{}, err
	}
	return h.jobRow(ctx, j)
}

// comingMost is how many of its next times a job is shown with.
const comingMost = 3

// jobRow is a job as it is shown.
func (h *Host) jobRow(ctx context.Context, j sessions.Job) (api.Job, error) {
	row := api.Job{ID: j.ID, Name: j.Name, Agent: j.Agent, Key: sessions.Parts{Form: sessions.FormCron, Agent: j.Agent, ID: j.ID}.Key(), When: whenOf(j), At: j.At, Cron: j.Cron, Zone: j.Zone,
		Message: j.Message, To: j.To.String(), From: j.From, Model: j.Model, Thinking: j.Thinking, Timeout: int(j.Timeout / time.Second), Off: j.Off, Next: j.Next, Last: j.Last, Created: j.Created}
	if j.Every > 0 {
		row.Every = j.Every.String()
	}
	if j.From != "" {
		s, err := h.store.Get(ctx, j.From)
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return row, err
		}
		row.To = s.Last.String()
	}
	if !j.Off && !j.Next.IsZero() { // it is not over
		later, err := j.Coming(j.Next, comingMost-1)
		if err != nil {
			row.Trouble = err.Error()
		}
		row.Coming = append([]time.Time{j.Next}, later...)
	}
	if ids, _ := h.deps.Config.Config().Agents.IDs(); !slices.Contains(ids, j.Agent) {
		row.Trouble = "the agent " + string(j.Agent) + " is not configured"
	}
	last, err := h.history(ctx, j.ID, 1)
	if err == nil && len(last) > 0 {
		row.Last, row.Status, row.Skipped = last[0].At, last[0].Status, last[0].Skipped
	}
	return row, err
}

// whenOf says when a job comes: of one that comes once, with the date and the zone.
func whenOf(j sessions.Job) string {
	zone, err := sessions.Zone(j.Zone)
	if j.At.IsZero() || err != nil {
		return j.When()
	}
	if j.Zone == "" {
		return j.At.In(zone).Format("once, 2006-01-02 15:04 MST")
	}
	return j.At.In(zone).Format("once, 2006-01-02 15:04 ") + j.Zone
}

// badJob words what is wrong with what somebody asked for.
func badJob(err error) error {
	if errors.Is(err, router.ErrWords) {
		return api.Bad("%v", err)
	}
	return err
}

// noZone is what a zone gets that nothing would be read in.
var noZone = api.Bad("zone: a job with every has none: it counts time, and looks at no clock. Leave zone out, or say when with cron")

func (h *Host) addJob(ctx context.Context, q api.JobAdd) (row api.Job, err error) {
	j := sessions.Job{Name: q.Name, Agent: sessions.AgentID(q.Agent), Message: q.Message, Zone: q.Zone, Owner: true, Model: q.Model, Thinking: q.Thinking, Timeout: time.Duration(q.Timeout) * time.Second, Off: q.Off}
	if err := schedule(&j, time.Now(), q.At, q.In, q.Every, q.Cron); err != nil {
		return row, err
	}
	if q.Zone != "" && j.Every > 0 {
		return row, noZone
	}
	if j, err = h.router.MakeJob(ctx, api.Source(ctx), j, q.To); err != nil {
		return row, badJob(err)
	}
	return h.jobRow(ctx, j)
}

// schedule reads when a job is due. Exactly one is written.
func schedule(j *sessions.Job, now time.Time, at, in, every, expr string) (err error) {
	n := 0
	for _, s := range []string{at, in, every, expr} {
		if s != "" {
			n++
		}
	}
	if n != 1 {
		return api.Bad("exactly one of at, in, every and cron is needed")
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
			return api.Bad("%s %.50q is no time span: write it as 90m or 36h", d.name, d.text)
		}
		d.set(v)
	}
	return nil
}

func (h *Host) updateJob(ctx context.Context, q api.JobPatch) (row api.Job, err error) {
	if q.ID, err = h.wholeJob(ctx, q.ID); err != nil {
		return row, err
	}
	j, err := h.router.ChangeJob(ctx, api.Source(ctx), q.ID, func(j *sessions.Job) error { return h.patchJob(ctx, q, j) })
	if err != nil {
		return row, badJob(err)
	}
	return h.jobRow(ctx, j)
}

func (h *Host) patchJob(ctx context.Context, q api.JobPatch, j *sessions.Job) (err error) {
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
		if err := schedule(j, time.Now(), q.At.Value, q.In.Value, q.Every.Value, q.Cron.Value); err != nil {
			return err
		}
	}
	switch zone := q.Zone.Set && q.Zone.Value != ""; {
	case zone && j.Every > 0:
		return noZone
	case zone && !j.At.IsZero() && !q.At.Set:
		return api.Bad("zone: it says how at is read: give at, too")
	}
	if q.To.Set && j.From != "" {
		return api.Bad("to: an agent made this job, and its result goes to the chat of the session that it was made in")
	}
	if q.To.Set {
		j.To = channels.Address{}
		j.To, err = h.router.ChatOf(ctx, j.Agent, q.To.Value)
	}
	return err
}

func (h *Host) removeJob(ctx context.Context, c api.JobCall) (api.None, error) {
	id, err := h.wholeJob(ctx, c.ID)
	if err != nil {
		return api.None{}, err
	}
	return api.None{}, h.router.RemoveJob(ctx, api.Source(ctx), id)
}

func (h *Host) runJob(ctx context.Context, c api.JobCall) (row api.JobRun, err error) {
	if c.ID, err = h.wholeJob(ctx, c.ID); err != nil {
		return row, err
	}
	run, err := h.router.RunJob(ctx, api.Source(ctx), c.ID)
	if err != nil {
		return row, badJob(err)
	}
	return api.JobRun{Job: c.ID, Name: run.Label, Due: run.Created, At: run.Created, Forced: true, Run: run.ID, Key: run.Key, Status: string(run.Status)}, nil
}

func (h *Host) jobRuns(ctx context.Context, q api.JobRunsQuery) ([]api.JobRun, error) {
	id, err := h.wholeJob(ctx, q.ID)
	if err != nil {
		return nil, err
	}
	q.ID = id
	rows, err := h.history(ctx, q.ID, q.Limit)
	if err == nil && len(rows) == 0 {
		_, err = h.store.GetJob(ctx, q.ID) // a job that has not come yet has an empty history
	}
	return listed(rows), err
}

func (h *Host) allJobRuns(ctx context.Context, q api.Limit) ([]api.JobRun, error) {
	rows, err := h.history(ctx, "", q.Limit)
	return listed(rows), err
}

// history reads what became of the times of a job, or of all.
func (h *Host) history(ctx context.Context, job string, limit int) (rows []api.JobRun, err error) {
	list, err := h.store.Occurrences(ctx, job, limit)
	var runs []sessions.Run
	for _, o := range list {
		row := api.JobRun{Job: o.Job, Name: o.Name, Due: o.Due, At: o.At, Forced: o.Forced, Skipped: o.Skipped, Run: o.Run, Status: "skipped"}
		if o.Run != "" {
			run, err := h.store.GetRun(ctx, o.Run)
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
	left, err := h.leftOf(ctx, runs)
	for i := range rows {
		rows[i].Deliveries = left[rows[i].Run]
	}
	return rows, err
}
