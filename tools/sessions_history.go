package tools

import (
	"context"
	_ "embed"
	"errors"
	"slices"

	"parley/sessions"
)

//go:embed sessions_history.md
var sessionsHistoryText string

// The bounds of sessions_history (contract H1).
const (
	historyDefault     = 200
	maxHistoryMessages = 1000
	// historyMargin is how much more is read on both ends, so that a pair that straddles an end is seen as one, and a notice that marks what
	// stands before it is seen.
	historyMargin = 64
)

type historyArgs struct {
	SessionKey   string  `json:"sessionKey" jsonschema:"key or session id; main is your main session"`
	Limit        integer `json:"limit,omitzero" jsonschema:"messages, newest kept; default 200, at most 1000"`
	IncludeTools bool    `json:"includeTools,omitempty" jsonschema:"tool results too"`
	Offset       integer `json:"offset,omitzero" jsonschema:"newest messages to skip: nextOffset of the page before"`
}

type historyResult struct {
	SessionKey string             `json:"sessionKey"`
	SessionID  sessions.ID        `json:"sessionId"`
	Messages   []sessions.Message `json:"messages"` // oldest first
	HasMore    bool               `json:"hasMore"`  // there are older ones
	NextOffset int                `json:"nextOffset,omitempty"`
	Truncated  bool               `json:"truncated,omitempty"`        // fewer than asked for: the result was full
	Dropped    int                `json:"droppedMessages,omitempty"`  // messages left out or replaced by a short note
	Cut        bool               `json:"contentTruncated,omitempty"` // a block was cut
	Redacted   bool               `json:"contentRedacted,omitempty"`  // a secret was taken out
}

type sessionsHistory struct{ deps Deps }

// SessionsHistory is the tool sessions_history (contract H1–H5).
func SessionsHistory(d Deps) Tool { return sessionsHistory{d} }

var sessionsHistorySchema = schemaOf[historyArgs](nil)

func (sessionsHistory) Spec() Spec {
	return Spec{Name: "sessions_history", Description: sessionsHistoryText, Schema: sessionsHistorySchema}
}

func (t sessionsHistory) Call(ctx context.Context, c Call) (Result, error) {
	args, bad := decode[historyArgs](c.Args)
	if bad != nil {
		return bad.result(), nil
	}
	s, bad, err := t.deps.find(ctx, c.Caller, args.SessionKey, "history")
	if err != nil || bad != nil {
		return bad.orError(err)
	}
	r, err := t.deps.history(ctx, c.Caller, s, reading{args.Limit.bound(historyDefault, maxHistoryMessages), max(args.Offset.or(0), 0), args.IncludeTools})
	if errors.Is(err, sessions.ErrNotFound) { // it went away since it was found
		return unknownSession(args.SessionKey).result(), nil
	}
	if err != nil {
		return Result{}, err
	}
	return reply(r), nil
}

// reading says which part of a transcript is wanted.
type reading struct {
	limit, offset int
	tools         bool
}

// history reads a transcript as it is shown to a model.
func (d Deps) history(ctx context.Context, c Caller, s sessions.Session, want reading) (historyResult, error) {
	margin := 0
	if want.tools {
		margin = historyMargin
	}
	skip := max(want.offset-historyMargin, 0) // where the read starts, counted from the newest
	msgs, err := d.Store.Tail(ctx, s.ID, sessions.TailQuery{Limit: (want.offset - skip) + want.limit + 1 + margin, Offset: skip, IncludeTool: want.tools})
	if err != nil {
		return historyResult{}, err
	}
	if s.Key != c.Session.Key {
		msgs = withoutThinking(msgs)
	}
	p := page{msgs: withoutRefused(msgs), skip: want.offset - skip, limit: want.limit, pairs: want.tools, show: d.shownTo(c)}
	r := historyResult{SessionKey: d.display(c, s), SessionID: s.ID}
	p.fill(&r, want.offset)
	return r, nil
}

// page takes the newest messages that fit out of a piece of a transcript.
type page struct {
	msgs  []sessions.Message // oldest first
	skip  int                // newest messages of msgs to leave out
	limit int                // most messages
	pairs bool               // calls and results stay together
	show  shown
}

// slack is kept free for what surrounds the messages in a result.
const slack = 1024

func (p *page) fill(r *historyResult, offset int) {
	end := len(p.msgs) - min(p.skip, len(p.msgs)) // exclusive: where the page starts, going back in time
	r.Messages = []sessions.Message{}
	room := maxHistory - slack
	last := end // index of the oldest message that is used up
	for queue := p.units(end); len(queue) > 0; {
		u := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		first, left := len(r.Messages) == 0, p.limit-len(r.Messages)
		if left == 0 {
			break
		}
		if len(u.msgs) > left && !first {
			break // what would go over the limit waits for the next page
		}
		msgs, size := p.fit(u, room, first)
		if size > room && !first {
			r.Truncated = true
			break
		}
		if len(u.msgs) > left || size > room { // it never fits as a whole
			queue = append(queue, u.split()...)
			continue
		}
		room -= size
		last = u.from
		r.Dropped += u.to - u.from - len(msgs) + u.notes
		for _, m := range slices.Backward(msgs) {
			r.Messages = append(r.Messages, m)
		}
	}
	slices.Reverse(r.Messages)
	r.Cut, r.Redacted = p.show.cut, p.show.redacted
	if r.HasMore = last > 0; r.HasMore {
		r.NextOffset = offset + end - last
	}
}

// units gives what the messages before end consist of, oldest first. A unit that end cuts through is taken apart.
func (p *page) units(end int) []unit {
	var all []unit
	if p.pairs {
		all = units(p.msgs)
	} else {
		for i, m := range p.msgs {
			all = append(all, unit{from: i, to: i + 1, msgs: []sessions.Message{m}, at: []int{i}})
		}
	}
	i := slices.IndexFunc(all, func(u unit) bool { return u.to > end })
	if i < 0 {
		return all
	}
	cut := slices.DeleteFunc(all[i].split(), func(u unit) bool { return u.to > end })
	return append(all[:i:i], cut...)
}

// fit gives a unit as it is shown and its size in bytes. The first unit of a page must get in, so that paging gets on: with
// shorter blocks when need be, and a single message as a short note when nothing else helps.
func (p *page) fit(u unit, room int, first bool) (msgs []sessions.Message, size int) {
	for block := p.show.block; ; block /= 4 {
		show := p.show
		show.block, show.cut, show.redacted = block, false, false
		msgs, size = nil, 0
		for _, m := range u.msgs {
			m = show.message(m)
			msgs, size = append(msgs, m), size+len(encode(m))+1
		}
		if size <= room {
			p.show.cut, p.show.redacted = p.show.cut || show.cut, p.show.redacted || show.redacted
			return msgs, size
		}
		if !first || len(u.msgs) > 1 && block < 1000 {
			return msgs, size
		}
		if block < 100 {
			p.show.cut = true
			m := p.show.message(note(u.msgs[0]))
			return []sessions.Message{m}, len(encode(m)) + 1
		}
	}
}
