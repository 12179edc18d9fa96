package tools

import (
	"context"
	"errors"
	"slices"
	"sync"

	"parley/sessions"
)

// waitGraph knows which session waits for which. It is kept in memory: a call that is made again after a restart waits again.
type waitGraph struct {
	mu   sync.Mutex
	open []route
}

// begin notes that a session waits for another one, until done is called. When that one waits for the first, also by way of others, it
// gives the circle, and notes nothing (contract S18).
func (w *waitGraph) begin(from, to sessions.Key) (circle []sessions.Key, done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if path := w.path(to, from, nil); path != nil {
		return append([]sessions.Key{from}, path...), func() {}
	}
	r := route{from, to}
	w.open = append(w.open, r)
	return nil, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		i := slices.Index(w.open, r)
		w.open = slices.Delete(w.open, i, i+1)
	}
}

// path gives the sessions from one to another by who waits for whom; nil = there is none.
func (w *waitGraph) path(from, to sessions.Key, seen []sessions.Key) []sessions.Key {
	if seen = append(seen, from); from == to {
		return seen
	}
	for _, r := range w.open {
		if r.from == from && !slices.Contains(seen, r.to) {
			if p := w.path(r.to, to, slices.Clip(seen)); p != nil {
				return p
			}
		}
	}
	return nil
}

// target is find. A configured agent that the caller sees can be asked before anybody has written to it: the send makes its main session
// (contract S17).
func (t sessionsSend) target(ctx context.Context, c Caller, ref string) (sessions.Session, *problem, error) {
	s, bad, err := t.deps.find(ctx, c, ref, "send")
	if err != nil || bad == nil {
		return s, bad, err
	}
	r, wrong := sessions.Resolve(ref, c.Session.Agent, t.deps.Scope)
	id := r.Key.Agent()
	if wrong != nil || r.ID != "" || r.Key != sessions.MainKey(id) || !slices.ContainsFunc(t.deps.Host.Agents(), func(a AgentInfo) bool { return a.ID == id }) {
		return s, bad, nil
	}
	first := sessions.Session{Key: r.Key, Agent: id}
	if ok, _ := t.deps.Rules().See(t.deps.viewer(c), first); !ok || t.deps.reserved(first) {
		return s, bad, nil
	}
	if _, err := t.deps.Store.Get(ctx, r.Key); !errors.Is(err, sessions.ErrNotFound) {
		return s, bad, err
	}
	return first, nil, nil
}
