package tools

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/sessions"
)

//go:embed sessions_list.md
var sessionsListText string

// The bounds of sessions_list (contract L1, L2).
const (
	listDefault    = 50
	maxListed      = 200
	maxListMessage = 20
	// listScan is how many rows of the store are looked at for one result: filters by kind are not the store's.
	listScan = 10_000
	maxFound = 200 // characters to search for: the engines bound a pattern
)

var listKinds = []string{"main", "group", "cron", "hook", "node", "other"}

type listArgs struct {
	Kinds         []string `json:"kinds,omitempty" jsonschema:"only these kinds"`
	Limit         integer  `json:"limit,omitzero" jsonschema:"default 50, at most 200"`
	ActiveMinutes integer  `json:"activeMinutes,omitzero" jsonschema:"only sessions with a message in the last so many minutes"`
	MessageLimit  integer  `json:"messageLimit,omitzero" jsonschema:"newest messages of each session, without tool results; default 0, at most 20"`
	Search        string   `json:"search,omitempty" jsonschema:"part of key, name or label"`
	Label         string   `json:"label,omitempty" jsonschema:"exact label"`
	AgentID       string   `json:"agentId,omitempty" jsonschema:"only this agent's"`
	Archived      bool     `json:"archived,omitempty" jsonschema:"only archived ones; default only live ones"`
	Offset        integer  `json:"offset,omitzero" jsonschema:"nextOffset of the page before"`
}

// Row is a session as sessions_list shows it (contract L3).
type Row struct {
	Key             string             `json:"key"`
	Kind            string             `json:"kind"`
	Channel         string             `json:"channel"`
	DisplayName     string             `json:"displayName,omitempty"` // groups
	Label           string             `json:"label,omitempty"`
	UpdatedAt       int64              `json:"updatedAt"` // ms
	SessionID       sessions.ID        `json:"sessionId"`
	Model           string             `json:"model,omitempty"`
	ContextTokens   int                `json:"contextTokens"`
	TotalTokens     int                `json:"totalTokens"`
	ThinkingLevel   string             `json:"thinkingLevel,omitempty"`
	VerboseLevel    string             `json:"verboseLevel,omitempty"`
	SystemSent      bool               `json:"systemSent"`
	AbortedLastRun  bool               `json:"abortedLastRun"`
	SendPolicy      string             `json:"sendPolicy,omitempty"` // overridden only
	LastChannel     string             `json:"lastChannel,omitempty"`
	LastTo          string             `json:"lastTo,omitempty"`
	DeliveryContext *DeliveryContext   `json:"deliveryContext,omitempty"`
	TranscriptPath  string             `json:"transcriptPath,omitempty"`
	Messages        []sessions.Message `json:"messages,omitzero"`
}

// DeliveryContext is where a session's chat is.
type DeliveryContext struct {
	Channel   string `json:"channel,omitempty"`
	To        string `json:"to,omitempty"`
	AccountID string `json:"accountId,omitempty"`
	ThreadID  string `json:"threadId,omitempty"`
}

type listResult struct {
	Count      int            `json:"count"`
	Sessions   []Row          `json:"sessions"` // newest first
	HasMore    bool           `json:"hasMore"`
	NextOffset int            `json:"nextOffset,omitempty"`
	Truncated  string         `json:"truncated,omitempty"` // what cut the result short: bytes or scan
	Visibility listVisibility `json:"visibility"`
}

type listVisibility struct {
	Mode string `json:"mode"` // in force for the caller
	Note string `json:"note,omitempty"`
}

type sessionsList struct{ deps Deps }

// SessionsList is the tool sessions_list (contract L1–L7).
func SessionsList(d Deps) Tool { return sessionsList{d} }

var sessionsListSchema = schemaOf[listArgs](map[string][]string{"kinds": listKinds})

func (sessionsList) Spec() Spec {
	return Spec{Name: "sessions_list", Description: sessionsListText, Schema: sessionsListSchema}
}

func (t sessionsList) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[listArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	for i, k := range args.Kinds {
		args.Kinds[i] = strings.ToLower(strings.TrimSpace(k))
		if bad := oneOf("kind", args.Kinds[i], listKinds); bad != nil {
			return bad.result(), nil
		}
	}
	search, label := strings.TrimSpace(args.Search), strings.TrimSpace(args.Label)
	switch {
	case utf8.RuneCountInString(search) > maxFound:
		return mistake("search has more than %d characters; a part of the key, name or label is enough", maxFound).result(), nil
	case utf8.RuneCountInString(label) > maxLabel:
		return mistake("label has more than %d characters; no label is longer", maxLabel).result(), nil
	}
	l := listing{
		deps: t.deps, caller: c.Caller, kinds: args.Kinds,
		limit:    args.Limit.bound(listDefault, maxListed),
		messages: min(max(args.MessageLimit.or(0), 0), maxListMessage),
		offset:   max(args.Offset.or(0), 0),
		query: sessions.Query{
			Agent: sessions.AgentID(strings.ToLower(strings.TrimSpace(args.AgentID))), Search: search,
			Label: label, Archived: args.Archived,
		},
	}
	if m := args.ActiveMinutes.or(0); m > 0 {
		l.query.Since = t.deps.now().Add(-time.Duration(m) * time.Minute)
	}
	r, err := l.result(ctx)
	if err != nil {
		return Result{}, err
	}
	return reply(r), nil
}

// Sessions gives the newest sessions that a caller sees, as sessions_list does: up to limit of those that have search in their key,
// name or label, whether there are more, and the mode of visibility.
func (d Deps) Sessions(ctx context.Context, c Caller, search string, limit int) (rows []Row, more bool, mode Visibility, err error) {
	if r := []rune(search); len(r) > maxFound {
		search = string(r[:maxFound])
	}
	l := listing{deps: d, caller: c, limit: min(limit, maxListed), query: sessions.Query{Search: search}}
	r, err := l.result(ctx)
	return r.Sessions, r.HasMore, Visibility(r.Visibility.Mode), err
}

// listing is one call of sessions_list.
type listing struct {
	deps     Deps
	caller   Caller
	kinds    []string
	limit    int
	messages int
	offset   int
	query    sessions.Query
	scanned  int // visible rows
}

func (l *listing) result(ctx context.Context) (listResult, error) {
	r := listResult{Sessions: []Row{}}
	room := maxRows - slack
	skip, used := l.offset, 0
	for s, err := range l.visible(ctx) {
		if err != nil {
			return r, err
		}
		if len(l.kinds) > 0 && !slices.Contains(l.kinds, l.deps.kind(s)) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if len(r.Sessions) == l.limit {
			r.HasMore = true
			break
		}
		row, err := l.row(ctx, s)
		if err != nil {
			return r, err
		}
		size := len(encode(row)) + 1
		for size > room && used == 0 && len(row.Messages) > 0 { // paging must get on: the first row gives up old messages
			row.Messages, r.Truncated = row.Messages[1:], "bytes"
			size = len(encode(row)) + 1
		}
		if size > room {
			r.Truncated = "bytes"
			if used == 0 { // a row that never fits is passed over
				used++
				continue
			}
			r.HasMore = true
			break
		}
		room -= size
		used++
		r.Sessions = append(r.Sessions, row)
	}
	if l.scanned > listScan && !r.HasMore {
		r.Truncated = "scan"
	}
	r.Count = len(r.Sessions)
	if r.HasMore {
		r.NextOffset = l.offset + used
	}
	r.Visibility = l.deps.visibility(l.caller)
	return r, nil
}

// visibility says which mode is in force for a caller and what it lets through. It depends on the configuration alone: whether something
// was left out is not told (contract L6, V4).
func (d Deps) visibility(c Caller) listVisibility {
	mode := d.mode(c)
	v := listVisibility{Mode: string(mode)}
	switch rules := d.Rules(); {
	case mode != VisibleAll:
		v.Note = fmt.Sprintf("Only sessions that tools.sessions.visibility=%s lets you see.", mode)
	case !rules.A2AEnabled || len(rules.A2AAllow) > 0:
		v.Note = "Of other agents only sessions that tools.agentToAgent lets you see."
	}
	return v
}

// visible gives the sessions that the query finds and the caller may see, newest first.
func (l *listing) visible(ctx context.Context) iter.Seq2[sessions.Session, error] {
	return func(yield func(sessions.Session, error) bool) {
		for s, err := range l.found(ctx) {
			if err == nil && (l.deps.reserved(s) || !l.deps.sees(ctx, l.caller, s)) {
				continue
			}
			if l.scanned++; l.scanned > listScan {
				return
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// found asks the store for no more than the caller may see: with 100,000 sessions one that sees three of them must not wait, and no
// row that it does not see counts (contract V4).
func (l *listing) found(ctx context.Context) iter.Seq2[sessions.Session, error] {
	own := l.caller.Session.Key
	q := l.query
	q.Agents = l.deps.agents(l.caller)
	switch l.deps.mode(l.caller) {
	case VisibleSelf:
		q.Keys = []sessions.Key{own}
	case VisibleTree:
		q.Agents = nil
		self, children := q, q
		self.Keys, children.SpawnedBy = []sessions.Key{own}, own
		return newest(l.pages(ctx, self), newest(l.deeper(ctx, func(s sessions.Session) bool { return s.SpawnedBy == own }), l.pages(ctx, children)))
	}
	if q.Agents == nil {
		return l.pages(ctx, q)
	}
	return newest(l.deeper(ctx, func(s sessions.Session) bool { return slices.Contains(q.Agents, s.Agent) }), l.pages(ctx, q))
}

// deeper gives what the caller spawned and no other query of the listing finds.
func (l *listing) deeper(ctx context.Context, listed func(sessions.Session) bool) iter.Seq2[sessions.Session, error] {
	q := l.query
	var err error
	if q.Keys, err = l.deps.elsewhere(ctx, l.caller, listed); err != nil {
		return func(yield func(sessions.Session, error) bool) { yield(sessions.Session{}, err) }
	}
	if len(q.Keys) == 0 {
		return func(func(sessions.Session, error) bool) {}
	}
	return l.pages(ctx, q)
}

func (l *listing) pages(ctx context.Context, q sessions.Query) iter.Seq2[sessions.Session, error] {
	return func(yield func(sessions.Session, error) bool) {
		q.Limit = min(max(l.limit+l.offset+1, listDefault), maxListed)
		for {
			rows, err := l.deps.Store.List(ctx, q)
			if err != nil {
				yield(sessions.Session{}, err)
				return
			}
			for _, s := range rows {
				if !yield(s, nil) {
					return
				}
			}
			if len(rows) < q.Limit {
				return
			}
			q.Offset += len(rows)
		}
	}
}

// newest merges two listings, both newest first.
func newest(a, b iter.Seq2[sessions.Session, error]) iter.Seq2[sessions.Session, error] {
	return func(yield func(sessions.Session, error) bool) {
		next, stop := iter.Pull2(a)
		defer stop()
		first, err, ok := next()
		for s, errB := range b {
			for ok && (err != nil || errB == nil && !s.Updated.After(first.Updated)) {
				if !yield(first, err) || err != nil {
					return
				}
				first, err, ok = next()
			}
			if !yield(s, errB) || errB != nil {
				return
			}
		}
		for ok && yield(first, err) && err == nil {
			first, err, ok = next()
		}
	}
}

func (l *listing) row(ctx context.Context, s sessions.Session) (Row, error) {
	show := l.deps.shownTo(l.caller)
	name := shown{redact: l.deps.Redact, block: 200}
	r := Row{
		Key: l.deps.display(l.caller, s), Kind: l.deps.kind(s), Channel: l.deps.channel(s), Label: name.text(s.Label),
		UpdatedAt: s.Updated.UnixMilli(), SessionID: s.ID, Model: l.deps.model(s), ContextTokens: s.Context, TotalTokens: s.Usage.Total(),
		ThinkingLevel: s.Settings.Thinking, VerboseLevel: s.Settings.Verbose, SystemSent: s.Context > 0 || s.Usage.Total() > 0,
		AbortedLastRun: s.Aborted, SendPolicy: string(s.Settings.SendPolicy), LastChannel: string(s.Last.Channel), LastTo: string(s.Last.Chat),
	}
	if r.Kind == "group" {
		if r.DisplayName = name.text(s.Title); r.DisplayName == "" {
			r.DisplayName = r.Channel + ":" + string(s.Last.Chat)
		}
	}
	if a := s.Last; !a.IsZero() {
		r.DeliveryContext = &DeliveryContext{Channel: string(a.Channel), To: string(a.Chat), AccountID: string(a.Account), ThreadID: string(a.Thread)}
	}
	if l.deps.TranscriptPath != nil {
		r.TranscriptPath = l.deps.TranscriptPath(s.Agent, s.ID)
	}
	if l.messages == 0 {
		return r, nil
	}
	msgs, err := l.deps.Store.Tail(ctx, s.ID, sessions.TailQuery{Limit: l.messages})
	if err != nil && !errors.Is(err, sessions.ErrNotFound) { // gone since it was listed: nothing to show
		return r, err
	}
	r.Messages = make([]sessions.Message, len(msgs))
	for i, m := range withoutRefused(msgs) {
		r.Messages[i] = show.message(m)
	}
	return r, nil
}
