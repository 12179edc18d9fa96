package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/gateway/api"
)

// The ways to say when a job is due, as the forms have them.
var jobTimes = []string{"cron", "every", "at", "in"}

// jobFields are the fields of the forms: what the API says about one of them stands below it.
var jobFields = []string{"name", "message", "agentId", "at", "in", "every", "cron", "zone", "to", "model", "thinking", "timeoutSeconds"}

// jobsShown is how many jobs a page lists.
const jobsShown = 100

// cronView is view_cron.html.
type cronView struct {
	Jobs  []api.Job
	Self  string // where the list comes from
	Newer string // the page before; empty = there is none
	Older string
	Form  jobForm
	Aside bool // the list goes along with the form's part
}

// jobForm is a form as it was filled in.
type jobForm struct {
	ID                                               string // of the job that is edited; empty = a new one
	Name, Message, Agent, Way, When, Zone, To, Model string
	Thinking, Timeout                                string
	Agents                                           []api.Agent
	Open                                             bool
	Refused                                          refusal
}

// Ways are the ways to say when.
func (f jobForm) Ways() []string { return jobTimes }

// formOf is the form of a job as it is.
func formOf(j api.Job) *jobForm {
	f := &jobForm{Name: j.Name, Message: j.Message, To: j.To, Zone: j.Zone, Way: "cron", When: j.Cron}
	switch {
	case j.Every != "":
		f.Way, f.When = "every", j.Every
	case !j.At.IsZero():
		f.Way, f.When = "at", j.At.Format(time.RFC3339)
	}
	return f
}

// The words and the examples of the ways.
var (
	wayWords = map[string]string{"cron": "on a cron schedule", "every": "at an interval", "at": "once, at a time", "in": "once, after a delay"}
	wayHints = map[string]string{"cron": "0 8 * * 1-5", "every": "24h", "at": "2026-05-04 15:30", "in": "90m"}
)

// WayWords says a way for people.
func (f jobForm) WayWords(way string) string { return wayWords[way] }

// WayHint is an example of the way that is chosen.
func (f jobForm) WayHint() string { return wayHints[cmp.Or(f.Way, "cron")] }

// WhenRefused is what is wrong with the time.
func (f jobForm) WhenRefused() string {
	for _, way := range jobTimes {
		if t := f.Refused.At(way); t != "" {
			return t
		}
	}
	return ""
}

func readJob(r *http.Request) jobForm {
	get := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	return jobForm{Name: get("name"), Message: get("message"), Agent: get("agentId"), Way: get("way"), When: get("when"), Zone: get("zone"), To: get("to"),
		Model: get("model"), Thinking: get("thinking"), Timeout: get("timeoutSeconds"), Open: true}
}

// jobPages shows and changes scheduled jobs.
type jobPages struct{ site }

func (s jobPages) cron(r *http.Request) (any, error) { return s.jobs(r, jobForm{Way: "cron"}) }

// jobs lists the jobs below a form.
func (s jobPages) jobs(r *http.Request, f jobForm) (v cronView, err error) {
	list, err := call[[]api.Job](s.site, r, "cron.list", &api.JobsQuery{})
	if err != nil {
		return v, err
	}
	if f.Agents, err = call[[]api.Agent](s.site, r, "agents.list", &api.None{}); err != nil {
		return v, err
	}
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset")) // anything else is the first page
	if offset = max(offset, 0); offset >= len(list) {      // jobs were removed meanwhile: the last page
		offset = max(len(list)-1, 0) / jobsShown * jobsShown
	}
	page := func(at int) string {
		if at <= 0 {
			return "/cron"
		}
		return withParams("/cron", "offset", strconv.Itoa(at))
	}
	v = cronView{Jobs: list[offset:min(offset+jobsShown, len(list))], Form: f, Self: page(offset)}
	if offset > 0 {
		v.Newer = page(offset - jobsShown)
	}
	if offset+jobsShown < len(list) {
		v.Older = page(offset + jobsShown)
	}
	return v, nil
}

func (s jobPages) addJob(r *http.Request) (any, error) {
	f := readJob(r)
	add := api.JobAdd{Name: f.Name, Agent: f.Agent, Message: f.Message, Zone: f.Zone, To: f.To, Model: f.Model, Thinking: f.Thinking}
	field := map[string]*string{"at": &add.At, "in": &add.In, "every": &add.Every, "cron": &add.Cron}[f.Way]
	err := error(nil)
	switch {
	case f.Message == "":
		f.Refused = refusal{"message", "Enter a task for the agent."}
	case field == nil || f.When == "":
		f.Refused = refusal{f.Way, "Enter a time."}
	case f.Timeout != "":
		if add.Timeout, err = strconv.Atoi(f.Timeout); err != nil || add.Timeout < 1 || add.Timeout > 86400 {
			f.Refused = refusal{"timeoutSeconds", "Enter a whole number of seconds from 1 to 86400."}
		}
	}
	if f.Refused.Text != "" {
		return s.jobs(r, f)
	}
	*field = f.When
	job, err := call[api.Job](s.site, r, "cron.add", &add)
	if why, ok := refusedBy(err, jobFields...); ok {
		f.Refused = why
		return s.jobs(r, f)
	}
	if err != nil {
		return nil, err
	}
	v, err := s.jobs(r, jobForm{Way: "cron"})
	if err != nil {
		return nil, err
	}
	v.Aside = true
	return changeResult{Say: fmt.Sprintf("%s is scheduled.", nameOf(job)), Data: v}, nil
}

// nameOf is what a job is called.
func nameOf(j api.Job) string {
	if j.Name != "" {
		return j.Name
	}
	return cut(40, j.Message)
}

// jobView is view_job.html.
type jobView struct {
	Job   api.Job
	Over  bool // it is removed, its history is left
	Runs  []api.JobRun
	Form  jobForm
	Aside bool // the job goes along with the form's part
	Names names
}

// Name is what the job is called.
func (v jobView) Name() string {
	if v.Over {
		return "Ended job"
	}
	return nameOf(v.Job)
}

func (s jobPages) job(r *http.Request) (any, error) { return s.jobWith(r, nil) }

// jobWith is a job's page with the form as it was filled in, nil = as the job is.
func (s jobPages) jobWith(r *http.Request, f *jobForm) (v jobView, err error) {
	id := r.PathValue("job")
	if v.Runs, err = call[[]api.JobRun](s.site, r, "cron.runs", &api.JobRunsQuery{ID: id, Limit: 50}); err != nil {
		return v, err
	}
	v.Job, err = call[api.Job](s.site, r, "cron.get", &api.JobCall{ID: id})
	if _, gone := refusedBy(err); gone && len(v.Runs) > 0 {
		v.Over, v.Job.ID, err = true, id, nil
	}
	if err != nil {
		return v, err
	}
	if f == nil {
		f = formOf(v.Job)
	}
	v.Form = *f
	v.Form.ID = id
	v.Names = s.names(r)
	return v, nil
}

func (s jobPages) editJob(r *http.Request) (any, error) {
	f := readJob(r)
	return s.changeJob(r, "Job changed.", &f, func() error {
		was, err := call[api.Job](s.site, r, "cron.get", &api.JobCall{ID: r.PathValue("job")})
		if err != nil {
			return err
		}
		p := f.patch(was)
		_, err = call[api.Job](s.site, r, "cron.update", &p)
		return err
	})
}

// patch is what the form changes.
func (f jobForm) patch(was api.Job) api.JobPatch {
	p, old := api.JobPatch{ID: was.ID}, formOf(was)
	for _, x := range []struct {
		now, was string
		to       *api.Optional[string]
	}{{f.Name, old.Name, &p.Name}, {f.Message, old.Message, &p.Message}, {f.To, old.To, &p.To}, {f.Zone, old.Zone, &p.Zone}} {
		if x.now != x.was {
			*x.to = api.Some(x.now)
		}
	}
	if f.When == "" || f.Way == old.Way && f.When == old.When {
		return p
	}
	if to := map[string]*api.Optional[string]{"at": &p.At, "in": &p.In, "every": &p.Every, "cron": &p.Cron}[f.Way]; to != nil {
		*to = api.Some(f.When)
	}
	return p
}

// switchJob takes a job out of force, or puts it back.
func (s jobPages) switchJob(r *http.Request) (any, error) {
	off, say := r.PostForm.Get("off") != "", "Job switched on."
	if off {
		say = "Job switched off."
	}
	return s.changeJob(r, say, nil, func() error {
		_, err := call[api.Job](s.site, r, "cron.update", &api.JobPatch{ID: r.PathValue("job"), Off: api.Some(off)})
		return err
	})
}

func (s jobPages) runJob(r *http.Request) (any, error) {
	return s.changeJob(r, "Job started.", nil, func() error {
		_, err := call[any](s.site, r, "cron.run", &api.JobCall{ID: r.PathValue("job")})
		return err
	})
}

// runJobHere begins a job from the list.
func (s jobPages) runJobHere(r *http.Request) (any, error) {
	if _, err := call[any](s.site, r, "cron.run", &api.JobCall{ID: r.PathValue("job")}); err != nil {
		return nil, err
	}
	v, err := s.cron(r)
	if err != nil {
		return nil, err
	}
	return changeResult{Say: "Job started.", Data: v}, nil
}

// changeJob does it and shows the job again. What was typed into a form stays when the API refuses it.
func (s jobPages) changeJob(r *http.Request, say string, f *jobForm, do func() error) (any, error) {
	err := do()
	if why, ok := refusedBy(err, jobFields...); ok && f != nil {
		f.Refused = why
		return s.jobWith(r, f)
	}
	if err != nil {
		return nil, err
	}
	v, err := s.jobWith(r, nil)
	if err != nil {
		return nil, err
	}
	v.Aside = f != nil
	return changeResult{Say: say, Data: v}, nil
}

func (s jobPages) removeJob(r *http.Request) (any, error) {
	if _, err := call[any](s.site, r, "cron.remove", &api.JobCall{ID: r.PathValue("job")}); err != nil {
		return nil, err
	}
	return changeResult{Say: "Job removed.", Go: "/cron"}, nil
}
