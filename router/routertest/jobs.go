package routertest

import (
	"slices"
	"strings"
	"testing/synctest"

	"parley/sessions"
)

// Make makes a job as a person does.
func (g *Rig) Make(j sessions.Job) sessions.Job {
	g.T.Helper()
	if j.Message == "" {
		j.Message = "look"
	}
	j, err := g.Router.Scheduler.MakeJob(g.T.Context(), "", j, "")
	if err != nil {
		g.T.Fatal(err)
	}
	return j
}

// History gives what became of a job's times, oldest first.
func (g *Rig) History(id string) []sessions.Occurrence {
	g.T.Helper()
	synctest.Wait()
	list, err := g.Store.Occurrences(g.T.Context(), id, 1000)
	if err != nil {
		g.T.Fatal(err)
	}
	slices.Reverse(list)
	return list
}

// Begun gives the times at which a job has begun a turn, as it was due, and fails when one has begun twice or has no turn that is done.
func (g *Rig) Begun(id string) (due []string) {
	g.T.Helper()
	for _, o := range g.History(id) {
		if o.Skipped != "" {
			continue
		}
		at := o.Due.UTC().Format("01-02T15:04")
		if slices.Contains(due, at) && !o.Forced {
			g.T.Errorf("the time %s has begun twice", at)
		}
		if run, err := g.Store.GetRun(g.T.Context(), o.Run); err != nil || run.Status != sessions.Done {
			g.T.Errorf("%s: %+v, %v", at, run, err)
		}
		due = append(due, at)
	}
	turns := 0
	for _, run := range g.Runs() {
		if run.Kind == sessions.JobRun {
			turns++
		}
	}
	if turns != len(due) {
		g.T.Errorf("%d turns, %d times in the history", turns, len(due))
	}
	return due
}

// Same fails the test when two lists of times differ.
func (g *Rig) Same(got []string, want string) {
	g.T.Helper()
	if s := strings.Join(got, " "); s != want {
		g.T.Errorf("it has begun at %s, want %s", s, want)
	}
}
