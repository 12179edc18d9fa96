package whatsapptest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
)

// conn is one connection of a client. What is sent goes through a list, so that the order in which things happen under the server's
// lock is the order in which the client hears of them.
type conn struct {
	s       *Server
	fc      *frameConn
	ctx     context.Context
	cancel  context.CancelFunc
	static  []byte
	payload *waWa6.ClientPayload
	wake    chan struct{}

	// Below: under the server's lock.
	dev     *device
	pairing *pairing
	active  bool   // it asked for what is new
	silent  bool   // nothing is read and nothing sent any more
	flood   bool   // something is sent all the time
	ending  bool   // closed once out is empty
	out     []node // not written yet
}

// linger is how long a connection stays open after its last stanza.
const linger = 200 * time.Millisecond

// inFlood is how many stanzas come at once in a flood.
const inFlood = 30

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	s.busy.Add(1)
	s.mu.Unlock()
	defer s.busy.Done()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(1 << 24)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := &conn{s: s, fc: &frameConn{ws: ws}, ctx: ctx, cancel: cancel, wake: make(chan struct{}, 1)}
	s.mu.Lock()
	s.conns[c] = true
	stall := s.stall
	if stall {
		s.stalled++
		s.notify()
	}
	s.mu.Unlock()
	defer s.gone(c)
	if stall {
		<-ctx.Done()
		return
	}
	if c.static, c.payload, err = c.fc.accept(ctx, s.ca); err != nil {
		return
	}
	s.busy.Go(c.write)
	if c.hello() {
		c.read()
	}
	<-ctx.Done() // what is left to be written is written first
}

func (s *Server) gone(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.cut()
	delete(s.conns, c)
	if c.dev != nil && c.dev.conn == c {
		c.dev.conn = nil
	}
	s.notify()
}

// cut ends the connection at once.
func (c *conn) cut() {
	c.cancel()
	_ = c.fc.ws.CloseNow()
}

// end closes the connection after n was sent. It is called under the lock.
func (c *conn) end(n node) {
	c.push(n)
	c.ending = true
}

// push sends n. It is called under the lock.
func (c *conn) push(n node) {
	if c.silent || c.ending {
		return
	}
	c.out = append(c.out, n)
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *conn) send(n node) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.push(n)
	return nil
}

func (c *conn) write() {
	defer c.cancel()
	for {
		select {
		case <-c.wake:
		case <-c.ctx.Done():
			return
		}
		c.s.mu.Lock()
		out := c.out
		c.out = nil
		ending, flood := c.ending, c.flood
		c.s.mu.Unlock()
		for _, n := range out {
			if c.put(n, 1) != nil {
				return
			}
		}
		for flood && !ending {
			if c.put(node{Tag: "ib"}, inFlood) != nil {
				return
			}
			c.s.mu.Lock()
			flood = len(c.out) == 0
			c.s.mu.Unlock()
		}
		if ending {
			// The library forgets what it has not handled when the connection ends, so it is left the time to close it itself.
			select {
			case <-c.ctx.Done():
			case <-time.After(linger):
			}
			_ = c.fc.ws.Close(websocket.StatusNormalClosure, "")
			return
		}
	}
}

// put writes n, several times as one message of the websocket.
func (c *conn) put(n node, times int) error {
	b, err := waBinary.Marshal(n)
	if err != nil {
		c.s.t.Errorf("whatsapptest: stanza that cannot be written: %v: %s", err, n.Tag)
		return err
	}
	return c.fc.write(c.ctx, b, times)
}

func (c *conn) read() {
	for {
		b, err := c.fc.read(c.ctx)
		if err != nil {
			c.cancel()
			return
		}
		if b, err = waBinary.Unpack(b); err != nil {
			c.s.t.Errorf("whatsapptest: frame that cannot be unpacked: %v", err)
			return
		}
		n, err := waBinary.Unmarshal(b)
		if err != nil {
			c.s.t.Errorf("whatsapptest: frame that cannot be read: %v", err)
			return
		}
		c.s.mu.Lock()
		silent := c.silent
		c.s.mu.Unlock()
		if silent {
			continue
		}
		if err := c.handle(n); err != nil {
			c.s.t.Errorf("whatsapptest: %s: %v", n.Tag, err)
		}
	}
}

// hello answers the handshake: with codes to scan for a client that is not linked, with success or failure for the others.
func (c *conn) hello() bool {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.payload.GetDevicePairingData() != nil {
		refs := make([]node, 6)
		for i := range refs {
			b := make([]byte, 16)
			_, _ = rand.Read(b)
			ref := "2@" + base64.StdEncoding.EncodeToString(b)
			refs[i] = node{Tag: "ref", Content: []byte(ref)}
			s.pending[ref] = c
		}
		c.push(node{Tag: "iq", Attrs: attrs{"from": types.ServerJID, "type": "set", "id": s.id(), "xmlns": "md"}, Content: []node{{Tag: "pair-device", Content: refs}}})
		s.notify()
		return true
	}
	p := s.byUser[strconv.FormatUint(c.payload.GetUsername(), 10)]
	var d *device
	if p != nil {
		d = p.devices[uint16(c.payload.GetDevice())]
		p.log.logins++
	}
	s.notify()
	if d == nil || !bytes.Equal(d.noise, c.static) {
		c.end(node{Tag: "failure", Attrs: attrs{"reason": "401", "location": "frc"}})
		return true
	}
	if f := p.fault.login; f != nil && d.id != 0 {
		c.end(f.node())
		return true
	}
	if d.conn != nil {
		d.conn.end(replaced)
	}
	c.dev, d.conn = d, c
	if p.fault.mute && d.id != 0 {
		return true
	}
	c.push(node{Tag: "success", Attrs: attrs{"t": unixNow(), "creation": unixNow(), "props": "27", "companion_enc_static": "x", "location": "frc", "lid": d.lidJID(), "display_name": p.name}})
	return true
}

func (c *conn) handle(n *node) error {
	if c.dev == nil && n.Tag != "iq" {
		return nil
	}
	switch n.Tag {
	case "iq":
		return c.handleIQ(n)
	case "message":
		return c.handleMessage(n)
	case "receipt":
		return c.handleReceipt(n)
	case "ack":
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		c.dev.confirm(n)
	case "chatstate":
		c.handleTyping(n)
	case "presence", "ib":
	default:
		return fmt.Errorf("unknown stanza %s", n.Tag)
	}
	return nil
}

// settle waits until everything that the clients wrote before was handled, and they have read everything that was sent: a pong comes
// behind all that.
func settle(all []*conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var wait sync.WaitGroup
	for _, c := range all {
		wait.Go(func() { _ = c.fc.ws.Ping(ctx) })
	}
	wait.Wait()
}

// settle waits until everything that the account's linked devices wrote before was handled.
func (p *Phone) settle() {
	var all []*conn
	p.each(func(c *conn) { all = append(all, c) })
	settle(all)
}
