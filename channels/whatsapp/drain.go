package whatsapp

import (
	"context"
	"sync"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/socket"
)

// dials are the connections that a client makes, one at a time.
type dials struct {
	mu   sync.Mutex
	over chan struct{} // closed when the newest is made, or could not be
}

// connect makes a connection. It ends soon when ctx or the connection does, though the library waits 20 s for the server's first frame then, whatever
// happens meanwhile.
func (d *dials) connect(ctx context.Context, cli *whatsmeow.Client) error {
	over := make(chan struct{})
	d.mu.Lock()
	d.over = over
	d.mu.Unlock()
	defer close(over)
	return cli.ConnectContext(ctx)
}

// newest gives the end of the dial that is under way.
func (d *dials) newest() <-chan struct{} {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

// pump is the goroutine of the library that reads a connection. It hands over each frame without a way out, and whoever took them is gone
// when the connection is closed from this side: a frame that comes at that moment would keep it for ever.
type pump struct {
	dials *dials
	over  chan struct{}
}

// note is called when the goroutine begins and when it ends, both times by itself.
func (p *pump) note(args []any) {
	if len(args) != 1 {
		return
	}
	fs, ok := args[0].(*socket.FrameSocket)
	switch {
	case !ok:
	case p.over == nil:
		p.over = make(chan struct{})
		go drain(fs, p.over, p.dials.newest())
	default:
		close(p.over)
		p.over = nil
	}
}

// drain takes the frames of a connection that has ended, whoever ended it, until its reader is over. Who waits for the first frame then is told that it
// is empty.
func drain(fs *socket.FrameSocket, over, dialed <-chan struct{}) {
	select {
	case <-fs.Context().Done():
	case <-over:
		rouse(fs, dialed)
		return
	}
	for {
		select {
		case <-fs.Frames:
		case <-over:
			rouse(fs, dialed)
			return
		}
	}
}

func rouse(fs *socket.FrameSocket, dialed <-chan struct{}) {
	if dialed == nil {
		return
	}
	select {
	case <-dialed:
		return
	default:
	}
	select {
	case fs.Frames <- nil:
	case <-dialed:
	}
}
