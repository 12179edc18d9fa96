package web

import (
	"net/http"
	"strings"
	"testing"

	"parley/channels"
)

func TestOff(t *testing.T) {
	t.Parallel()
	h := Guard(Off(), Config{Token: channels.NewSecret(token)})
	bearer := "Authorization: Bearer " + token
	page := ask(h, "GET", "/", bearer, "Accept: text/html")
	api := ask(h, "POST", "/api/chat/messages", bearer)
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
	if w := ask(h, "GET", assets().path+"/style.css"); w.Code != http.StatusOK {
		t.Errorf("the page's own style: %d", w.Code)
	}
	if w := ask(h, "GET", "/"); w.Code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", w.Code)
	}
}
