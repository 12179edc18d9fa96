package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/channels"
	"parley/sessions"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a store and a host in memory, and the session that calls the tools.
type world struct {
	jobs     []sessions.Job
	mu       sync.Mutex
	sessions []sessions.Session
	messages map[sessions.ID][]sessions.Message
	notes    []sessions.Note
	sources  map[string]bool
	gone     bool  // transcripts are deleted
	fault    error // every call of the store fails with it
	queries  []sessions.Query

	hits     []sessions.Hit // newest first
	searches []sessions.SearchQuery
	list     []sessions.Run // oldest first
	heard    map[channels.Address][]sessions.Key

	steered     []SteerRequest
	canceled    []string
	stopped     int // runs of a sub-agent that Cancel ends
	alsoStopped []sessions.StoppedRun
	posted      []PostRequest
	post        PostResult
	idle        func(context.Context, Caller) error
	depth       int
	announce    string

	config    Config
	workspace string
	files     map[string][]byte // of messages, by ref
	fetched   []string

	asked   []AskRequest
	spawned []SpawnRequest
	runs    map[string]sessions.Run // by source
	refuse  error
	finish  func(ctx context.Context, id sessions.RunID) (sessions.Run, error)
	agents  []AgentInfo

	rules  sessions.Rules
	scope  sessions.Scope
	limits sessions.AgentToAgent
	allow  []string
	redact func(string) string
	caller Caller
}

func newWorld() *world {
	w := &world{messages: map[sessions.ID][]sessions.Message{}, sources: map[string]bool{}, runs: map[string]sessions.Run{},
		agents: []AgentInfo{{ID: "work", Name: "Work"}, {ID: "main"}, {ID: "coder"}}, rules: sessions.Rules{Mode: sessions.SeeAgent}}
	w.caller = Caller{Session: w.add("agent:main:main"), Run: sessions.Run{ID: "run-1"}, Owner: true}
	return w
}

// add makes a session; each is a minute older than the one before.
func (w *world) add(key sessions.Key, with ...func(*sessions.Session)) sessions.Session {
	n := len(w.sessions)
	s := sessions.Session{Key: key, ID: id(n), Agent: key.Agent(), Updated: noon.Add(-time.Duration(n) * time.Minute), Created: noon.Add(-time.Hour)}
	for _, f := range with {
		f(&s)
	}
	w.sessions = append(w.sessions, s)
	return s
}

func id(n int) sessions.ID { return sessions.ID(fmt.Sprintf("00000000-0000-4000-8000-%012d", n)) }

func spawnedBy(k sessions.Key) func(*sessions.Session) {
	return func(s *sessions.Session) { s.SpawnedBy = k }
}

func at(kind channels.Kind, chat channels.ChatID, t channels.ChatType) func(*sessions.Session) {
	return func(s *sessions.Session) {
		s.Last = channels.Address{Channel: kind, Account: "default", Chat: chat, Type: t}
	}
}

func (w *world) deps() Deps {
	return Deps{
		Store: w, Host: w, Scope: w.scope, Redact: w.redact,
		Rules:       func() sessions.Rules { return w.rules },
		Limits:      func() sessions.AgentToAgent { return w.limits },
		AllowAgents: func(sessions.AgentID) []string { return w.allow },
		TranscriptPath: func(a sessions.AgentID, id sessions.ID) string {
			return "/state/" + string(a) + "/" + string(id) + ".jsonl"
		},
		SpawnDepth: func() int { return max(w.depth, 1) },
		Announce:   func() string { return w.announce },
		Config:     func() Config { return w.config },
		Workspace:  func(sessions.AgentID) string { return w.workspace },
		Now:        func() time.Time { return noon },
	}
}

// call calls a tool of w.deps and reads its result into a T.
func call[T any](t *testing.T, w *world, tool Tool, args string) T {
	t.Helper()
	return callAs[T](t, w, tool, "call-1", args)
}

func callAs[T any](t *testing.T, w *world, tool Tool, callID, args string) T {
	t.Helper()
	r, err := tool.Call(t.Context(), Call{ID: callID, Args: json.RawMessage(args), Caller: w.caller})
	if err != nil {
		t.Fatalf("%s(%s): %v", tool.Spec().Name, args, err)
	}
	var v T
	if err := json.Unmarshal([]byte(r.Text), &v); err != nil {
		t.Fatalf("%s(%s) = %s: %v", tool.Spec().Name, args, r.Text, err)
	}
	return v
}

func (w *world) Get(_ context.Context, key sessions.Key) (sessions.Session, error) {
	for _, s := range w.sessions {
		if s.Key == key {
			return s, w.fault
		}
	}
	return sessions.Session{}, errors.Join(w.fault, fmt.Errorf("session %s: %w", key, sessions.ErrNotFound))
}

func (w *world) GetByID(_ context.Context, id sessions.ID) (sessions.Session, error) {
	for _, s := range w.sessions {
		if s.ID == id {
			return s, w.fault
		}
	}
	return sessions.Session{}, fmt.Errorf("session %s: %w", id, sessions.ErrNotFound)
}

func (w *world) List(_ context.Context, q sessions.Query) ([]sessions.Session, error) {
	w.queries = append(w.queries, q)
	var out []sessions.Session
	for _, s := range w.sessions {
		if q.Agent != "" && s.Agent != q.Agent || q.Agents != nil && !slices.Contains(q.Agents, s.Agent) || q.SpawnedBy != "" && s.SpawnedBy != q.SpawnedBy || q.Keys != nil && !slices.Contains(q.Keys, s.Key) ||
			q.Label != "" && s.Label != q.Label || q.Archived != s.Archived || s.Updated.Before(q.Since) ||
			q.Search != "" && !strings.Contains(strings.ToLower(string(s.Key)+" "+s.Title+" "+s.Label), strings.ToLower(q.Search)) {
			continue
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b sessions.Session) int { return b.Updated.Compare(a.Updated) })
	out = out[min(q.Offset, len(out)):]
	return out[:min(q.Limit, len(out))], w.fault
}

func (w *world) Tail(_ context.Context, id sessions.ID, q sessions.TailQuery) ([]sessions.Message, error) {
	if w.gone {
		return nil, fmt.Errorf("session %s: %w", id, sessions.ErrNotFound)
	}
	var out []sessions.Message
	for _, m := range w.messages[id] {
		if q.IncludeTool || m.Role != sessions.ToolResult {
			out = append(out, m)
		}
	}
	out = out[:max(len(out)-q.Offset, 0)]
	return slices.Clone(out[max(len(out)-q.Limit, 0):]), w.fault
}

func (w *world) Notes(_ context.Context, q sessions.NoteQuery) ([]sessions.Note, error) {
	var out []sessions.Note
	for _, n := range slices.Backward(w.notes) {
		child := q.Children && slices.ContainsFunc(w.sessions, func(s sessions.Session) bool { return s.Key == n.Key && s.Agent == q.Agent && s.SpawnedBy == q.Of })
		if len(out) < q.Limit && n.Key.Agent() == q.Agent && (q.Of == "" || n.Key == q.Of || child) && strings.Contains(n.Text, q.Text) {
			out = append(out, n)
		}
	}
	return out, w.fault
}

func (w *world) Submit(_ context.Context, c sessions.Change) (sessions.Accepted, error) {
	if w.fault != nil {
		return sessions.Accepted{}, w.fault
	}
	if n, ok := sessions.FindOp[sessions.AddNote](c); ok && !w.sources[c.IdempotencyKey] {
		w.notes = append(w.notes, sessions.Note{ID: int64(len(w.notes)), Text: n.Text, Key: n.Key, Time: noon})
	}
	w.sources[c.IdempotencyKey] = true
	return sessions.Accepted{}, nil
}

func (w *world) Ask(_ context.Context, q AskRequest) (sessions.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return sessions.Run{}, w.refuse
	}
	if r, again := w.runs[q.Source]; again {
		return r, nil
	}
	w.asked = append(w.asked, q)
	r := sessions.Run{ID: sessions.RunID(fmt.Sprintf("ask-%d", len(w.asked))), Key: q.To, Status: sessions.Queued}
	w.runs[q.Source] = r
	return r, nil
}

func (w *world) Spawn(_ context.Context, q SpawnRequest) (sessions.Run, error) {
	if w.refuse != nil {
		return sessions.Run{}, w.refuse
	}
	w.spawned = append(w.spawned, q)
	return sessions.Run{ID: "child-1", Key: sessions.SubagentKey(q.Agent, "c1"), Status: sessions.Queued}, nil
}

func (w *world) Wait(ctx context.Context, id sessions.RunID) (Ended, error) {
	if w.finish == nil {
		<-ctx.Done()
		return Ended{}, ctx.Err()
	}
	run, err := w.finish(ctx, id)
	if run.Result == "NO_REPLY" {
		return Ended{Run: run, Silent: run.Result}, err
	}
	return Ended{Run: run, Reply: strings.TrimSpace(run.Result)}, err
}

func (w *world) Jobs(_ context.Context, id sessions.AgentID) (out []sessions.Job, err error) {
	for _, j := range w.jobs {
		if j.Agent == id {
			out = append(out, j)
		}
	}
	return out, w.fault
}

func (w *world) AddJob(_ context.Context, source string, j sessions.Job) error {
	if !w.sources[source] {
		w.jobs = append(w.jobs, j)
	}
	w.sources[source] = true
	return w.fault
}

func (w *world) DropJob(_ context.Context, _, id string) error {
	w.jobs = slices.DeleteFunc(w.jobs, func(j sessions.Job) bool { return j.ID == id })
	return w.fault
}

func (w *world) Agents() []AgentInfo { return w.agents }

func (w *world) ModelKnown(name string) error {
	if name != "mock/mock-1" {
		return errors.New("known models: mock/mock-1")
	}
	return nil
}

func text(role sessions.Role, s string) sessions.Message {
	return sessions.Message{Role: role, Content: sessions.TextContent(s), Time: noon}
}

func toolCall(ids ...string) sessions.Message {
	m := sessions.Message{Role: sessions.Assistant, Time: noon}
	for _, id := range ids {
		m.Content = append(m.Content, sessions.Block{Type: sessions.ToolCallBlock, ID: id, Name: "look", Arguments: json.RawMessage(`{"q":1}`)})
	}
	return m
}

func toolResult(id, s string) sessions.Message {
	m := text(sessions.ToolResult, s)
	m.ToolCallID, m.ToolName = id, "look"
	return m
}

func (w *world) Search(_ context.Context, q sessions.SearchQuery) ([]sessions.Hit, error) {
	w.searches = append(w.searches, q)
	var out []sessions.Hit
	for _, h := range w.hits { // newest first
		s, _ := w.Get(context.Background(), h.Key)
		if strings.Contains(h.Snippet, q.Text) && (q.Keys == nil || slices.Contains(q.Keys, h.Key)) && (q.Agents == nil || slices.Contains(q.Agents, s.Agent) || slices.Contains(q.Also, s.Key)) {
			out = append(out, h)
		}
	}
	out = out[min(q.Offset, len(out)):]
	return out[:min(q.Limit, len(out))], w.fault
}

func (w *world) ListRuns(_ context.Context, q sessions.RunQuery) ([]sessions.Run, error) {
	var out []sessions.Run
	for _, r := range slices.Backward(w.list) {
		s, _ := w.Get(context.Background(), r.Key)
		if (q.Key == "" || r.Key == q.Key) && (q.Parent == "" || s.SpawnedBy == q.Parent) && (q.Status == "" || r.Status == q.Status) && len(out) < q.Limit {
			out = append(out, r)
		}
	}
	return out, w.fault
}

func (w *world) CountByAgents(_ context.Context, key sessions.Key, since time.Time, most int) (int, error) {
	n := 0
	for _, r := range w.list {
		if r.Key == key && r.Kind.ByAgent() && r.Created.After(since) && n < most {
			n++
		}
	}
	return n, w.fault
}

func (w *world) Known(_ context.Context, from channels.Address) ([]sessions.Key, error) {
	return w.heard[from], w.fault
}

func (w *world) Steer(_ context.Context, q SteerRequest) (sessions.Run, error) {
	w.steered = append(w.steered, q)
	return sessions.Run{ID: "steer-1", Key: q.Child}, w.refuse
}

func (w *world) Cancel(_ context.Context, source string, child sessions.Key) ([]sessions.StoppedRun, error) {
	w.canceled = append(w.canceled, source+" "+string(child))
	return append(slices.Repeat([]sessions.StoppedRun{{Key: child, ID: "run"}}, w.stopped), w.alsoStopped...), w.refuse
}

func (w *world) Post(_ context.Context, q PostRequest) (PostResult, error) {
	w.posted = append(w.posted, q)
	return w.post, w.refuse
}

func (w *world) Attachment(ctx context.Context, with sessions.Message, m channels.Media, most int64) ([]byte, error) {
	w.fetched = append(w.fetched, m.Ref)
	if with.Provenance == nil && with.Role != sessions.ToolResult || int64(len(w.files[m.Ref])) > most {
		return nil, fmt.Errorf("%d bytes are allowed", most)
	}
	data, ok := w.files[m.Ref]
	if !ok {
		return nil, errors.New("the platform has it no more")
	}
	return data, ctx.Err()
}

func (w *world) Idle(ctx context.Context, c Caller) error {
	if w.idle == nil {
		return nil
	}
	return w.idle(ctx, c)
}
