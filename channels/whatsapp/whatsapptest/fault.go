package whatsapptest

import (
	"slices"
	"strconv"
	"time"
)

// fault is what WhatsApp does to an account. The phone itself (device 0) is spared.
type fault struct {
	login  *Failure
	nacks  []int
	lose   int
	sever  int
	drop   int
	garble int
	double int
	swap   int
	swaps  []swapped
	noPong bool
	half   bool
	mute   bool
}

type swapped struct {
	d *device
	n node
}

// Failure is the answer to a login that WhatsApp refuses.
// source: go.mau.fi/whatsmeow types/events.ConnectFailureReason
type Failure struct {
	Reason int           // 401 unlinked, 402 banned for a time, 403 banned, 405 outdated, 503 not now, …
	Code   int           // 402: why
	Expire time.Duration // 402: for how long
}

func (f *Failure) node() node {
	a := attrs{"reason": strconv.Itoa(f.Reason), "location": "frc"}
	if f.Code != 0 {
		a["code"], a["expire"] = strconv.Itoa(f.Code), strconv.Itoa(int(f.Expire.Seconds()))
	}
	return node{Tag: "failure", Attrs: a}
}

var (
	replaced = node{Tag: "stream:error", Content: []node{{Tag: "conflict", Attrs: attrs{"type": "replaced"}}}}
	removed  = node{Tag: "stream:error", Attrs: attrs{"code": "401"}, Content: []node{{Tag: "conflict", Attrs: attrs{"type": "device_removed"}}}}
)

// Refuse makes every login of the account's linked devices fail; nil ends that. Connections that stand are not touched.
func (p *Phone) Refuse(f *Failure) { p.s.set(func() { p.fault.login = f }) }

// Reject makes the next sends fail with these error codes, one each: 463 is what an account gets that writes to too many strangers.
func (p *Phone) Reject(codes ...int) {
	p.s.set(func() { p.fault.nacks = append(p.fault.nacks, codes...) })
}

// LoseAnswer makes the answers to the next n sends get lost: the messages arrive.
func (p *Phone) LoseAnswer(n int) { p.s.set(func() { p.fault.lose += n }) }

// CutAnswer makes the answers to the next n sends get lost with the connection: the messages arrive. The library itself sends a message
// once more when it is connected again in time.
func (p *Phone) CutAnswer(n int) { p.s.set(func() { p.fault.sever += n }) }

// Swallow makes the next n sends disappear: they do not arrive, and no answer comes.
func (p *Phone) Swallow(n int) { p.s.set(func() { p.fault.drop += n }) }

// Garble makes the next n messages to the account's linked devices come in a form that they cannot decrypt.
func (p *Phone) Garble(n int) { p.s.set(func() { p.fault.garble += n }) }

// Double makes the next n messages to the account's linked devices come twice.
func (p *Phone) Double(n int) { p.s.set(func() { p.fault.double += n }) }

// Swap holds the next n messages to the account's linked devices back and brings them in the opposite order.
func (p *Phone) Swap(n int) { p.s.set(func() { p.fault.swap = n }) }

// HalfLogin cuts the next connection of the account's linked devices after the login, when it asks for what is new. The logins after
// that get no answer until FullLogin.
func (p *Phone) HalfLogin() { p.s.set(func() { p.fault.half = true }) }

// FullLogin ends that. The connections that stand get no answer still.
func (p *Phone) FullLogin() { p.s.set(func() { p.fault.mute = false }) }

// Forget drops a message that no linked device has confirmed: WhatsApp keeps what nobody fetches for some weeks only.
func (p *Phone) Forget(id string) {
	p.s.set(func() {
		for dev, d := range p.devices {
			if dev != 0 {
				d.queue = slices.DeleteFunc(d.queue, func(n node) bool { return n.Attrs["id"] == id })
			}
		}
	})
}

// NoPong stops, or starts again, the answers to keepalives of the account's linked devices.
func (p *Phone) NoPong(stop bool) { p.s.set(func() { p.fault.noPong = stop }) }

// Disconnect cuts the connections of the account's linked devices.
func (p *Phone) Disconnect() { p.each((*conn).cut) }

// Silence makes the connections that stand neither read nor write any more, and leaves them open.
func (p *Phone) Silence() { p.each(func(c *conn) { c.silent = true }) }

// Flood makes the connections that stand send stanzas of no meaning, many in each message, until they end.
func (p *Phone) Flood() {
	p.each(func(c *conn) {
		c.flood = true
		c.push(node{Tag: "ib"})
	})
}

// Replace tells the account's linked devices that another client took their place, and closes their connections.
func (p *Phone) Replace() { p.each(func(c *conn) { c.end(replaced) }) }

// StreamError ends the connections of the account's linked devices with a code: 503 try again, 515 try again at once, …
// source: go.mau.fi/whatsmeow connectionevents.go (handleStreamError)
func (p *Phone) StreamError(code int) {
	p.each(func(c *conn) { c.end(node{Tag: "stream:error", Attrs: attrs{"code": strconv.Itoa(code)}}) })
}

// Unlink ends the link of the account's linked devices, as somebody does in the phone's list of them.
func (p *Phone) Unlink() {
	p.each(func(c *conn) { c.end(removed) })
	p.s.set(func() {
		for id := range p.devices {
			if id != 0 {
				delete(p.devices, id)
			}
		}
	})
	p.s.announce(p)
}

// Stall opens connections from now on and says nothing on them; what is open so is cut when that ends.
func (s *Server) Stall(on bool) {
	s.set(func() {
		s.stall = on
		for c := range s.conns {
			if !on && c.payload == nil {
				c.cut()
			}
		}
	})
}

// WaitStalled waits until so many connections were opened and got no answer.
func (s *Server) WaitStalled(n int) {
	s.wait("connections that are not answered", func() bool { return s.stalled >= n })
}

func (s *Server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.notify()
}

// each does something with the connections of the linked devices.
func (p *Phone) each(do func(*conn)) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for id, d := range p.devices {
		if id != 0 && d.conn != nil {
			do(d.conn)
		}
	}
}

// WaitOnline waits until a linked device of the account is connected and asks for what is new.
func (p *Phone) WaitOnline() bool {
	p.s.t.Helper()
	return p.s.wait("a linked device", func() bool { return p.online() })
}

// Online says whether a linked device of the account is connected.
func (p *Phone) Online() bool {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.online()
}

// WaitOffline waits until no linked device of the account is connected.
func (p *Phone) WaitOffline() bool {
	p.s.t.Helper()
	return p.s.wait("the linked device to go", func() bool { return !p.online() })
}

func (p *Phone) online() bool {
	for id, d := range p.devices {
		if id != 0 && d.conn != nil && d.conn.active && !d.conn.ending {
			return true
		}
	}
	return false
}
