package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
)

// To whatsmeow a key file that cannot be read or written is a message that cannot be decrypted: it acknowledges that one and asks its
// sender for another, five times. Only for an error that is context.Canceled does it leave the message to the server (decryptMessages
// in its message.go). So the stores that decryption needs are wrapped: from the first such failure on nothing is decrypted and nothing
// offered until the next connection, on which everything comes again.

// trouble is what the wrapped stores share.
type trouble struct {
	failed atomic.Bool
	hash   atomic.Pointer[[32]byte] // of the ciphertext that the library is at
	tell   func(error)
}

// errKeysFailed has the cause in its text only.
func errKeysFailed(err error) error {
	return fmt.Errorf("use key file (%s): %w", err.Error(), context.Canceled)
}

var errKeysBefore = errors.New("an earlier write failed")

// of notes a failure of the file itself.
func (t *trouble) of(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if t.failed.Store(true); t.tell != nil {
		t.tell(err)
	}
	return errKeysFailed(err)
}

// ofFile does so for errors that may as well be about what was to be decrypted.
func (t *trouble) ofFile(err error) error {
	if isFileError(err) {
		return t.of(err)
	}
	return err
}

// newest gives the hash of the message that the library is at. It handles one at a time.
func (t *trouble) newest() (hash [32]byte) {
	if p := t.hash.Load(); p != nil {
		hash = *p
	}
	return hash
}

// guard wraps what decryption reads and writes.
func (t *trouble) guard(d *store.Device) {
	d.EventBuffer = eventBuffer{d.EventBuffer, t}
	d.SenderKeys = senderKeys{d.SenderKeys, t}
	d.Sessions = sessionStore{d.Sessions, t}
	d.LIDs = lidStore{d.LIDs, t}
}

type eventBuffer struct {
	store.EventBuffer
	trouble *trouble
}

// GetBufferedEvent implements store.EventBuffer. The library asks for each message before it decrypts it.
func (b eventBuffer) GetBufferedEvent(ctx context.Context, hash [32]byte) (*store.BufferedEvent, error) {
	if b.trouble.failed.Load() {
		return nil, errKeysFailed(errKeysBefore)
	}
	b.trouble.hash.Store(&hash)
	e, err := b.EventBuffer.GetBufferedEvent(ctx, hash)
	return e, b.trouble.of(err)
}

// DoDecryptionTxn implements store.EventBuffer.
func (b eventBuffer) DoDecryptionTxn(ctx context.Context, fn func(context.Context) error) error {
	var inner error
	err := b.EventBuffer.DoDecryptionTxn(ctx, func(ctx context.Context) error {
		inner = fn(ctx)
		return inner
	})
	if inner == nil {
		return b.trouble.of(err)
	}
	return b.trouble.ofFile(err)
}

// PutBufferedEvent implements store.EventBuffer.
func (b eventBuffer) PutBufferedEvent(ctx context.Context, hash [32]byte, plaintext []byte, at time.Time) error {
	return b.trouble.of(b.EventBuffer.PutBufferedEvent(ctx, hash, plaintext, at))
}

type senderKeys struct {
	store.SenderKeyStore
	trouble *trouble
}

// PutSenderKey implements store.SenderKeyStore. The library goes on when the key that a message brings for a group cannot be written.
func (s senderKeys) PutSenderKey(ctx context.Context, group, user string, key []byte) error {
	return s.trouble.of(s.SenderKeyStore.PutSenderKey(ctx, group, user, key))
}

type sessionStore struct {
	store.SessionStore
	trouble *trouble
}

// MigratePNToLID implements store.SessionStore. The library goes on when it fails, and finds no session then.
func (s sessionStore) MigratePNToLID(ctx context.Context, pn, lid types.JID) error {
	return s.trouble.of(s.SessionStore.MigratePNToLID(ctx, pn, lid))
}

type lidStore struct {
	store.LIDStore
	trouble *trouble
}

// GetLIDForPN implements store.LIDStore. The library goes on when it fails, and looks for the wrong session then.
func (s lidStore) GetLIDForPN(ctx context.Context, pn types.JID) (types.JID, error) {
	lid, err := s.LIDStore.GetLIDForPN(ctx, pn)
	return lid, s.trouble.of(err)
}
