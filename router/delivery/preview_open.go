package delivery

import (
	"sync"

	"parley/channels"
	"parley/sessions"
)

// openPreviews are those that the store holds. Its mutex is a leaf.
type openPreviews struct {
	mu   sync.Mutex
	open map[sessions.RunID]*openPreview
}

type openPreview struct {
	sessions.Preview
	leaving bool // somebody takes it back, as long as its answer does not come after all
}

func (x *openPreviews) get(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.open[run]; p != nil {
		return p.Preview, true
	}
	return sessions.Preview{}, false
}

func (x *openPreviews) put(p sessions.Preview) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open == nil {
		x.open = make(map[sessions.RunID]*openPreview)
	}
	if was := x.open[p.Run]; was != nil {
		was.Preview = p
		return
	}
	x.open[p.Run] = &openPreview{Preview: p}
}

func (x *openPreviews) drop(run sessions.RunID) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.open, run)
}

// leave says that a preview is to be taken back; false when somebody does already, or there is none.
func (x *openPreviews) leave(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.open[run]
	if p == nil || p.leaving {
		return sessions.Preview{}, false
	}
	p.leaving = true
	return p.Preview, true
}

// leaves gives a preview that is still to be taken back.
func (x *openPreviews) leaves(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.open[run]; p != nil && p.leaving {
		return p.Preview, true
	}
	return sessions.Preview{}, false
}

// stay gives a preview that is not taken back, now.
func (x *openPreviews) stay(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.open[run]; p != nil {
		p.leaving = false
		return p.Preview, true
	}
	return sessions.Preview{}, false
}

// move gives the chats of all previews their new addresses.
func (x *openPreviews) move(to func(channels.Address) channels.Address) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.open {
		p.To = to(p.To)
	}
}

func (x *openPreviews) all() (out []sessions.Preview) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, p := range x.open {
		out = append(out, p.Preview)
	}
	return out
}
