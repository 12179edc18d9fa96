package gateway_test

import (
	"strings"
	"testing"
	"time"
)

// A list of runs says what became of their messages: an answer that the send policy withheld is told from one that arrived. The page's chat is taken under
// deny as well, a program's text is not.
//
// proves: P4
func TestRunsSayWhatLeft(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	post := func(path, body string) {
		t.Helper()
		if status, got := h.Get("POST", path, body); status/100 != 2 {
			t.Fatalf("%s: %d %s", path, status, got)
		}
	}
	post("/api/chat/messages", `{"id": "1", "text": "hello"}`)
	says := func(path, part string) {
		t.Helper()
		limit, tick := time.After(20*time.Second), time.NewTicker(5*time.Millisecond)
		defer tick.Stop()
		for {
			status, got := h.Get("GET", path, "")
			if status == 200 && strings.Contains(got, part) {
				return
			}
			select {
			case <-tick.C:
			case <-limit:
				t.Fatalf("%s: %d %s, want %s", path, status, got, part)
			}
		}
	}
	says("/api/runs", `"state":"sent"`)
	if status, got := h.Get("PATCH", "/api/sessions/main", `{"sendPolicy": "deny"}`); status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	if status, got := h.Get("POST", "/api/send", `{"to": "webchat/default/direct/main", "message": "tea"}`); status != 403 || !strings.Contains(got, `"code":"withheld","rule":"session override"`) {
		t.Errorf("%d %s", status, got)
	}
	post("/api/chat/messages", `{"id": "2", "text": "hello again"}`)
	says("/api/runs?kind=turn&limit=1", `"state":"withheld","to":"webchat/default/direct/main","rule":"session override"`)
	says("/runs", "withheld by session override")
}

// Filters and testers of the page take a session as the command line does, by a part of its title or label; what fits none is said in
// place of the list, in words for people.
func TestPagePicksSessions(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	if status, got := h.Get("POST", "/api/chat/messages", `{"id": "1", "text": "hello"}`); status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	if status, got := h.Get("PATCH", "/api/sessions/main", `{"label": "Garden club"}`); status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	for path, part := range map[string]string{
		"/runs?session=garden": `title="agent:main:main"`, "/runs?session=agent:main:main": `title="agent:main:main"`, "/runs?session=shed": "No matches",
		"/deliveries?session=shed": "No matches", "/policy?session=garden": `href="/sessions/agent:main:main" title="agent:main:main"`, "/policy?session=shed": "no session matches",
	} {
		status, got := h.Get("GET", path, "")
		if status != 200 || !strings.Contains(got, part) || strings.Contains(got, "sessions_list") {
			t.Errorf("%s: %d %s, want %s", path, status, got, part)
		}
	}
}
