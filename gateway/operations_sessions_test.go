package gateway_test

import (
	"context"
	"encoding/json"
	"net/url"
	"reflect"
	"testing"
)

// What a change answers is what is read afterwards.
func TestPatchAnswersAsGet(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	if status, body := h.Get("POST", "/api/sessions/hook:x/messages", `{"message": "/status"}`); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	status, got := h.Get("PATCH", "/api/sessions/hook:x", `{"thinking": "high", "verbose": "on"}`)
	_, want := h.Get("GET", "/api/sessions/hook:x", "")
	var a, b map[string]any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if status != 200 || a["thinking"] != "high" || a["verbose"] != "on" || !reflect.DeepEqual(a, b) {
		t.Errorf("%d %s, then %s", status, got, want)
	}
}

// A session that is yet to come can be watched; what is no key cannot.
func TestEventsOfASessionToCome(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for ref, want := range map[string]int{"hook:later": 200, "main": 200, "agent:main:hook:later": 200, "no key": 404, "11111111-1111-4111-8111-111111111111": 404} {
		resp, err := h.Ask(ctx, "GET", "/api/events?session="+url.QueryEscape(ref), "")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", ref, resp.StatusCode, want)
		}
	}
}
