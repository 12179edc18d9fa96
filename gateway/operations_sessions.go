package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"parley/gateway/api"
	"parley/policy"
	"parley/router"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

func (h *Host) sessionOperations() api.Table {
	return api.Table{
		api.Op("sessions.list", "GET /api/sessions", api.Read, "Sessions, the one that was active last first.", h.listSessions),
		api.Op("sessions.get", "GET /api/sessions/{session}", api.Read, "One session, with its settings and how it stands.", h.getSession),
		api.Op("sessions.patch", "PATCH /api/sessions/{session}", api.Admin, "Change a session's settings: null clears, a field that is left out stays.", h.patchSession),
		api.Op("sessions.reset", "POST /api/sessions/{session}/reset", api.Admin, "Start a session over: its settings stay, its transcript so far stays readable by its id.", h.resetSession),
		api.Op("sessions.archive", "POST /api/sessions/{session}/archive", api.Admin, "Take a session out of the lists until somebody writes to it again.", h.archiveSession),
		api.Op("sessions.delete", "DELETE /api/sessions/{session}", api.Admin, "Delete a session, its transcripts and its runs for good.", h.deleteSession),
		api.Op("sessions.compact", "POST /api/sessions/{session}/compact", api.Admin, "Sum up the older part of a session behind what it is at.", h.compactSession),
		api.Op("sessions.history", "GET /api/sessions/{session}/messages", api.Read, "The newest messages of a session, oldest first.", h.messages),
		api.Op("sessions.search", "GET /api/search", api.Read, "Find messages by their words, newest first.", h.search),
	}
}

// told makes an error of the router one that says what it is to a client.
func told(err error) error {
	switch {
	case errors.Is(err, router.ErrWords):
		return api.Bad("%s", strings.TrimPrefix(err.Error(), router.ErrWords.Error()+": "))
	case errors.Is(err, router.ErrBusy):
		return &api.Error{Status: http.StatusTooManyRequests, Code: "too_many", Message: err.Error(), After: 5 * time.Second}
	}
	return err
}

// sessionKey resolves what people call a session: a key, "main", a session id.
func (h *Host) sessionKey(ctx context.Context, ref string) (sessions.Key, error) {
	s, err := h.session(ctx, ref)
	return s.Key, err
}

func (h *Host) session(ctx context.Context, ref string) (s sessions.Session, err error) {
	res, err := h.resolve(ctx, ref)
	if err != nil {
		return s, err
	}
	if res.Key == "" {
		return h.store.GetByID(ctx, res.ID)
	}
	return h.store.Get(ctx, res.Key) // the key of a chat that has moved is another name
}

func (h *Host) resolve(ctx context.Context, ref string) (sessions.Ref, error) {
	if ref == "" {
		return sessions.Ref{}, api.Bad("which session? name a key, a session id or main")
	}
	c := h.deps.Config.Config()
	_, def := c.Agents.IDs()
	res, err := sessions.Resolve(ref, def, c.Session.Scope)
	if err == nil {
		return res, nil
	}
	id, failed := h.whole(ctx, sqlstore.SessionIDs, ref)
	switch {
	case failed != nil:
		return res, failed
	case id != ref:
		return sessions.Ref{ID: sessions.ID(id)}, nil
	}
	return res, fmt.Errorf("session: %w", err)
}

func (h *Host) sessionRow(s sessions.Session, working []sessions.Key) api.Session {
	row := api.Session{Key: s.Key, ID: s.ID, Kind: s.Key.Kind(), Agent: s.Agent, Title: s.Title, Label: s.Label, Channel: string(s.Last.Channel), Last: s.Last.String(), SpawnedBy: s.SpawnedBy,
		SendPolicy: s.Settings.SendPolicy, Model: s.Settings.Model, Tokens: s.Usage.Total(), Context: s.Context, Cost: s.Usage.Cost, Turns: s.Turns,
		Working: slices.Contains(working, s.Key), Aborted: s.Aborted, Archived: s.Archived, Updated: s.Updated, Created: s.Created}
	if !s.Last.IsZero() {
		row.Verdict = h.router.Decide(s) // rules in memory: nothing is read
	}
	return row
}

func (h *Host) rowOf(s sessions.Session) api.Session {
	working, _ := h.router.Working()
	return h.sessionRow(s, working)
}

func (h *Host) listSessions(ctx context.Context, q api.SessionsQuery) ([]api.Session, error) {
	sq := sessions.Query{Limit: q.Limit, Offset: q.Offset, Search: q.Search, Archived: q.Archived, Agent: sessions.AgentID(q.Agent), Label: q.Label}
	if q.Minutes > 0 {
		sq.Since = time.Now().Add(-time.Duration(q.Minutes) * time.Minute)
	}
	if q.SpawnedBy != "" {
		parent, err := h.sessionKey(ctx, q.SpawnedBy)
		if err != nil {
			return nil, err
		}
		sq.SpawnedBy = parent
	}
	list, err := h.ofKind(ctx, sq, sessions.Kind(q.Kind))
	if err != nil {
		return nil, err
	}
	working, _ := h.router.Working()
	rows := make([]api.Session, 0, len(list))
	for _, s := range list {
		rows = append(rows, h.sessionRow(s, working))
	}
	return rows, nil
}

// ofKind lists sessions of a kind, which is in their keys and not in the store's indexes: it reads on until the list is full.
func (h *Host) ofKind(ctx context.Context, q sessions.Query, kind sessions.Kind) (out []sessions.Session, err error) {
	if kind == "" {
		return h.store.List(ctx, q)
	}
	const step = 1000
	skip, most := q.Offset, q.Limit
	q.Offset, q.Limit = 0, step
	for {
		list, err := h.store.List(ctx, q)
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

func (h *Host) getSession(ctx context.Context, c api.SessionCall) (d api.SessionDetail, err error) {
	s, err := h.session(ctx, c.Session)
	if err != nil {
		return d, err
	}
	return h.detailOf(ctx, s)
}

// detailOf is all that is shown of a session.
func (h *Host) detailOf(ctx context.Context, s sessions.Session) (d api.SessionDetail, err error) {
	set := h.router.Settings()
	d = api.SessionDetail{Session: h.rowOf(s), Thinking: s.Settings.Thinking, Verbose: s.Settings.Verbose, Activation: s.Settings.Activation, Footer: s.Settings.Footer,
		Queue: h.router.QueueWords(s), ModelUsed: set.ModelOf(s), Transcript: h.store.TranscriptPath(s.Agent, s.ID), ArchiveAt: s.ArchiveAt}
	if m, err := h.models.find(d.ModelUsed); err == nil {
		d.Window = m.Facts.ContextWindow
	}
	if d.Waiting, err = h.router.Waiting(ctx, s.Key); err != nil {
		return d, err
	}
	d.Earlier, err = h.store.Transcripts(ctx, s.Key, 50)
	d.Earlier = slices.DeleteFunc(d.Earlier, func(t sessions.Transcript) bool { return t.ID == s.ID })
	return d, err
}

func (h *Host) patchSession(ctx context.Context, q api.SessionPatch) (d api.SessionDetail, err error) {
	key, err := h.sessionKey(ctx, q.Session)
	if err != nil {
		return d, err
	}
	if m := q.Model.Value; m != "" {
		whole, err := h.router.ModelMeant(m)
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
		if p.Queue, err = h.queueOf(ctx, key, *words); err != nil {
			return d, err
		}
	}
	if o := q.SendPolicy.Pointer(); o != nil {
		p.SendPolicy = new(policy.Override(*o))
	}
	s, err := h.router.PatchOnce(ctx, api.Source(ctx), key, p)
	if err != nil {
		return d, err
	}
	return h.detailOf(ctx, s)
}

// queueOf reads the words of a queue setting, which change what the session has; empty = as configured.
func (h *Host) queueOf(ctx context.Context, key sessions.Key, words string) (*sessions.Queue, error) {
	if words == "" {
		return new(sessions.Queue), nil
	}
	s, err := h.store.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	q, err := router.ParseQueue(words, s.Settings.Queue)
	if err != nil {
		return nil, api.Bad("queue: %v", err)
	}
	return &q, nil
}

func (h *Host) resetSession(ctx context.Context, c api.SessionCall) (x api.StartedOver, err error) {
	x.Session, err = h.withSession(ctx, c.Session, func(ctx context.Context, source string, key sessions.Key) (s sessions.Session, err error) {
		s, x.Stopped, err = h.router.Reset(ctx, source, key)
		return s, err
	})
	return x, err
}

func (h *Host) archiveSession(ctx context.Context, c api.SessionCall) (api.Session, error) {
	return h.withSession(ctx, c.Session, h.router.Archive)
}

// withSession does something with a session that people name, and gives it as it stands then.
func (h *Host) withSession(ctx context.Context, ref string, do func(ctx context.Context, source string, key sessions.Key) (sessions.Session, error)) (api.Session, error) {
	key, err := h.sessionKey(ctx, ref)
	if err != nil {
		return api.Session{}, err
	}
	s, err := do(ctx, api.Source(ctx), key)
	return h.rowOf(s), told(err)
}

func (h *Host) deleteSession(ctx context.Context, c api.SessionCall) (api.Deleted, error) {
	res, err := h.resolve(ctx, c.Session)
	if err != nil {
		return api.Deleted{}, err
	}
	key := res.Key
	if key == "" {
		s, err := h.store.GetByID(ctx, res.ID)
		if err != nil {
			return api.Deleted{}, err
		}
		key = s.Key
	}
	if err := told(h.router.Delete(ctx, api.Source(ctx), key)); err != nil { // a repeat finds no session, and has deleted it
		return api.Deleted{}, err
	}
	return api.Deleted{Key: key, Deleted: true}, nil
}

func (h *Host) compactSession(ctx context.Context, c api.CompactCall) (api.Said, error) {
	key, err := h.sessionKey(ctx, c.Session)
	if err != nil {
		return api.Said{}, err
	}
	run, err := h.router.Compact(ctx, api.Source(ctx), key, c.Instructions)
	return api.Said{Run: run.ID, Key: run.Key, Status: run.Status}, told(err)
}

func (h *Host) messages(ctx context.Context, q api.HistoryQuery) (x api.History, err error) {
	s, err := h.session(ctx, q.Session)
	if err != nil {
		return x, err
	}
	x = api.History{Key: s.Key, ID: s.ID}
	if q.SessionID != "" {
		x.ID = sessions.ID(q.SessionID)
	}
	x.Messages, err = h.store.Tail(ctx, x.ID, sessions.TailQuery{Limit: q.Limit + 1, Before: q.Before, Of: s.Key, IncludeTool: q.Tools})
	if len(x.Messages) > q.Limit {
		x.Messages, x.More = x.Messages[1:], true
	}
	x.Messages = listed(x.Messages)
	if err == nil && x.ID == s.ID {
		err = h.router.MarkLeftOut(ctx, s, x.Messages)
	}
	return x, err
}

func (h *Host) search(ctx context.Context, q api.SearchQuery) ([]api.Hit, error) {
	sq := sessions.SearchQuery{Text: q.Text, Offset: q.Offset, Limit: q.Limit}
	if q.Agent != "" {
		sq.Agents = []sessions.AgentID{sessions.AgentID(q.Agent)}
	}
	if q.Session != "" {
		key, err := h.sessionKey(ctx, q.Session)
		if err != nil {
			return nil, err
		}
		sq.Keys = []sessions.Key{key}
	}
	hits, err := h.store.Search(ctx, sq)
	out := make([]api.Hit, 0, len(hits))
	for _, x := range hits {
		out = append(out, api.Hit{Key: x.Key, ID: x.Session, Message: x.Message, Role: x.Role, Time: x.Time, Snippet: x.Snippet})
	}
	return out, err
}
