package whatsapp

import "go.mau.fi/whatsmeow/socket"

// pump is the goroutine of the library that reads a connection. It hands over each frame without a way out, and whoever took them is gone
// when the connection is closed from this side: a frame that comes at that moment would keep it for ever.
type pump struct{ over chan struct{} }

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
		go drain(fs, p.over)
	default:
		close(p.over)
		p.over = nil
	}
}

// drain takes the frames of a connection that has ended, whoever ended it, until its reader is over.
func drain(fs *socket.FrameSocket, over <-chan struct{}) {
	select {
	case <-fs.Context().Done():
	case <-over:
		return
	}
	for {
		select {
		case <-fs.Frames:
		case <-over:
			return
		}
	}
}
