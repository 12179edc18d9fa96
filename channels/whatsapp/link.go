package whatsapp

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"parley/channels"
)

// link is one Run, with the client and everything that lives as long.
type link struct {
	c      *Channel
	cli    *whatsmeow.Client
	keys   *keyring
	me     identity
	groups *groups
	timers *timers
	typing *typing
	intake *intake
	albums *gatherer
	out    *outbox
	owed   atomic.Pointer[debt]

	offering     context.Context //nolint:containedctx // the library's callbacks have none; it outlives Run's by the event under way
	stopOffering context.CancelFunc
	ended        chan ending
	doubt        suspicion
	ready        chan struct{}
	tail         connectionGate
	dials        dials
	closing      atomic.Bool
	loggedIn     atomic.Bool // the server took the login of this connection
	finished     atomic.Bool

	turn      chan struct{} // held by the one event that is offered; it guards what follows
	unknown   *strangers
	offline   bool // the server sends what waited
	connected time.Time

	arrivals   arrivals
	background sync.WaitGroup
}

// begin readies a link for a new connection: the server sends everything again that was not acknowledged. It waits for the event under
// way, but not longer than Run's context says: the grace for that event begins with its end.
func (l *link) begin(ctx context.Context) {
	select {
	case <-l.ended:
	default:
	}
	select {
	case <-l.ready:
	default:
	}
	l.intake.stopRetry()
	l.loggedIn.Store(false)
	select {
	case l.turn <- struct{}{}:
		defer l.give()
	case <-ctx.Done():
		return
	}
	l.offline, l.intake.heldBack, l.connected = false, false, time.Now()
	l.arrivals.clear()
	l.albums.forgetGestures()
	l.keys.trouble.failed.Store(false)
}

// take waits for its turn. false: the Run is over.
func (l *link) take() bool {
	if l.closing.Load() {
		return false
	}
	select {
	case l.turn <- struct{}{}:
		if !l.closing.Load() {
			return true
		}
		l.give()
	case <-l.offering.Done():
	}
	return false
}

func (l *link) give() { <-l.turn }

// seen is called for everything that the server sends.
func (l *link) seen(n *waBinary.Node) {
	l.arrivals.note(n)
	if n.Tag == "success" {
		l.loggedIn.Store(true)
	}
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	if s := l.c.health.State; s == channels.Connected || s == channels.Banned {
		l.c.health.LastSeen = time.Now()
	}
}

// end reports that the connection is of no use any more; the first report counts.
func (l *link) end(e ending) {
	select {
	case l.ended <- e:
	default:
	}
}

// handle takes the events of the library. false: the stanza must not be acknowledged.
func (l *link) handle(evt any) bool {
	if l.keys.trouble.failed.Load() && isForRun(evt) {
		return false
	}
	switch e := evt.(type) {
	case *events.Message:
		return l.message(e)
	case *events.UndecryptableMessage:
		l.undecryptable(e)
	case *events.GroupInfo:
		return l.membership(e)
	case *events.JoinedGroup:
		return l.joined(e)
	case *events.OfflineSyncPreview:
		l.setOffline(e.Total > 0)
	case *events.OfflineSyncCompleted:
		l.setOffline(false)
	case *events.NotifyAccountReachoutTimelock:
		l.c.timelock(l.offering, e)
	case *events.HistorySync:
		l.learnHistory(e.Data)
	default:
		l.connectionEvent(evt)
	}
	return true
}

func (l *link) setOffline(v bool) {
	if l.take() {
		if l.offline = v; !v {
			l.intake.allCame()
		}
		l.give()
	}
}

// connectionEvent takes the events that are about the connection and the account.
func (l *link) connectionEvent(evt any) {
	switch e := evt.(type) {
	case *events.Connected:
		select {
		case l.ready <- struct{}{}:
		default:
		}
	case *events.Disconnected:
		if !l.cli.IsConnected() { // it may be the news of an older connection
			l.end(ending{detail: "the connection broke"})
		}
	case *events.KeepAliveTimeout:
		if e.ErrorCount > 1 {
			l.end(ending{detail: "WhatsApp does not answer"})
		}
	case *events.ManualLoginReconnect:
		l.end(ending{atOnce: true, detail: "WhatsApp asked to connect again"})
	case *events.StreamError:
		l.end(ending{detail: fmt.Sprintf("WhatsApp closed the connection with error %s", e.Code)})
	case *events.PushNameSetting:
		l.c.named(e.Action.GetName(), l.me.pn.User)
	default:
		if end, ok := l.c.verdict(evt); ok {
			l.end(end)
		}
	}
}

// announce tells the server the account's name, which it shows to people, and that nobody looks at the screen: otherwise the phone
// would keep its notifications back.
func (l *link) announce(ctx context.Context) {
	go func() {
		if l.cli.SendPresence(ctx, types.PresenceAvailable) == nil {
			_ = l.cli.SendPresence(ctx, types.PresenceUnavailable) // the next connection says it again
		}
	}()
}

// departures knows which of the messages under way have left.
type departures struct {
	mu  sync.Mutex
	ids map[types.MessageID]bool // false = on its way out
}

func (d *departures) expect(id types.MessageID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ids == nil {
		d.ids = map[types.MessageID]bool{}
	}
	d.ids[id] = false
}

// note is called for each stanza before it is written.
func (d *departures) note(n *waBinary.Node) {
	id, ok := n.Attrs["id"].(string)
	if n.Tag != "message" || !ok {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, expected := d.ids[id]; expected {
		d.ids[id] = true
	}
}

func (d *departures) forget(id types.MessageID) (left bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	left = d.ids[id]
	delete(d.ids, id)
	return left
}
