package operations

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/router"
	"parley/router/inbound"
	"parley/router/toolhost"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Runs are the operations that make agents work, and that show what they do.
type Runs struct {
	config   func() *config.Config
	store    *sqlstore.Store
	router   *router.Router
	stopping <-chan struct{}
	names    *Resolver
}

// Table lists the operations.
func (o *Runs) Table() api.Table {
	return api.Table{
		api.Op("chat.send", "POST /api/sessions/{session}/messages", api.Write, "Send a message to the agent of a session; agent.wait returns the answer.", o.say),
		api.Op("chat.abort", "POST /api/sessions/{session}/abort", api.Write, "Stop the running turns of a session and its sub-agents.", o.abort),
		api.Op("agent", "POST /api/agent", api.Write, "Start a run of an agent; agent.wait returns the answer.", o.runAgent).Accepts(),
		api.Op("agent.wait", "GET /api/runs/{run}/wait", api.Read, "Wait for the end of a run; may be repeated.", o.waitRun),
		api.Op("send", "POST /api/send", api.Write, "Send a text to a chat that has written to this host, under the send policy.", o.send).Accepts(),
		api.Op("runs.list", "GET /api/runs", api.Read, "Runs, newest first.", o.listRuns),
		api.Op("runs.show", "GET /api/runs/{run}", api.Read, "One run, whole.", o.getRun),
		api.Op("runs.cancel", "POST /api/runs/{run}/cancel", api.Write, "Stop one queued or running run; for a finished run, its unsent deliveries.", o.cancelRun),
	}
}

// apiSessionTTL is how long a session that was made for one run of the API is listed.
const apiSessionTTL = 24 * time.Hour

// requestOf gives what the principal of a request says.
func requestOf(ctx context.Context, key sessions.Key, text string) inbound.Request {
	who := api.Caller(ctx)
	return inbound.Request{Source: api.Source(ctx), Session: key, Text: text, Sender: channels.Sender{ID: channels.UserID(who.Name), Name: who.Name}, Owner: who.Scope == api.Admin, Via: "api", MustLeave: true}
}

// meant gives the session that something is said to: one that is there, or the key of a new one. s.ID is empty then. It is one in which
// the principal of the request may talk.
func (o *Runs) meant(ctx context.Context, ref string) (sessions.Session, error) {
	s, err := o.named(ctx, ref)
	if err != nil {
		return s, err
	}
	return s, authorizeSession(ctx, o.store, s.Key)
}

func (o *Runs) named(ctx context.Context, ref string) (sessions.Session, error) {
	res, err := o.names.resolve(ctx, ref)
	if err != nil {
		return sessions.Session{}, err
	}
	if res.Key == "" {
		return o.store.GetByID(ctx, res.ID)
	}
	s, err := o.store.Get(ctx, res.Key)
	if !errors.Is(err, sessions.ErrNotFound) {
		return s, err
	}
	p, err := res.Key.Parse()
	if err != nil {
		return s, api.Bad("session: %v", err)
	}
	switch p.Form {
	case sessions.FormMain, sessions.FormGlobal, sessions.FormCron, sessions.FormHook, sessions.FormNode, sessions.FormOther:
		return sessions.Session{Key: res.Key, Agent: p.Agent}, nil
	}
	return s, fmt.Errorf("session %s: %w: a message in its chat creates it", res.Key, sessions.ErrNotFound)
}

func (o *Runs) say(ctx context.Context, c api.SayCall) (api.Said, error) {
	s, err := o.meant(ctx, c.Session)
	if err != nil {
		return api.Said{}, err
	}
	w := requestOf(ctx, s.Key, c.Message)
	w.Commands, w.Thinking, w.Timeout = true, c.Thinking, time.Duration(c.Timeout)*time.Second
	if c.Deliver {
		if w.Reply = s.Last; w.Reply.IsZero() {
			return api.Said{}, api.Bad("deliver: session %s has no chat; omit deliver", s.Key.Shown())
		}
	}
	return o.said(ctx, w)
}

func (o *Runs) said(ctx context.Context, w inbound.Request) (api.Said, error) {
	x, err := o.router.Receiver.Submit(ctx, w)
	if err != nil {
		return api.Said{}, clientError(err)
	}
	return api.Said{Run: x.Run.ID, Key: w.Session, Status: x.Run.Status, Answer: x.Answer, Repeat: x.Duplicate}, nil
}

func (o *Runs) runAgent(ctx context.Context, c api.AgentCall) (api.Said, error) {
	s, err := o.agentSession(ctx, c)
	if err != nil {
		return api.Said{}, err
	}
	w := requestOf(ctx, s.Key, c.Message)
	w.Exclusive, w.System, w.Model, w.Thinking, w.Label, w.Timeout = true, c.System, c.Model, c.Thinking, c.Label, time.Duration(c.Timeout)*time.Second
	if c.Session == "" {
		w.Title, w.Keep = c.Label, apiSessionTTL
	}
	if c.Deliver != nil && !*c.Deliver {
		return o.said(ctx, w)
	}
	switch {
	case c.To != "":
		if w.Reply, err = o.router.Scheduler.ChatOf(ctx, s.Agent, c.To); err != nil {
			return api.Said{}, clientError(err)
		}
	case c.Deliver != nil:
		if w.Reply = s.Last; w.Reply.IsZero() {
			return api.Said{}, api.Bad("deliver: session %s has no chat: give an address with to", s.Key.Shown())
		}
	}
	return o.said(ctx, w)
}

// agentSession is the session that an agent works in: the one that is named, or one of its own for this request.
func (o *Runs) agentSession(ctx context.Context, c api.AgentCall) (sessions.Session, error) {
	ids, id := o.config().Agents.IDs()
	if c.Agent != "" {
		if id = sessions.AgentID(c.Agent); !slices.Contains(ids, id) {
			return sessions.Session{}, api.Bad("agentId: unknown agent %.100q; the agents are %s", c.Agent, sessions.JoinIDs(ids))
		}
	}
	if c.Session == "" {
		name := uuid.NewString()
		if source := api.Source(ctx); source != "" { // the same request again is about the same session
			name = uuid.NewSHA1(uuid.NameSpaceOID, []byte("session of "+source)).String()
		}
		return sessions.Session{Key: sessions.Parts{Form: sessions.FormOther, Agent: id, Channel: "api", ID: name}.Key(), Agent: id}, nil
	}
	s, err := o.meant(ctx, c.Session)
	if err == nil && c.Agent != "" && s.Agent != id {
		err = api.Bad("agentId: session %s belongs to agent %s", s.Key.Shown(), s.Agent)
	}
	return s, err
}

func (o *Runs) abort(ctx context.Context, c api.AbortCall) (api.Aborted, error) {
	key, err := o.names.sessionKey(ctx, c.Session)
	if err != nil {
		return api.Aborted{}, err
	}
	if err := authorizeSession(ctx, o.store, key); err != nil {
		return api.Aborted{}, err
	}
	if c.Run == "" {
		ids, n, err := o.router.StopSession(ctx, api.Source(ctx), key)
		return abortedOf(ids, n, err)
	}
	id, err := o.names.wholeRun(ctx, c.Run)
	if err != nil {
		return api.Aborted{}, err
	}
	run, err := o.store.GetRun(ctx, id)
	if err != nil {
		return api.Aborted{}, err
	}
	if run.Key != key {
		return api.Aborted{}, api.Refuse(http.StatusConflict, "runId: run %s belongs to session %s", run.ID, run.Key.Shown())
	}
	return o.cancel(ctx, run.ID)
}

func (o *Runs) cancelRun(ctx context.Context, c api.RunCall) (api.Aborted, error) {
	id, err := o.names.wholeRun(ctx, c.ID)
	if err != nil {
		return api.Aborted{}, err
	}
	c.ID = id
	if run, err := o.store.GetRun(ctx, c.ID); err == nil { // else there is nothing to stop
		if err := authorizeSession(ctx, o.store, run.Key); err != nil {
			return api.Aborted{}, err
		}
	}
	return o.cancel(ctx, c.ID)
}

func (o *Runs) cancel(ctx context.Context, id sessions.RunID) (api.Aborted, error) {
	ids, deliveries, err := o.router.CancelRun(ctx, api.Source(ctx), id)
	return abortedOf(ids, sessions.Ended{Deliveries: deliveries}, err)
}

func abortedOf(ids []sessions.RunID, n sessions.Ended, err error) (api.Aborted, error) {
	x := api.Aborted{Runs: notNil(ids)}
	if n != (sessions.Ended{}) {
		x.Ended = &n
	}
	return x, clientError(err)
}

func (o *Runs) send(ctx context.Context, c api.SendCall) (x api.SendAnswer, err error) {
	q := toolhost.SendRequest{Source: api.Source(ctx), Text: c.Message}
	if q.To, err = channels.ParseAddress(c.To); err != nil {
		return x, api.Bad("to: %v", err)
	}
	if c.Session != "" {
		if q.Session, err = o.names.sessionKey(ctx, c.Session); err != nil {
			return x, err
		}
	}
	sent, err := o.router.ToolHost.Send(ctx, q)
	d := sent.Delivery
	return api.SendAnswer{Delivery: d.ID, Run: d.Run, Message: d.Message, Key: d.Session, To: d.To.String(), State: d.State, Verdict: sent.Verdict}, clientError(err)
}

func (o *Runs) getRun(ctx context.Context, c api.RunCall) (sessions.Run, error) {
	id, err := o.names.wholeRun(ctx, c.ID)
	if err != nil {
		return sessions.Run{}, err
	}
	return o.store.GetRun(ctx, id)
}

func (o *Runs) listRuns(ctx context.Context, q api.RunsQuery) ([]api.Run, error) {
	root, err := o.names.wholeRun(ctx, q.Root)
	if err != nil {
		return nil, err
	}
	sq := sessions.RunQuery{Root: root, Status: q.Status, Kind: q.Kind, Limit: q.Limit}
	if q.Minutes > 0 {
		sq.Since = time.Now().Add(-time.Duration(q.Minutes) * time.Minute)
	}
	for _, x := range []struct {
		ref string
		key *sessions.Key
	}{{q.Session, &sq.Key}, {q.Parent, &sq.Parent}} {
		if x.ref == "" {
			continue
		}
		key, err := o.names.sessionKey(ctx, x.ref)
		if err != nil {
			return nil, err
		}
		*x.key = key
	}
	list, err := o.store.ListRuns(ctx, sq)
	if err != nil {
		return nil, err
	}
	left, err := deliveriesOf(ctx, o.store, list)
	rows := make([]api.Run, 0, len(list))
	for _, run := range list {
		row := runRow(run)
		row.Deliveries = left[run.ID]
		rows = append(rows, row)
	}
	return rows, err
}

// deliveriesOf says what became of the messages of runs, oldest first: of a post its own, of all others those that they made.
func deliveriesOf(ctx context.Context, store *sqlstore.Store, runs []sessions.Run) (map[sessions.RunID][]sessions.Mark, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	list, err := store.ListDeliveries(ctx, sessions.DeliveryQuery{Of: runs, Limit: 4 * len(runs)})
	if err != nil {
		return nil, err
	}
	posts := map[string]sessions.RunID{}
	for _, run := range runs {
		if run.Kind == sessions.PostRun {
			posts[run.Input.ID] = run.ID
		}
	}
	left := map[sessions.RunID][]sessions.Mark{}
	for _, d := range slices.Backward(list) {
		m := sessions.Mark{Delivery: d.ID, State: d.State, To: d.To.String()}.WithError(d.Error)
		if d.Verdict != nil {
			m.Rule = d.Verdict.Rule
		}
		post := posts[d.Message]
		if post != "" {
			left[post] = append(left[post], m)
		}
		if d.Run != "" && d.Run != post {
			left[d.Run] = append(left[d.Run], m)
		}
	}
	return left, nil
}

// maxShownText is how much of a text a list shows, in characters.
const maxShownText = 300

func runRow(run sessions.Run) api.Run {
	x := api.Run{ID: run.ID, Kind: run.Kind, Key: run.Key, Agent: run.Agent, Status: run.Status, Label: run.Label, Request: shorten(run.Input.Text()), Error: run.Error,
		Batch: run.MergedInto, Attempt: run.Attempt, Created: run.Created, Started: run.Started, Ended: run.Ended, Usage: run.Usage}
	x.Source = run.Source
	if p := run.Input.Provenance; p != nil && p.Kind == sessions.InterSession {
		x.From = p.Source
	}
	x.Result, x.Silent = splitReply(run.Result)
	x.Result = shorten(x.Result)
	if run.MergedInto != "" { // which has the answer
		x.Result = ""
	}
	if c := run.Chain; c != nil {
		x.Chain, x.Root, x.Requester = c.Kind, c.Root, c.Requester
		if c.Parent != nil {
			x.Parent = c.Parent.Root
		}
	}
	return x
}

func shorten(s string) string {
	if r := []rune(s); len(r) > maxShownText {
		return string(r[:maxShownText-1]) + "…"
	}
	return s
}
