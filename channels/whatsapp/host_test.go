package whatsapp_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"parley/channels"
	"parley/channels/whatsapp"
	"parley/channels/whatsapp/whatsapptest"
)

const bound = 30 * time.Second

// host is what stands above an adapter: it takes events, or refuses them, and keeps Run going.
type host struct {
	gather time.Duration // the wait for further parts of an album, from the next open on; 0 = the channel's own
	t      *testing.T
	s      *whatsapptest.Server
	phone  *whatsapptest.Phone
	ch     *whatsapp.Channel
	dir    string
	log    *journal
	in     chan channels.Inbound

	mu     sync.Mutex
	refuse func(channels.Inbound) error
	stop   context.CancelFunc
	done   chan error
}

// journal is a log that a test can read while it is written.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.String()
}

func newHost(t *testing.T, s *whatsapptest.Server, phone *whatsapptest.Phone) *host {
	t.Helper()
	h := &host{t: t, s: s, phone: phone, dir: filepath.Join(t.TempDir(), "account"), log: &journal{}, in: make(chan channels.Inbound, 1000)}
	h.open()
	return h
}

// open makes the channel, as a start of the process does.
func (h *host) open() {
	h.t.Helper()
	ch, err := whatsapp.New(whatsapp.Config{ReadReceipts: true}, whatsapp.Deps{
		Dir: h.dir, Client: h.s.Client(), Logger: slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		h.t.Fatal(err)
	}
	whatsapp.Hurry(ch)
	if h.gather > 0 {
		whatsapp.SetGather(ch, h.gather)
	}
	h.ch = ch
}

// linked gives a host whose account is linked and connected.
func linked(t *testing.T, s *whatsapptest.Server, phone *whatsapptest.Phone) *host {
	t.Helper()
	h := newHost(t, s, phone)
	h.link()
	h.run()
	h.online()
	return h
}

func (h *host) link() {
	h.t.Helper()
	mkdir(h.t, h.dir)
	if err := h.phone.Link(filepath.Join(h.dir, "keys.db")); err != nil {
		h.t.Fatal(err)
	}
}

func (h *host) run() {
	ctx, cancel := context.WithCancel(context.Background())
	h.stop, h.done = cancel, make(chan error, 1)
	ch, done := h.ch, h.done
	go func() { done <- ch.Run(ctx, h.inbox) }()
	h.t.Cleanup(func() {
		cancel()
		_ = h.await(done)
	})
}

func (h *host) inbox(ctx context.Context, in channels.Inbound) error {
	h.mu.Lock()
	refuse := h.refuse
	h.mu.Unlock()
	if refuse != nil {
		if err := refuse(in); err != nil {
			return err
		}
	}
	select {
	case h.in <- in:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *host) refusing(f func(channels.Inbound) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refuse = f
}

// end stops Run, which must come back soon.
func (h *host) end() error {
	h.stop()
	return h.ended()
}

// ended waits for Run to come back.
func (h *host) ended() error {
	h.t.Helper()
	return h.await(h.done)
}

func (h *host) await(done chan error) error {
	h.t.Helper()
	select {
	case err := <-done:
		done <- err
		return err
	case <-time.After(bound):
		h.t.Fatal("Run does not end")
		return nil
	}
}

// online waits until messages can be sent.
func (h *host) online() { h.state(channels.Connected) }

func (h *host) state(want channels.State) channels.Health {
	h.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(bound)
	for {
		if got := h.ch.Health(); got.State == want {
			return got
		}
		select {
		case <-tick.C:
		case <-limit:
			h.t.Fatalf("the state is %+v, want %s", h.ch.Health(), want)
		}
	}
}

// next waits for an event.
func (h *host) next() channels.Inbound {
	h.t.Helper()
	select {
	case in := <-h.in:
		return in
	case <-time.After(bound):
		h.t.Fatalf("no event came; the log:\n%s", h.log)
		return channels.Inbound{}
	}
}

// none checks that nothing waits, after everything that WhatsApp had for the account is confirmed.
func (h *host) none() {
	h.t.Helper()
	h.phone.WaitDelivered()
	select {
	case in := <-h.in:
		h.t.Errorf("an event that must not come: %+v", in)
	default:
	}
}

func (h *host) direct(p *whatsapptest.Phone) channels.Address {
	return channels.Address{Channel: whatsapp.Kind, Account: channels.DefaultAccount, Chat: channels.ChatID(p.JID().String()), Type: channels.Direct}
}

func (h *host) group(g *whatsapptest.Group) channels.Address {
	return channels.Address{Channel: whatsapp.Kind, Account: channels.DefaultAccount, Chat: channels.ChatID(g.JID().String()), Type: channels.Group}
}

func (h *host) send(out channels.Outbound) channels.Receipt {
	h.t.Helper()
	r, err := h.ch.Send(h.t.Context(), out)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func (h *host) class(err error, want channels.Class) {
	h.t.Helper()
	if e, ok := errors.AsType[*channels.Error](err); !ok || e.Class != want {
		h.t.Errorf("got %v, want class %s", err, want)
	}
}
