package operations

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"parley/gateway/api"
	"parley/gateway/models"
	"parley/policy"
	"parley/router"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// Sessions are the operations on sessions and their transcripts.
type Sessions struct {
	store  *sqlstore.Store
	router *router.Router
	models *models.Set
	names  *Resolver
}

// Table lists the operations.
func (o *Sessions) Table() api.Table {
	return api.Table{
		api.Op("sessions.list", "GET /api/sessions", api.Read, "Sessions, most recently active first.", o.listSessions),
		api.Op("sessions.get", "GET /api/sessions/{session}", api.Read, "One session, with its settings and state.", o.getSession),
		api.Op("sessions.patch", "PATCH /api/sessions/{session}", api.Admin, "Change a session's settings: null clears a field, omitted fields keep their value.", o.patchSession),
		api.Op("sessions.reset", "POST /api/sessions/{session}/reset", api.Admin, "Reset a session: its settings stay, and its transcript stays readable by its id.", o.resetSession),
		api.Op("sessions.archive", "POST /api/sessions/{session}/archive", api.Admin, "Archive a session: lists hide it until the next message.", o.archiveSession),
		api.Op("sessions.delete", "DELETE /api/sessions/{session}", api.Admin, "Delete a session, its transcripts and its runs permanently.", o.deleteSession),
		api.Op("sessions.compact", "POST /api/sessions/{session}/compact", api.Admin, "Summarize the older part of a session, after its running turn.", o.compactSession),
		api.Op("sessions.history", "GET /api/sessions/{session}/messages", api.Read, "The newest messages of a session, oldest first.", o.messages),
		api.Op("sessions.search", "GET /api/search", api.Read, "Search messages, newest first.", o.search),
	}
}

func (o *Sessions) sessionRow(s sessions.Session, working []sessions.Key) api.Session {
	row := api.Session{Key: s.Key, ID: s.ID, Kind: s.Key.Kind(), Agent: s.Agent, Title: s.Title, Label: s.Label, Channel: string(s.Last.Channel), Last: s.Last.String(), SpawnedBy: s.SpawnedBy,
		SendPolicy: s.Settings.SendPolicy, Model: s.Settings.Model, Tokens: s.Usage.Total(), Context: s.Context, Cost: s.Usage.Cost, Turns: s.Turns,
		Working: slices.Contains(working, s.Key), Aborted: s.Aborted, Archived: s.Archived, Updated: s.Updated, Created: s.Created}
	if !s.Last.IsZero() {
		row.Verdict = o.router.SendVerdict(s) // rules in memory: nothing is read
	}
	return row
}

func (o *Sessions) rowOf(s sessions.Session) api.Session {
	working, _ := o.router.Working()
	return o.sessionRow(s, working)
}

func (o *Sessions) listSessions(ctx context.Context, q api.SessionsQuery) ([]api.Session, error) {
	sq := sessions.Query{Limit: q.Limit, Offset: q.Offset, Search: q.Search, Archived: q.Archived, Agent: sessions.AgentID(q.Agent), Label: q.Label}
	if q.Minutes > 0 {
		sq.Since = time.Now().Add(-time.Duration(q.Minutes) * time.Minute)
	}
	if q.SpawnedBy != "" {
		parent, err := o.names.sessionKey(ctx, q.SpawnedBy)
		if err != nil {
			return nil, err
		}
		sq.SpawnedBy = parent
	}
	list, err := o.ofKind(ctx, sq, sessions.Kind(q.Kind))
	if err != nil {
		return nil, err
	}
	working, _ := o.router.Working()
	rows := make([]api.Session, 0, len(list))
	for _, s := range list {
		rows = append(rows, o.sessionRow(s, working))
	}
	return rows, nil
}

// ofKind lists sessions of a kind, which is in their keys and not in the store's indexes: it reads on until the list is full.
func (o *Sessions) ofKind(ctx context.Context, q sessions.Query, kind sessions.Kind) (out []sessions.Session, err error) {
	if kind == "" {
		return o.store.List(ctx, q)
	}
	const step = 1000
	skip, most := q.Offset, q.Limit
	q.Offset, q.Limit = 0, step
	for {
		list, err := o.store.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			if s.Key.Kind() != kind {
				continue
			}
			if skip--; skip >= 0 {
				continue
			}
			if out = append(out, s); len(out) == most {
				return out, nil
			}
		}
		if len(list) < step {
			return out, nil
		}
		q.Offset += step
	}
}

func (o *Sessions) getSession(ctx context.Context, c api.SessionCall) (d api.SessionDetail, err error) {
	s, err := o.names.session(ctx, c.Session)
	if err != nil {
		return d, err
	}
	return o.detailOf(ctx, s)
}

// detailOf is all that is shown of a session.
func (o *Sessions) detailOf(ctx context.Context, s sessions.Session) (d api.SessionDetail, err error) {
	set := o.router.Settings()
	d = api.SessionDetail{Session: o.rowOf(s), Thinking: s.Settings.Thinking, Verbose: s.Settings.Verbose, Activation: s.Settings.Activation, Footer: s.Settings.Footer,
		Queue: o.router.QueueWords(s), ModelUsed: set.ModelOf(s), Transcript: o.store.TranscriptPath(s.Agent, s.ID), ArchiveAt: s.ArchiveAt}
	if m, err := o.models.Find(d.ModelUsed); err == nil {
		d.Window = m.Facts.ContextWindow
	}
	if d.Waiting, err = o.router.Waiting(ctx, s.Key); err != nil {
		return d, err
	}
	d.Earlier, err = o.store.Transcripts(ctx, s.Key, 50)
	d.Earlier = slices.DeleteFunc(d.Earlier, func(t sessions.Transcript) bool { return t.ID == s.ID })
	return d, err
}

func (o *Sessions) patchSession(ctx context.Context, q api.SessionPatch) (d api.SessionDetail, err error) {
	key, err := o.names.sessionKey(ctx, q.Session)
	if err != nil {
		return d, err
	}
	if m := q.Model.Value; m != "" {
		whole, err := o.router.CommandTable.ModelMeant(m)
		if err != nil {
			return d, api.Bad("model: %v", err)
		}
		q.Model = api.Some(whole)
	}
	if l := q.Label.Value; len(l) > 64 || strings.ContainsFunc(l, unicode.IsControl) {
		return d, api.Bad("label: at most 64 bytes, one line")
	}
	p := sessions.Patch{Model: q.Model.Pointer(), Thinking: q.Thinking.Pointer(), Verbose: q.Verbose.Pointer(), Activation: q.Activation.Pointer(),
		Footer: q.Footer.Pointer(), Label: q.Label.Pointer()}
	if words := q.Queue.Pointer(); words != nil {
		if p.Queue, err = o.queueOf(ctx, key, *words); err != nil {
			return d, err
		}
	}
	if o := q.SendPolicy.Pointer(); o != nil {
		p.SendPolicy = new(policy.Override(*o))
	}
	s, err := o.router.PatchOnce(ctx, api.Source(ctx), key, p)
	if err != nil {
		return d, err
	}
	return o.detailOf(ctx, s)
}

// queueOf reads the words of a queue setting, which change what the session has; empty = as configured.
func (o *Sessions) queueOf(ctx context.Context, key sessions.Key, words string) (*sessions.Queue, error) {
	if words == "" {
		return new(sessions.Queue), nil
	}
	s, err := o.store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	q, err := settings.ParseQueue(words, s.Settings.Queue)
	if err != nil {
		return nil, api.Bad("queue: %v", err)
	}
	return &q, nil
}

func (o *Sessions) resetSession(ctx context.Context, c api.SessionCall) (x api.StartedOver, err error) {
	x.Session, err = o.withSession(ctx, c.Session, func(ctx context.Context, source string, key sessions.Key) (s sessions.Session, err error) {
		s, x.Stopped, err = o.router.Reset(ctx, source, key)
		return s, err
	})
	return x, err
}

func (o *Sessions) archiveSession(ctx context.Context, c api.SessionCall) (api.Session, error) {
	return o.withSession(ctx, c.Session, o.router.Archive)
}

// withSession does something with a session that people name, and gives it as it stands then.
func (o *Sessions) withSession(ctx context.Context, ref string, do func(ctx context.Context, source string, key sessions.Key) (sessions.Session, error)) (api.Session, error) {
	key, err := o.names.sessionKey(ctx, ref)
	if err != nil {
		return api.Session{}, err
	}
	s, err := do(ctx, api.Source(ctx), key)
	return o.rowOf(s), clientError(err)
}

func (o *Sessions) deleteSession(ctx context.Context, c api.SessionCall) (api.Deleted, error) {
	res, err := o.names.resolve(ctx, c.Session)
	if err != nil {
		return api.Deleted{}, err
	}
	key := res.Key
	if key == "" {
		s, err := o.store.GetByID(ctx, res.ID)
		if err != nil {
			return api.Deleted{}, err
		}
		key = s.Key
	}
	if err := clientError(o.router.Delete(ctx, api.Source(ctx), key)); err != nil { // a repeat finds no session, and has deleted it
		return api.Deleted{}, err
	}
	return api.Deleted{Key: key, Deleted: true}, nil
}

func (o *Sessions) compactSession(ctx context.Context, c api.CompactCall) (api.Said, error) {
	key, err := o.names.sessionKey(ctx, c.Session)
	if err != nil {
		return api.Said{}, err
	}
	run, err := o.router.Compact(ctx, api.Source(ctx), key, c.Instructions)
	return api.Said{Run: run.ID, Key: run.Key, Status: run.Status}, clientError(err)
}

func (o *Sessions) messages(ctx context.Context, q api.HistoryQuery) (x api.History, err error) {
	s, err := o.names.session(ctx, q.Session)
	if err != nil {
		return x, err
	}
	x = api.History{Key: s.Key, ID: s.ID}
	if q.SessionID != "" {
		x.ID = sessions.ID(q.SessionID)
	}
	x.Messages, err = o.store.Tail(ctx, x.ID, sessions.TailQuery{Limit: q.Limit + 1, Before: q.Before, Of: s.Key, IncludeTool: q.Tools})
	if len(x.Messages) > q.Limit {
		x.Messages, x.More = x.Messages[1:], true
	}
	x.Messages = notNil(x.Messages)
	if err == nil && x.ID == s.ID {
		err = o.router.Worker.Transcripts.MarkLeftOut(ctx, s, x.Messages)
	}
	return x, err
}

func (o *Sessions) search(ctx context.Context, q api.SearchQuery) ([]api.Hit, error) {
	sq := sessions.SearchQuery{Text: q.Text, Offset: q.Offset, Limit: q.Limit}
	if q.Agent != "" {
		sq.Agents = []sessions.AgentID{sessions.AgentID(q.Agent)}
	}
	if q.Session != "" {
		key, err := o.names.sessionKey(ctx, q.Session)
		if err != nil {
			return nil, err
		}
		sq.Keys = []sessions.Key{key}
	}
	hits, err := o.store.Search(ctx, sq)
	out := make([]api.Hit, 0, len(hits))
	for _, x := range hits {
		out = append(out, api.Hit{Key: x.Key, ID: x.Session, Message: x.Message, Role: x.Role, Time: sessions.Millis{Time: x.Time}, Snippet: x.Snippet})
	}
	return out, err
}
