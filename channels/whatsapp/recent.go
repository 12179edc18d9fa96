package whatsapp

import (
	"sync"
	"time"

	"go.mau.fi/whatsmeow/types"

	"parley/channels"
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
	files  []channels.Media
	whole  *wholeAlbum // that it is a part of
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

// files gives those of a message, or of the album that it is the head of.
func (r *recent) files(id types.MessageID) []channels.Media {
	p, _ := r.get(id)
	return p.files
}

// album notes that messages are parts of an album, and what its head stands for.
func (r *recent) album(head types.MessageID, whole *wholeAlbum, in channels.Inbound) {
	r.mu.Lock()
	for _, id := range whole.parts {
		if p, ok := r.known[string(id)]; ok {
			p.whole = whole
			r.known[string(id)] = p
		}
	}
	last := r.known[string(whole.id)]
	r.mu.Unlock()
	r.note(head, past{chat: last.chat, author: last.author, text: last.text, at: in.Time, ours: last.ours, files: in.Media})
}

// wholeOf gives the album that a message is a part of; nil = none.
func (r *recent) wholeOf(id types.MessageID) *wholeAlbum {
	p, _ := r.get(id)
	return p.whole
}
