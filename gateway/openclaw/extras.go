package openclaw

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/openclaw/history"
	"parley/sessions"
)

// ExtrasStore takes notes and jobs; sqlstore.Store is one.
type ExtrasStore interface {
	Submit(ctx context.Context, c sessions.Change) (sessions.Accepted, error)
	Notes(ctx context.Context, q sessions.NoteQuery) ([]sessions.Note, error)
	ListJobs(ctx context.Context, agent sessions.AgentID) ([]sessions.Job, error)
}

// maxNotes bounds how many notes of an agent are compared with new ones, and how many are stored in one commit.
const (
	maxNotes    = 100_000
	commitNotes = 500
)

// StoreNotes writes the memory of the agents to a store. A note whose text the agent has already is not stored again.
func (r *Result) StoreNotes(ctx context.Context, to ExtrasStore) (stored int, err error) {
	var ops []sessions.Op
	have := map[sessions.AgentID]map[string]bool{}
	for _, n := range r.Notes {
		if have[n.Agent] == nil {
			list, err := to.Notes(ctx, sessions.NoteQuery{Agent: n.Agent, Limit: maxNotes})
			if err != nil {
				return 0, err
			}
			have[n.Agent] = map[string]bool{}
			for _, old := range list {
				have[n.Agent][old.Text] = true
			}
		}
		if !have[n.Agent][n.Text] {
			have[n.Agent][n.Text] = true
			ops = append(ops, n)
		}
	}
	for part := range slices.Chunk(ops, commitNotes) {
		if _, err := to.Submit(ctx, sessions.Change{Ops: part}); err != nil {
			return stored, fmt.Errorf("import notes: %w", err)
		}
		stored += len(part)
	}
	return stored, nil
}

// StoreJobs writes the scheduled jobs to a store. Jobs that cannot be stored stay in the report as commands, with the reason; the others leave it.
// agents are those of the configuration in force, the default one first. A job that existed before, by an earlier import or by the name of a job
// of its agent, stays as it is.
func (r *Result) StoreJobs(ctx context.Context, to ExtrasStore, agents []sessions.AgentID, now time.Time) (stored int, err error) {
	before, err := to.ListJobs(ctx, "")
	if err != nil {
		return 0, err
	}
	made := map[string]bool{} // by this import
	for _, j := range r.Jobs {
		job, err := r.job(j, agents, now)
		if err != nil {
			r.Report.Need(j.What, "it was not imported: "+err.Error())
			continue
		}
		exists := made[job.ID] || slices.ContainsFunc(before, func(o sessions.Job) bool {
			return o.ID == job.ID || job.Name != "" && o.Agent == job.Agent && strings.EqualFold(o.Name, job.Name)
		})
		if !exists {
			if _, err := to.Submit(ctx, sessions.Change{Ops: []sessions.Op{sessions.PutJob(job)}}); err != nil {
				return stored, fmt.Errorf("import job %s: %w", j.What, err)
			}
			made[job.ID] = true
			stored++
		}
		for k, line := range r.Report.NeedsYou {
			if line.What == j.What {
				r.Report.NeedsYou = slices.Delete(r.Report.NeedsYou, k, k+1)
				break
			}
		}
	}
	return stored, nil
}

// job makes a job as parley cron add would.
func (r *Result) job(j Job, agents []sessions.AgentID, now time.Time) (job sessions.Job, err error) {
	job = sessions.Job{Name: strings.TrimSpace(channels.OneLine(j.Name)), Agent: sessions.AgentID(j.Agent), Message: strings.TrimSpace(j.Message), Every: j.Every, Cron: j.Cron, Zone: j.Zone, Owner: true,
		Model: j.Model, Thinking: j.Thinking, Timeout: j.Timeout, Off: j.Off, Created: now}
	if job.Agent == "" && len(agents) > 0 {
		job.Agent = agents[0]
	}
	job.ID = sessions.IDFor(fmt.Sprint("openclaw ", job.Agent, " ", j.What, " ", j.At, j.Every, j.Cron, " ", job.Message), "job")
	switch {
	case !slices.Contains(agents, job.Agent):
		return job, fmt.Errorf("there is no agent %s", job.Agent)
	case job.Message == "":
		return job, errors.New("it has no message")
	}
	if j.At != "" {
		if job.At, err = time.Parse(time.RFC3339, j.At); err != nil {
			return job, err
		}
	}
	switch j.To {
	case "":
	case "last":
		i := slices.IndexFunc(r.Sessions, func(s history.Imported) bool { return s.Session.Key == sessions.MainKey(job.Agent) })
		if i < 0 || r.Sessions[i].Session.Last == (channels.Address{}) {
			return job, errors.New("its answer goes to the last chat of the main session, but that chat is not known")
		}
		job.To = r.Sessions[i].Session.Last
	default:
		if job.To, err = channels.ParseAddress(j.To); err != nil {
			return job, err
		}
	}
	next, err := job.After(now)
	if err == nil && next.IsZero() {
		err = errors.New("its time is past")
	}
	if job.Next = next; job.Off {
		job.Next = time.Time{}
	}
	return job, err
}

// PairedStore keeps people who were let in; sqlstore.Store is one.
type PairedStore interface {
	ImportPaired(ctx context.Context, list []sessions.Admitted) (added int, err error)
}

// KeepPaired writes the paired people into parley's own list, and returns how many are new.
func (r *Result) KeepPaired(ctx context.Context, to PairedStore) (added int, err error) {
	var all []sessions.Admitted
	for _, p := range r.Paired {
		all = append(all, sessions.Admitted{Channel: p.Channel, Account: p.Account, User: p.ID})
	}
	if len(all) == 0 {
		return 0, nil
	}
	return to.ImportPaired(ctx, all)
}
