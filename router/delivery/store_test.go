package delivery

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/clock"
	"parley/router/filestore"
	"parley/router/settings"
	"parley/sessions"
)

// memoryStore holds deliveries and sessions in memory, as far as these tests need a store. A method that it does not have panics.
type memoryStore struct {
	Store
	mu         sync.Mutex
	sessions   map[sessions.Key]sessions.Session
	deliveries []sessions.Delivery // by age
}

// add stores a pending delivery.
func (m *memoryStore) add(d sessions.Delivery) sessions.Delivery {
	m.mu.Lock()
	defer m.mu.Unlock()
	d.Seq, d.State, d.Created = int64(len(m.deliveries)+1), sessions.Pending, time.Now()
	m.deliveries = append(m.deliveries, d)
	return d
}

// change changes a stored delivery and returns it.
func (m *memoryStore) change(id sessions.DeliveryID, f func(*sessions.Delivery)) (sessions.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.deliveries, func(d sessions.Delivery) bool { return d.ID == id })
	if i < 0 {
		return sessions.Delivery{}, sessions.ErrNotFound
	}
	f(&m.deliveries[i])
	return m.deliveries[i], nil
}

func (m *memoryStore) Get(_ context.Context, key sessions.Key) (sessions.Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[key]
	if !ok {
		return s, sessions.ErrNotFound
	}
	return s, nil
}

func (m *memoryStore) Due(_ context.Context, limit int, _ int64) (due []sessions.Delivery, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.deliveries {
		if d.State == sessions.Pending && len(due) < limit {
			due = append(due, d)
		}
	}
	return due, nil
}

func (m *memoryStore) GetDelivery(_ context.Context, id sessions.DeliveryID) (sessions.Delivery, error) {
	return m.change(id, func(*sessions.Delivery) {})
}

func (m *memoryStore) BeginSend(_ context.Context, id sessions.DeliveryID, _ time.Time, _ func(sessions.Session) policy.Verdict, _ sessions.FirstContactQuota) (sessions.Delivery, error) {
	return m.change(id, func(d *sessions.Delivery) { d.State, d.Attempt = sessions.Sending, d.Attempt+1 })
}

func (m *memoryStore) PartSent(_ context.Context, id sessions.DeliveryID, _ channels.Receipt, _ bool) error {
	_, err := m.change(id, func(d *sessions.Delivery) { d.State = sessions.Sent })
	return err
}

func (m *memoryStore) Calling(sessions.Delivery) error                      { return nil }
func (m *memoryStore) Answered(sessions.Delivery, channels.Receipt, bool)   {}
func (m *memoryStore) Previews(context.Context) ([]sessions.Preview, error) { return nil, nil }

var fakeAccount = settings.AccountRef{Channel: fakeKind, Account: channels.DefaultAccount}

// rig is a dispatcher between a store in memory and a fake channel.
type rig struct {
	*Dispatcher
	store *memoryStore
	fake  *channeltest.Fake
}

// newRig starts a dispatcher with room for so many deliveries, which ends with the test. Call it inside a synctest bubble.
func newRig(t *testing.T, room int, configure ...func(*Config)) *rig {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	set := (&settings.Snapshot{Accounts: map[settings.AccountRef]settings.Account{fakeAccount: {}}, Moved: settings.NewMovedChats()}).Prepare()
	r := &rig{store: &memoryStore{sessions: make(map[sessions.Key]sessions.Session)}, fake: channeltest.NewFake(channeltest.Options{})}
	c := Config{Store: r.store, Settings: func() *settings.Snapshot { return set }, Outbox: filestore.NewOutbox("", log), Ages: clock.New(), Log: log}
	for _, f := range configure {
		f(&c)
	}
	r.Dispatcher = New(c)
	r.queues.maxResident = room
	r.Attach(fakeAccount, r.fake.Full())
	ctx, end := context.WithCancel(t.Context())
	if err := r.Start(ctx, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		end()
		r.Stop()
	})
	return r
}
