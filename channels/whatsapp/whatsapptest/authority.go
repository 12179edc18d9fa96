package whatsapptest

import (
	"crypto/ecdh"
	"crypto/rand"
	"sync"
	"time"

	"go.mau.fi/libsignal/ecc"
	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCert"
	"go.mau.fi/whatsmeow/util/keys"
	"google.golang.org/protobuf/proto"
)

// authority is who vouches for the server's key. The library keeps the root in a variable of the package, so there is one of it in a
// process.
type authority struct {
	static *ecdh.PrivateKey
	chain  []byte
}

var root = sync.OnceValue(func() *authority {
	top, middle := keys.NewKeyPair(), keys.NewKeyPair()
	static, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	chain, err := proto.Marshal(&waCert.CertChain{
		Intermediate: certificate(top, 1, 0, middle.Pub[:]),
		Leaf:         certificate(middle, 2, 1, static.PublicKey().Bytes()),
	})
	if err != nil {
		panic(err)
	}
	whatsmeow.WACertPubKey = *top.Pub
	return &authority{static, chain}
})

func certificate(issuer *keys.KeyPair, serial, issuerSerial uint32, key []byte) *waCert.CertChain_NoiseCertificate {
	now := uint64(time.Now().Unix())
	details, err := proto.Marshal(&waCert.CertChain_NoiseCertificate_Details{
		Serial: proto.Uint32(serial), IssuerSerial: proto.Uint32(issuerSerial), Key: key,
		NotBefore: proto.Uint64(now - 3600), NotAfter: proto.Uint64(now + 86400),
	})
	if err != nil {
		panic(err)
	}
	sig := ecc.CalculateSignature(ecc.NewDjbECPrivateKey(*issuer.Priv), details)
	return &waCert.CertChain_NoiseCertificate{Details: details, Signature: sig[:]}
}
