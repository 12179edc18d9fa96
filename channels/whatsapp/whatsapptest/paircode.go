package whatsapptest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	"golang.org/x/crypto/curve25519"
)

// linkCode is a link by a code of eight characters, from the phone's side.
type linkCode struct {
	c       *conn
	ref     []byte
	wrapped []byte // the device's one-time key, under the code
	own     *keys.KeyPair
	theirs  []byte
	phone   *Phone
	done    chan error
}

func (c *conn) linkCode(n *node, reg node) error {
	s := c.s
	jid, _ := reg.Attrs["jid"].(types.JID)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch reg.Attrs["stage"] {
	case "companion_hello":
		ref := []byte("3@" + base64.StdEncoding.EncodeToString([]byte(s.id())))
		s.codes[jid.User] = &linkCode{c: c, ref: ref, wrapped: bytesOf(reg.GetChildByTag("link_code_pairing_wrapped_companion_ephemeral_pub")), done: make(chan error, 1)}
		c.result(n, node{Tag: "link_code_companion_reg", Content: []node{{Tag: "link_code_pairing_ref", Content: ref}}})
		s.notify()
	case "companion_finish":
		lc := s.codes[jid.User]
		if lc == nil || lc.own == nil {
			c.refuse(n, 400, "bad-request")
			return nil
		}
		c.result(n)
		bundle, identity := bytesOf(reg.GetChildByTag("link_code_pairing_wrapped_key_bundle")), bytesOf(reg.GetChildByTag("companion_identity_public"))
		s.busy.Go(func() { lc.done <- lc.finish(bundle, identity) })
	default:
		c.refuse(n, 400, "bad-request")
	}
	return nil
}

// EnterCode does what typing the code into the phone does, and waits for the device's answer.
func (p *Phone) EnterCode(code string) error {
	code = strings.ReplaceAll(code, "-", "")
	s := p.s
	s.mu.Lock()
	lc := s.codes[p.pn.User]
	s.mu.Unlock()
	if lc == nil {
		return errors.New("whatsapptest: no device asks to be linked to this number")
	}
	theirs, err := underCode(code, lc.wrapped[:32], lc.wrapped[32:48], lc.wrapped[48:80])
	if err != nil {
		return err
	}
	own := keys.NewKeyPair()
	wrapped := make([]byte, 48)
	_, _ = rand.Read(wrapped)
	sealed, err := underCode(code, wrapped[:32], wrapped[32:], own.Pub[:])
	if err != nil {
		return err
	}
	s.mu.Lock()
	lc.theirs, lc.own, lc.phone = theirs, own, p
	lc.c.push(node{Tag: "notification", Attrs: attrs{"from": types.ServerJID, "id": s.id(), "t": unixNow(), "type": "link_code_companion_reg"}, Content: []node{{
		Tag: "link_code_companion_reg", Attrs: attrs{"stage": "primary_hello"}, Content: []node{
			{Tag: "link_code_pairing_ref", Content: lc.ref},
			{Tag: "link_code_pairing_wrapped_primary_ephemeral_pub", Content: append(wrapped, sealed...)},
			{Tag: "primary_identity_pub", Content: p.identity.Pub[:]},
		}}}})
	s.mu.Unlock()
	select {
	case err := <-lc.done:
		return err
	case <-time.After(bound):
		return errors.New("whatsapptest: the device did not answer the code")
	}
}

// underCode encrypts, or decrypts, with a key made of the code.
func underCode(code string, salt, iv, in []byte) ([]byte, error) {
	k, err := pbkdf2.Key(sha256.New, code, salt, 2<<16, 32)
	if err != nil {
		return nil, err
	}
	b, err := aes.NewCipher(k)
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(in))
	cipher.NewCTR(b, iv).XORKeyStream(out, in)
	return out, nil
}

// finish opens the device's keys and pairs as after a QR code, with the secret that both sides have made.
func (lc *linkCode) finish(bundle, identity []byte) error {
	shared, err := curve25519.X25519(lc.own.Priv[:], lc.theirs)
	if err != nil {
		return err
	}
	k, err := hkdf.Key(sha256.New, shared, bundle[:32], "link_code_pairing_key_bundle_encryption_key", 32)
	if err != nil {
		return err
	}
	plain, err := newAEAD(k).Open(nil, bundle[32:44], bundle[44:], nil)
	if err != nil {
		return fmt.Errorf("whatsapptest: wrong code: %w", err)
	}
	if !bytes.Equal(plain[:32], identity) || !bytes.Equal(plain[32:64], lc.phone.identity.Pub[:]) {
		return errors.New("whatsapptest: the key bundle names other identities")
	}
	agreed, err := curve25519.X25519(lc.phone.identity.Priv[:], identity)
	if err != nil {
		return err
	}
	secret, err := hkdf.Key(sha256.New, bytes.Join([][]byte{shared, agreed, plain[64:96]}, nil), nil, "adv_secret", 32)
	if err != nil {
		return err
	}
	return lc.phone.pair(lc.c, identity, secret)
}
