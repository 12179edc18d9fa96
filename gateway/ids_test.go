package gateway

import (
	"log/slog"
	"strings"
	"testing"

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
		if _, err := store.Submit(t.Context(), sessions.Effects{Session: &sessions.Session{Key: key, Agent: "main"}, Run: &sessions.Run{ID: id, Key: key, Kind: sessions.TurnRun,
			Input: sessions.Message{Role: sessions.User, Content: sessions.TextContent("hi")}}}); err != nil {
			t.Fatal(err)
		}
	}
	h := &Host{store: store}
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
		if _, err := store.Submit(t.Context(), sessions.Effects{Job: &sessions.Job{ID: id, Name: name, Agent: "main", Message: "look", Every: 1e12}}); err != nil {
			t.Fatal(err)
		}
	}
	for ref, want := range map[string]string{"Disks": "dddddd01-0000-4000-8000-000000000000", "dddddd02": "dddddd02-0000-4000-8000-000000000000", "none": "none"} {
		if got, err := h.wholeJob(t.Context(), ref); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", ref, got, err, want)
		}
	}
	if _, err := h.wholeJob(t.Context(), "twin"); err == nil || !strings.Contains(err.Error(), "2 jobs are called") {
		t.Errorf("two of a name: %v", err)
	}
	if ts, err := h.traceShort(t.Context(), "bbbbbb"); err != nil || len(ts) != 1 || ts[0].Run.ID != other {
		t.Errorf("a trace: %+v, %v", ts, err)
	}
}
