package delivery

import (
	"context"

	"parley/channels"
	"parley/router/settings"
)

// Relocate gives the deliveries that wait for a chat the chat's new id.
func (g *Dispatcher) Relocate(from, to channels.Address) {
	if a := g.accounts.get(settings.Ref(from)); a != nil {
		g.queues.move(a, from, to)
	}
}

// WaitLanded waits until the calls in flight have ended, if an account of a channel that is no longer configured has anything to send. Such an
// account has no channel, so no call begins, and until the store knows its new name the deliveries that wait keep their order.
func (g *Dispatcher) WaitLanded(ctx context.Context, kind channels.Kind, configured []channels.AccountID) error {
	if !g.queues.hasWork(g.accounts.abandoned(kind, configured)) {
		return nil
	}
	return g.WaitAllInFlight(ctx)
}

// AccountRenamed sends the deliveries that wait for an account by the one that took its place. A call that is in flight all the same ends first.
func (g *Dispatcher) AccountRenamed(was settings.AccountRef) {
	g.previews.open.move(g.settings().Moved.Called)
	life := g.life.context()
	for _, q := range g.queues.removeAccount(was) {
		for _, d := range g.queues.release(q) {
			g.lookAgain(life, d.ID)
		}
	}
}
