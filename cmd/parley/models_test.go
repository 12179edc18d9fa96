package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/modeltest"
)

// TestFallbackProvider runs the host with a provider whose answers break off: the fallback, at another provider with another
// protocol, answers instead; after a few such calls the first one is left alone, which /status and the metrics say; and what was
// paid for adds up, by the prices of each model, also for the answers that broke off.
func TestFallbackProvider(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	file := filepath.Join(w.dir, "config.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "models:")
	_, rest, _ = strings.Cut(rest, "  list: [")
	write := func(fallback string) {
		models := fmt.Sprintf(`models:
  providers:
    mock: {api: openai, baseUrl: %s/v1, apiKey: x, models: {mock-1: {input: 1000, output: 2000}}}
    other: {api: anthropic, baseUrl: %s, apiKey: x, models: {spare: {input: 1, output: 5}}}
agents:
  defaults:
    model: mock/mock-1
    fallbacks: [%s]
    thinking: low
`, w.model.URL(), w.model.URL(), fallback)
		if err := os.WriteFile(file, []byte(head+models+"  list: ["+rest), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("othr/spare")
	if out, code := w.cli("check"); code == 0 || !strings.Contains(out, "config.yaml:11: agents.defaults.fallbacks[0]") || !strings.Contains(out, `did you mean "other"`) {
		t.Errorf("check: exit %d: %s", code, out)
	}
	write("other/spare")
	w.model.Script(func(r modeltest.Request) modeltest.Reply {
		u := modeltest.Usage{Input: 1000, Output: 10}
		if r.Model == "spare" {
			return modeltest.Reply{Text: []string{"the spare one answers"}, Usage: u}
		}
		return modeltest.Reply{Text: []string{"I think"}, Fault: modeltest.Cut, EarlyUsage: true, Usage: u}
	})
	p := w.start()
	for i := range agent.BreakerFailures + 2 {
		w.tg.Say(owner, owner, fmt.Sprint("question ", i))
		if got := w.sent(owner, i+1)[i].Text; got != "the spare one answers" {
			t.Fatalf("answer %d: %q", i, got)
		}
	}
	asked := map[string]int{}
	for _, r := range w.model.Requests() {
		asked[r.Model]++
		if want := map[string]string{"mock-1": `"reasoning_effort":"low"`, "spare": `"effort":"low"`}[r.Model]; !strings.Contains(string(r.Raw), want) {
			t.Errorf("%s was not told how much to think: %s", r.Model, r.Raw)
		}
	}
	if asked["mock-1"] != 2*agent.BreakerFailures || asked["spare"] != agent.BreakerFailures+2 {
		t.Errorf("asked %v", asked)
	}
	w.quiet()
	w.tg.Say(owner, owner, "/status")
	n := agent.BreakerFailures + 3
	// 10 × (1000 × $0.001 + 10 × $0.002), as each broken answer is asked for once more, + 7 × (1000 × $0.000001 + 10 × $0.000005)
	if got := w.sent(owner, n)[n-1].Text; !strings.Contains(got, "Model provider mock failed repeatedly") || !strings.Contains(got, "$10.21") {
		t.Errorf("/status says %q", got)
	}
	resp, err := http.Get(p.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	metrics, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(metrics), `parley_model_breaker{provider="mock",state="open"} 1`) {
		t.Errorf("metrics: %v", err)
	}
	p.stop()
}
