package whatsapptest

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"sync"

	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/util/keys"
)

// deviceKeys keeps the keys of one device, as cheaply as possible: what a person's phone has on its disk. What a person needs not
// (contacts, settings, app state) is the library's store of nothing.
type deviceKeys struct {
	*store.NoopStore

	mu         sync.Mutex
	identities map[string][32]byte
	sessions   map[string][]byte
	senderKeys map[string][]byte
	preKeys    map[uint32]*keys.PreKey
	lastKey    uint32
	lids       map[types.JID]types.JID // both ways
}

// newDevice makes the keys of a phone.
func newDevice() *store.Device {
	m := &deviceKeys{
		NoopStore: &store.NoopStore{}, identities: map[string][32]byte{}, sessions: map[string][]byte{}, senderKeys: map[string][]byte{},
		preKeys: map[uint32]*keys.PreKey{}, lids: map[types.JID]types.JID{},
	}
	d := &store.Device{
		NoiseKey: keys.NewKeyPair(), IdentityKey: keys.NewKeyPair(), RegistrationID: rand.Uint32(), AdvSecretKey: make([]byte, 32),
		Initialized: true, Container: m, LIDs: m,
	}
	d.SignedPreKey = d.IdentityKey.CreateSignedPreKey(1)
	d.SetAllStores(m)
	return d
}

func (m *deviceKeys) PutIdentity(_ context.Context, address string, key [32]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.identities[address] = key
	return nil
}

func (m *deviceKeys) DeleteIdentity(_ context.Context, address string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.identities, address)
	return nil
}

func (m *deviceKeys) IsTrustedIdentity(_ context.Context, address string, key [32]byte) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.identities[address]
	return !ok || known == key, nil
}

func (m *deviceKeys) GetSession(_ context.Context, address string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[address], nil
}

func (m *deviceKeys) HasSession(_ context.Context, address string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[address] != nil, nil
}

func (m *deviceKeys) GetManySessions(_ context.Context, addresses []string) (map[string][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string][]byte{}
	for _, a := range addresses {
		found[a] = m.sessions[a]
	}
	return found, nil
}

func (m *deviceKeys) PutSession(_ context.Context, address string, session []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[address] = bytes.Clone(session)
	return nil
}

func (m *deviceKeys) PutManySessions(ctx context.Context, sessions map[string][]byte) error {
	for a, session := range sessions {
		_ = m.PutSession(ctx, a, session)
	}
	return nil
}

func (m *deviceKeys) DeleteSession(_ context.Context, address string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, address)
	return nil
}

func (m *deviceKeys) MigratePNToLID(_ context.Context, pn, lid types.JID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for a, session := range m.sessions {
		if device, ok := strings.CutPrefix(a, pn.SignalAddressUser()+":"); ok {
			m.sessions[lid.SignalAddressUser()+":"+device] = session
			delete(m.sessions, a)
		}
	}
	return nil
}

func (m *deviceKeys) PutSenderKey(_ context.Context, group, user string, session []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.senderKeys[group+"/"+user] = bytes.Clone(session)
	return nil
}

func (m *deviceKeys) GetSenderKey(_ context.Context, group, user string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.senderKeys[group+"/"+user], nil
}

func (m *deviceKeys) GetOrGenPreKeys(ctx context.Context, count uint32) ([]*keys.PreKey, error) {
	all := make([]*keys.PreKey, count)
	for i := range all {
		all[i], _ = m.GenOnePreKey(ctx)
	}
	return all, nil
}

func (m *deviceKeys) GenOnePreKey(context.Context) (*keys.PreKey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastKey++
	k := keys.NewPreKey(m.lastKey)
	m.preKeys[k.KeyID] = k
	return k, nil
}

func (m *deviceKeys) GetPreKey(_ context.Context, id uint32) (*keys.PreKey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.preKeys[id], nil
}

func (m *deviceKeys) RemovePreKey(_ context.Context, id uint32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.preKeys, id)
	return nil
}

func (m *deviceKeys) UploadedPreKeyCount(context.Context) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.preKeys), nil
}

func (m *deviceKeys) PutLIDMapping(_ context.Context, lid, pn types.JID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	lid, pn = lid.ToNonAD(), pn.ToNonAD()
	m.lids[lid], m.lids[pn] = pn, lid
	return nil
}

func (m *deviceKeys) PutManyLIDMappings(ctx context.Context, mappings []store.LIDMapping) error {
	for _, p := range mappings {
		_ = m.PutLIDMapping(ctx, p.LID, p.PN)
	}
	return nil
}

func (m *deviceKeys) alt(jid types.JID) types.JID {
	m.mu.Lock()
	defer m.mu.Unlock()
	other := m.lids[jid.ToNonAD()]
	if !other.IsEmpty() {
		other.Device = jid.Device
	}
	return other
}

func (m *deviceKeys) GetPNForLID(_ context.Context, lid types.JID) (types.JID, error) {
	return m.alt(lid), nil
}

func (m *deviceKeys) GetLIDForPN(_ context.Context, pn types.JID) (types.JID, error) {
	return m.alt(pn), nil
}

func (m *deviceKeys) GetManyLIDsForPNs(_ context.Context, pns []types.JID) (map[types.JID]types.JID, error) {
	found := map[types.JID]types.JID{}
	for _, pn := range pns {
		if lid := m.alt(pn); !lid.IsEmpty() {
			found[pn] = lid
		}
	}
	return found, nil
}
