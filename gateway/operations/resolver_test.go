package operations

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// The beginning of an id stands for it when only one fits; those that fit are named otherwise, and what is none stays as it is.
func TestShortIDs(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	const one, two, other = "aaaaaa01-0000-4000-8000-000000000000", "aaaaaa02-0000-4000-8000-000000000000", "bbbbbb01-0000-4000-8000-000000000000"
	key := sessions.MainKey("main")
	for _, id := range []sessions.RunID{one, two, other} {
		if _, err := store.Submit(t.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: key, Agent: "main"}}, Run: &sessions.Enqueue{Run: sessions.Run{ID: id, Key: key, Kind: sessions.TurnRun,
			Input: sessions.Message{Role: sessions.User, Content: sessions.TextContent("hi")}}}}); err != nil {
			t.Fatal(err)
		}
	}
	to := channels.Address{Channel: "telegram", Account: channels.DefaultAccount, Type: channels.Direct, Chat: "1"}
	if _, err := store.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery{ID: "eeeeee01-0000-4000-8000-000000000000", Run: other, Session: key, To: to, Text: "x", State: sessions.Pending}}}); err != nil {
		t.Fatal(err)
	}
	h := &Resolver{store: store}
	for ref, want := range map[sessions.RunID]sessions.RunID{"bbbbbb": other, "AAAAAA01-00": one, "aaaaaa02-0000-4000-8000-00000000000": two, "bbbbb": "bbbbb", "cccccc": "cccccc", "nobody's": "nobody's", one: one} {
		if got, err := h.wholeRun(t.Context(), ref); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", ref, got, err, want)
		}
	}
	_, err = h.wholeRun(t.Context(), "aaaaaa0")
	if e := api.Problem(nil, err); err == nil || e.Status != 400 || !strings.Contains(e.Message, one+", "+two) {
		t.Errorf("two that fit: %v", err)
	}
	for name, id := range map[string]string{"disks": "dddddd01-0000-4000-8000-000000000000", "Twin": "dddddd02-0000-4000-8000-000000000000", "twin": "dddddd03-0000-4000-8000-000000000000"} {
		if _, err := store.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.PutJob{ID: id, Name: name, Agent: "main", Message: "look", Every: 1e12}}}); err != nil {
			t.Fatal(err)
		}
	}
	for ref, want := range map[string]string{"Disks": "dddddd01-0000-4000-8000-000000000000", "dddddd02": "dddddd02-0000-4000-8000-000000000000", "none": "none"} {
		if got, err := h.wholeJob(t.Context(), ref); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", ref, got, err, want)
		}
	}
	if _, err := h.wholeJob(t.Context(), "twin"); err == nil || !strings.Contains(err.Error(), "2 jobs have the name") {
		t.Errorf("two of a name: %v", err)
	}
	if rows, err := (&Runs{store: store, names: h}).listRuns(t.Context(), api.RunsQuery{Root: "aaaaaa0"}); err == nil {
		t.Errorf("runs of a chain that may be one of two: %+v", rows)
	}
	if list, err := (&Deliveries{store: store, names: h}).listDeliveries(t.Context(), api.DeliveriesQuery{Run: "bbbbbb"}); err != nil || len(list) != 1 || list[0].Run != other {
		t.Errorf("deliveries of a run: %+v, %v", list, err)
	}
	if n, err := (&Deliveries{store: store, names: h}).countDeliveries(t.Context(), api.DeliveryCountQuery{Run: "BBBBBB"}); err != nil || n[sessions.Pending] != 1 {
		t.Errorf("counted deliveries of a run: %v, %v", n, err)
	}
	if ts, err := h.traceShort(t.Context(), "bbbbbb"); err != nil || len(ts) != 1 || ts[0].Run.ID != other {
		t.Errorf("a trace: %+v, %v", ts, err)
	}
}

// A person who was let in or turned down is meant by the beginning of their id when nobody else is; one who only asks is not.
func TestShortPerson(t *testing.T) {
	t.Parallel()
	store, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	now := time.Now()
	for _, x := range []struct {
		channel channels.Kind
		user    channels.UserID
		decided bool
		in      bool
	}{{"whatsapp", "4915111222333@s.example", true, true}, {"whatsapp", "4915199222333@s.example", true, false}, {"whatsapp", "4917700222333@s.example", false, false}, {"telegram", "4917711", true, true}} {
		at := channels.Address{Channel: x.channel, Account: channels.DefaultAccount, Type: channels.Direct, Chat: channels.ChatID(x.user)}
		told := sessions.Delivery{ID: sessions.DeliveryID("code-" + x.user), To: at, Text: "code", State: sessions.Pending}
		if _, err := store.PutPairing(t.Context(), sessions.Pairing{Channel: x.channel, Account: channels.DefaultAccount, User: x.user, Address: at, Hash: string(x.user), Created: now, Expires: now.Add(time.Hour), Delivery: &told}, 9); err != nil {
			t.Fatal(err)
		}
		if !x.decided {
			continue
		}
		if _, err := store.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: x.channel, Hash: string(x.user), Approve: x.in, Time: now}}}); err != nil {
			t.Fatal(err)
		}
	}
	h := &Resolver{store: store}
	for ref, want := range map[channels.UserID]channels.UserID{"491511": "4915111222333@s.example", "4915199": "4915199222333@s.example", "49151": "49151", "491770": "491770", "4917711": "4917711"} {
		if got, err := h.wholePerson(t.Context(), "whatsapp", ref); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", ref, got, err, want)
		}
	}
	if got, err := h.wholePerson(t.Context(), "whatsapp", "4915111222333@s.example"); err != nil || got != "4915111222333@s.example" {
		t.Errorf("a whole id: %s, %v", got, err)
	}
}
