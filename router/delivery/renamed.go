package delivery

import (
	"context"
	"slices"

	"parley/channels"
	"parley/router/settings"
)

// WaitLanded waits until what is on its way by accounts of a channel that the configuration has no more has landed; nothing if none has anything
// to send. They have no channel any more, so nothing new begins, and until the store knows of a new name what waits keeps its order.
func (g *Dispatcher) WaitLanded(ctx context.Context, kind channels.Kind, configured []channels.AccountID) error {
	g.mu.Lock()
	busy := false
	for ref, o := range g.accounts {
		busy = busy || ref.Channel == kind && o.ch == nil && len(o.queues) > 0 && !slices.Contains(configured, ref.Account)
	}
	g.mu.Unlock()
	if !busy {
		return nil
	}
	return g.WaitAllInFlight(ctx)
}

// AccountRenamed lets what waits for an account leave by the one that took its place. A call that is under way all the same ends first.
func (g *Dispatcher) AccountRenamed(was settings.AccountRef) {
	g.previews.move(g.settings().Moved.Called)
	g.mu.Lock()
	life, o := g.life, g.accounts[was]
	var ended []*queue
	if o != nil {
		delete(g.accounts, was)
		close(o.ready)
		o.ready = make(chan struct{})
		for _, q := range o.queues {
			q.end()
			ended = append(ended, q)
		}
	}
	g.mu.Unlock()
	for _, q := range ended {
		<-q.done
		g.mu.Lock()
		rest := q.waiting
		for _, d := range rest {
			delete(g.known, d.ID)
		}
		g.mu.Unlock()
		for _, d := range rest {
			g.lookAgain(life, d.ID)
		}
	}
}
