package webchat

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/channels"
)

func serve(t *testing.T, c *Channel, o HandlerOptions) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(c.Handler(o))
	t.Cleanup(srv.Close)
	return srv
}

func postJSON(t *testing.T, url, body string) (int, string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// A post whose answer was lost is repeated with the same id and is one message.
func TestPostTwiceIsOneMessage(t *testing.T) {
	t.Parallel()
	c, b := New(Deps{}), &inbox{}
	start(t, c, b.take)
	srv := serve(t, c, HandlerOptions{User: func(*http.Request) (channels.UserID, string) { return "owner", "Ada" }})
	for range 3 {
		if code, body := postJSON(t, srv.URL+"/messages", `{"id":"m1","text":"hi"}`); code != 200 || !strings.Contains(body, `"m1"`) {
			t.Fatalf("%d %s", code, body)
		}
	}
	if len(b.got) != 1 || b.got[0].Sender != (channels.Sender{ID: "owner", Name: "Ada"}) || b.got[0].Address.Chat != DefaultChat {
		t.Errorf("got %+v", b.got)
	}
	for range 2 { // without an id each is its own message
		if code, body := postJSON(t, srv.URL+"/messages?chat=other", `{"text":"hi"}`); code != 200 {
			t.Fatalf("%d %s", code, body)
		}
	}
	if len(b.got) != 3 {
		t.Errorf("got %+v", b.got)
	}
}

func TestPostBadRequests(t *testing.T) {
	t.Parallel()
	c, b := New(Deps{}), &inbox{}
	start(t, c, b.take)
	broken := New(Deps{})
	start(t, broken, (&inbox{fail: errors.New("disk full: secret detail")}).take)
	idle := New(Deps{})
	tests := map[string]struct {
		c    *Channel
		body string
		code int
		says string
	}{
		"no json":       {c, `hi`, 400, "the body is not"},
		"half of it":    {c, `{"id":`, 400, "unexpected EOF"},
		"unknown field": {c, `{"id":"1","txt":"hi"}`, 400, `: unknown field \"txt\""}`},
		"no text":       {c, `{"id":"1","text":5}`, 400, `: text: a number has the wrong type"}`},
		"empty":         {c, `{"id":"1","text":" "}`, 400, "empty"},
		"bad id":        {c, `{"id":"a\u0000","text":"x"}`, 400, "message id"},
		"too long":      {c, `{"id":"1","text":"` + strings.Repeat("x", MaxText+1) + `"}`, 413, "longer than"},
		"far too long":  {c, `{"id":"1","text":"` + strings.Repeat("x", maxBody) + `"}`, 413, "longer than"},
		"not stored":    {broken, `{"id":"1","text":"x"}`, 503, "same id"},
		"not running":   {idle, `{"id":"1","text":"x"}`, 503, "starting"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, body := postJSON(t, serve(t, tt.c, HandlerOptions{}).URL+"/messages", tt.body)
			if code != tt.code || !strings.Contains(body, tt.says) || strings.Contains(body, "secret detail") || !strings.HasPrefix(body, `{"code":"`) {
				t.Errorf("%d %s, want %d %s", code, body, tt.code, tt.says)
			}
		})
	}
	if len(b.got) != 0 {
		t.Errorf("stored %+v", b.got)
	}
}

// sse reads one stream.
type sse struct {
	t    *testing.T
	body io.Closer
	in   *bufio.Scanner
}

func open(t *testing.T, url string) *sse {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if ct := res.Header.Get("Content-Type"); res.StatusCode != 200 || ct != "text/event-stream" {
		t.Fatalf("%s: %d %s", url, res.StatusCode, ct)
	}
	s := &sse{t, res.Body, bufio.NewScanner(res.Body)}
	if e := s.next(); e.Kind != HelloEvent {
		t.Fatalf("first event %+v, want hello", e)
	}
	return s
}

// next gives the next event; the zero Event at the end.
func (s *sse) next() (e Event) {
	s.t.Helper()
	for s.in.Scan() {
		line := s.in.Text()
		if name, ok := strings.CutPrefix(line, "event: "); ok {
			e.Kind = EventKind(name)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				s.t.Fatalf("%q: %v", line, err)
			}
		}
		if line == "" && e.Kind != "" {
			return e
		}
	}
	return Event{}
}

func TestEventsStreamAndReconnect(t *testing.T) {
	t.Parallel()
	c, b := New(Deps{}), &inbox{}
	stop := start(t, c, b.take)
	srv := serve(t, c, HandlerOptions{Render: func(md string) string { return "<p>" + md + "</p>" }})

	s := open(t, srv.URL+"/events?chat=a")
	h := open(t, srv.URL+"/events?chat=a&as=html")
	if err := c.Draft(t.Context(), out("", "a", "").To, "r1", "Hel"); err != nil {
		t.Fatal(err)
	}
	if e := s.next(); e.Kind != DraftEvent || e.ID != "r1" || e.Text != "Hel" {
		t.Errorf("got %+v", e)
	}
	if e := h.next(); e.Kind != DraftEvent || e.HTML != "<p>Hel</p>" || e.Text != "" {
		t.Errorf("got %+v", e)
	}
	s.body.Close() // the reader's network goes away and comes back
	s = open(t, srv.URL+"/events?chat=a")
	if e := s.next(); e.Kind != DraftEvent || e.Text != "Hel" {
		t.Errorf("after reconnecting: got %+v, want the draft", e)
	}
	send(t, c, "d1.0", "Hello\n\nworld")
	if e := s.next(); e.Kind != MessageEvent || e.ID != "d1.0" || e.Text != "Hello\n\nworld" {
		t.Errorf("got %+v", e)
	}
	if e := h.next(); e.Kind != MessageEvent || e.HTML != "<p>Hello\n\nworld</p>" {
		t.Errorf("got %+v", e)
	}
	stop()
	if e := s.next(); e.Kind != ReloadEvent {
		t.Errorf("got %+v, want reload at the end", e)
	}
	if e := s.next(); e.Kind != "" {
		t.Errorf("got %+v after the end", e)
	}
	res, err := http.Get(srv.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" {
		t.Errorf("a stream was opened on a stopped host: %d", res.StatusCode)
	}
}

// Drafts that come faster than they can be read are thinned out, the newest always arrives, and silence is broken by keep-alives.
func TestEventsPaceDrafts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rec := &recorder{ResponseRecorder: httptest.NewRecorder()}
		in, done := make(chan Event, 1), make(chan struct{})
		s := stream{w: rec, rc: http.NewResponseController(rec)}
		go s.follow(done, in)
		for range 100 {
			in <- Event{Kind: DraftEvent, ID: "r", Text: "x"}
		}
		in <- Event{Kind: DraftEvent, ID: "r", Text: "newest"}
		time.Sleep(time.Second) // virtual time
		in <- Event{Kind: MessageEvent, ID: "k", Text: "final"}
		in <- Event{Kind: DraftEvent, ID: "r2", Text: "y"}
		in <- Event{Kind: DraftEvent, ID: "r2", Text: "overtaken"}
		in <- Event{Kind: MessageEvent, ID: "k2", Text: "final too"}
		time.Sleep(keepAlive) // virtual time
		close(done)
		synctest.Wait()
		body := rec.Body.String()
		if n := strings.Count(body, "event: draft"); n != 3 || strings.Contains(body, "overtaken") {
			t.Errorf("%d drafts written, want the first and the newest of one answer and the first of the other: %s", n, body)
		}
		for _, want := range []string{"newest", "event: message", ": keep-alive", "event: ping"} {
			if !strings.Contains(body, want) {
				t.Errorf("%q is missing in %s", want, body)
			}
		}
		if strings.Index(body, "newest") > strings.Index(body, "final") {
			t.Error("a draft came after its message")
		}
	})
}

type recorder struct{ *httptest.ResponseRecorder }

func (r *recorder) Flush() {}
