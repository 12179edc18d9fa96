package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestOff(t *testing.T) {
	t.Parallel()
	h := Off()
	ask := func(method, path, accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	page := ask("GET", "/", "text/html")
	api := ask("POST", "/api/chat/messages", "*/*")
	for _, w := range []*struct {
		code       int
		kind, body string
	}{
		{page.Code, page.Header().Get("Content-Type"), page.Body.String()},
		{api.Code, api.Header().Get("Content-Type"), api.Body.String()},
	} {
		if w.code != http.StatusNotFound || !strings.Contains(w.body, "switched off") || !strings.Contains(w.body, "channels.webchat.enabled") {
			t.Errorf("%d %s", w.code, w.body)
		}
	}
	if !strings.HasPrefix(page.Header().Get("Content-Type"), "text/html") || !strings.HasPrefix(api.Header().Get("Content-Type"), "application/json") {
		t.Errorf("page %v, API %v", page.Header(), api.Header())
	}
	if w := ask("GET", assets().path+"/style.css", "*/*"); w.Code != http.StatusOK {
		t.Errorf("the page's own style: %d", w.Code)
	}
}
