package whatsapptest

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.mau.fi/whatsmeow/types"
)

// answer gives the children of the result of a request. It is called under the lock.
type answer func(c *conn, n *node, child node) []node

// answers is everything that a client which reads and writes messages asks, by namespace/type/child.
var answers = map[string]answer{
	"encrypt/get/count": func(c *conn, _ *node, _ node) []node {
		return []node{{Tag: "count", Attrs: attrs{"value": strconv.Itoa(len(c.dev.preKeys))}}}
	},
	"encrypt/set/registration": storeKeys,
	"encrypt/get/key":          func(c *conn, _ *node, child node) []node { return []node{c.s.bundles(child)} },
	"passive/set/passive": func(c *conn, _ *node, _ node) []node {
		c.active = false
		return nil
	},
	"usync/get/usync":     func(c *conn, _ *node, child node) []node { return []node{c.usync(child)} },
	"privacy/set/tokens":  nothing,
	"privacy/get/privacy": func(*conn, *node, node) []node { return []node{{Tag: "privacy"}} },
	"w:p/get/":            nothing,
	"w:m/set/media_conn": func(*conn, *node, node) []node {
		return []node{{Tag: "media_conn", Attrs: attrs{"auth": "a", "ttl": "300", "auth_ttl": "21600", "max_buckets": "12"},
			Content: []node{{Tag: "host", Attrs: attrs{"hostname": "mmg.whatsapp.net"}}}}}
	},
	"w:g2/get/participating": func(c *conn, _ *node, _ node) []node {
		var all []node
		for _, g := range c.s.groups {
			if slices.Contains(g.members, c.dev.phone) {
				all = append(all, g.node())
			}
		}
		return []node{{Tag: "groups", Content: all}}
	},
	"md/set/remove-companion-device": func(c *conn, _ *node, _ node) []node {
		delete(c.dev.phone.devices, c.dev.id)
		return nil
	},
}

func nothing(*conn, *node, node) []node { return nil }

func (c *conn) handleIQ(n *node) error {
	typ, _ := n.Attrs["type"].(string)
	if typ == "result" || typ == "error" {
		if sign, ok := n.GetOptionalChildByTag("pair-device-sign"); ok {
			return c.paired(sign)
		}
		return nil
	}
	ns, _ := n.Attrs["xmlns"].(string)
	var child node
	if children := n.GetChildren(); len(children) > 0 {
		child = children[0]
	}
	request := ns + "/" + typ + "/" + child.Tag
	if request == "md/set/link_code_companion_reg" {
		return c.linkCode(n, child)
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.dev == nil {
		c.refuse(n, 401, "not-authorized")
		return nil
	}
	switch request {
	case "passive/set/active":
		if f := &c.dev.phone.fault; c.dev.id != 0 && f.half {
			f.half, f.mute = false, true
			c.cut()
			return nil
		}
		c.result(n)
		c.offline()
		return nil
	case "w:g2/get/query":
		to, _ := n.Attrs["to"].(types.JID)
		switch g := c.s.groups[to.User]; {
		case g == nil || !slices.Contains(g.members, c.dev.phone):
			c.refuse(n, 404, "item-not-found")
		case g.hiddenFrom == c.dev.phone && g.hiddenBy == 200:
			c.result(n)
		case g.hiddenFrom == c.dev.phone:
			c.refuse(n, g.hiddenBy, map[int]string{403: "forbidden", 404: "item-not-found"}[g.hiddenBy])
		default:
			c.result(n, g.node())
		}
		return nil
	case "w:p/get/":
		if c.dev.id != 0 && c.dev.phone.fault.noPong {
			return nil
		}
	}
	if f := answers[request]; f != nil {
		c.result(n, f(c, n, child)...)
		return nil
	}
	c.s.unknown = append(c.s.unknown, request)
	c.refuse(n, 501, "feature-not-implemented")
	return nil
}

// result answers a request. It is called under the lock.
func (c *conn) result(n *node, children ...node) {
	a := attrs{"id": n.Attrs["id"], "type": "result", "from": types.ServerJID}
	if to, ok := n.Attrs["to"]; ok {
		a["from"] = to
	}
	out := node{Tag: "iq", Attrs: a}
	if len(children) > 0 {
		out.Content = children
	}
	c.push(out)
}

// refuse answers a request with an error. It is called under the lock.
func (c *conn) refuse(n *node, code int, text string) {
	c.push(node{Tag: "iq", Attrs: attrs{"id": n.Attrs["id"], "type": "error", "from": types.ServerJID},
		Content: []node{{Tag: "error", Attrs: attrs{"code": strconv.Itoa(code), "text": text}}}})
}

// offline sends what came while the device was away. It is called under the lock.
func (c *conn) offline() {
	c.active = true
	queue := c.dev.queue
	c.push(node{Tag: "ib", Content: []node{{Tag: "offline_preview", Attrs: attrs{"count": len(queue), "message": len(queue), "notification": 0, "receipt": 0, "appdata": 0}}}})
	for _, m := range queue {
		m.Attrs = maps.Clone(m.Attrs)
		m.Attrs["offline"] = "0"
		c.push(m)
	}
	c.push(node{Tag: "ib", Content: []node{{Tag: "offline", Attrs: attrs{"count": len(queue)}}}})
	c.s.notify()
}

func storeKeys(c *conn, n *node, _ node) []node {
	c.dev.regID = bytesOf(n.GetChildByTag("registration"))
	c.dev.identity = bytesOf(n.GetChildByTag("identity"))
	c.dev.signed = n.GetChildByTag("skey")
	list := n.GetChildByTag("list")
	for _, k := range list.GetChildren() {
		c.dev.preKeys = append(c.dev.preKeys, preKey{bytesOf(k.GetChildByTag("id")), bytesOf(k.GetChildByTag("value"))})
	}
	return nil
}

// bundles gives what is needed to write to devices for the first time. It is called under the lock.
func (s *Server) bundles(key node) node {
	var all []node
	for _, u := range key.GetChildren() {
		jid, _ := u.Attrs["jid"].(types.JID)
		d := s.device(jid)
		if d == nil || d.regID == nil {
			all = append(all, node{Tag: "user", Attrs: attrs{"jid": jid}, Content: []node{{Tag: "error", Attrs: attrs{"code": "404", "text": "item-not-found"}}}})
			continue
		}
		parts := []node{{Tag: "registration", Content: d.regID}, {Tag: "type", Content: []byte{5}}, {Tag: "identity", Content: d.identity}, d.signed}
		if len(d.preKeys) > 0 {
			k := d.preKeys[0]
			d.preKeys = d.preKeys[1:]
			parts = append(parts, node{Tag: "key", Content: []node{{Tag: "id", Content: k.id}, {Tag: "value", Content: k.value}}})
		}
		all = append(all, node{Tag: "user", Attrs: attrs{"jid": jid, "t": unixNow()}, Content: parts})
	}
	return node{Tag: "list", Content: all}
}

// usync answers who is on WhatsApp and with which devices, and notes who was asked about. It is called under the lock.
func (c *conn) usync(q node) node {
	want := map[string]bool{}
	query := q.GetChildByTag("query")
	for _, part := range query.GetChildren() {
		want[part.Tag] = true
	}
	var all []node
	list := q.GetChildByTag("list")
	for _, u := range list.GetChildren() {
		jid, ok := u.Attrs["jid"].(types.JID)
		if contact, has := u.GetOptionalChildByTag("contact"); has && !ok {
			all = append(all, c.contact(contact))
			continue
		}
		c.lookup(jid.User)
		p := c.s.byUser[jid.User]
		if p == nil {
			continue
		}
		all = append(all, node{Tag: "user", Attrs: attrs{"jid": jid}, Content: p.profile(want)})
	}
	return node{Tag: "usync", Content: []node{{Tag: "result"}, {Tag: "list", Content: all}}}
}

// contact says whether a number is on WhatsApp.
func (c *conn) contact(contact node) node {
	asked := bytesOf(contact)
	number, _, _ := strings.Cut(strings.TrimPrefix(string(asked), "+"), "@")
	c.lookup(number)
	p := c.s.byUser[number]
	if p == nil || p.pn.User != number {
		return node{Tag: "user", Attrs: attrs{"jid": types.NewJID(number, types.DefaultUserServer)}, Content: []node{{Tag: "contact", Attrs: attrs{"type": "out"}, Content: asked}}}
	}
	return node{Tag: "user", Attrs: attrs{"jid": p.lid, "pn_jid": p.pn}, Content: []node{{Tag: "contact", Attrs: attrs{"type": "in"}, Content: asked}}}
}

// profile is what everybody may know of an account. It is called under the lock.
func (p *Phone) profile(want map[string]bool) []node {
	var parts []node
	if want["devices"] {
		var all []node
		for _, d := range p.devices {
			index := strconv.Itoa(int(d.id))
			all = append(all, node{Tag: "device", Attrs: attrs{"id": index, "key-index": index}})
		}
		parts = append(parts, node{Tag: "devices", Content: []node{{Tag: "device-list", Content: all}}})
	}
	if want["lid"] {
		parts = append(parts, node{Tag: "lid", Attrs: attrs{"val": p.lid}})
	}
	if want["status"] {
		parts = append(parts, node{Tag: "status", Content: []byte("Hey there!")})
	}
	return parts
}

// device finds a device. It is called under the lock.
func (s *Server) device(j types.JID) *device {
	if p := s.byUser[j.User]; p != nil {
		return p.devices[j.Device]
	}
	return nil
}

func bytesOf(n node) []byte {
	b, _ := n.Content.([]byte)
	return b
}
