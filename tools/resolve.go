package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/sessions"
)

// Store is what the tools need of the store.
type Store interface {
	Get(ctx context.Context, key sessions.Key) (sessions.Session, error)
	GetByID(ctx context.Context, id sessions.ID) (sessions.Session, error)
	List(ctx context.Context, q sessions.Query) ([]sessions.Session, error)
	Tail(ctx context.Context, id sessions.ID, q sessions.TailQuery) ([]sessions.Message, error)
	Notes(ctx context.Context, q sessions.NoteQuery) ([]sessions.Note, error)
	Submit(ctx context.Context, e sessions.Change) (sessions.Accepted, error)
	Search(ctx context.Context, q sessions.SearchQuery) ([]sessions.Hit, error)
	ListRuns(ctx context.Context, q sessions.RunQuery) ([]sessions.Run, error)
	CountByAgents(ctx context.Context, key sessions.Key, since time.Time, most int) (int, error)
	Known(ctx context.Context, from channels.Address) ([]sessions.Key, error)
}

// Deps is what the session tools work with. Store, Host and Rules are required. What may change while the host runs is a func,
// asked at each call.
type Deps struct {
	Store Store
	Host  Host
	Rules func() sessions.Rules // who sees whom (contract V)
	Scope sessions.Scope        // session.scope
	// Limits gives session.agentToAgent; nil, and a limit of 0, mean the defaults.
	Limits func() sessions.AgentToAgent
	// Current gives the address that a chat has now, of one that it had before; nil = none has moved.
	Current func(channels.Address) channels.Address
	// AllowAgents gives agents.list[].subagents.allowAgents of an agent; nil = none.
	AllowAgents func(sessions.AgentID) []string
	// ModelOf gives the model that a session uses, provider/model; nil = only what the session itself sets.
	ModelOf func(sessions.Session) string
	// TranscriptPath gives where the transcript of a session is (contract T1); nil = not shown.
	TranscriptPath func(agent sessions.AgentID, id sessions.ID) string
	// SpawnDepth gives agents.defaults.subagents.maxSpawnDepth; nil = 1: sub-agents cannot spawn.
	SpawnDepth func() int
	// Zone gives agents.defaults.timezone, the time zone that agents are told the time in; nil = the host's.
	Zone func() string
	// Announce gives agents.defaults.subagents.announce: where results of sub-agents go; nil = direct.
	Announce func() string
	// Config gives the section tools; nil = its defaults.
	Config func() Config
	// Workspace gives the folder of an agent's own files; nil, and "", mean that there is none.
	Workspace func(sessions.AgentID) string
	// Redact takes the secrets that the host knows out of a text (contract H5); nil = there are none.
	Redact func(string) string
	Now    func() time.Time // nil = time.Now
	// ByAgents counts the turns of a session that other agents caused within the last hour, up to most; nil = by the time of day.
	ByAgents func(ctx context.Context, key sessions.Key, most int) (int, error)
}

// All gives the tools that come with parley.
func All(d Deps) []Tool {
	all := []Tool{SessionsList(d), SessionsHistory(d), SessionsSearch(d), SessionStatus(d), SessionsSend(d), SessionsSpawn(d), SessionsYield(d),
		SubagentsTool(d), AgentsList(d), Message(d), Remember(d), Recall(d), Cron(d), FilesTool(d), FetchTool(d), AttachmentsTool(d)}
	for i, t := range all {
		all[i] = timed{t, d}
	}
	return all
}

// waits are the tools that wait for others, as long as their arguments say.
var waits = []string{"sessions_send", "sessions_yield"}

// timed gives a tool tools.timeoutSeconds as its time limit, unless it waits by itself or has one of its own.
type timed struct {
	Tool
	deps Deps
}

// Spec implements Tool.
func (t timed) Spec() Spec {
	s := t.Tool.Spec()
	if s.Timeout == 0 && !slices.Contains(waits, s.Name) {
		s.Timeout = time.Duration(orElse(t.deps.config().TimeoutSeconds, 120)) * time.Second
	}
	return s
}

// config gives the section tools.
func (d Deps) config() Config {
	if d.Config == nil {
		return Config{}
	}
	return d.Config()
}

// orElse gives n, or def when n is 0.
func orElse(n, def int) int {
	if n > 0 {
		return n
	}
	return def
}

// byAgents counts the turns of a session that other agents caused within the last hour.
func (d Deps) byAgents(ctx context.Context, key sessions.Key, most int) (int, error) {
	if d.ByAgents == nil {
		return d.Store.CountByAgents(ctx, key, d.now().Add(-time.Hour), most)
	}
	return d.ByAgents(ctx, key, most)
}

// now gives the time by the host's clock.
func (d Deps) now() time.Time {
	if d.Now == nil {
		return time.Now()
	}
	return d.Now()
}

// find is the one place where a tool turns a reference into a session (contract K9, V4). A session id that the caller may not see looks like
// one that does not exist. A key that the caller may not see is `forbidden`, in the same words whether there is such a session or not.
// action words the refusal.
func (d Deps) find(ctx context.Context, c Caller, ref, action string) (sessions.Session, *problem, error) {
	if strings.TrimSpace(ref) == "" {
		return sessions.Session{}, mistake("sessionKey is required: a key or session id from sessions_list, main, or current"), nil
	}
	if strings.EqualFold(strings.TrimSpace(ref), currentWord) {
		return c.Session, nil, nil
	}
	r, err := sessions.Resolve(ref, c.Session.Agent, d.Scope)
	if err != nil {
		return sessions.Session{}, mistake("%v", err), nil
	}
	s, err := d.lookup(ctx, r)
	missing := errors.Is(err, sessions.ErrNotFound)
	switch {
	case missing:
		s = sessions.Session{Key: r.Key, Agent: r.Key.Agent()} // as one by that key would be
	case err != nil:
		return sessions.Session{}, nil, fmt.Errorf("%s: find session: %w", action, err)
	}
	ok, why := d.Rules().See(d.viewer(c), s)
	switch {
	case d.reserved(s):
		return sessions.Session{}, unknownSession(ref), nil
	case !missing && (ok || d.inTree(ctx, c, s)):
		return s, nil, nil
	case ok || r.ID != "":
		return sessions.Session{}, unknownSession(ref), nil
	}
	short, _ := clip(strings.TrimSpace(ref), 200)
	return sessions.Session{}, forbidden("Session not found, or %s not permitted: %s: %s", action, short, why), nil
}

// currentWord means the caller's own session.
const currentWord = "current"

func unknownSession(ref string) *problem {
	ref, _ = clip(strings.TrimSpace(ref), 200)
	return mistake("Session not found: %s (use a key or session id that sessions_list shows)", ref)
}

func (d Deps) lookup(ctx context.Context, r sessions.Ref) (sessions.Session, error) {
	if r.ID != "" {
		return d.Store.GetByID(ctx, r.ID)
	}
	return d.Store.Get(ctx, r.Key)
}

// sees applies the rule of visibility to a session that nobody named.
func (d Deps) sees(ctx context.Context, c Caller, s sessions.Session) bool {
	ok, _ := d.Rules().See(d.viewer(c), s)
	return ok || d.inTree(ctx, c, s)
}

func (d Deps) reserved(s sessions.Session) bool { return s.Key.Reserved(d.Scope) }

// display gives a session's key as the caller passes it.
func (d Deps) display(c Caller, s sessions.Session) string { return d.name(c, s.Key) }

func (d Deps) name(c Caller, k sessions.Key) string { return k.Display(c.Session.Agent, d.Scope) }

func (d Deps) kind(s sessions.Session) string { return string(s.Key.Kind()) }

// channel says where a session is (contract L4).
func (d Deps) channel(s sessions.Session) string {
	switch s.Key.Kind() {
	case sessions.KindCron, sessions.KindHook, sessions.KindNode:
		return "internal"
	case sessions.KindGroup:
		if p, err := s.Key.Parse(); err == nil && s.Last.Channel == "" && p.Channel != "" {
			return string(p.Channel)
		}
	}
	if s.Last.Channel == "" {
		return "unknown"
	}
	return string(s.Last.Channel)
}

// limits gives session.agentToAgent with its defaults filled in.
func (d Deps) limits() sessions.AgentToAgent {
	var l sessions.AgentToAgent
	if d.Limits != nil {
		l = d.Limits()
	}
	if l.MaxHops <= 0 {
		l.MaxHops = 4
	}
	if l.MaxPerMinute <= 0 {
		l.MaxPerMinute = 20
	}
	if l.MaxTurnsPerHour <= 0 {
		l.MaxTurnsPerHour = 120
	}
	return l
}

// orError gives the result of a problem, or the fault of the host when there is one.
func (p *problem) orError(err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	return p.result(), nil
}

func (d Deps) viewer(c Caller) sessions.Viewer {
	return sessions.Viewer{Key: c.Session.Key, Agent: c.Session.Agent, Sandboxed: c.Sandboxed}
}

// mode is the visibility in force for a caller.
func (d Deps) mode(c Caller) Visibility { return Visibility(d.Rules().Effective(d.viewer(c))) }
