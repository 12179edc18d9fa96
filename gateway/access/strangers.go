package access

import (
	"container/list"
	"context"
	"net"
	"sync"
)

// maxStrangers bounds the open connections that have shown no token yet.
const maxStrangers = 256

// Strangers is a listener that bounds the connections of those who have shown no token: of too many the oldest is closed, so that
// nobody can keep others out by being there first.
type Strangers struct {
	net.Listener
	mu   sync.Mutex
	open list.List // of *visitor, oldest first
}

// visitor is a connection that has shown no token yet.
type visitor struct {
	net.Conn
	of *Strangers
	at *list.Element // nil once it is known or closed; of.mu
}

// Accept implements net.Listener.
func (s *Strangers) Accept() (net.Conn, error) {
	c, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	v := &visitor{Conn: c, of: s}
	var oldest *visitor
	s.mu.Lock()
	v.at = s.open.PushBack(v)
	if s.open.Len() > maxStrangers {
		oldest, _ = s.open.Front().Value.(*visitor)
	}
	s.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return v, nil
}

func (v *visitor) forget() {
	v.of.mu.Lock()
	defer v.of.mu.Unlock()
	if v.at != nil {
		v.of.open.Remove(v.at)
		v.at = nil
	}
}

// Close implements net.Conn.
func (v *visitor) Close() error {
	v.forget()
	return v.Conn.Close()
}

type visitorKey struct{}

// ConnContext is for http.Server, so that the door can tell that a connection is no stranger's any more.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
		c = t.NetConn()
	}
	if v, ok := c.(*visitor); ok {
		return context.WithValue(ctx, visitorKey{}, v)
	}
	return ctx
}

// releaseStranger takes a connection out of the strangers'.
func releaseStranger(ctx context.Context) {
	if v, ok := ctx.Value(visitorKey{}).(*visitor); ok {
		v.forget()
	}
}
