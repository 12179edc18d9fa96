package whatsapp

import (
	"context"
	"sync"

	waBinary "go.mau.fi/whatsmeow/binary"

	"parley/channels"
)

// debt is the acknowledgement of an event that the inbox took. The library writes it after its handler has returned.
type debt struct {
	id   string
	paid func()
	done <-chan struct{}
}

// owe notes that the server is to hear of a message. It is called under the turn, so that the end of a Run sees it.
func (l *link) owe(id channels.MessageID) {
	done := make(chan struct{})
	l.owed.Store(&debt{id: string(id), done: done, paid: sync.OnceFunc(func() { close(done) })})
}

// leaves is called for each stanza before it is written.
func (l *link) leaves(n *waBinary.Node) {
	if l.stays(n) {
		return
	}
	l.out.left.note(n)
	d := l.owed.Load()
	if d == nil || n.Attrs["id"] != d.id || n.Attrs["type"] == "read" {
		return
	}
	if n.Tag == "receipt" || n.Tag == "ack" {
		d.paid()
	}
}

// farewell asks the server to send nothing more and waits for its answer: what was acknowledged before has arrived then and does not
// come again.
func (l *link) farewell() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.offering), closePatience)
	defer cancel()
	if d := l.owed.Load(); d != nil && l.cli.IsConnected() {
		select {
		case <-d.done:
		case <-ctx.Done():
		}
	}
	answered := make(chan struct{})
	go func() { // the library may wait longer than it is told, for another connection
		defer close(answered)
		_ = l.cli.SetPassive(ctx, true)
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
}
