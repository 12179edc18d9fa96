package discordtest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// NewPiped makes a server whose connections are pipes inside of the process, which only Client can make. It works in a
// testing/synctest bubble, where real connections do not: call it there. A bubble's clock begins before Discord's, so it is set
// forward to the year 2026 first.
func NewPiped(t T) *Server {
	if wait := time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); wait > 0 {
		<-time.After(wait)
	}
	l := &pipes{arrived: make(chan net.Conn), closed: make(chan struct{})}
	return start(t, l, l.dial)
}

// pipes is a listener for connections that are no more than two goroutines handing bytes to each other.
type pipes struct {
	arrived chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.arrived <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.arrived:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "discord.test" }

// dialer makes the connections of Client.
type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func newTransport(dial dialer) *http.Transport {
	return &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute}
}
