package whatsapp

import (
	"context"
	"log/slog"
	"time"
)

// connectionGate keeps the connections of a client apart: it is held from before one is made until the library is done with what it brought.
// After an event was taken the library writes variables that the next connection's stanzas use as well, without a lock.
type connectionGate chan struct{}

// tailPatience is for what the library still does with the last stanza of a connection.
const tailPatience = 10 * time.Second

func newTail() connectionGate { return make(connectionGate, 1) }

// settle waits for the end of the connection before.
func (t connectionGate) settle(ctx context.Context, log *slog.Logger) {
	impatient := time.NewTimer(tailPatience)
	defer impatient.Stop()
	select {
	case t <- struct{}{}:
	case <-impatient.C:
		log.WarnContext(ctx, "WhatsApp library still uses an ended connection", "hint", "the next connection starts beside it")
	case <-ctx.Done():
	}
}

// over is called when the library is done with what a connection brought, and for one that could not be made.
func (t connectionGate) over() {
	select {
	case <-t:
	default:
	}
}
