package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// What panics while a request is answered is told in a sentence and logged with its stack; the host continues.
func TestPanicIsAnswered(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	status, body := h.Get("POST", "/channels/fake/default/hook", "panic")
	if status != http.StatusInternalServerError || !strings.Contains(body, `"code":"internal"`) || !strings.Contains(body, "request id ") || strings.Contains(body, "asked to") {
		t.Errorf("%d %s", status, body)
	}
	if log := h.Log.String(); !strings.Contains(log, "as the hook was asked to") || !strings.Contains(log, "linked.go") {
		t.Error("the log has no panic with its stack")
	}
	if status, body := h.Get("GET", "/api/status", ""); status != http.StatusOK {
		t.Errorf("afterwards: %d %s", status, body)
	}
}
