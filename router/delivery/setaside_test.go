package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/policy"
	"parley/router/inbound"
	"parley/router/routertest"
	"parley/sessions"
)

// unfitting is a store that takes no run of a message with the words.
type unfitting struct {
	sessions.Store
	words  string
	err    error
	broken atomic.Bool // the main session cannot be read
}

func (s *unfitting) Get(ctx context.Context, key sessions.Key) (sessions.Session, error) {
	if key == "agent:main:main" && s.broken.Load() {
		return sessions.Session{}, sessions.ErrCorruptRow
	}
	return s.Store.Get(ctx, key)
}

func (s *unfitting) Accept(ctx context.Context, a sessions.Arrival) (sessions.Accepted, error) {
	if aside := a.Skip != nil && strings.HasPrefix(a.Skip.Reason, sessions.QuarantineReason); a.In.Text == s.words && !aside {
		if s.err == nil {
			panic("a fault of the program")
		}
		return sessions.Accepted{}, s.err
	}
	return s.Store.Accept(ctx, a)
}

// OwnMessage fails before it is decided what becomes of a message.
func (s *unfitting) OwnMessage(ctx context.Context, at channels.Address, id channels.MessageID) (sessions.OwnMessage, bool, error) {
	if strings.HasPrefix(string(id), "undecided") {
		panic("a fault of the program")
	}
	return s.Store.OwnMessage(ctx, at, id)
}

// TestFaultRefusedForEver: what a message holds cannot be stored, or makes the program fail. It is quarantined after half a minute with its words, and
// the chat is told; what is behind it continues. What may be the disk's is asked for again without end.
func TestFaultRefusedForEver(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		aside bool
	}{
		"a constraint":     {fmt.Errorf("Accept: %w: UNIQUE", sessions.ErrInvalid), true},
		"a conflict":       {sessions.ErrConflict, true},
		"a panic":          {nil, true},
		"the disk is full": {errors.New("database or disk is full"), false},
		"a context":        {context.DeadlineExceeded, false},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := newUnfitting(t, &unfitting{words: "poison", err: c.err})
				in := channels.Inbound{ID: "1", Event: channels.Message, Address: routertest.Direct("ann"), Sender: channels.Sender{ID: routertest.Guest, Name: "Ann"}, Text: "poison", Time: time.Now()}
				began, taken := time.Now(), false
				for !taken && time.Since(began) < 10*time.Minute {
					if taken = g.Router.Receiver.Accept(t.Context(), in) == nil; !taken {
						time.Sleep(5 * time.Second)
					}
				}
				if taken != c.aside || taken && (time.Since(began) < inbound.RefusedFor || time.Since(began) > time.Minute) {
					t.Fatalf("taken: %v, after %s", taken, time.Since(began))
				}
				listed, err := g.Store.Skipped(t.Context(), 10)
				if !c.aside {
					if err != nil || len(listed) != 0 {
						t.Errorf("listed: %+v (%v)", listed, err)
					}
					return
				}
				if err != nil || len(listed) != 1 || listed[0].ID != "1" || !strings.Contains(listed[0].Raw, `"text":"poison"`) {
					t.Errorf("listed: %+v (%v)", listed, err)
				}
				g.Say(routertest.Direct("ann"), routertest.Guest, "hello")
				g.Until("what is behind it is answered", func() bool { return slices.Contains(g.Fake.Texts(routertest.Direct("ann")), "echo: hello") })
				if got := g.Fake.Texts(routertest.Direct("ann")); len(got) != 2 || !strings.Contains(got[0], "saved it for the administrator") {
					t.Errorf("the chat shows %q", got)
				}
			})
		})
	}
}

// TestFaultSessionUnread: a session whose row is not as it was written takes no message. What is written there is quarantined with its words, the first after
// half a minute, all others at once, and other chats go on. It is unknown whether its chat may be told.
func TestFaultSessionUnread(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		store := &unfitting{words: "none"}
		store.broken.Store(true)
		g := newUnfitting(t, store)
		in := channels.Inbound{ID: "1", Event: channels.Message, Address: routertest.Direct(routertest.Owner), Sender: channels.Sender{ID: routertest.Owner}, Text: "what I wrote", Time: time.Now()}
		taken, began := false, time.Now()
		for ; !taken && time.Since(began) < time.Minute; time.Sleep(5 * time.Second) {
			taken = g.Router.Receiver.Accept(t.Context(), in) == nil
		}
		if !taken || time.Since(began) < inbound.RefusedFor {
			t.Errorf("taken: %t, after %s", taken, time.Since(began))
		}
		for id := range inbound.MaxQuarantined + 10 {
			in.ID = channels.MessageID(fmt.Sprint("later ", id))
			if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
				t.Fatal(id, err)
			}
		}
		listed, err := g.Store.Skipped(t.Context(), 1000)
		if err != nil || len(listed) != inbound.MaxQuarantined+11 || !strings.Contains(listed[0].Raw, in.Text) || len(g.Fake.Texts(routertest.Direct(routertest.Owner))) != 0 {
			t.Errorf("%d are listed (%v); the chat shows %q", len(listed), err, g.Fake.Texts(routertest.Direct(routertest.Owner)))
		}
		g.Say(routertest.Group("g"), routertest.Guest, "hello")
		g.Until("another chat is answered", func() bool { return len(g.Fake.Texts(routertest.Group("g"))) == 1 })

		store.broken.Store(false) // somebody has put it right
		g.Say(routertest.Direct(routertest.Owner), routertest.Owner, "hello")
		g.Until("it is answered", func() bool { return len(g.Fake.Texts(routertest.Direct(routertest.Owner))) == 1 })
		store.broken.Store(true)
		in.ID = "anew"
		if g.Router.Receiver.Accept(t.Context(), in) == nil {
			t.Error("what is refused for the first time is set aside at once")
		}
	})
}

// What the policy would have dropped leaves no words behind, also where the program fails before it has decided.
func TestSetAsideWithoutWords(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newUnfitting(t, &unfitting{words: "poison", err: sessions.ErrInvalid})
		own := channels.Inbound{ID: "own", Event: channels.Message, SentByThisLogin: true, Address: routertest.Direct("ann"), Sender: channels.Sender{ID: routertest.Owner}, Text: "poison", Time: time.Now()}
		silent := channels.Inbound{ID: "group", Event: channels.Message, Address: routertest.Group("far away"), Sender: channels.Sender{ID: "stranger"}, Text: "poison", Time: time.Now()}
		deaf := *g.Router.Settings()
		deaf.Accounts = maps.Clone(deaf.Accounts)
		x := deaf.Accounts[routertest.Account]
		x.Access = policy.Access{DMPolicy: policy.DMOpen, GroupPolicy: policy.GroupDisabled}
		deaf.Accounts[routertest.Account] = x
		if err := g.Router.Apply(t.Context(), &deaf); err != nil {
			t.Fatal(err)
		}
		undecided, known := silent, own
		undecided.ID, known.ID, known.SentByThisLogin = "undecided", "undecided, by the owner", false
		for range 10 {
			for _, in := range []channels.Inbound{own, silent, undecided, known} {
				_ = g.Router.Receiver.Accept(t.Context(), in)
			}
			time.Sleep(5 * time.Second)
		}
		listed, err := g.Store.Skipped(t.Context(), 10)
		if err != nil || len(listed) != 4 {
			t.Fatalf("listed: %+v (%v)", listed, err)
		}
		for _, e := range listed {
			if strings.Contains(e.Raw, "poison") != (e.ID == known.ID) || !strings.Contains(e.Raw, `"sender"`) {
				t.Errorf("kept of %s: %s", e.ID, e.Raw)
			}
		}
	})
}

// A chat that is not written to is not told either, as by /send off.
func TestFaultRefusedInSilence(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newUnfitting(t, &unfitting{words: "poison", err: sessions.ErrInvalid})
		g.Say(routertest.Direct("a"), routertest.Owner, "hello")
		g.Until("it is answered", func() bool { return len(g.Fake.Texts(routertest.Direct("a"))) == 1 })
		g.Say(routertest.Direct("a"), routertest.Owner, "/send off")
		g.Until("it is off", func() bool { return len(g.Fake.Texts(routertest.Direct("a"))) == 2 })
		in := channels.Inbound{ID: "poison", Event: channels.Message, Address: routertest.Direct("a"), Sender: channels.Sender{ID: routertest.Owner}, Text: "poison", Time: time.Now()}
		for range 10 {
			_ = g.Router.Receiver.Accept(t.Context(), in)
			time.Sleep(5 * time.Second)
		}
		if listed, err := g.Store.Skipped(t.Context(), 10); err != nil || len(listed) != 1 {
			t.Errorf("listed: %+v (%v)", listed, err)
		}
		if now := g.Fake.Texts(routertest.Direct("a")); len(now) != 2 {
			t.Errorf("a chat that nothing is sent to shows %q", now)
		}
		if n, err := g.Store.CountQuarantined(t.Context(), time.Now().Add(-time.Hour)); n != 1 || err != nil {
			t.Errorf("%d are counted (%v)", n, err)
		}
	})
}

// TestFaultRefusedByTheHundred: a fault that refuses every message sets a few aside in an hour, and leaves all others with their platform.
func TestFaultRefusedByTheHundred(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newUnfitting(t, &unfitting{words: "poison"})
		in := channels.Inbound{Event: channels.Message, Address: routertest.Direct("ann"), Sender: channels.Sender{ID: routertest.Guest, Name: "Ann"}, Text: "poison", Time: time.Now()}
		taken := map[int]bool{}
		for range 24 { // two minutes
			for id := range inbound.MaxQuarantined + 10 {
				in.ID = channels.MessageID(strconv.Itoa(id))
				taken[id] = taken[id] || g.Router.Receiver.Accept(t.Context(), in) == nil
			}
			time.Sleep(5 * time.Second)
		}
		for id, done := range taken {
			if done != (id < inbound.MaxQuarantined) {
				t.Errorf("message %d was taken: %v", id, done)
			}
		}
		time.Sleep(time.Hour)
		if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
			t.Errorf("an hour later none is set aside: %v", err)
		}
	})
}

func newUnfitting(t *testing.T, s *unfitting) *routertest.Rig {
	t.Helper()
	g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Settings: routertest.SettingsFor(), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}}
	g.Wrap = func(store sessions.Store) sessions.Store { s.Store = store; return s }
	g.Start()
	return g
}

// TestFaultRefusedOnTelegram: the same through the real adapter: what is refused is confirmed once it is quarantined, and what its chat wrote behind it is
// answered, in its order; other chats do not wait. After a restart it does not come again.
func TestFaultRefusedOnTelegram(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := newBotRig(t)
		g.Wrap = func(store sessions.Store) sessions.Store {
			return &unfitting{Store: store, words: "poison", err: fmt.Errorf("Accept: %w: UNIQUE", sessions.ErrInvalid)}
		}
		g.restart()
		texts := func(chat int64) (out []string) {
			for _, m := range g.srv.SentTo(chat) {
				out = append(out, m.Text)
			}
			return out
		}
		g.srv.Say(anna, anna, "poison")
		g.srv.Say(anna, anna, "one")
		g.srv.Say(anna, anna, "two")
		g.srv.Say(bert, bert, "hello")
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if a, b := texts(anna), texts(bert); len(a) != 0 || !slices.Equal(b, []string{"echo: hello"}) {
			t.Errorf("after 20 s the chats show %q and %q", a, b)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := texts(anna); len(got) != 3 || !strings.Contains(got[0], "saved it for the administrator") || got[1] != "echo: one" || got[2] != "echo: two" {
			t.Errorf("the chat shows %q", got)
		}
		g.restart()
		last := g.srv.Say(anna, anna, "three")
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := texts(anna); len(got) != 4 || got[3] != "echo: three" || g.srv.Confirmed() < last.UpdateID {
			t.Errorf("the chat shows %q, confirmed %d of %d", got, g.srv.Confirmed(), last.UpdateID)
		}
		if listed, err := g.Store.Skipped(t.Context(), 10); err != nil || len(listed) != 1 {
			t.Errorf("listed: %+v (%v)", listed, err)
		}
	})
}

// stateless is a store that cannot write that a delivery is to be tried again.
type stateless struct{ sessions.Store }

func (stateless) Retry(context.Context, sessions.DeliveryID, time.Time, string, sessions.TryEnd) error {
	return fmt.Errorf("Retry: %w: a value out of range", sessions.ErrInvalid)
}

// A delivery whose state cannot be stored holds its chat up for seconds, not for ever.
// source: Bot API, Message.date (Unix time in seconds)
func TestFaultStateUnfit(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Settings: routertest.SettingsFor(), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}}
		g.Wrap = func(store sessions.Store) sessions.Store { return stateless{store} }
		g.Start()
		g.Fake.Script(channeltest.Step{Op: channeltest.OpSend, Err: &channels.Error{Class: channels.Transient, Err: errors.New("away")}})
		g.Say(routertest.Direct("ann"), routertest.Guest, "one")
		g.Say(routertest.Direct("ann"), routertest.Guest, "two")
		began := time.Now()
		g.Until("the chat goes on", func() bool { return slices.Contains(g.Fake.Texts(routertest.Direct("ann")), "echo: two") })
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("it waited %s", took)
		}
	})
}

// troubled is a store whose first writes that begin a send fail, each with the next of the errors.
type troubled struct {
	sessions.Store
	errs []error
	n    atomic.Int32
}

func (s *troubled) BeginSend(ctx context.Context, id sessions.DeliveryID, at time.Time, decide func(sessions.Session) policy.Verdict, quota sessions.FirstContactQuota) (sessions.Delivery, error) {
	if n := int(s.n.Add(1)); n <= len(s.errs) {
		return sessions.Delivery{}, s.errs[n-1]
	}
	return s.Store.BeginSend(ctx, id, at, decide, quota)
}

// Timeouts and unknown ends are not counted among the refusals of a state that cannot be stored: the answer is sent once the store works again.
func TestFaultTroubleIsNoRefusal(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		refused := fmt.Errorf("BeginSend: %w: panic in a store operation", sessions.ErrInvalid)
		store := &troubled{errs: []error{context.DeadlineExceeded, sessions.ErrUncertain, sessions.ErrUncertain, refused, refused, context.DeadlineExceeded, refused, refused}}
		g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Settings: routertest.SettingsFor(), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}}
		g.Wrap = func(s sessions.Store) sessions.Store { store.Store = s; return store }
		g.Start()
		g.Fake.Script(channeltest.Step{Op: channeltest.OpSend, Err: &channels.Error{Class: channels.Transient, Err: errors.New("away")}}) // the first send begins with the answer's commit
		g.Say(routertest.Direct("ann"), routertest.Guest, "one")
		g.Until("it is answered", func() bool { return slices.Contains(g.Fake.Texts(routertest.Direct("ann")), "echo: one") })
	})
}

// A date out of range is answered like any other message.
// source: Bot API, Message.date (Unix time in seconds)
func TestFaultDateOutOfRange(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := &routertest.Rig{T: t, Dir: routertest.Folder(t), Settings: routertest.SettingsFor(), Fake: channeltest.NewFake(channeltest.Options{}), Model: &routertest.Script{}}
		g.Start()
		in := channels.Inbound{ID: "1", Event: channels.Message, Address: routertest.Direct("ann"), Sender: channels.Sender{ID: routertest.Guest, Name: "Ann"}, Text: "hello", Time: time.Unix(1_700_000_000_123, 0)}
		if err := g.Router.Receiver.Accept(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		g.Until("it is answered", func() bool { return slices.Contains(g.Fake.Texts(routertest.Direct("ann")), "echo: hello") })
	})
}
