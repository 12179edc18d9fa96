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
	retracting bool // it is being retracted, unless its answer comes after all
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

// startRetract marks a preview as being retracted; false when it is already, or there is none.
func (x *openPreviews) startRetract(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	p := x.open[run]
	if p == nil || p.retracting {
		return sessions.Preview{}, false
	}
	p.retracting = true
	return p.Preview, true
}

// retracting gives a preview that is still being retracted.
func (x *openPreviews) retracting(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.open[run]; p != nil && p.retracting {
		return p.Preview, true
	}
	return sessions.Preview{}, false
}

// keep gives a preview, which is not retracted any more.
func (x *openPreviews) keep(run sessions.RunID) (sessions.Preview, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.open[run]; p != nil {
		p.retracting = false
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
