package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
	"parley/sessions"
)

// TestChatEndsWithAStoppedMessage stops what waits behind a turn, or lets a full queue drop it: `parley chat` tells it at once and ends with the
// exit code of a stop, in the web chat and in a session alike. It does not wait for an answer that nobody will give.
//
// proves: P4
func TestChatEndsWithAStoppedMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		full bool // the queue, and not a person, ends it
	}{
		"web chat": {nil, false}, "session": {[]string{"main"}, false}, "web chat, full": {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.model.Script(func(modeltest.Request) modeltest.Reply {
				return modeltest.Reply{Text: []string{"This takes ", "long."}, Between: time.Hour}
			})
			w.pageConfig("models: {providers: {mock: {api: openai, baseUrl: "+w.model.URL()+"/v1, apiKey: x}}}\nagents: {defaults: {model: mock/mock-1}}\n",
				"messages: {queue: {mode: followup, cap: 1, drop: old}}\n")
			w.start()
			post := func(id, text string) {
				t.Helper()
				if err := w.host.call(w.ctx(), http.MethodPost, "/api/chat/messages", nil, map[string]string{"id": id, "text": text}, &struct{}{}); err != nil {
					t.Fatal(err)
				}
			}
			waiting := func() int { return len(fromAPI[[]sessions.Run](w, "/api/runs?status=queued", nil)) }
			post("first", "first")
			w.until(20*time.Second, "the model is at work", func() bool { return w.model.Count() == 1 })
			chat := w.command(append([]string{"--config", "config.yaml", "chat"}, c.args...)...)
			var out, told strings.Builder
			chat.Stdin, chat.Stdout, chat.Stderr = strings.NewReader("second\n"), &out, &told
			if err := chat.Start(); err != nil {
				t.Fatal(err)
			}
			w.until(20*time.Second, "a message waits", func() bool { return waiting() == 1 })
			if c.full {
				post("third", "third")
			} else if _, code := w.cli("say", "main", "/stop"); code != 0 {
				t.Errorf("the stop ends with %d", code)
			}
			at := time.Now()
			_ = chat.Wait() // its exit code is looked at below
			if code := chat.ProcessState.ExitCode(); code != exitStopped || time.Since(at) > 15*time.Second {
				t.Errorf("exit code %d after %s: %s %s", code, time.Since(at), out.String(), told.String())
			}
			if c.full && !strings.Contains(told.String(), "too many messages were waiting") || !c.full && !strings.Contains(told.String(), "was stopped: by a person") {
				t.Errorf("it is told %q", told.String())
			}
		})
	}
}
