package web_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/channels"
	"parley/gateway/access"
	"parley/gateway/api"
	"parley/gateway/web"
	"parley/policy"
	"parley/router/rights"
	"parley/sessions"
)

// works is a host of made-up data behind the page, on which people change things.
type works struct {
	dead atomic.Bool // no answer comes

	URL  string
	door *access.Door
	Cut  func() // breaks every connection

	mu         sync.Mutex
	now        time.Time
	runs       []api.Run
	traces     map[sessions.RunID][]sessions.Trace
	deliveries []sessions.Delivery
	asking     []sessions.Pairing
	admitted   []sessions.Admitted
	jobs       []api.Job
	history    map[string][]api.JobRun
	usage      []api.UsageRow
	rules      policy.SendPolicy
	status     api.HostStatus
	sessions   []api.Session
	listening  map[chan string]bool
	happened   int            // events that were told
	closed     chan struct{}  // nil, or: no stream opens until it is closed
	asked      map[string]int // requests of parts, by path
}

// rightCode is the one that the stranger was given.
const rightCode = "K7QM2XWA"

func newWorks(t testing.TB, fill func(*works)) *works {
	t.Helper()
	w := &works{now: time.Now(), traces: map[sessions.RunID][]sessions.Trace{}, history: map[string][]api.JobRun{}, listening: map[chan string]bool{}, asked: map[string]int{},
		status: api.HostStatus{Version: "1.0.0", Started: time.Now().Add(-52 * time.Hour), Ready: true, State: "/var/lib/parley", Store: "SQLite", Model: "anthropic/claude-sonnet", ModelWhy: "as configured"}}
	if fill != nil {
		fill(w)
	}
	table := w.table()
	token := channels.NewSecret("test-token")
	w.door = access.New(access.Config{Page: web.Door, Settings: access.Settings{Tokens: []access.Token{{Name: api.Owner, Token: token, Scope: api.Admin}}}})
	mux := http.NewServeMux()
	mux.Handle("/api/", table.Handler())
	mux.HandleFunc("GET /api/events", w.events)
	mux.Handle("/", w.counting(web.New(web.Deps{
		Now: func() string {
			w.mu.Lock()
			defer w.mu.Unlock()
			return fmt.Sprint("works-", w.happened)
		},
		Call: func(ctx context.Context, name string, in any) (any, error) {
			return api.Call[any](ctx, table, name, in)
		},
		Info: func(context.Context) web.Info {
			info := web.Info{Agent: "Ada", Model: w.status.Model}
			for _, a := range w.status.Accounts {
				info.Channels = append(info.Channels, web.ChannelInfo{Name: string(a.Channel), State: a.State})
			}
			return info
		},
	})))
	srv := httptest.NewServer(w.unless(w.door.Guard(mux)))
	w.URL, w.Cut = srv.URL, srv.CloseClientConnections
	t.Cleanup(func() {
		srv.CloseClientConnections() // the streams of events
		srv.Close()
	})
	return w
}

func (w *works) login() string {
	inv, _ := w.door.Invite(api.Principal{Name: api.Owner, Scope: api.Admin})
	return w.URL + inv.Path
}

// unless breaks every connection while the host is dead.
func (w *works) unless(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.dead.Load() {
			panic(http.ErrAbortHandler)
		}
		next.ServeHTTP(rw, r)
	})
}

// counting counts the requests of parts.
func (w *works) counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("HX-Request") != "" {
			w.mu.Lock()
			w.asked[r.URL.Path]++
			w.mu.Unlock()
		}
		next.ServeHTTP(rw, r)
	})
}

// events is GET /api/events: it hands on what tell says, after reload when something was told since the position that it begins at.
func (w *works) events(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Content-Type", "text/event-stream")
	lines := make(chan string, 100)
	w.mu.Lock()
	closed := w.closed
	w.mu.Unlock()
	if closed != nil {
		select {
		case <-closed:
		case <-r.Context().Done():
			return
		}
	}
	w.mu.Lock()
	if since := r.FormValue("since"); since != "" && since != fmt.Sprint("works-", w.happened) {
		lines <- fmt.Sprintf("event: reload\nid: works-%d\ndata: {\"kind\":\"reload\"}\n\n", w.happened)
	}
	w.listening[lines] = true
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.listening, lines)
	}()
	_, _ = rw.Write([]byte(": hello\n\n"))
	for {
		rw.(http.Flusher).Flush()
		select {
		case l := <-lines:
			_, _ = rw.Write([]byte(l))
		case <-r.Context().Done():
			return
		}
	}
}

// tell sends an event to everybody who listens.
func (w *works) tell(e api.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, _ := json.Marshal(e) // plain fields
	w.happened++
	for l := range w.listening {
		l <- fmt.Sprintf("event: %s\nid: works-%d\ndata: %s\n\n", e.Kind, w.happened, b)
	}
}

// op makes an operation that works on the host's data, one at a time.
func op[In, Out any](w *works, name, route string, do func(In) (Out, error)) api.Operation {
	return api.Op(name, route, api.Read, name, func(_ context.Context, in In) (Out, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return do(in)
	})
}

func (w *works) table() api.Table {
	return slices.Concat(w.runOperations(), w.deliveryOperations(), w.peopleOperations(), w.jobOperations(), api.Table{
		op(w, "status", "GET /api/status", func(api.None) (api.HostStatus, error) {
			s := w.status
			s.Deliveries = map[sessions.DeliveryState]int{}
			for _, d := range w.deliveries {
				s.Deliveries[d.State]++
			}
			return s, nil
		}),
		op(w, "channels.status", "GET /api/channels", func(api.None) ([]api.Account, error) { return w.status.Accounts, nil }),
		op(w, "usage", "GET /api/usage", func(q api.UsageQuery) (u api.Usage, _ error) {
			u.Zone = "UTC"
			first := w.now.UTC().AddDate(0, 0, 1-q.Days).Format(time.DateOnly)
			for _, r := range w.usage {
				if r.Day >= first {
					u.Days = append(u.Days, r)
					u.Total.Calls += r.Calls
					u.Total.Input += r.Input
					u.Total.Output += r.Output
					u.Total.CacheRead += r.CacheRead
					u.Total.Cost += r.Cost
				}
			}
			return u, nil
		}),
		op(w, "agents.list", "GET /api/agents", func(api.None) ([]api.Agent, error) {
			return []api.Agent{{ID: "main", Name: "Ada", Default: true}, {ID: "research", Name: "Research"}}, nil
		}),
		op(w, "models.list", "GET /api/models", func(api.None) ([]api.Model, error) {
			return []api.Model{{Name: w.status.Model, Default: true}}, nil
		}),
		op(w, "sessions.list", "GET /api/sessions", func(api.SessionsQuery) ([]api.Session, error) { return w.sessions, nil }),
		op(w, "policy.rules", "GET /api/policy/rules", func(api.None) (out api.SendRules, _ error) {
			out.Default, out.Set = w.rules.Default, w.rules.Default != ""
			for i, r := range w.rules.Rules {
				out.Rules = append(out.Rules, api.SendRule{Rule: fmt.Sprintf("session.sendPolicy.rules[%d]", i), Action: r.Action, Match: r.Match, Applies: r.Match.String()})
			}
			return out, nil
		}),
		op(w, "policy.explain", "GET /api/policy/explain", w.explain),
		op(w, "tools.explain", "GET /api/tools/explain", func(q api.ToolsQuery) (t rights.ToolTable, _ error) {
			if q.Sender == "nobody" {
				return t, api.Bad("sender %q: say owner, other, or an id", q.Sender)
			}
			allow, deny := policy.Verdict{Action: policy.Allow, Rule: "tools", Reason: "no rule forbids it"}, policy.Verdict{Action: policy.Deny, Rule: "tools.deny", Reason: "it is listed there"}
			return rights.ToolTable{Agent: "main", Tools: []rights.ToolVerdict{{Name: "memory", Known: true, About: "Remember things", Verdict: allow}, {Name: "sessions_send", Known: true, Verdict: deny, Layers: []policy.Verdict{allow, deny}}}}, nil
		}),
	})
}

func (w *works) explain(q api.ExplainQuery) (x api.Explanation, err error) {
	to, err := channels.ParseAddress(q.To)
	if err != nil {
		return x, api.Bad("to: %v", err)
	}
	s := policy.Subject{Key: q.Session, StrippedKey: sessions.Key(q.Session).Stripped(), To: to}
	for _, x := range w.sessions {
		if string(x.Key) == q.Session {
			s.Override = x.SendPolicy
			if to.IsZero() {
				s.To, _ = channels.ParseAddress(x.Last)
			}
		}
	}
	return api.Explanation{Session: sessions.Key(q.Session), To: s.To.String(), Verdict: w.rules.Evaluate(s), Steps: w.rules.Explain(s)}, nil
}

func (w *works) runOperations() api.Table {
	return api.Table{
		op(w, "runs.list", "GET /api/runs", func(q api.RunsQuery) (out []api.Run, _ error) {
			for _, r := range w.runs {
				if (q.Status == "" || r.Status == q.Status) && (q.Session == "" || string(r.Key) == q.Session) {
					out = append(out, r)
				}
			}
			return out[:min(cmp.Or(q.Limit, len(out)), len(out))], nil
		}),
		op(w, "runs.show", "GET /api/runs/{run}", func(c api.RunCall) (sessions.Run, error) {
			for _, t := range w.traces[c.ID] {
				if t.Run.ID == c.ID {
					return *t.Run, nil
				}
			}
			return sessions.Run{}, fmt.Errorf("run %s: %w", c.ID, sessions.ErrNotFound)
		}),
		op(w, "trace", "GET /api/trace/{id}", func(c api.TraceCall) ([]sessions.Trace, error) { return w.traces[sessions.RunID(c.ID)], nil }),
		op(w, "runs.cancel", "POST /api/runs/{run}/cancel", func(c api.RunCall) (api.Aborted, error) {
			for _, t := range w.traces[c.ID] {
				if t.Run.ID == c.ID {
					t.Run.Status, t.Run.Ended, t.Run.Error = sessions.Stopped, time.Now(), "stopped by a person"
				}
			}
			for i := range w.runs {
				if w.runs[i].ID == c.ID {
					w.runs[i].Status = sessions.Stopped
				}
			}
			return api.Aborted{Runs: []sessions.RunID{c.ID}}, nil
		}),
	}
}

func (w *works) deliveryOperations() api.Table {
	find := func(id sessions.DeliveryID) (*sessions.Delivery, error) {
		for i := range w.deliveries {
			if w.deliveries[i].ID == id {
				return &w.deliveries[i], nil
			}
		}
		return nil, fmt.Errorf("delivery %s: %w", id, sessions.ErrNotFound)
	}
	change := func(to sessions.DeliveryState, why string) func(api.DeliveryCall) (sessions.Delivery, error) {
		return func(c api.DeliveryCall) (sessions.Delivery, error) {
			d, err := find(c.ID)
			if err != nil {
				return sessions.Delivery{}, err
			}
			if d.State == sessions.Sent {
				return *d, fmt.Errorf("delivery %s is sent already: %w", c.ID, sessions.ErrConflict)
			}
			d.State, d.Error = to, why
			return *d, nil
		}
	}
	return api.Table{
		op(w, "deliveries.list", "GET /api/deliveries", func(q api.DeliveriesQuery) (out []sessions.Delivery, _ error) {
			for _, d := range w.deliveries {
				if (q.State == "" || d.State == q.State) && (q.Session == "" || string(d.Session) == q.Session) && (q.Before == 0 || d.Seq < q.Before) && len(out) < q.Limit {
					out = append(out, d)
				}
			}
			return out, nil
		}),
		op(w, "deliveries.count", "GET /api/counts/deliveries", func(q api.DeliveryCountQuery) (map[sessions.DeliveryState]int, error) {
			n := map[sessions.DeliveryState]int{}
			for _, d := range w.deliveries {
				if (q.Session == "" || string(d.Session) == q.Session) && (q.Run == "" || d.Run == q.Run) {
					n[d.State]++
				}
			}
			return n, nil
		}),
		op(w, "deliveries.show", "GET /api/deliveries/{delivery}", func(c api.DeliveryCall) (d sessions.Delivery, err error) {
			p, err := find(c.ID)
			if err == nil {
				d = *p
			}
			return d, err
		}),
		op(w, "deliveries.retry", "POST /api/deliveries/{delivery}/retry", change(sessions.Pending, "")),
		op(w, "deliveries.drop", "POST /api/deliveries/{delivery}/drop", change(sessions.Dropped, "dropped by a person")),
	}
}

func (w *works) peopleOperations() api.Table {
	answer := func(in bool) func(api.PairingCall) (sessions.Pairing, error) {
		return func(c api.PairingCall) (p sessions.Pairing, _ error) {
			if !strings.EqualFold(c.Code, rightCode) || len(w.asking) == 0 {
				return p, fmt.Errorf("nobody on %s waits with this code: %w", c.Channel, sessions.ErrNotFound)
			}
			p = w.asking[0]
			w.asking = w.asking[1:]
			if in {
				w.admitted = append(w.admitted, sessions.Admitted{Channel: p.Channel, Account: p.Account, User: p.User, Name: p.Name, Since: time.Now()})
			}
			return p, nil
		}
	}
	return api.Table{
		op(w, "pairing.list", "GET /api/pairing", func(api.None) ([]sessions.Pairing, error) { return slices.Clone(w.asking), nil }),
		op(w, "pairing.admitted", "GET /api/pairing/admitted", func(api.None) ([]sessions.Admitted, error) { return slices.Clone(w.admitted), nil }),
		op(w, "pairing.approve", "POST /api/pairing/approve", func(c api.PairingCall) (sessions.Approval, error) {
			p, err := answer(true)(c)
			return sessions.Approval{Pairing: p, Owner: c.Owner != nil && *c.Owner}, err
		}),
		op(w, "pairing.reject", "POST /api/pairing/reject", answer(false)),
		op(w, "pairing.remove", "POST /api/pairing/remove", func(p api.PairedPerson) (a sessions.Admitted, _ error) {
			w.admitted = slices.DeleteFunc(w.admitted, func(x sessions.Admitted) bool {
				return x.Channel == p.Channel && x.Account == p.Account && string(x.User) == p.User
			})
			return a, nil
		}),
	}
}

func (w *works) jobOperations() api.Table {
	find := func(id string) (*api.Job, error) {
		for i := range w.jobs {
			if w.jobs[i].ID == id {
				return &w.jobs[i], nil
			}
		}
		return nil, fmt.Errorf("job %s: %w", id, sessions.ErrNotFound)
	}
	get := func(id string) (j api.Job, err error) {
		p, err := find(id)
		if err == nil {
			j = *p
		}
		return j, err
	}
	return api.Table{
		op(w, "cron.list", "GET /api/cron", func(api.JobsQuery) ([]api.Job, error) { return slices.Clone(w.jobs), nil }),
		op(w, "cron.get", "GET /api/cron/{job}", func(c api.JobCall) (api.Job, error) { return get(c.ID) }),
		op(w, "cron.runs", "GET /api/cron/{job}/runs", func(q api.JobRunsQuery) ([]api.JobRun, error) { return w.history[q.ID], nil }),
		op(w, "cron.add", "POST /api/cron", func(a api.JobAdd) (j api.Job, _ error) {
			if a.Cron != "" && len(strings.Fields(a.Cron)) != 5 {
				return j, api.Bad("cron %q: five fields are needed", a.Cron)
			}
			j = api.Job{ID: fmt.Sprint("job", len(w.jobs)), Name: a.Name, Agent: sessions.AgentID(a.Agent), Key: "agent:main:cron:new", Message: a.Message, When: a.Cron + a.Every, To: a.To, Next: w.now.Add(time.Hour), Created: w.now}
			w.jobs = append(w.jobs, j)
			return j, nil
		}),
		op(w, "cron.update", "PATCH /api/cron/{job}", func(p api.JobPatch) (api.Job, error) {
			j, err := find(p.ID)
			if err != nil {
				return api.Job{}, err
			}
			if p.Every.Set && !strings.HasSuffix(p.Every.Value, "h") {
				return *j, api.Bad("every %q: want a time like 24h", p.Every.Value)
			}
			if p.Name.Set {
				j.Name = p.Name.Value
			}
			if p.Every.Set {
				j.When = "every " + p.Every.Value
			}
			if p.Off.Set {
				j.Off = p.Off.Value
			}
			return *j, nil
		}),
		op(w, "cron.run", "POST /api/cron/{job}/run", func(c api.JobCall) (r api.JobRun, _ error) {
			r = api.JobRun{Due: time.Now(), At: time.Now(), Forced: true, Status: "running", Run: "r1"}
			w.history[c.ID] = append([]api.JobRun{r}, w.history[c.ID]...)
			if j, err := find(c.ID); err == nil {
				j.Last, j.Status = r.At, r.Status
			}
			return r, nil
		}),
		op(w, "cron.remove", "DELETE /api/cron/{job}", func(c api.JobCall) (api.None, error) {
			w.jobs = slices.DeleteFunc(w.jobs, func(j api.Job) bool { return j.ID == c.ID })
			return api.None{}, nil
		}),
	}
}
