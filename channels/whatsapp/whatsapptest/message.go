package whatsapptest

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"time"

	"go.mau.fi/whatsmeow/types"
)

// post is a message on its way through the server.
type post struct {
	from   *device
	to     types.JID
	attrs  attrs
	shared []node // what every receiver gets besides the part that is encrypted for it
}

func (c *conn) handleMessage(n *node) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	defer c.s.notify()
	d := c.dev
	to, _ := n.Attrs["to"].(types.JID)
	ack := node{Tag: "ack", Attrs: attrs{"class": "message", "id": n.Attrs["id"], "from": to, "t": unixNow()}}
	if d.id != 0 && to.User != d.phone.pn.User && to.User != d.phone.lid.User {
		id, _ := n.Attrs["id"].(string)
		d.phone.log.stanzas = append(d.phone.log.stanzas, stanza{c.s.chatKey(to), id, time.Now()})
		f := &d.phone.fault
		switch {
		case len(f.nacks) > 0:
			ack.Attrs["error"] = strconv.Itoa(f.nacks[0])
			f.nacks = f.nacks[1:]
			c.push(ack)
			return nil
		case f.drop > 0:
			f.drop--
			return nil
		case f.lose > 0:
			f.lose--
			c.s.pass(d, to, n)
			return nil
		case f.sever > 0:
			f.sever--
			c.s.pass(d, to, n)
			c.cut()
			return nil
		}
	}
	c.s.pass(d, to, n)
	c.push(ack)
	return nil
}

// pass brings a message to everybody it is for. It is called under the lock.
func (s *Server) pass(from *device, to types.JID, n *node) {
	m := &post{from: from, to: to, attrs: attrs{"id": n.Attrs["id"], "type": n.Attrs["type"], "t": unixNow(), "notify": from.phone.name}}
	for _, k := range []string{"edit", "addressing_mode", "category", "push_priority"} {
		if v, ok := n.Attrs[k]; ok {
			m.attrs[k] = v
		}
	}
	if pn, ok := n.Attrs["peer_recipient_pn"]; ok {
		m.attrs["peer_recipient_pn"] = pn
	}
	// Of a message to a person the sender's own other devices have their parts in the same list.
	// source: go.mau.fi/whatsmeow send.go (DeviceSentMessage)
	parts, several := n.GetOptionalChildByTag("participants")
	group := s.groups[to.User]
	if _, repeated := n.Attrs["participant"]; to.Server == types.GroupServer && group != nil && !repeated {
		several = true // where everybody has the sender's key there is no list
	}
	var enc []node
	for _, child := range n.GetChildren() {
		switch child.Tag {
		case "participants", "tctoken", "cstoken", "reporting":
		case "enc":
			if enc = append(enc, child); several { // encrypted with the sender's key of a group
				m.shared = append(m.shared, child)
			}
		default:
			m.shared = append(m.shared, child)
		}
	}
	if !several { // a repetition, or a message between devices of one account
		target := to
		if p, ok := n.Attrs["participant"].(types.JID); ok {
			target = p
		}
		if d := s.device(target); d != nil {
			s.deliver(d, m.copy(d, enc))
		}
		return
	}
	done := map[*device]bool{from: true}
	for _, p := range parts.GetChildren() {
		jid, _ := p.Attrs["jid"].(types.JID)
		if d := s.device(jid); d != nil && !done[d] && (group == nil || !from.phone.hasKey(to, d)) {
			done[d] = true
			s.deliver(d, m.copy(d, p.GetChildren()))
		}
	}
	if group != nil && to.Server == types.GroupServer { // devices that have the sender's key already
		for _, p := range group.members {
			for _, d := range p.devices {
				if !done[d] {
					s.deliver(d, m.copy(d, nil))
				}
			}
		}
	}
}

// copy is the message as one device gets it.
func (m *post) copy(d *device, enc []node) node {
	a := maps.Clone(m.attrs)
	switch {
	case m.to.Server == types.GroupServer:
		jid, beside := m.from.as("participant")
		a["from"], a["participant"], a["addressing_mode"] = m.to, jid, "lid"
		if jid.Server == types.DefaultUserServer {
			a["addressing_mode"] = "pn"
		}
		maps.Copy(a, beside)
		delete(a, "peer_recipient_pn")
	case d.phone == m.from.phone:
		a["from"], a["recipient"] = m.from.lidJID(), m.to.ToNonAD()
	default:
		jid, beside := m.from.as("sender")
		a["from"] = jid
		maps.Copy(a, beside)
		delete(a, "peer_recipient_pn")
		d.phone.log.wrote[m.from.phone.pn.User] = true
	}
	return node{Tag: "message", Attrs: a, Content: append(slices.Clone(enc), m.shared...)}
}

// deliver keeps a message for a device until it is confirmed, and sends it when the device is there. It is called under the lock.
func (s *Server) deliver(d *device, n node) {
	d.queue = append(d.queue, n)
	f := &d.phone.fault
	if d.id == 0 || n.Tag != "message" {
		d.push(n)
		return
	}
	if f.garble > 0 {
		f.garble--
		n = garbled(n)
		d.queue[len(d.queue)-1] = n
	}
	if f.swap > 0 {
		f.swap--
		f.swaps = append(f.swaps, swapped{d, n})
		if f.swap == 0 {
			for _, w := range slices.Backward(f.swaps) {
				w.d.push(w.n)
			}
			f.swaps = nil
		}
		return
	}
	d.push(n)
	if f.double > 0 {
		f.double--
		d.push(n)
	}
}

func (d *device) push(n node) {
	if d.conn != nil && d.conn.active {
		d.conn.push(n)
	}
}

// garbled breaks what is encrypted.
func garbled(n node) node {
	children := slices.Clone(n.GetChildren())
	for i, child := range children {
		if b := bytesOf(child); child.Tag == "enc" && len(b) > 20 {
			b = bytes.Clone(b)
			b[len(b)-12] ^= 0xff // in the authentication code: all that is public still parses
			b[len(b)-3] ^= 0xff
			children[i].Content = b
		}
	}
	n.Content = children
	return n
}

// confirm forgets what the device has confirmed: a message with a receipt, or anything with an ack. It is called under the lock.
func (d *device) confirm(n *node) {
	id, from := n.Attrs["id"], n.Attrs["to"]
	i := slices.IndexFunc(d.queue, func(m node) bool { return m.Attrs["id"] == id && m.Attrs["from"] == from })
	if i >= 0 {
		d.queue = slices.Delete(slices.Clone(d.queue), i, i+1)
		d.phone.s.notify()
	}
}

func (c *conn) handleReceipt(n *node) error {
	s, d := c.s, c.dev
	s.mu.Lock()
	defer s.mu.Unlock()
	typ, _ := n.Attrs["type"].(string)
	switch typ {
	case "read", "read-self", "played":
		d.phone.log.seen(n)
		s.notify()
	case "retry": // an ack follows
	default:
		d.confirm(n)
	}
	to, _ := n.Attrs["to"].(types.JID)
	a := attrs{"id": n.Attrs["id"], "t": unixNow()}
	for _, k := range []string{"type", "recipient"} {
		if v, ok := n.Attrs[k]; ok {
			a[k] = v
		}
	}
	target := to
	if to.Server == types.GroupServer {
		a["from"], a["participant"] = to, d.lidJID()
		if p, ok := n.Attrs["participant"].(types.JID); ok {
			target = p
		}
	} else {
		a["from"], _ = d.as("sender")
	}
	if p := s.byUser[target.User]; p != nil {
		for _, other := range p.devices {
			if other != d && (target.Device == other.id || (target.Device == 0 && typ != "retry")) {
				other.push(node{Tag: "receipt", Attrs: a, Content: n.Content})
			}
		}
	}
	ack := attrs{"class": "receipt", "id": n.Attrs["id"], "from": to}
	if typ != "" {
		ack["type"] = typ
	}
	c.push(node{Tag: "ack", Attrs: ack})
	return nil
}

// seen notes the messages of a read receipt.
func (a *activity) seen(n *node) {
	if id, ok := n.Attrs["id"].(string); ok {
		a.read = append(a.read, id)
	}
	list := n.GetChildByTag("list")
	for _, item := range list.GetChildren() {
		if id, ok := item.Attrs["id"].(string); ok {
			a.read = append(a.read, id)
		}
	}
}

func (c *conn) handleTyping(n *node) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	to, _ := n.Attrs["to"].(types.JID)
	if _, ok := n.GetOptionalChildByTag("paused"); ok && c.dev.id != 0 {
		c.dev.phone.log.paused[c.s.chatKey(to)]++
	}
	if _, ok := n.GetOptionalChildByTag("composing"); ok && c.dev.id != 0 {
		key := c.s.chatKey(to)
		c.dev.phone.log.typing[key]++
		c.dev.phone.log.typed = append(c.dev.phone.log.typed, stanza{chat: key, at: time.Now()})
		c.s.notify()
	}
}
