package gateway_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/agent/offline"
	"parley/gateway"
	"parley/gateway/api"
	"parley/gateway/models"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// learned puts lessons into the store of a host that is opened next.
func learned(t *testing.T, known ...sessions.Lesson) func(*gateway.Deps) {
	return func(d *gateway.Deps) {
		store, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: d.Config.Config().State, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(store.Learn(t.Context(), known...), store.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// What is known of models is listed with its origin and with the lessons about them, also of models that no agent uses; lessons are
// forgotten by provider and model, by admins only; and a model is tested.
func TestModelOperations(t *testing.T) {
	t.Parallel()
	h := newHostOf(t, offline.New(), learned(t,
		sessions.Lesson{Provider: "offline", Model: "offline", Kind: "parameter", Name: "temperature", Evidence: "unknown field", At: time.Now().Add(-time.Hour)},
		sessions.Lesson{Provider: "gone", Model: "a/b", Kind: "tools", At: time.Now()}, sessions.Lesson{Provider: "gone", Model: "c", Kind: "images", At: time.Now()}))
	list := func() (rows []api.Model) {
		t.Helper()
		status, body := h.Get("GET", "/api/models", "")
		if err := json.Unmarshal([]byte(body), &rows); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s", status, body)
		}
		return rows
	}
	rows := list()
	if len(rows) != 3 || rows[0].Name != "offline/offline" || !rows[0].Default || rows[0].From.Window != models.BuiltIn || len(rows[0].Lessons) != 1 || rows[0].Lessons[0].Evidence != "unknown field" {
		t.Errorf("%+v", rows)
	}
	if rows[1].Name != "gone/a/b" || rows[1].Trouble == "" || len(rows[1].Lessons) != 1 {
		t.Errorf("%+v", rows[1])
	}
	forget := func(body, want string) {
		t.Helper()
		if status, got := h.Get("POST", "/api/models/forget", body); status != http.StatusOK || strings.TrimSpace(got) != want {
			t.Errorf("%s: %d %s, want %s", body, status, got, want)
		}
	}
	forget(`{"provider":"gone","model":"x"}`, `{"lessons":0}`)
	forget(`{"provider":"gone","model":"a/b"}`, `{"lessons":1}`)
	forget(`{"provider":"gone"}`, `{"lessons":1}`)
	forget(`{}`, `{"lessons":1}`)
	if rows := list(); len(rows) != 1 || len(rows[0].Lessons) != 0 {
		t.Errorf("%+v", rows)
	}
	var x models.Trial
	if status, body := h.Get("POST", "/api/models/test", "{}"); status != http.StatusOK || json.Unmarshal([]byte(body), &x) != nil || x.Model != "offline/offline" || !x.OK || len(x.Turns) != 4 {
		t.Errorf("%d %s", status, body)
	}
	if status, body := h.Get("POST", "/api/models/test", `{"model":"nobody/x"}`); status != http.StatusNotFound {
		t.Errorf("%d %s", status, body)
	}
}

// TestChosenModelsAreListed: a model that only a session has, by /model, is listed.
func TestChosenModelsAreListed(t *testing.T) {
	t.Parallel()
	h := newHostOf(t, offline.New(), func(d *gateway.Deps) {
		store, err := sqlstore.Open(t.Context(), sqlstore.Config{Dir: d.Config.Config().State, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Submit(t.Context(), sessions.Change{Session: &sessions.Target{Session: sessions.Session{Key: "agent:main:chosen", Agent: "main", Settings: sessions.Settings{Model: "other/chosen"}}}})
		if err := errors.Join(err, store.Close()); err != nil {
			t.Fatal(err)
		}
	})
	var rows []api.Model
	status, body := h.Get("GET", "/api/models", "")
	if err := json.Unmarshal([]byte(body), &rows); err != nil || status != http.StatusOK || len(rows) != 2 || rows[1].Name != "other/chosen" {
		t.Errorf("%d %s", status, body)
	}
}
