package modeltest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t testing.TB) (*Server, *http.Client) {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	t.Cleanup(func() {
		c.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, c
}

func post(t testing.TB, c *http.Client, url, body string) (status int, answer string) {
	t.Helper()
	res, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

const (
	chatBody     = `{"model":"m","stream":%t,"messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`
	messagesBody = `{"model":"m","stream":%t,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
)

func TestServerSpeaksBothProtocols(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	for _, x := range []struct {
		path, body string
		stream     bool
		want       []string
	}{
		{"/v1/chat/completions", chatBody, true, []string{`"content":"echo: "`, `"content":"hi"`, `"finish_reason":"stop"`, "[DONE]"}},
		{"/v1/chat/completions", chatBody, false, []string{`"content":"echo: hi"`}},
		{"/v1/messages", messagesBody, true, []string{"event: message_start", `"text":"hi"`, `"stop_reason":"end_turn"`, "message_stop"}},
		{"/v1/messages", messagesBody, false, []string{`"text":"echo: hi"`}},
	} {
		status, answer := post(t, c, s.URL()+x.path, fmt.Sprintf(x.body, x.stream))
		for _, w := range x.want {
			if status != 200 || !strings.Contains(answer, w) {
				t.Errorf("%s stream %t: %d %s lacks %s", x.path, x.stream, status, answer, w)
			}
		}
	}
	for _, r := range s.Requests() {
		if r.Model != "m" || r.System != "s" || len(r.Messages) != 1 || r.LastUserText() != "hi" || !bytes.Contains(r.Raw, []byte("hi")) {
			t.Errorf("read as %+v", r)
		}
	}
}

func TestServerRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	for path, body := range map[string]string{"/v1/chat/completions": "{", "/v1/messages": `{"messages":3}`, "/v1/other": "{}"} {
		if status, answer := post(t, c, s.URL()+path, body); status != 400 || answer == "" {
			t.Errorf("%s: %d %q", path, status, answer)
		}
	}
}

func TestServerKeepsABoundedLog(t *testing.T) {
	t.Parallel()
	s := &Server{}
	for i := range 3 * maxLog {
		s.remember(Request{N: i})
	}
	log := s.Requests()
	if len(log) > maxLog || log[len(log)-1].N != 3*maxLog-1 {
		t.Errorf("%d requests, last %d", len(log), log[len(log)-1].N)
	}
}

func BenchmarkServer(b *testing.B) {
	s, c := start(b)
	body := fmt.Sprintf(chatBody, true)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			post(b, c, s.URL()+"/v1/chat/completions", body)
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
