package whatsapptest

// Pairing by 8-character code: the primary-device side of link_code_companion_reg.

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
	"golang.org/x/crypto/curve25519"
)

type linkCode struct {
	c       *conn
	ref     []byte
	wrapped []byte
	eph     *keys.KeyPair
	compEph []byte
	phone   *Phone
	done    chan error
}

func (c *conn) linkCode(n *node, reg node) error {
	s := c.s
	switch reg.Attrs["stage"] {
	case "companion_hello":
		jid, _ := reg.Attrs["jid"].(types.JID)
		ref := []byte("3@" + base64.StdEncoding.EncodeToString([]byte(s.id())))
		s.mu.Lock()
		s.codes[jid.User] = &linkCode{c: c, ref: ref, wrapped: bytesOf(reg.GetChildByTag("link_code_pairing_wrapped_companion_ephemeral_pub")), done: make(chan error, 1)}
		s.mu.Unlock()
		return c.result(n, node{Tag: "link_code_companion_reg", Content: []node{{Tag: "link_code_pairing_ref", Content: ref}}})
	case "companion_finish":
		jid, _ := reg.Attrs["jid"].(types.JID)
		s.mu.Lock()
		lc := s.codes[jid.User]
		s.mu.Unlock()
		if lc == nil || lc.eph == nil {
			return c.iqError(n, 400, "bad-request")
		}
		if err := c.result(n); err != nil {
			return err
		}
		err := lc.finish(bytesOf(reg.GetChildByTag("link_code_pairing_wrapped_key_bundle")), bytesOf(reg.GetChildByTag("companion_identity_public")))
		lc.done <- err
		return nil
	}
	return c.iqError(n, 400, "bad-request")
}

// EnterCode does what typing the code into the phone does.
func (p *Phone) EnterCode(code string) error {
	code = strings.ReplaceAll(code, "-", "")
	s := p.s
	s.mu.Lock()
	lc := s.codes[p.acc.pn.User]
	s.mu.Unlock()
	if lc == nil {
		return fmt.Errorf("no link request for %s", p.acc.pn)
	}
	ctr := func(salt, iv, in []byte) []byte {
		k, err := pbkdf2.Key(sha256.New, code, salt, 2<<16, 32)
		if err != nil {
			panic(err)
		}
		b, _ := aes.NewCipher(k)
		out := make([]byte, len(in))
		cipher.NewCTR(b, iv).XORKeyStream(out, in)
		return out
	}
	lc.compEph = ctr(lc.wrapped[:32], lc.wrapped[32:48], lc.wrapped[48:80])
	lc.eph, lc.phone = keys.NewKeyPair(), p
	w := make([]byte, 48)
	rand.Read(w)
	w = append(w, ctr(w[:32], w[32:48], lc.eph.Pub[:])...)
	if err := lc.c.send(node{Tag: "notification", Attrs: attrs{"from": types.ServerJID, "id": s.id(), "t": now(), "type": "link_code_companion_reg"}, Content: []node{{
		Tag: "link_code_companion_reg", Attrs: attrs{"stage": "primary_hello"}, Content: []node{
			{Tag: "link_code_pairing_ref", Content: lc.ref},
			{Tag: "link_code_pairing_wrapped_primary_ephemeral_pub", Content: w},
			{Tag: "primary_identity_pub", Content: p.acc.identity.Pub[:]},
		}}}}); err != nil {
		return err
	}
	select {
	case err := <-lc.done:
		return err
	case <-time.After(10 * time.Second):
		return fmt.Errorf("companion did not finish")
	}
}

func (lc *linkCode) finish(bundle, compIdent []byte) error {
	shared, err := curve25519.X25519(lc.eph.Priv[:], lc.compEph)
	if err != nil {
		return err
	}
	k, err := hkdf.Key(sha256.New, shared, bundle[:32], "link_code_pairing_key_bundle_encryption_key", 32)
	if err != nil {
		return err
	}
	pt, err := newAEAD(k).Open(nil, bundle[32:44], bundle[44:], nil)
	if err != nil {
		return fmt.Errorf("wrong code: %w", err)
	}
	if !bytes.Equal(pt[:32], compIdent) || !bytes.Equal(pt[32:64], lc.phone.acc.identity.Pub[:]) {
		return fmt.Errorf("identity mismatch in key bundle")
	}
	ident, err := curve25519.X25519(lc.phone.acc.identity.Priv[:], compIdent)
	if err != nil {
		return err
	}
	adv, err := hkdf.Key(sha256.New, bytes.Join([][]byte{shared, ident, pt[64:96]}, nil), nil, "adv_secret", 32)
	if err != nil {
		return err
	}
	return lc.phone.pair(lc.c, compIdent, adv)
}
