package web

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
)

// A host without the web chat says so, as a page to people and as JSON to programs; its other views and its assets are there.
func TestWithoutChat(t *testing.T) {
	t.Parallel()
	h := New(Deps{Info: func(context.Context) Info { return Info{} }})
	for name, c := range map[string]struct {
		method, path, kind, says string
		code                     int
	}{
		"page":  {"GET", "/", "text/html", "channels.webchat.enabled", 404},
		"API":   {"POST", "/api/chat/messages", "application/json", "channels.webchat.enabled", 404},
		"style": {"GET", assets().path + "/style.css", "text/css", "{", 200},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, c.path, nil))
		if w.Code != c.code || !strings.HasPrefix(w.Header().Get("Content-Type"), c.kind) || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %v %.300s", name, w.Code, w.Header(), w.Body)
		}
	}
}
