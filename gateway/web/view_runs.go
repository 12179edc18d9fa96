package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"parley/gateway/api"
	"parley/sessions"
)

// runsShown is how many runs are looked at: a tree of more is not read.
const runsShown = 200

// runsView is view_runs.html.
type runsView struct {
	Working, Ended           []*runGroup // what is queued or at work, and the rest; the newest on top
	Status, Session, Minutes string      // the filter
	Self                     string      // where the rows come from
	Full                     bool        // there may be older ones
	Refused                  string      // why the filter fits nothing
}

// Filtered reports whether something is left out on request.
func (v runsView) Filtered() bool { return v.Status != "" || v.Session != "" || v.Minutes != "" }

func (s site) runs(r *http.Request) (any, error) {
	q := r.URL.Query()
	v := runsView{Status: q.Get("status"), Session: q.Get("session"), Minutes: q.Get("minutes")}
	minutes, _ := strconv.Atoi(v.Minutes) // anything else is no bound
	v.Self = withParams("/runs", "status", v.Status, "session", v.Session, "minutes", v.Minutes)
	session, err := s.pick(r, v.Session)
	if f, ok := refusedBy(err, "session"); ok {
		v.Refused = f.Text
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := s.listRuns(r, api.RunsQuery{Session: session, Status: sessions.RunStatus(v.Status), Minutes: max(minutes, 0), Limit: runsShown})
	if f, ok := refusedBy(err, "session"); ok { // no list of others stays below the filter
		v.Refused = f.Text
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	v.Full = len(list) >= runsShown
	n := s.names(r)
	n.learn(list)
	for _, g := range runTree(list, time.Now(), n) {
		if g.Live() {
			v.Working = append(v.Working, g)
		} else {
			v.Ended = append(v.Ended, g)
		}
	}
	return v, nil
}

// listRuns lists the newest runs that match, and with no status asked for all that are queued or running besides.
func (s site) listRuns(r *http.Request, q api.RunsQuery) ([]api.Run, error) {
	list, err := call[[]api.Run](s, r, "runs.list", &q)
	if err != nil || q.Status != "" || len(list) < runsShown {
		return list, err
	}
	list = slices.Clone(list)
	for _, q.Status = range []sessions.RunStatus{sessions.Queued, sessions.Running} {
		open, err := call[[]api.Run](s, r, "runs.list", &q)
		if err != nil {
			return nil, err
		}
		for _, x := range open {
			if !slices.ContainsFunc(list, func(have api.Run) bool { return have.ID == x.ID }) {
				list = append(list, x)
			}
		}
	}
	return list, nil
}

// withParams adds those parameters to a path that are not empty.
func withParams(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// runView is view_run.html.
type runView struct {
	Run   sessions.Run
	Names names
	Paths []runPath
	Now   time.Time
}

// runPath is the story of one run of a chain.
type runPath struct {
	Run     *sessions.Run // nil: what was followed caused none
	Here    bool          // it is the run that the page is about
	Moments []moment
}

// Title is what the run is about, in a line.
func (v runView) Title() string {
	if v.Run.Label != "" {
		return v.Run.Label
	}
	if text := v.Run.Input.Said(); text != "" && asks(v.Run.Kind) {
		return plainLine(120, text)
	}
	return kindWords(v.Run.Kind)
}

// Took is how long the run has worked.
func (v runView) Took() time.Duration { return worked(v.Run.Started, v.Run.Ended, v.Now) }

func (s site) run(r *http.Request) (any, error) {
	id := sessions.RunID(r.PathValue("run"))
	run, err := call[sessions.Run](s, r, "runs.show", &api.RunCall{ID: id})
	if err != nil {
		return nil, err
	}
	traces, err := call[[]sessions.Trace](s, r, "trace", &api.TraceCall{ID: string(id)})
	if err != nil {
		return nil, err
	}
	v := runView{Run: run, Now: time.Now(), Names: s.names(r)}
	for _, t := range traces {
		v.Paths = append(v.Paths, runPath{t.Run, t.Run != nil && t.Run.ID == id, abridged(story(t, v.Names), len(traces))})
	}
	return v, nil
}

func (s site) cancelRun(r *http.Request) (any, error) {
	if _, err := call[any](s, r, "runs.cancel", &api.RunCall{ID: sessions.RunID(r.PathValue("run"))}); err != nil {
		return nil, err
	}
	v, err := s.run(r)
	if err != nil {
		return nil, err
	}
	return changeResult{Say: "Run stopped.", Data: v}, nil
}

// kindWords says what a run is for.
func kindWords(k sessions.RunKind) string {
	switch k {
	case sessions.TurnRun, "":
		return "turn"
	case sessions.AskRun:
		return "question of another session"
	case sessions.ReplyRun:
		return "reply between sessions"
	case sessions.ChildRun:
		return "sub-agent's task"
	case sessions.AnnounceRun:
		return "report"
	case sessions.FollowUpRun:
		return "late reply of another session"
	case sessions.ResultRun:
		return "result of a sub-agent"
	case sessions.CompactRun:
		return "summary of the older part"
	case sessions.JobRun:
		return "scheduled turn"
	case sessions.PostRun:
		return "post"
	}
	return string(k)
}
