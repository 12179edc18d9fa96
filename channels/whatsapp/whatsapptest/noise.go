package whatsapptest

// Server side of the Noise_XX_25519_AESGCM_SHA256 handshake as WhatsApp uses it
// (no MixHash of the empty payload of message 1, payload of message 2 = cert chain,
// payload of message 3 = ClientPayload), plus the WA framing over a websocket.

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"
	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow/proto/waCert"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

type noiseState struct {
	h, ck []byte
	aead  cipher.AEAD
	n     uint64
}

func newAEAD(k []byte) cipher.AEAD {
	b, err := aes.NewCipher(k)
	if err != nil {
		panic(err)
	}
	g, err := cipher.NewGCM(b)
	if err != nil {
		panic(err)
	}
	return g
}

func nonce(n uint64) []byte {
	iv := make([]byte, 12)
	binary.BigEndian.PutUint64(iv[4:], n)
	return iv
}

func newNoise(prologue []byte) *noiseState {
	h := []byte("Noise_XX_25519_AESGCM_SHA256\x00\x00\x00\x00")
	s := &noiseState{h: h, ck: h, aead: newAEAD(h)}
	s.mixHash(prologue)
	return s
}

func (s *noiseState) mixHash(d []byte) {
	x := sha256.New()
	x.Write(s.h)
	x.Write(d)
	s.h = x.Sum(nil)
}

func (s *noiseState) hkdf2(ikm []byte) (a, b []byte) {
	out, err := hkdf.Key(sha256.New, ikm, s.ck, "", 64)
	if err != nil {
		panic(err)
	}
	return out[:32], out[32:]
}

func (s *noiseState) mixKey(ikm []byte) {
	a, b := s.hkdf2(ikm)
	s.ck, s.aead, s.n = a, newAEAD(b), 0
}

func (s *noiseState) seal(p []byte) []byte {
	c := s.aead.Seal(nil, nonce(s.n), p, s.h)
	s.n++
	s.mixHash(c)
	return c
}

func (s *noiseState) open(c []byte) ([]byte, error) {
	p, err := s.aead.Open(nil, nonce(s.n), c, s.h)
	s.n++
	if err != nil {
		return nil, err
	}
	s.mixHash(c)
	return p, nil
}

func dh(priv *ecdh.PrivateKey, pub []byte) ([]byte, error) {
	p, err := ecdh.X25519().NewPublicKey(pub)
	if err != nil {
		return nil, err
	}
	return priv.ECDH(p)
}

// certAuthority is the root whose public key the test writes into whatsmeow.WACertPubKey.
type certAuthority struct {
	root, intermediate *keys.KeyPair
	static             *ecdh.PrivateKey
	chain              []byte
}

func newCA() *certAuthority {
	ca := &certAuthority{root: keys.NewKeyPair(), intermediate: keys.NewKeyPair()}
	var err error
	if ca.static, err = ecdh.X25519().GenerateKey(rand.Reader); err != nil {
		panic(err)
	}
	now := uint64(time.Now().Unix())
	mk := func(issuer *keys.KeyPair, serial, issuerSerial uint32, key []byte) *waCert.CertChain_NoiseCertificate {
		det, err := proto.Marshal(&waCert.CertChain_NoiseCertificate_Details{
			Serial: proto.Uint32(serial), IssuerSerial: proto.Uint32(issuerSerial), Key: key,
			NotBefore: proto.Uint64(now - 3600), NotAfter: proto.Uint64(now + 86400),
		})
		if err != nil {
			panic(err)
		}
		sig := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*issuer.Priv), det)
		return &waCert.CertChain_NoiseCertificate{Details: det, Signature: sig[:]}
	}
	ca.chain, err = proto.Marshal(&waCert.CertChain{
		Intermediate: mk(ca.root, 1, 0, ca.intermediate.Pub[:]),
		Leaf:         mk(ca.intermediate, 2, 1, ca.static.PublicKey().Bytes()),
	})
	if err != nil {
		panic(err)
	}
	return ca
}

// frameConn is a websocket with WA length-prefixed frames, and after the handshake AES-GCM.
type frameConn struct {
	ws     *websocket.Conn
	buf    []byte
	wmu    sync.Mutex
	send   cipher.AEAD
	recv   cipher.AEAD
	sn, rn uint64
}

func (c *frameConn) readRaw(ctx context.Context, header int) (hdr, frame []byte, err error) {
	need := header + 3
	for {
		if len(c.buf) >= need {
			l := int(c.buf[header])<<16 | int(c.buf[header+1])<<8 | int(c.buf[header+2])
			if len(c.buf) >= need+l {
				hdr = c.buf[:header]
				frame = c.buf[need : need+l]
				c.buf = append([]byte(nil), c.buf[need+l:]...)
				return hdr, frame, nil
			}
		}
		typ, d, err := c.ws.Read(ctx)
		if err != nil {
			return nil, nil, err
		}
		if typ != websocket.MessageBinary {
			return nil, nil, errors.New("text frame")
		}
		c.buf = append(c.buf, d...)
	}
}

func (c *frameConn) writeRaw(ctx context.Context, d []byte) error {
	out := append([]byte{byte(len(d) >> 16), byte(len(d) >> 8), byte(len(d))}, d...)
	return c.ws.Write(ctx, websocket.MessageBinary, out)
}

func (c *frameConn) read(ctx context.Context) ([]byte, error) {
	_, f, err := c.readRaw(ctx, 0)
	if err != nil {
		return nil, err
	}
	p, err := c.recv.Open(nil, nonce(c.rn), f, nil)
	c.rn++
	return p, err
}

func (c *frameConn) write(ctx context.Context, p []byte) error {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	ct := c.send.Seal(nil, nonce(c.sn), p, nil)
	c.sn++
	return c.writeRaw(ctx, ct)
}

// accept runs the responder side and returns the client's static key and its payload.
func (c *frameConn) accept(ctx context.Context, ca *certAuthority) (clientStatic []byte, payload *waWa6.ClientPayload, err error) {
	hdr, f, err := c.readRaw(ctx, 4)
	if err != nil {
		return nil, nil, err
	}
	if hdr[0] != 'W' || hdr[1] != 'A' {
		return nil, nil, fmt.Errorf("bad prologue %x", hdr)
	}
	var m waWa6.HandshakeMessage
	if err = proto.Unmarshal(f, &m); err != nil {
		return nil, nil, err
	}
	ce := m.GetClientHello().GetEphemeral()
	s := newNoise(append([]byte(nil), hdr...))
	s.mixHash(ce)
	e, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	s.mixHash(e.PublicKey().Bytes())
	ss, err := dh(e, ce)
	if err != nil {
		return nil, nil, err
	}
	s.mixKey(ss)
	encStatic := s.seal(ca.static.PublicKey().Bytes())
	if ss, err = dh(ca.static, ce); err != nil {
		return nil, nil, err
	}
	s.mixKey(ss)
	encPayload := s.seal(ca.chain)
	out, err := proto.Marshal(&waWa6.HandshakeMessage{ServerHello: &waWa6.HandshakeMessage_ServerHello{
		Ephemeral: e.PublicKey().Bytes(), Static: encStatic, Payload: encPayload,
	}})
	if err != nil {
		return nil, nil, err
	}
	if err = c.writeRaw(ctx, out); err != nil {
		return nil, nil, err
	}
	if _, f, err = c.readRaw(ctx, 0); err != nil {
		return nil, nil, err
	}
	m.Reset()
	if err = proto.Unmarshal(f, &m); err != nil {
		return nil, nil, err
	}
	if clientStatic, err = s.open(m.GetClientFinish().GetStatic()); err != nil {
		return nil, nil, fmt.Errorf("client static: %w", err)
	}
	if ss, err = dh(e, clientStatic); err != nil {
		return nil, nil, err
	}
	s.mixKey(ss)
	pt, err := s.open(m.GetClientFinish().GetPayload())
	if err != nil {
		return nil, nil, fmt.Errorf("client payload: %w", err)
	}
	payload = &waWa6.ClientPayload{}
	if err = proto.Unmarshal(pt, payload); err != nil {
		return nil, nil, err
	}
	a, b := s.hkdf2(nil)
	c.recv, c.send = newAEAD(a), newAEAD(b)
	return clientStatic, payload, nil
}
