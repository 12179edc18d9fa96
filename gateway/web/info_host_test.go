package web_test

import (
	"strings"
	"testing"
)

// The header of a chat is that of its own session: model, agent and what is set for it. A queue is set as /queue takes it, and what is no
// queue is refused with what it may be.
func TestPageInfo(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	says := func(chat, part string) {
		t.Helper()
		status, body := h.Get("GET", "/api/chat/info?chat="+chat, "")
		if not, no := strings.CutPrefix(part, "no "); status != 200 || strings.Contains(body, not) == no {
			t.Errorf("chat %q: %d %s, want %s", chat, status, body, part)
		}
	}
	for _, chat := range []string{"", "kitchen"} {
		if status, body := h.Get("POST", "/api/chat/messages?chat="+chat, `{"id": "1", "text": "hello"}`); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	says("", `"session":"agent:main:main"`)
	says("", `no "settings"`)
	patch := func(body string, want int, part string) {
		t.Helper()
		if status, got := h.Get("PATCH", "/api/sessions/main", body); status != want || !strings.Contains(got, part) {
			t.Errorf("%s: %d %s, want %d %s", body, status, got, want, part)
		}
	}
	patch(`{"thinking": "high", "sendPolicy": "deny", "queue": "steer cap:5"}`, 200, "")
	says("", `"settings":"thinking high, answers withheld"`)
	says("kitchen", `"session":"agent:main:main"`)
	if _, body := h.Get("GET", "/api/sessions/main", ""); !strings.Contains(body, `"queue":"steer debounce:1s cap:5 drop:summarize"`) {
		t.Errorf("the queue is not set: %s", body)
	}
	patch(`{"queue": "drop:new"}`, 200, "")
	if _, body := h.Get("GET", "/api/sessions/main", ""); !strings.Contains(body, `"queue":"steer debounce:1s cap:5 drop:new"`) {
		t.Errorf("what was not named is gone: %s", body)
	}
	patch(`{"queue": "later"}`, 400, "queue: I do not know")
	patch(`{"queue": null}`, 200, "")
	if _, body := h.Get("GET", "/api/sessions/main", ""); strings.Contains(body, `"queue"`) {
		t.Errorf("the queue is still set: %s", body)
	}
}
