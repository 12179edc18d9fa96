package whatsapptest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waAdv"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"
)

// pairing is a device that has been scanned and has not confirmed yet.
type pairing struct {
	dev     *device
	details []byte
}

// Scan does what the phone does with a QR code: it signs the device's identity and has the server tell the device.
func (p *Phone) Scan(qr string) error {
	if _, after, ok := strings.Cut(qr, "#"); ok {
		qr = after
	}
	parts := strings.Split(qr, ",")
	if len(parts) < 4 {
		return errors.New("whatsapptest: not a QR code for linking")
	}
	noise, err1 := base64.StdEncoding.DecodeString(parts[1])
	identity, err2 := base64.StdEncoding.DecodeString(parts[2])
	secret, err3 := base64.StdEncoding.DecodeString(parts[3])
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	p.s.mu.Lock()
	c := p.s.pending[parts[0]]
	p.s.mu.Unlock()
	if c == nil {
		return errors.New("whatsapptest: the QR code is too old")
	}
	if !bytes.Equal(noise, c.static) {
		return errors.New("whatsapptest: the key in the QR code is not that of its connection")
	}
	return p.pair(c, identity, secret)
}

// pair signs the device's identity and sends the signature, under the secret that only who has seen the code knows.
func (p *Phone) pair(c *conn, identity, secret []byte) error {
	s := p.s
	s.mu.Lock()
	id := p.nextID
	p.nextID++
	s.mu.Unlock()
	account, err := p.certify(identity, id)
	if err != nil {
		return err
	}
	signed, err := proto.Marshal(account)
	if err != nil {
		return err
	}
	h := hmac.New(sha256.New, secret)
	h.Write(signed)
	container, err := proto.Marshal(&waAdv.ADVSignedDeviceIdentityHMAC{Details: signed, HMAC: h.Sum(nil)})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := &device{phone: p, id: id, noise: c.static, identity: identity}
	c.pairing = &pairing{d, account.GetDetails()}
	c.push(node{Tag: "iq", Attrs: attrs{"from": types.ServerJID, "type": "set", "id": s.id(), "t": unixNow()}, Content: []node{{Tag: "pair-success", Content: []node{
		{Tag: "device-identity", Content: container},
		{Tag: "device", Attrs: attrs{"jid": d.pnJID(), "lid": d.lidJID()}},
		{Tag: "platform", Attrs: attrs{"name": "android"}},
	}}}})
	return nil
}

// paired checks the device's own signature and ends the link's connection: the device comes back with its login.
func (c *conn) paired(sign node) error {
	p := c.pairing
	if p == nil {
		return errors.New("pair-device-sign without a pairing")
	}
	var signed waAdv.ADVSignedDeviceIdentity
	if err := proto.Unmarshal(bytesOf(sign.GetChildByTag("device-identity")), &signed); err != nil {
		return err
	}
	d := p.dev
	msg := bytes.Join([][]byte{{6, 1}, p.details, d.identity, d.phone.identity.Pub[:]}, nil)
	if len(signed.DeviceSignature) != 64 || !ecc.VerifySignature(ecc.NewDjbECPublicKey([32]byte(d.identity)), msg, [64]byte(signed.DeviceSignature)) {
		return errors.New("the device's signature is wrong")
	}
	reg := c.payload.GetDevicePairingData()
	c.s.mu.Lock()
	d.regID = reg.GetERegid()
	d.signed = node{Tag: "skey", Content: []node{{Tag: "id", Content: reg.GetESkeyID()}, {Tag: "value", Content: reg.GetESkeyVal()}, {Tag: "signature", Content: reg.GetESkeySig()}}}
	d.phone.devices[d.id] = d
	c.end(node{Tag: "stream:error", Attrs: attrs{"code": "515"}})
	c.s.notify()
	c.s.mu.Unlock()
	c.s.announce(d.phone)
	return nil
}
