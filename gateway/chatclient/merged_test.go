package chatclient

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/gateway/api"
	"parley/sessions"
)

// posted is a host that takes messages and has one transcript.
type posted struct {
	runs     []sessions.RunID // of the messages that it takes
	messages []sessions.Message
}

func (p *posted) RoundTrip(r *http.Request) (*http.Response, error) {
	var body any = api.History{Messages: p.messages}
	if r.Method == http.MethodPost {
		body, p.runs = api.Said{Run: p.runs[0]}, p.runs[1:]
	}
	text, err := json.Marshal(body)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(text))), Request: r}, err
}

// A message that an earlier message's turn took up has that turn's run in the transcript: it is shown once, at its place, and not again behind the
// answer. One that no transcript has yet, and an older one of the same words, stay.
func TestMergedMessageIsShownOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		host := &posted{runs: []sessions.RunID{"first", "second", "third"}}
		s := newSession(hostAPI{Options{BaseURL: "http://host", Client: &http.Client{Transport: host}}}, "agent:main:main")
		shown := func() string {
			lines, err := s.history(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for _, l := range lines {
				out = append(out, l.Text)
			}
			return strings.Join(out, "|")
		}
		told := func(role sessions.Role, run sessions.RunID, text string) {
			host.messages = append(host.messages, sessions.Message{ID: text + string(run), Role: role, Run: run, Content: []sessions.Block{{Type: sessions.TextBlock, Text: text}}, Time: time.Now()})
		}
		told(sessions.User, "old", "and two")
		time.Sleep(time.Hour)
		for _, text := range []string{"one", "and two ", "three"} {
			if err := s.post(t.Context(), text, text); err != nil {
				t.Fatal(err)
			}
		}
		if got := shown(); got != "and two|one|and two |three" {
			t.Errorf("waiting: %q", got)
		}
		told(sessions.User, "first", "one")
		told(sessions.User, "first", "and two")
		told(sessions.Assistant, "first", "Both.")
		if got := shown(); got != "and two|one|and two|Both.|three" {
			t.Errorf("merged: %q", got)
		}
	})
}
