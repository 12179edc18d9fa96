package whatsapp

import (
	"context"
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// mostRecent bounds what is remembered of messages: enough to answer, quote and change the newest ones,
// and to know who wrote what somebody wants to change.
const mostRecent = 2048

// past is what later calls need to know of a message.
type past struct {
	chat   types.JID // both as the stanza names them; empty for our own
	author types.JID
	text   string // its beginning, for a quote
	at     time.Time
	ours   bool // this login sent it
}

// recent remembers the newest messages. A restart forgets them: an answer goes out without its quote then.
type recent struct {
	mu    sync.Mutex
	known map[types.MessageID]past
	order []types.MessageID // a ring
	next  int
}

func newRecent() *recent { return &recent{known: map[types.MessageID]past{}} }

func (r *recent) note(id types.MessageID, p past) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.known[id]; !there {
		if len(r.order) < mostRecent {
			r.order = append(r.order, id)
		} else {
			delete(r.known, r.order[r.next])
			r.order[r.next] = id
			r.next = (r.next + 1) % mostRecent
		}
	}
	r.known[id] = p
}

func (r *recent) get(id types.MessageID) (past, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, ok := r.known[id]
	return p, ok
}

func (r *recent) ours(id types.MessageID) bool {
	p, ok := r.get(id)
	return ok && p.ours
}

const (
	mostTitles    = 4096
	titleAge      = 24 * time.Hour   // a rename is told by an event; this is for those that were missed
	titleRetry    = 10 * time.Minute // before a group that did not answer is asked again
	titlePatience = 5 * time.Second
)

// titles keeps the names of groups, asked for when they are first needed.
type titles struct {
	ask func(ctx context.Context, group types.JID) (string, error)

	mu    sync.Mutex
	known map[types.JID]title
}

type title struct {
	text  string
	until time.Time
}

func newTitles(ask func(context.Context, types.JID) (string, error)) *titles {
	return &titles{ask: ask, known: map[types.JID]title{}}
}

func (t *titles) of(ctx context.Context, group types.JID) string {
	t.mu.Lock()
	have, ok := t.known[group]
	t.mu.Unlock()
	now := time.Now()
	if ok && now.Before(have.until) {
		return have.text
	}
	ctx, cancel := context.WithTimeout(ctx, titlePatience)
	defer cancel()
	text, err := t.ask(ctx, group)
	if err != nil {
		t.keep(group, have.text, titleRetry)
		return have.text
	}
	t.keep(group, text, titleAge)
	return text
}

func (t *titles) set(group types.JID, text string) { t.keep(group, text, titleAge) }

func (t *titles) keep(group types.JID, text string, age time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, there := t.known[group]; !there && len(t.known) >= mostTitles {
		clear(t.known)
	}
	t.known[group] = title{text: text, until: time.Now().Add(age)}
}
