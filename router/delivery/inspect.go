package delivery

import (
	"context"
	"sync"

	"parley/channels"
	"parley/router/filestore"
	"parley/router/settings"
	"parley/sessions"
)

// What the tests of package router look at, until they are tests of this package.

// Ask asks a platform whether a part has arrived.
func (g *Dispatcher) Ask(ctx context.Context, rec channels.Reconciler, d sessions.Delivery, out channels.Outbound) (channels.Receipt, bool, error) {
	return g.ask(ctx, rec, d, out)
}

// Booked are the reservations.
func (g *Dispatcher) Booked() map[sessions.DeliveryID]*Reservation { return g.reserved }

// Changed is told of each state of each delivery.
func (g *Dispatcher) Changed() *func(sessions.Delivery) { return &g.changed }

// Flights are the calls in flight.
func (g *Dispatcher) Flights() *inFlight { return &g.inFlight } //nolint:revive // for tests

// Hold keeps a chat for a preview.
func (g *Dispatcher) Hold(o *account, chat channels.ChatID) (func(), bool) {
	return g.lockChat(o, chat)
}

// Known are the deliveries in memory.
func (g *Dispatcher) Known() map[sessions.DeliveryID]bool { return g.known }

// Life is the context of all queues.
func (g *Dispatcher) Life() *context.Context { return &g.life }

// Most bounds the deliveries in memory.
func (g *Dispatcher) Most() *int { return &g.maxResident }

// Mu guards what the others give.
func (g *Dispatcher) Mu() *sync.Mutex { return &g.mu }

// Outbox has the files of deliveries.
func (g *Dispatcher) Outbox() *filestore.Outbox { return g.outbox }

// Outlet finds or makes an account.
func (g *Dispatcher) Outlet(ref settings.AccountRef) *account { return g.accountOf(ref) } //nolint:revive // for tests

// Outlets are the accounts.
func (g *Dispatcher) Outlets() map[settings.AccountRef]*account { return g.accounts } //nolint:revive // for tests

// Overflow reports whether the store may hold more.
func (g *Dispatcher) Overflow() *bool { return &g.spilled }

// Previews are those that chats show.
func (g *Dispatcher) Previews() *previews { return &g.previews } //nolint:revive // for tests

// Stream says how a chat sees a run's answer grow.
func (g *Dispatcher) Stream(run sessions.Run) channels.Stream { return g.stream(run) }

// Keys are the sessions that have calls in flight.
func (f *inFlight) Keys() []sessions.Key { return f.keys() }

// Held are the chats that a preview keeps.
func (o *account) Held() map[channels.ChatID][]chan struct{} { return o.locked }

// Queues are the queues of the chats.
func (o *account) Queues() map[channels.ChatID]*queue { return o.queues }

// All lists them.
func (x *previews) All() []sessions.Preview { return x.all() }

// The bounds that tests name.
const (
	FetcherWait    = fetcherTimeout
	MaxAbsent      = maxAbsent
	MostBooked     = maxReservations
	PreviewDirect  = previewDirect
	PreviewLeast   = previewLeast
	PreviewSeveral = previewSeveral
	PreviewTimeout = previewTimeout
	RemoveTries    = removeTries
	SendGrace      = sendGrace
)
