package delivery

import (
	"context"

	"parley/channels"
	"parley/router/settings"
)

// Relocate gives what waits for a chat the chat's new id.
func (g *Dispatcher) Relocate(from, to channels.Address) {
	if a := g.accounts.get(settings.Ref(from)); a != nil {
		g.queues.move(a, from, to)
	}
}

// WaitLanded waits until the calls in flight have ended, if an account of a channel that is no longer configured has anything to send. They have no channel any more, so nothing new begins, and until the store knows of a new name what waits keeps its order.
func (g *Dispatcher) WaitLanded(ctx context.Context, kind channels.Kind, configured []channels.AccountID) error {
	if !g.queues.hasWork(g.accounts.abandoned(kind, configured)) {
		return nil
	}
	return g.WaitAllInFlight(ctx)
}

// AccountRenamed lets what waits for an account leave by the one that took its place. A call that is under way all the same ends first.
func (g *Dispatcher) AccountRenamed(was settings.AccountRef) {
	g.previews.open.move(g.settings().Moved.Called)
	life := g.life.context()
	for _, q := range g.queues.removeAccount(was) {
		for _, d := range g.queues.release(q) {
			g.lookAgain(life, d.ID)
		}
	}
}
