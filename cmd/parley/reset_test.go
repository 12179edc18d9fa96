package main

import (
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest"
)

// A session that is started over in the middle of a turn says what that stopped, and who waits for the turn is told that it was aborted.
func TestResetSaysWhatItStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.Script(func(modeltest.Request) modeltest.Reply {
		return modeltest.Reply{Text: []string{"This takes ", "long."}, Between: time.Hour}
	})
	w.pageConfig("models: {providers: {mock: {api: openai, baseUrl: "+w.model.URL()+"/v1, apiKey: x}}}\nagents: {defaults: {model: mock/mock-1}}\n", "")
	w.start()
	waiting := make(chan string, 1)
	go func() {
		out, _ := w.command("--config", "config.yaml", "say", "main", "work", "--wait").CombinedOutput() // it fails
		waiting <- string(out)
	}()
	w.until(20*time.Second, "the model is at work", func() bool { return w.model.Count() == 1 })
	for _, c := range []struct{ args, want string }{
		{"say main more", "run "},
		{"sessions reset main", "its settings stay. Stopped runs, sub-agents included: 2."},
	} {
		if out, code := w.cli(strings.Fields(c.args)...); code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("parley %s: %q, %d", c.args, out, code)
		}
	}
	if out := <-waiting; !strings.Contains(out, "was stopped: by a person, who started the session over") {
		t.Errorf("who waits is told %q", out)
	}
}
