// Package wafake is a prototype of a fake WhatsApp multi-device server on loopback:
// enough of the wire protocol for real whatsmeow clients to pair by QR, log in,
// upload prekeys, and exchange end-to-end encrypted messages through it.
package whatsapptest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/libsignal/ecc"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

type (
	node  = waBinary.Node
	attrs = waBinary.Attrs
)

type preKey struct{ id, value []byte }

type device struct {
	acc       *account
	id        uint16
	noisePub  []byte
	regID     []byte
	identity  []byte
	signed    node
	preKeys   []preKey
	queue     []node // undelivered or unacked message stanzas
	available bool
}

func (d *device) pn() types.JID  { j := d.acc.pn; j.Device = d.id; return j }
func (d *device) lid() types.JID { j := d.acc.lid; j.Device = d.id; return j }

type account struct {
	pn, lid  types.JID
	name     string
	identity *keys.KeyPair // the phone's identity key: signs companions
	nextDev  uint16
	devices  map[uint16]*device
}

type group struct {
	jid     types.JID
	subject string
	owner   *account
	created time.Time
	members []*account
}

type Server struct {
	ca  *certAuthority
	ln  net.Listener
	srv *http.Server

	mu               sync.Mutex
	byUser           map[string]*account // keyed by PN user and by LID user
	conns            map[*device]*conn
	pending          map[string]*conn // by pairing ref
	groups           map[string]*group
	media            map[string][]byte
	codes            map[string]*linkCode // by phone number
	next             atomic.Uint64
	FirstStanzaDelay time.Duration
	// Unknown collects iqs that were answered with feature-not-implemented.
	Unknown []string
	Log     func(format string, a ...any)
	// Trace receives every stanza ("<-" from client, "->" to client).
	Trace func(dir string, who string, n *node)
}

func New() (*Server, error) {
	s := &Server{
		ca: newCA(), byUser: map[string]*account{}, conns: map[*device]*conn{}, pending: map[string]*conn{},
		codes: map[string]*linkCode{}, groups: map[string]*group{}, media: map[string][]byte{}, Log: func(string, ...any) {},
	}
	var err error
	if s.ln, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/ws/chat", s.serveWS)
	mux.HandleFunc("/mms/", s.serveMedia)
	mux.HandleFunc("/v/", s.serveMedia)
	s.srv = &http.Server{Handler: mux}
	go s.srv.Serve(s.ln)
	return s, nil
}

func (s *Server) Addr() string      { return s.ln.Addr().String() }
func (s *Server) RootPub() [32]byte { return *s.ca.root.Pub }
func (s *Server) Close() error      { return s.srv.Close() }
func (s *Server) id() string        { return fmt.Sprintf("srv-%d", s.next.Add(1)) }

// HTTPClient sends everything, whatever the host, to the fake server; no TLS is spoken:
// DialTLSContext hands net/http a plain loopback connection for https/wss URLs.
func (s *Server) HTTPClient() *http.Client {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", s.Addr())
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, DialTLSContext: dial}}
}

// Phone is a simulated primary device that can scan QR codes.
type Phone struct {
	s   *Server
	acc *account
}

func (p *Phone) PN() types.JID  { return p.acc.pn }
func (p *Phone) LID() types.JID { return p.acc.lid }

func (s *Server) NewPhone(number, name string) *Phone {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &account{
		pn:   types.NewJID(number, types.DefaultUserServer),
		lid:  types.NewJID("9"+number+"77", types.HiddenUserServer),
		name: name, identity: keys.NewKeyPair(), nextDev: 1, devices: map[uint16]*device{},
	}
	s.byUser[a.pn.User] = a
	s.byUser[a.lid.User] = a
	return &Phone{s, a}
}

// Scan does what the phone app does with a QR code: sign the companion's identity
// key and have the server send <pair-success>.
func (p *Phone) Scan(qr string) error {
	if i := strings.IndexByte(qr, '#'); i >= 0 {
		qr = qr[i+1:]
	}
	parts := strings.Split(qr, ",")
	if len(parts) < 4 {
		return fmt.Errorf("bad QR %q", qr)
	}
	ident, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	adv, err := base64.StdEncoding.DecodeString(parts[3])
	if err != nil {
		return err
	}
	s := p.s
	s.mu.Lock()
	c := s.pending[parts[0]]
	s.mu.Unlock()
	if c == nil {
		return fmt.Errorf("ref expired")
	}
	if n, _ := base64.StdEncoding.DecodeString(parts[1]); !bytes.Equal(n, c.static) {
		return fmt.Errorf("noise key in QR is not that of the connection")
	}
	return p.pair(c, ident, adv)
}

// pair signs the companion's identity and sends <pair-success>.
func (p *Phone) pair(c *conn, ident, adv []byte) error {
	s := p.s
	details, _ := proto.Marshal(&waAdv.ADVDeviceIdentity{
		RawID: proto.Uint32(uint32(time.Now().UnixNano())), Timestamp: proto.Uint64(uint64(time.Now().Unix())),
		KeyIndex: proto.Uint32(uint32(p.acc.nextDev)),
	})
	msg := bytes.Join([][]byte{{6, 0}, details, ident}, nil)
	sig := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*p.acc.identity.Priv), msg)
	signed, _ := proto.Marshal(&waAdv.ADVSignedDeviceIdentity{
		Details: details, AccountSignatureKey: p.acc.identity.Pub[:], AccountSignature: sig[:],
	})
	h := hmac.New(sha256.New, adv)
	h.Write(signed)
	container, _ := proto.Marshal(&waAdv.ADVSignedDeviceIdentityHMAC{Details: signed, HMAC: h.Sum(nil)})

	s.mu.Lock()
	d := &device{acc: p.acc, id: p.acc.nextDev, noisePub: c.static, identity: ident}
	p.acc.nextDev++
	c.pairing = d
	c.pairDetails = details
	s.mu.Unlock()
	return c.send(node{Tag: "iq", Attrs: attrs{"from": types.ServerJID, "type": "set", "id": s.id(), "t": now()},
		Content: []node{{Tag: "pair-success", Content: []node{
			{Tag: "device-identity", Content: container},
			{Tag: "device", Attrs: attrs{"jid": d.pn(), "lid": d.lid()}},
			{Tag: "platform", Attrs: attrs{"name": "android"}},
		}}}})
}

// CreateGroup makes a LID-addressed group and tells nobody (clients learn of it on the first message or query).
func (s *Server) CreateGroup(subject string, members ...*Phone) types.JID {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &group{jid: types.NewJID(fmt.Sprintf("1203630%011d", s.next.Add(1)), types.GroupServer), subject: subject, created: time.Now(), owner: members[0].acc}
	for _, m := range members {
		g.members = append(g.members, m.acc)
	}
	s.groups[g.jid.User] = g
	return g.jid
}

type conn struct {
	s           *Server
	fc          *frameConn
	ctx         context.Context
	static      []byte
	payload     *waWa6.ClientPayload
	dev         *device
	pairing     *device
	pairDetails []byte
	active      bool
}

func now() string { return strconv.FormatInt(time.Now().Unix(), 10) }

func (c *conn) who() string {
	if c.dev != nil {
		return c.dev.pn().String()
	}
	return "unpaired"
}

func (c *conn) send(n node) error {
	if c.s.Trace != nil {
		c.s.Trace("->", c.who(), &n)
	}
	b, err := waBinary.Marshal(n)
	if err != nil {
		return err
	}
	return c.fc.write(c.ctx, b)
}

func (s *Server) serveWS(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	defer ws.CloseNow()
	ws.SetReadLimit(1 << 24)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := &conn{s: s, fc: &frameConn{ws: ws}, ctx: ctx}
	if c.static, c.payload, err = c.fc.accept(ctx, s.ca); err != nil {
		s.Log("handshake: %v", err)
		return
	}
	time.Sleep(s.FirstStanzaDelay) // Baileys drops what arrives before it has derived the transport keys
	if err = c.start(); err != nil {
		s.Log("start: %v", err)
		return
	}
	defer func() {
		s.mu.Lock()
		if c.dev != nil && s.conns[c.dev] == c {
			delete(s.conns, c.dev)
		}
		s.mu.Unlock()
	}()
	for {
		p, err := c.fc.read(ctx)
		if err != nil {
			return
		}
		if p, err = waBinary.Unpack(p); err != nil {
			s.Log("unpack: %v", err)
			return
		}
		n, err := waBinary.Unmarshal(p)
		if err != nil {
			s.Log("unmarshal: %v", err)
			return
		}
		if s.Trace != nil {
			s.Trace("<-", c.who(), n)
		}
		if err := c.handle(n); err != nil {
			s.Log("%s: %v", n.Tag, err)
			return
		}
	}
}

func (c *conn) start() error {
	s := c.s
	if reg := c.payload.GetDevicePairingData(); reg != nil {
		refs := make([]node, 6)
		s.mu.Lock()
		for i := range refs {
			b := make([]byte, 16)
			rand.Read(b)
			ref := "2@" + base64.StdEncoding.EncodeToString(b)
			refs[i] = node{Tag: "ref", Content: []byte(ref)}
			s.pending[ref] = c
		}
		s.mu.Unlock()
		return c.send(node{Tag: "iq", Attrs: attrs{"from": types.ServerJID, "type": "set", "id": s.id(), "xmlns": "md"},
			Content: []node{{Tag: "pair-device", Content: refs}}})
	}
	user := strconv.FormatUint(c.payload.GetUsername(), 10)
	s.mu.Lock()
	var d *device
	if a := s.byUser[user]; a != nil {
		d = a.devices[uint16(c.payload.GetDevice())]
	}
	if d == nil || !bytes.Equal(d.noisePub, c.static) {
		s.mu.Unlock()
		c.send(node{Tag: "failure", Attrs: attrs{"reason": "401", "location": "frc"}})
		return fmt.Errorf("login of unknown device %s:%d", user, c.payload.GetDevice())
	}
	old := s.conns[d]
	c.dev = d
	s.conns[d] = c
	s.mu.Unlock()
	if old != nil {
		old.send(node{Tag: "stream:error", Content: []node{{Tag: "conflict", Attrs: attrs{"type": "replaced"}}}})
		old.fc.ws.CloseNow()
	}
	return c.send(node{Tag: "success", Attrs: attrs{"t": now(), "creation": now(), "props": "27", "companion_enc_static": "x", "location": "frc", "lid": d.lid(), "display_name": d.acc.name}})
}

func (c *conn) result(n *node, children ...node) error {
	to := attrs{"id": n.Attrs["id"], "type": "result", "from": types.ServerJID}
	if f, ok := n.Attrs["to"]; ok {
		to["from"] = f
	}
	out := node{Tag: "iq", Attrs: to}
	if len(children) > 0 {
		out.Content = children
	}
	return c.send(out)
}

func (c *conn) iqError(n *node, code int, text string) error {
	return c.send(node{Tag: "iq", Attrs: attrs{"id": n.Attrs["id"], "type": "error", "from": types.ServerJID},
		Content: []node{{Tag: "error", Attrs: attrs{"code": strconv.Itoa(code), "text": text}}}})
}

func bytesOf(n node) []byte { b, _ := n.Content.([]byte); return b }

func (c *conn) handle(n *node) error {
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
		if c.dev != nil && n.Attrs["class"] == "message" {
			c.dev.unqueue(n.Attrs["id"])
		}
	case "chatstate", "presence":
		return c.handlePresence(n)
	case "ib":
	default:
		c.s.Log("unhandled %s", n)
	}
	return nil
}

func (c *conn) handleIQ(n *node) error {
	s := c.s
	typ, _ := n.Attrs["type"].(string)
	if typ == "result" || typ == "error" {
		if sign, ok := n.GetOptionalChildByTag("pair-device-sign"); ok {
			return c.finishPairing(sign)
		}
		return nil
	}
	ns, _ := n.Attrs["xmlns"].(string)
	var child node
	if ch := n.GetChildren(); len(ch) > 0 {
		child = ch[0]
	}
	switch ns + "/" + typ + "/" + child.Tag {
	case "encrypt/get/count":
		s.mu.Lock()
		cnt := len(c.dev.preKeys)
		s.mu.Unlock()
		return c.result(n, node{Tag: "count", Attrs: attrs{"value": strconv.Itoa(cnt)}})
	case "encrypt/set/registration":
		s.mu.Lock()
		c.dev.regID = bytesOf(n.GetChildByTag("registration"))
		c.dev.identity = bytesOf(n.GetChildByTag("identity"))
		c.dev.signed = n.GetChildByTag("skey")
		list := n.GetChildByTag("list")
		for _, k := range list.GetChildren() {
			c.dev.preKeys = append(c.dev.preKeys, preKey{bytesOf(k.GetChildByTag("id")), bytesOf(k.GetChildByTag("value"))})
		}
		s.mu.Unlock()
		return c.result(n)
	case "encrypt/get/key":
		return c.result(n, s.preKeyBundles(child))
	case "passive/set/active":
		if err := c.result(n); err != nil {
			return err
		}
		s.mu.Lock()
		c.active = true
		q := append([]node(nil), c.dev.queue...)
		s.mu.Unlock()
		if err := c.send(node{Tag: "ib", Content: []node{{Tag: "offline_preview", Attrs: attrs{"count": len(q), "message": len(q), "notification": 0, "receipt": 0, "appdata": 0}}}}); err != nil {
			return err
		}
		for _, m := range q {
			m.Attrs["offline"] = "0"
			if err := c.send(m); err != nil {
				return err
			}
		}
		return c.send(node{Tag: "ib", Content: []node{{Tag: "offline", Attrs: attrs{"count": len(q)}}}})
	case "passive/set/passive":
		return c.result(n)
	case "usync/get/usync":
		return c.result(n, s.usync(child))
	case "privacy/set/tokens":
		return c.result(n)
	case "privacy/get/privacy":
		return c.result(n, node{Tag: "privacy"})
	case "w:p/get/":
		return c.result(n)
	case "w:m/set/media_conn":
		return c.result(n, node{Tag: "media_conn", Attrs: attrs{"auth": "fake", "ttl": "300", "auth_ttl": "21600", "max_buckets": "12"},
			Content: []node{{Tag: "host", Attrs: attrs{"hostname": "mmg.whatsapp.net"}}}})
	case "w:g2/get/query":
		to, _ := n.Attrs["to"].(types.JID)
		s.mu.Lock()
		g := s.groups[to.User]
		s.mu.Unlock()
		if g == nil {
			return c.iqError(n, 404, "item-not-found")
		}
		return c.result(n, g.node())
	case "w:g2/get/participating":
		s.mu.Lock()
		var out []node
		for _, g := range s.groups {
			for _, m := range g.members {
				if m == c.dev.acc {
					out = append(out, g.node())
				}
			}
		}
		s.mu.Unlock()
		return c.result(n, node{Tag: "groups", Content: out})
	case "md/set/link_code_companion_reg":
		return c.linkCode(n, child)
	case "md/set/remove-companion-device":
		s.mu.Lock()
		delete(c.dev.acc.devices, c.dev.id)
		s.mu.Unlock()
		return c.result(n)
	}
	s.mu.Lock()
	s.Unknown = append(s.Unknown, ns+"/"+typ+"/"+child.Tag)
	s.mu.Unlock()
	return c.iqError(n, 501, "feature-not-implemented")
}

func (c *conn) finishPairing(sign node) error {
	s := c.s
	d := c.pairing
	if d == nil {
		return fmt.Errorf("pair-device-sign without pairing")
	}
	var si waAdv.ADVSignedDeviceIdentity
	if err := proto.Unmarshal(bytesOf(sign.GetChildByTag("device-identity")), &si); err != nil {
		return err
	}
	msg := bytes.Join([][]byte{{6, 1}, c.pairDetails, d.identity, d.acc.identity.Pub[:]}, nil)
	if len(si.DeviceSignature) != 64 || !ecc.VerifySignature(ecc.NewDjbECPublicKey([32]byte(d.identity)), msg, [64]byte(si.DeviceSignature)) {
		return fmt.Errorf("bad device signature")
	}
	reg := c.payload.GetDevicePairingData()
	s.mu.Lock()
	d.regID = reg.GetERegid()
	d.signed = node{Tag: "skey", Content: []node{{Tag: "id", Content: reg.GetESkeyID()}, {Tag: "value", Content: reg.GetESkeyVal()}, {Tag: "signature", Content: reg.GetESkeySig()}}}
	d.acc.devices[d.id] = d
	s.mu.Unlock()
	return c.send(node{Tag: "stream:error", Attrs: attrs{"code": "515"}})
}

func (s *Server) account(j types.JID) *account { return s.byUser[j.User] }

func (s *Server) preKeyBundles(key node) node {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []node
	for _, u := range key.GetChildren() {
		jid, _ := u.Attrs["jid"].(types.JID)
		a := s.account(jid)
		var d *device
		if a != nil {
			d = a.devices[jid.Device]
		}
		if d == nil || d.regID == nil {
			out = append(out, node{Tag: "user", Attrs: attrs{"jid": jid}, Content: []node{{Tag: "error", Attrs: attrs{"code": "404", "text": "item-not-found"}}}})
			continue
		}
		ch := []node{
			{Tag: "registration", Content: d.regID}, {Tag: "type", Content: []byte{5}},
			{Tag: "identity", Content: d.identity}, d.signed,
		}
		if len(d.preKeys) > 0 {
			k := d.preKeys[0]
			d.preKeys = d.preKeys[1:]
			ch = append(ch, node{Tag: "key", Content: []node{{Tag: "id", Content: k.id}, {Tag: "value", Content: k.value}}})
		}
		out = append(out, node{Tag: "user", Attrs: attrs{"jid": jid, "t": now()}, Content: ch})
	}
	return node{Tag: "list", Content: out}
}

func (s *Server) usync(q node) node {
	s.mu.Lock()
	defer s.mu.Unlock()
	want := map[string]bool{}
	query := q.GetChildByTag("query")
	for _, p := range query.GetChildren() {
		want[p.Tag] = true
	}
	var out []node
	list := q.GetChildByTag("list")
	for _, u := range list.GetChildren() {
		jid, ok := u.Attrs["jid"].(types.JID)
		if ct, has := u.GetOptionalChildByTag("contact"); has && !ok { // IsOnWhatsApp: "+49123@c.us"
			num := strings.TrimPrefix(strings.SplitN(string(bytesOf(ct)), "@", 2)[0], "+")
			a := s.byUser[num]
			if a == nil {
				out = append(out, node{Tag: "user", Attrs: attrs{"jid": types.NewJID(num, types.DefaultUserServer)}, Content: []node{{Tag: "contact", Attrs: attrs{"type": "out"}, Content: bytesOf(ct)}}})
			} else {
				out = append(out, node{Tag: "user", Attrs: attrs{"jid": a.lid, "pn_jid": a.pn}, Content: []node{{Tag: "contact", Attrs: attrs{"type": "in"}, Content: bytesOf(ct)}}})
			}
			continue
		}
		a := s.account(jid)
		if a == nil {
			continue
		}
		var ch []node
		if want["devices"] {
			var devs []node
			for _, d := range a.devices {
				devs = append(devs, node{Tag: "device", Attrs: attrs{"id": strconv.Itoa(int(d.id)), "key-index": strconv.Itoa(int(d.id))}})
			}
			ch = append(ch, node{Tag: "devices", Content: []node{{Tag: "device-list", Content: devs}}})
		}
		if want["lid"] {
			ch = append(ch, node{Tag: "lid", Attrs: attrs{"val": a.lid}})
		}
		if want["status"] {
			ch = append(ch, node{Tag: "status", Content: []byte("Hey there!")})
		}
		out = append(out, node{Tag: "user", Attrs: attrs{"jid": jid}, Content: ch})
	}
	return node{Tag: "usync", Content: []node{{Tag: "result"}, {Tag: "list", Content: out}}}
}

func (g *group) node() node {
	var ch []node
	for i, m := range g.members {
		a := attrs{"jid": m.lid, "phone_number": m.pn}
		if i == 0 {
			a["type"] = "superadmin"
		}
		ch = append(ch, node{Tag: "participant", Attrs: a})
	}
	return node{Tag: "group", Attrs: attrs{"id": g.jid.User, "creator": g.owner.lid, "creator_pn": g.owner.pn, "creation": strconv.FormatInt(g.created.Unix(), 10), "subject": g.subject, "s_t": strconv.FormatInt(g.created.Unix(), 10), "s_o": g.owner.lid, "addressing_mode": "lid", "size": len(g.members)}, Content: ch}
}

// deliver queues a stanza for a device and sends it when the device is connected and active.
func (s *Server) deliver(d *device, n node, queue bool) {
	s.mu.Lock()
	c := s.conns[d]
	if queue {
		d.queue = append(d.queue, n)
	}
	up := c != nil && c.active
	s.mu.Unlock()
	if up {
		if err := c.send(n); err != nil {
			s.Log("deliver: %v", err)
		}
	}
}

func (s *Server) device(j types.JID) *device {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.account(j); a != nil {
		return a.devices[j.Device]
	}
	return nil
}

func (c *conn) handleMessage(n *node) error {
	s := c.s
	to, _ := n.Attrs["to"].(types.JID)
	t := now()
	ackAttrs := attrs{"class": "message", "id": n.Attrs["id"], "from": to, "t": t}
	base := attrs{"id": n.Attrs["id"], "type": n.Attrs["type"], "t": t, "notify": c.dev.acc.name}
	for _, k := range []string{"edit", "addressing_mode"} {
		if v, ok := n.Attrs[k]; ok {
			base[k] = v
		}
	}
	var shared []node // children every recipient gets besides its own <enc>
	parts, hasParts := n.GetOptionalChildByTag("participants")
	for _, ch := range n.GetChildren() {
		switch ch.Tag {
		case "participants", "tctoken", "cstoken", "reporting":
		case "enc":
			if hasParts {
				shared = append(shared, ch) // skmsg
			}
		default:
			shared = append(shared, ch)
		}
	}
	mk := func(d *device, enc []node) node {
		a := attrs{}
		for k, v := range base {
			a[k] = v
		}
		switch {
		case to.Server == types.GroupServer:
			a["from"], a["participant"], a["participant_pn"], a["addressing_mode"] = to, c.dev.lid(), c.dev.pn(), "lid"
		case d.acc == c.dev.acc: // own other device
			a["from"] = c.dev.lid()
			a["recipient"] = to.ToNonAD()
			if pn, ok := n.Attrs["peer_recipient_pn"]; ok {
				a["peer_recipient_pn"] = pn
			}
		default:
			a["from"], a["sender_pn"] = c.dev.lid(), c.dev.pn()
		}
		return node{Tag: "message", Attrs: a, Content: append(append([]node{}, enc...), shared...)}
	}
	sent := map[*device]bool{c.dev: true}
	if hasParts {
		for _, p := range parts.GetChildren() {
			jid, _ := p.Attrs["jid"].(types.JID)
			if d := s.device(jid); d != nil {
				sent[d] = true
				s.deliver(d, mk(d, p.GetChildren()), true)
			}
		}
		if to.Server == types.GroupServer { // devices that already have the sender key
			s.mu.Lock()
			var rest []*device
			if g := s.groups[to.User]; g != nil {
				for _, m := range g.members {
					for _, d := range m.devices {
						if !sent[d] {
							rest = append(rest, d)
						}
					}
				}
			}
			s.mu.Unlock()
			for _, d := range rest {
				s.deliver(d, mk(d, nil), true)
			}
		}
	} else { // directed at one device: retry or peer message
		target := to
		if p, ok := n.Attrs["participant"].(types.JID); ok {
			target = p
		}
		var enc []node
		for _, ch := range n.GetChildren() {
			if ch.Tag == "enc" {
				enc = append(enc, ch)
			}
		}
		if d := s.device(target); d != nil {
			s.deliver(d, mk(d, enc), true)
		}
	}
	return c.send(node{Tag: "ack", Attrs: ackAttrs})
}

// unqueue forgets a delivered message: whatsmeow confirms a decrypted message with a
// delivery <receipt> and anything else with an <ack class="message">.
func (d *device) unqueue(id any) {
	q := d.queue[:0]
	for _, m := range d.queue {
		if m.Attrs["id"] != id {
			q = append(q, m)
		}
	}
	d.queue = q
}

func (c *conn) handleReceipt(n *node) error {
	s := c.s
	if t := n.Attrs["type"]; t != "read" && t != "read-self" && t != "played" {
		s.mu.Lock()
		c.dev.unqueue(n.Attrs["id"])
		s.mu.Unlock()
	}
	to, _ := n.Attrs["to"].(types.JID)
	a := attrs{"id": n.Attrs["id"], "t": now()}
	for _, k := range []string{"type", "recipient"} {
		if v, ok := n.Attrs[k]; ok {
			a[k] = v
		}
	}
	target := to
	if to.Server == types.GroupServer {
		a["from"], a["participant"] = to, c.dev.lid()
		if p, ok := n.Attrs["participant"].(types.JID); ok {
			target = p
		}
	} else {
		a["from"] = c.dev.lid()
	}
	out := node{Tag: "receipt", Attrs: a, Content: n.Content}
	s.mu.Lock()
	var ds []*device
	if acc := s.account(target); acc != nil {
		for _, d := range acc.devices {
			if (target.Device == 0 || d.id == target.Device) && d != c.dev {
				ds = append(ds, d)
			}
		}
	}
	s.mu.Unlock()
	for _, d := range ds {
		s.deliver(d, out, false)
	}
	ack := attrs{"class": "receipt", "id": n.Attrs["id"], "from": to}
	if v, ok := n.Attrs["type"]; ok {
		ack["type"] = v
	}
	return c.send(node{Tag: "ack", Attrs: ack})
}

func (c *conn) handlePresence(n *node) error {
	s := c.s
	to, ok := n.Attrs["to"].(types.JID)
	if n.Tag == "presence" {
		if n.Attrs["type"] == "available" {
			s.mu.Lock()
			c.dev.available = true
			if nm, ok := n.Attrs["name"].(string); ok {
				c.dev.acc.name = nm
			}
			s.mu.Unlock()
		}
		return nil
	}
	if !ok {
		return nil
	}
	a := attrs{"from": c.dev.acc.lid}
	var accs []*account
	s.mu.Lock()
	if to.Server == types.GroupServer {
		a["from"], a["participant"] = to, c.dev.lid()
		if g := s.groups[to.User]; g != nil {
			accs = g.members
		}
	} else if x := s.account(to); x != nil {
		accs = []*account{x}
	}
	var ds []*device
	for _, x := range accs {
		for _, d := range x.devices {
			if d != c.dev {
				ds = append(ds, d)
			}
		}
	}
	s.mu.Unlock()
	for _, d := range ds {
		s.deliver(d, node{Tag: "chatstate", Attrs: a, Content: n.Content}, false)
	}
	return nil
}

// serveMedia keeps encrypted blobs: POST /mms/<type>/<token>, GET /v/<token>.
func (s *Server) serveMedia(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		b, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		tok := r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		s.mu.Lock()
		s.media[tok] = b
		s.mu.Unlock()
		json.NewEncoder(w).Encode(map[string]string{"url": "https://mmg.whatsapp.net/v/" + tok, "direct_path": "/v/" + tok + "?ccb=1"})
	case http.MethodGet:
		s.mu.Lock()
		b, ok := s.media[r.URL.Path[len("/v/"):]]
		s.mu.Unlock()
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Write(b)
	}
}

var _ = binary.BigEndian

// Unlink removes a companion from the phone's side ("Linked devices" -> log out).
func (p *Phone) Unlink(id uint16) error {
	s := p.s
	s.mu.Lock()
	d := p.acc.devices[id]
	delete(p.acc.devices, id)
	c := s.conns[d]
	s.mu.Unlock()
	if d == nil || c == nil {
		return fmt.Errorf("no such device online")
	}
	return c.send(node{Tag: "stream:error", Attrs: attrs{"code": "401"}, Content: []node{{Tag: "conflict", Attrs: attrs{"type": "device_removed"}}}})
}

// DropAll cuts every connection, as a server restart would.
func (s *Server) DropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.fc.ws.CloseNow()
	}
}
