package main

import (
	"net/http"
	"strings"
	"testing"

	"parley/channels/telegram/telegramtest"
)

// The history of a session says why an answer did not arrive, and does not name the rule that had let it go.
//
// source: https://core.telegram.org/bots/api#making-requests (400 Bad Request: message thread not found)
func TestHistorySaysWhyAnAnswerFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("    dmPolicy: open\n    allowFrom: [\"*\"]\n", "")
	w.start()
	w.tg.Inject(telegramtest.Fault{Chat: guest, Times: -1, Code: http.StatusForbidden, Description: "Forbidden: bot was blocked by the user"})
	w.tg.Say(guest, guest, "hello")
	w.until(patience, "the answer has failed", func() bool {
		out, _ := w.cli("deliveries", "list", "--state", "failed")
		return strings.Contains(out, "blocked")
	})
	out, code := w.cli("sessions", "history", "agent:main:telegram:direct:2002")
	if code != 0 || !strings.Contains(out, "[failed to telegram/default/direct/2002]") || !strings.Contains(out, "blocked by the user") || strings.Contains(out, "sendPolicy") {
		t.Errorf("%d: %s", code, out)
	}
}
