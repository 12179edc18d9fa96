package whatsapptest

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"go.mau.fi/whatsmeow/proto/waWa6"
	"google.golang.org/protobuf/proto"
)

// noiseState is the server's side of the handshake Noise_XX_25519_AESGCM_SHA256. WhatsApp departs from the specification in one
// thing: the empty payload of the first message is not mixed into the hash.
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

// accept does the handshake and gives the client's static key and what it says of itself.
func (c *frameConn) accept(ctx context.Context, ca *authority) (clientStatic []byte, payload *waWa6.ClientPayload, err error) {
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
