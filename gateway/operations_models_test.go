package gateway_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/agent/offline"
	"parley/gateway"
	"parley/gateway/api"
	"parley/gateway/models"
	"parley/sessions"
)

// lessonList is a book of lessons in memory.
type lessonList struct {
	mu   sync.Mutex
	list []sessions.Lesson
}

func (l *lessonList) Known() []sessions.Lesson {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}

func (l *lessonList) Forget(provider, model string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.list)
	l.list = slices.DeleteFunc(l.list, func(x sessions.Lesson) bool {
		return (provider == "" || x.Provider == provider) && (model == "" || x.Model == model)
	})
	return before - len(l.list)
}

// What is known of models is listed with its origin and with the lessons about them, also of models that no agent uses; lessons are
// forgotten by provider and model, by admins only; and a model is tested.
func TestModelOperations(t *testing.T) {
	t.Parallel()
	book := &lessonList{list: []sessions.Lesson{
		{Provider: "offline", Model: "offline", Kind: "parameter", Name: "temperature", Evidence: "unknown field", At: time.Now().Add(-time.Hour)},
		{Provider: "gone", Model: "a/b", Kind: "tools", At: time.Now()}, {Provider: "gone", Model: "c", Kind: "images", At: time.Now()}}}
	h := newHostOf(t, offline.New(), func(d *gateway.Deps) { d.Lessons = book })
	list := func() (rows []api.Model) {
		t.Helper()
		status, body := h.get("GET", "/api/models", "")
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
		if status, got := h.get("POST", "/api/models/forget", body); status != http.StatusOK || strings.TrimSpace(got) != want {
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
	if status, body := h.get("POST", "/api/models/test", "{}"); status != http.StatusOK || json.Unmarshal([]byte(body), &x) != nil || x.Model != "offline/offline" || !x.OK || len(x.Turns) != 4 {
		t.Errorf("%d %s", status, body)
	}
	if status, body := h.get("POST", "/api/models/test", `{"model":"nobody/x"}`); status != http.StatusNotFound {
		t.Errorf("%d %s", status, body)
	}
}
