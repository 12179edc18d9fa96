package whatsapptest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"go.mau.fi/libsignal/ecc"
	waBinary "go.mau.fi/whatsmeow/binary"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/store/sqlstore"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

type (
	node  = waBinary.Node
	attrs = waBinary.Attrs
)

// Addressing is by which of its two ids an account is named to others.
type Addressing int

// The ways. WhatsApp moves chats from numbers to LIDs; somebody whose number is hidden has no other name.
const (
	ByLID    Addressing = iota // the LID, with the number beside it
	ByNumber                   // the number, with the LID beside it
	Hidden                     // the LID alone
)

// Phone is an account: a number, and the main device that signs the linked ones. Its methods besides Link, Scan and EnterCode are
// the hand of WhatsApp and what can be seen of the account.
type Phone struct {
	s        *Server
	pn, lid  types.JID
	name     string
	identity *keys.KeyPair

	// Below: under the server's lock.
	nextID  uint16
	devices map[uint16]*device
	named   Addressing
	owner   *Person
	fault   fault
	log     activity
	keyed   map[string]bool // group and device that have the sender's key; nil = it is sent with every message
}

// device is one installation of an account: 0 is the phone itself.
type device struct {
	phone    *Phone
	id       uint16
	noise    []byte
	regID    []byte
	identity []byte
	signed   node
	preKeys  []preKey
	queue    []node // not confirmed, oldest first
	conn     *conn
}

type preKey struct{ id, value []byte }

// NewPhone makes an account with a new number.
func (s *Server) NewPhone(name string) *Phone {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := 491555000000 + int64(len(s.phones)) + 1
	p := &Phone{
		s: s, name: name, identity: keys.NewKeyPair(), nextID: 1, devices: map[uint16]*device{}, log: newActivity(),
		pn:  types.NewJID(strconv.FormatInt(number, 10), types.DefaultUserServer),
		lid: types.NewJID("9"+strconv.FormatInt(number, 10)+"7", types.HiddenUserServer),
	}
	s.phones = append(s.phones, p)
	s.byUser[p.pn.User], s.byUser[p.lid.User] = p, p
	return p
}

// JID is the account by its number.
func (p *Phone) JID() types.JID { return p.pn }

// LID is the account by its other id, which hides the number.
func (p *Phone) LID() types.JID { return p.lid }

// Number is the account's number with a plus sign.
func (p *Phone) Number() string { return "+" + p.pn.User }

// Name says how others are told of the account from now on.
func (p *Phone) Name(by Addressing) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.named = by
}

// SendKeysOnce has the phone send its key of a group once to each device, as the apps do: later messages have no list of participants,
// or one without the devices that know the key. The library sends it with every message.
// source: WhiskeySockets/Baileys, Socket/messages-send (sender-key-memory)
func (p *Phone) SendKeysOnce() { p.s.set(func() { p.keyed = map[string]bool{} }) }

// hasKey reports whether a device has the phone's key of a group, and notes that it has it now. It is called under the lock.
func (p *Phone) hasKey(group types.JID, d *device) bool {
	if p.keyed == nil {
		return false
	}
	name := group.User + "/" + d.lidJID().String()
	had := p.keyed[name]
	p.keyed[name] = true
	return had
}

// as names a device of the account to others: the id itself, and under which attribute the other id stands beside it.
func (d *device) as(other string) (jid types.JID, beside attrs) {
	pn, lid := d.pnJID(), d.lidJID()
	switch d.phone.named {
	case ByNumber:
		return pn, attrs{other + "_lid": lid}
	case Hidden:
		return lid, nil
	default:
		return lid, attrs{other + "_pn": pn}
	}
}

func (d *device) pnJID() types.JID  { return device16(d.phone.pn, d.id) }
func (d *device) lidJID() types.JID { return device16(d.phone.lid, d.id) }

func device16(j types.JID, id uint16) types.JID {
	j.Device = id
	return j
}

// certify signs the identity of a linked device, as the phone does when it has scanned a code.
func (p *Phone) certify(identity []byte, index uint16) (signed *waAdv.ADVSignedDeviceIdentity, err error) {
	details, err := proto.Marshal(&waAdv.ADVDeviceIdentity{
		RawID: proto.Uint32(uint32(time.Now().UnixNano())), Timestamp: proto.Uint64(uint64(time.Now().Unix())), KeyIndex: proto.Uint32(uint32(index)),
	})
	if err != nil {
		return nil, err
	}
	sig := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*p.identity.Priv), bytes.Join([][]byte{{6, 0}, details, identity}, nil))
	return &waAdv.ADVSignedDeviceIdentity{Details: details, AccountSignatureKey: p.identity.Pub[:], AccountSignature: sig[:]}, nil
}

// spareKeys is how many one-time keys an enrolled device starts with: one is used up by everybody who writes to it first. The
// library makes 812 when it is linked by the protocol, and more when fewer than 5 are left.
const spareKeys = 24

// Link makes the key file of an account that is linked already, as if somebody had scanned its code. It costs no protocol.
func (p *Phone) Link(path string) error {
	ctx := context.Background()
	// Nobody needs these keys after a power cut.
	c, err := sqlstore.New(ctx, "sqlite", "file:"+path+"?_pragma=foreign_keys(1)&_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)", nil)
	if err != nil {
		return fmt.Errorf("whatsapptest: %w", err)
	}
	defer func() { _ = c.Close() }()
	p.s.mu.Lock()
	id := p.nextID
	p.nextID++
	p.s.mu.Unlock()
	dev := c.NewDevice()
	if err := p.enrol(ctx, dev, id); err != nil {
		return fmt.Errorf("whatsapptest: %w", err)
	}
	return nil
}

// enrol makes dev a linked device on both sides.
func (p *Phone) enrol(ctx context.Context, dev *store.Device, id uint16) error {
	account, err := p.certify(dev.IdentityKey.Pub[:], id)
	if err != nil {
		return err
	}
	sig := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*dev.IdentityKey.Priv), bytes.Join([][]byte{{6, 1}, account.GetDetails(), dev.IdentityKey.Pub[:], account.GetAccountSignatureKey()}, nil))
	account.DeviceSignature = sig[:]
	jid := device16(p.pn, id)
	dev.ID, dev.LID, dev.Account, dev.Platform = &jid, device16(p.lid, id), account, "android"
	if err := dev.Save(ctx); err != nil {
		return err
	}
	if err := dev.LIDs.PutLIDMapping(ctx, p.lid, p.pn); err != nil {
		return err
	}
	spare, err := dev.PreKeys.GetOrGenPreKeys(ctx, spareKeys)
	if err != nil {
		return err
	}
	if err := dev.PreKeys.MarkPreKeysAsUploaded(ctx, spare[len(spare)-1].KeyID); err != nil {
		return err
	}
	signed := keyID(dev.SignedPreKey.KeyID)
	d := &device{
		phone: p, id: id, noise: dev.NoiseKey.Pub[:], regID: binary.BigEndian.AppendUint32(nil, dev.RegistrationID), identity: dev.IdentityKey.Pub[:],
		signed: node{Tag: "skey", Content: []node{
			{Tag: "id", Content: signed}, {Tag: "value", Content: dev.SignedPreKey.Pub[:]}, {Tag: "signature", Content: dev.SignedPreKey.Signature[:]},
		}},
	}
	for _, k := range spare {
		d.preKeys = append(d.preKeys, preKey{keyID(k.KeyID), k.Pub[:]})
	}
	p.s.mu.Lock()
	p.devices[id] = d
	p.s.mu.Unlock()
	p.s.announce(p)
	return nil
}

// keyID writes a key's number in three bytes.
func keyID(id uint32) []byte { return binary.BigEndian.AppendUint32(nil, id)[1:] }

// announce tells everybody that an account has other devices than before.
func (s *Server) announce(p *Phone) {
	s.mu.Lock()
	n := node{Tag: "notification", Attrs: attrs{"from": p.pn, "type": "devices", "id": s.id(), "t": unixNow()}, Content: []node{
		{Tag: "update", Attrs: attrs{"device_hash": "?"}, Content: []node{{Tag: "device", Attrs: attrs{"jid": p.pn}}}},
	}}
	byLID := n
	byLID.Attrs = attrs{"from": p.lid, "type": "devices", "id": s.id(), "t": unixNow()}
	var all []*conn
	for c := range s.conns {
		if c.active && c.dev != nil && c.dev.phone != p {
			all = append(all, c)
		}
	}
	s.mu.Unlock()
	for _, c := range all {
		_ = c.send(n)
		_ = c.send(byLID)
	}
}
