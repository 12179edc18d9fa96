package operations

import (
	"log/slog"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/router"
	"parley/router/settings"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// What expired while the host was away is counted and listed, with its reason, for the API and the command line.
//
// proves: D8
func TestFaultOutageIsCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		quiet := slog.New(slog.DiscardHandler)
		store, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: t.TempDir(), Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		at := channels.Address{Channel: "telegram", Account: channels.DefaultAccount, Type: channels.Direct}
		for kind, life := range map[sessions.DeliveryKind]time.Duration{sessions.Reply: time.Hour, sessions.Notice: time.Hour, sessions.Posted: 6 * time.Hour, sessions.Announce: 24 * time.Hour} {
			to := at
			to.Chat = channels.ChatID(kind) // in one chat they would wait for each other
			if _, err := store.Submit(t.Context(), sessions.Change{Ops: []sessions.Op{sessions.EnqueueDelivery{ID: sessions.DeliveryID(kind), Kind: kind, To: to, Text: "x", Expires: time.Now().Add(life)}}}); err != nil {
				t.Fatal(err)
			}
		}
		h := &Deliveries{store: store, names: &Resolver{store: store}}
		counts := func(want map[sessions.DeliveryState]int) {
			t.Helper()
			synctest.Wait()
			if n, err := h.countDeliveries(t.Context(), api.DeliveryCountQuery{}); err != nil || !maps.Equal(n, want) {
				t.Errorf("counted %v, %v; want %v", n, err, want)
			}
		}
		counts(map[sessions.DeliveryState]int{sessions.Pending: 4})
		<-time.After(7 * time.Hour)
		r := router.New(router.Deps{Store: store, Settings: &settings.Snapshot{}, Log: quiet})
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Stop)
		<-time.After(time.Minute)
		counts(map[sessions.DeliveryState]int{sessions.Expired: 3, sessions.Pending: 1})
		list, err := h.listDeliveries(t.Context(), api.DeliveriesQuery{State: sessions.Expired})
		if err != nil || len(list) != 3 {
			t.Fatalf("listed: %+v, %v", list, err)
		}
		for _, d := range list {
			if !strings.HasPrefix(d.Error, "not sent before ") {
				t.Errorf("%s has expired: %q", d.ID, d.Error)
			}
		}
	})
}
