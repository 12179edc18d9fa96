package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"parley/channels"
	"parley/gateway/api"
)

func TestSite(t *testing.T) {
	t.Parallel()
	site := New(Deps{
		History: func(_ context.Context, chat channels.ChatID, before string) ([]Line, error) {
			if chat == "broken" {
				return nil, io.ErrUnexpectedEOF
			}
			return []Line{{ID: string(chat) + before, Role: Assistant, Text: "*a*"}, {ID: "u", Role: User, Text: "*b*"}}, nil
		},
		Info: func(context.Context) Info { return Info{Agent: `<Ada "&">`, Model: "x/y"} },
		Chat: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "chat "+r.URL.Path) }),
	})
	tests := map[string]struct {
		path string
		code int
		says string
	}{
		"page":            {"/", 200, `<h1 id="agent">&lt;Ada &#34;&amp;&#34;&gt;</h1>`},
		"another chat":    {"/?chat=b%22", 200, `data-chat="b&#34;"`},
		"no such page":    {"/x", 404, ""},
		"text":            {"/api/chat/history?chat=b&before=7", 200, `{"id":"b7","role":"assistant","text":"*a*"`},
		"html":            {"/api/chat/history?as=html", 200, `"html":"\u003cp\u003e\u003cem\u003ea\u003c/em\u003e\u003c/p\u003e\n"`},
		"people stay raw": {"/api/chat/history?as=html", 200, `"text":"*b*"`},
		"broken":          {"/api/chat/history?chat=broken", 503, "log says why"},
		"bad chat":        {"/api/chat/history?chat=%00", 400, "chat id"},
		"bad chat's page": {"/?chat=%00", 400, "chat id"},
		"info":            {"/api/chat/info", 200, `"model":"x/y"`},
		"chat":            {"/api/chat/messages", 200, "chat /messages"},
		"asset":           {assets().path + "/app.js", 200, "import"},
		"old asset":       {"/static/0000/app.js", 404, ""},
		"no listing":      {assets().path + "/", 404, ""},
		"no way out":      {assets().path + "/../../page.html", 404, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "/", nil)
			path, query, _ := strings.Cut(tt.path, "?")
			r.URL.Path, r.URL.RawQuery = path, query
			w := httptest.NewRecorder()
			site.ServeHTTP(w, r)
			if strings.Contains(path, "..") && w.Code/100 == 3 { // the mux cleans the path first
				return
			}
			if w.Code != tt.code || !strings.Contains(w.Body.String(), tt.says) {
				t.Errorf("%d %s, want %d %q", w.Code, w.Body, tt.code, tt.says)
			}
		})
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest("GET", assets().path+"/app.js", nil))
	if cc := w.Header().Get("Cache-Control"); !strings.Contains(cc, "immutable") || !strings.Contains(w.Header().Get("Content-Type"), "javascript") {
		t.Errorf("asset headers %v", w.Header())
	}
}

// Who may not come in is told how to, with a form that leads on; what was asked for is no markup.
func TestDoor(t *testing.T) {
	t.Parallel()
	for status, want := range map[int][]string{
		401: {"parley open", `<form method="post" action="/login">`, `value="/runs?a=&#34;&gt;"`, "&lt;why&gt;"},
		421: {"Request refused", "&lt;why&gt;"},
	} {
		w := httptest.NewRecorder()
		Door(w, status, "<why>", `/runs?a=">`)
		for _, part := range want {
			if !strings.Contains(w.Body.String(), part) {
				t.Errorf("%d: no %s in %s", status, part, w.Body)
			}
		}
		if w.Code != status || status == 421 && strings.Contains(w.Body.String(), "<form") {
			t.Errorf("%d: %d %s", status, w.Code, w.Body)
		}
	}
}

// The chat is the owner's: whoever may not talk there is told so in one sentence, and no script asks again and again.
func TestChatIsTheOwners(t *testing.T) {
	t.Parallel()
	site := New(Deps{Info: func(context.Context) Info { return Info{Agent: "Ada"} }, Chat: http.NotFoundHandler()})
	for scope, talks := range map[api.Scope]bool{api.Read: false, api.Write: false, api.Admin: true} {
		r := httptest.NewRequest("GET", "/", nil)
		w := httptest.NewRecorder()
		site.ServeHTTP(w, r.WithContext(api.With(r.Context(), api.Principal{Name: "x", Scope: scope})))
		for part, want := range map[string]bool{`id="composer"`: talks, "app.js": talks, `id="not-yours"`: !talks, `data-scope="` + string(scope): true} {
			if got := strings.Contains(w.Body.String(), part); got != want {
				t.Errorf("%s: %s is there: %v", scope, part, got)
			}
		}
	}
}
