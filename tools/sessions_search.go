package tools

import (
	"context"
	_ "embed"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"parley/sessions"
)

//go:embed sessions_search.md
var sessionsSearchText string

// The bounds of sessions_search.
const (
	searchDefault = 10
	maxSearch     = 25
	searchQuery   = 4096      // characters
	searchBytes   = 32 * 1024 // of a result
	searchScan    = 2000      // hits looked at, those that an offset leaves out included
	searchPage    = 200       // hits asked for at a time
)

type searchArgs struct {
	Query      string  `json:"query" jsonschema:"words; messages that have all of them are found"`
	SessionKey string  `json:"sessionKey,omitempty" jsonschema:"only this session: key or session id"`
	Limit      integer `json:"limit,omitzero" jsonschema:"default 10, at most 25"`
	Offset     integer `json:"offset,omitzero" jsonschema:"nextOffset of the page before"`
}

type searchResult struct {
	Count      int            `json:"count"`
	Hits       []searchHit    `json:"hits"` // newest first
	HasMore    bool           `json:"hasMore"`
	NextOffset int            `json:"nextOffset,omitempty"`
	Truncated  bool           `json:"truncated,omitempty"` // the result was full, or there was too much to look at
	Visibility listVisibility `json:"visibility"`
}

type searchHit struct {
	SessionKey string          `json:"sessionKey"`
	SessionID  sessions.ID     `json:"sessionId"` // of the transcript: a session that was reset has had others
	MessageID  string          `json:"messageId"`
	Role       sessions.Role   `json:"role"`
	Timestamp  sessions.Millis `json:"timestamp"`
	Snippet    string          `json:"snippet"`
}

type sessionsSearch struct{ deps Deps }

// SessionsSearch is the tool sessions_search: messages by their words, in the sessions that the caller sees (contract V4).
func SessionsSearch(d Deps) Tool { return sessionsSearch{d} }

var sessionsSearchSchema = schemaOf[searchArgs](nil)

func (sessionsSearch) Spec() Spec {
	return Spec{Name: "sessions_search", Description: sessionsSearchText, Schema: sessionsSearchSchema}
}

func (t sessionsSearch) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[searchArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	query := strings.TrimSpace(args.Query)
	if query == "" {
		return mistake("query is required: words to look for").result(), nil
	}
	if n := utf8.RuneCountInString(query); n > searchQuery {
		return mistake("query has %d characters; %d are allowed", n, searchQuery).result(), nil
	}
	s := search{deps: t.deps, caller: c.Caller, limit: args.Limit.bound(searchDefault, maxSearch), offset: max(args.Offset.or(0), 0),
		seen: map[sessions.Key]bool{}, show: shown{redact: t.deps.Redact, block: maxBlock}}
	var err error
	if strings.TrimSpace(args.SessionKey) == "" {
		err = s.scope(ctx)
	} else {
		var one sessions.Session
		if one, bad, err = t.deps.find(ctx, c.Caller, args.SessionKey, "search"); bad != nil {
			return bad.result(), nil
		}
		s.query.Keys = []sessions.Key{one.Key}
	}
	if err != nil {
		return Result{}, err
	}
	s.query.Text = query
	r, err := s.result(ctx)
	if err != nil {
		return Result{}, err
	}
	return reply(r), nil
}

// scope turns the rule of visibility into what the store is asked: no more than the caller may see, so that what is hidden costs it
// nothing.
func (s *search) scope(ctx context.Context) error {
	own := s.caller.Session
	switch s.deps.mode(s.caller) {
	case VisibleSelf:
		s.query.Keys = []sessions.Key{own.Key}
	case VisibleTree:
		s.query.Keys = []sessions.Key{own.Key}
		below, all, err := lineage{s.deps.Store}.descendants(ctx, own.Key)
		if err != nil {
			return err
		}
		s.cut = s.cut || !all
		for _, k := range below {
			s.query.Keys = append(s.query.Keys, k.Key)
		}
	default:
		var err error
		if s.query.Agents = s.deps.agents(s.caller); s.query.Agents != nil {
			s.query.Also, err = s.deps.elsewhere(ctx, s.caller, func(x sessions.Session) bool { return slices.Contains(s.query.Agents, x.Agent) })
		}
		return err
	}
	return nil
}

// search is one call of sessions_search.
type search struct {
	deps   Deps
	caller Caller
	query  sessions.SearchQuery
	limit  int
	offset int // hits that the caller sees
	seen   map[sessions.Key]bool
	cut    bool // not all that is visible was looked at
	show   shown
}

func (s *search) result(ctx context.Context) (searchResult, error) {
	r := searchResult{Hits: []searchHit{}}
	room, skip := searchBytes-slack, s.offset
	s.query.Limit = min(s.offset+s.limit+1, searchPage)
	for seen := 0; seen <= searchScan && !r.HasMore; { // only hits that the caller sees count
		hits, err := s.deps.Store.Search(ctx, s.query)
		if err != nil {
			return r, err
		}
		for _, h := range hits {
			ok, err := s.sees(ctx, h.Key)
			if err != nil {
				return r, err
			}
			if !ok {
				continue
			}
			if seen++; seen > searchScan {
				s.cut = true
				break
			}
			if skip > 0 {
				skip--
				continue
			}
			hit := s.hit(h)
			size := len(encode(hit)) + 1
			if len(r.Hits) == s.limit || size > room {
				s.cut = s.cut || len(r.Hits) < s.limit
				r.HasMore = true
				break
			}
			room -= size
			r.Hits = append(r.Hits, hit)
		}
		if len(hits) < s.query.Limit {
			break
		}
		s.query.Offset, s.query.Limit = s.query.Offset+len(hits), searchPage
	}
	r.Truncated = s.cut
	r.Count, r.Visibility = len(r.Hits), s.deps.visibility(s.caller)
	if r.HasMore {
		r.NextOffset = s.offset + r.Count
	}
	return r, nil
}

// sees decides about the session of a hit. One that is gone shows nothing.
func (s *search) sees(ctx context.Context, key sessions.Key) (bool, error) {
	if see, ok := s.seen[key]; ok {
		return see, nil
	}
	x, err := s.deps.Store.Get(ctx, key)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		return false, err
	}
	s.seen[key] = false
	if err == nil && !s.deps.reserved(x) {
		s.seen[key] = s.deps.sees(ctx, s.caller, x)
	}
	return s.seen[key], nil
}

func (s *search) hit(h sessions.Hit) searchHit {
	text := h.Snippet
	if s.show.redact != nil {
		text = wholeWords(text)
	}
	return searchHit{SessionKey: s.deps.name(s.caller, h.Key), SessionID: h.Session, MessageID: h.Message, Role: h.Role, Timestamp: sessions.Millis{Time: h.Time}, Snippet: s.show.text(text)}
}

// wholeWords takes the pieces of words off the ends of a snippet that was cut there: a piece of a secret cannot be known as one
// (contract H5).
func wholeWords(snippet string) string {
	const cut = "…"
	secret := func(r rune) bool { return r > ' ' && r < 0x7f }
	if rest, ok := strings.CutPrefix(snippet, cut); ok {
		snippet = cut + strings.TrimLeftFunc(rest, secret)
	}
	if rest, ok := strings.CutSuffix(snippet, cut); ok {
		snippet = strings.TrimRightFunc(rest, secret) + cut
	}
	return snippet
}
