package whatsapp_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"parley/channels"
	"parley/channels/whatsapp"
)

var errFull = errors.New("disk full")

// refusedOf refuses events of one kind and tells of each try.
func (h *host) refusedOf(event channels.Event) chan struct{} {
	tried := make(chan struct{}, 1000)
	h.refusing(func(in channels.Inbound) error {
		if in.Event != event {
			return nil
		}
		tried <- struct{}{}
		return errFull
	})
	return tried
}

func (h *host) until(what func(channels.Inbound) bool) []channels.Inbound {
	h.t.Helper()
	for all := []channels.Inbound{}; ; {
		all = append(all, h.next())
		if what(all[len(all)-1]) {
			return all
		}
	}
}

func says(text string) func(channels.Inbound) bool {
	return func(in channels.Inbound) bool { return in.Text == text }
}

// An event that was refused is known again though the group has another name by then, and what is behind it comes.
func TestRefusedJoinAndRename(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	bert := h.s.NewPerson("Bert")
	g := h.s.NewGroup("crew", anna.Phone, h.phone)
	anna.Say(g, "known")
	h.texts("known")
	tried := make(chan channels.MessageID, 1000)
	h.refusing(func(in channels.Inbound) error {
		if in.Event != channels.Joined {
			return nil
		}
		tried <- in.ID
		return errFull
	})
	g.Add(anna.Phone, bert.Phone)
	id := <-tried
	g.Rename(anna.Phone, "the crew")
	anna.Say(g, "waits")
	for range 4 { // it is tried three times on one connection
		<-tried
	}
	h.refusing(nil)
	got := h.until(says("waits"))
	if len(got) < 3 || got[0].Event != channels.Joined || got[0].ID != id || got[1].Event != channels.Renamed {
		t.Errorf("came: %+v", got)
	}
	h.phone.WaitDelivered()
}

// A refused event that never comes again, because WhatsApp has given it up, does not keep what is behind it.
func TestRefusedAndGone(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	lost := make(chan struct{}, 100)
	h.refusing(func(in channels.Inbound) error {
		lost <- struct{}{}
		return errFull
	})
	id := anna.Say(h.phone, "gone")
	for range 3 {
		<-lost
	}
	h.phone.Forget(id)
	anna.Say(h.phone, "behind it")
	h.refusing(nil)
	h.texts("behind it")
	h.none()
}

// The second half of a notification was refused: the first half comes again before it, and nothing waits for ever.
func TestRefusedHalf(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	bert := h.s.NewPerson("Bert")
	g := h.s.NewGroup("crew", anna.Phone, h.phone)
	tried := h.refusedOf(channels.Renamed)
	g.AddAndRename(anna.Phone, bert.Phone, "the crew")
	for range 4 {
		<-tried
	}
	anna.Say(g, "behind it")
	h.refusing(nil)
	got := h.until(says("behind it"))
	if n := len(got); n < 3 || got[n-2].Event != channels.Renamed || got[n-3].Event != channels.Joined || got[n-3].ID != got[0].ID {
		t.Errorf("came: %+v", got)
	}
	h.phone.WaitDelivered()
}

// Run ends in time although an event is under way and the connection has broken meanwhile.
func TestStopWhileAnEventHangs(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	if err := h.end(); err != nil {
		t.Fatal(err)
	}
	whatsapp.SetGrace(h.ch, 100*time.Millisecond)
	reached := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- h.ch.Run(ctx, func(ctx context.Context, _ channels.Inbound) error {
			close(reached)
			<-ctx.Done()
			return ctx.Err()
		})
	}()
	h.online()
	anna.Say(h.phone, "hangs")
	<-reached
	h.phone.Disconnect()
	h.state(channels.Connecting)
	cancel()
	if err := h.await(done); err != nil {
		t.Error(err)
	}
}

// That a message cannot be read is tried again beside the others.
func TestNoticeHoldsNobody(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	bert := h.s.NewPerson("Bert")
	bert.Say(h.phone, "hello")
	h.texts("hello")
	tried := h.refusedOf(channels.Unreadable)
	h.phone.Garble(1)
	anna.Say(h.phone, "garbled")
	for range 3 {
		<-tried
	}
	began := time.Now()
	bert.Say(h.phone, "at once")
	h.until(says("at once"))
	if waited := time.Since(began); waited > 5*time.Second {
		t.Errorf("waited %s", waited)
	}
}

// The account came into a group twice: these are two events, at the times of their notifications, and each is the same when it comes again.
func TestJoinedTwice(t *testing.T) {
	t.Parallel()
	pn, lid := types.NewJID("49151", types.DefaultUserServer), types.NewJID("777", types.HiddenUserServer)
	evt := &events.JoinedGroup{GroupInfo: types.GroupInfo{JID: types.NewJID("1", types.GroupServer), GroupCreated: time.Unix(1000, 0)}}
	first := whatsapp.DecodeJoined(evt, "A", time.Unix(2000, 0), pn, lid, whatsapp.People{})
	evt.Name = "renamed"
	again := whatsapp.DecodeJoined(evt, "A", time.Unix(2000, 0), pn, lid, whatsapp.People{})
	second := whatsapp.DecodeJoined(evt, "B", time.Unix(2000, 0), pn, lid, whatsapp.People{})
	if first.ID != again.ID || first.ID == second.ID || !first.Time.Equal(time.Unix(2000, 0)) {
		t.Errorf("ids %s, %s, %s, at %s", first.ID, again.ID, second.ID, first.Time)
	}
}

// The library does not tell the time of the notification; it is kept on the way.
func TestJoinedTime(t *testing.T) {
	t.Parallel()
	h, anna := answered(t)
	g := h.s.NewGroup("crew", anna.Phone)
	g.Age(1000 * time.Hour)
	g.Add(anna.Phone, h.phone)
	first := h.next()
	g.Remove(anna.Phone, h.phone)
	left := h.next()
	g.Add(anna.Phone, h.phone)
	second := h.next()
	if first.Event != channels.Joined || left.Event != channels.Left || second.Event != channels.Joined || first.ID == second.ID || time.Since(first.Time) > time.Minute {
		t.Errorf("came: %+v, %+v, %+v", first, left, second)
	}
}
