package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/agent/lessons"
	"parley/gateway/api"
	"parley/gateway/models"
	"parley/sessions"
)

// ollama is an Ollama with an embedding model as the newest pull, and a model whose window is smaller than the prompt.
// source: odysseus#4487; zenn.dev/lilpacy/articles/ab9e192e9bd172; NemoClaw#4813; openclaw#27292
func ollama(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			_, _ = fmt.Fprint(w, `{"object":"list","data":[{"id":"nomic-embed-text:latest","owned_by":"library"},{"id":"tiny:1b","owned_by":"library"}]}`)
		case "/api/show":
			var q struct{ Model string }
			_ = json.NewDecoder(r.Body).Decode(&q) // what is wrong with it shows in the answer
			if strings.HasPrefix(q.Model, "nomic") {
				_, _ = fmt.Fprint(w, `{"capabilities":["embedding"]}`)
				return
			}
			_, _ = fmt.Fprint(w, `{"capabilities":["completion"],"model_info":{"general.architecture":"tiny","tiny.context_length":131072}}`)
		case "/api/ps":
			_, _ = fmt.Fprint(w, `{"models":[{"name":"tiny:1b","context_length":4096}]}`)
		case "/v1/chat/completions":
			var q struct {
				Model    string
				Tools    []any
				Messages []struct{ Content any }
			}
			_ = json.NewDecoder(r.Body).Decode(&q)
			if q.Model != "tiny:1b" {
				http.Error(w, `{"error":{"message":"model not found"}}`, http.StatusNotFound)
				return
			}
			if len(q.Tools) > 0 {
				http.Error(w, `{"error":{"message":"registry.ollama.ai/library/tiny:1b does not support tools"}}`, http.StatusBadRequest)
				return
			}
			_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"ready\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":20,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n")
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestInitWithoutModel: where no model is found, the file names none, and the lines behind it say why, and what to do.
func TestInitWithoutModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status     int
		list, says string
	}{
		"embeddings only": {200, `{"data":[{"id":"bge-m3:latest","owned_by":"library"}]}`, "the Ollama on this machine has no chat model"},
		"none yet":        {200, `{"object":"list","data":null}`, "the Ollama on this machine has no model"},
		"a key is wanted": {401, `{"error":"unauthorized"}`, "lists no models (401 Unauthorized)"},
		"a web page":      {200, `<html>nginx</html>`, "lists no models (no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(c.status)
				_, _ = fmt.Fprint(w, c.list)
			}))
			t.Cleanup(srv.Close)
			w := newWorld(t)
			w.env = append(w.env, "OLLAMA_HOST="+srv.URL)
			out, code := w.cli("init", "--yes", "--state", "state")
			if code != 0 || !strings.Contains(out, "Note: no language model was found (") || !strings.Contains(out, c.says) || !strings.Contains(out, "ollama pull") {
				t.Errorf("exit %d: %s", code, out)
			}
			if text, err := os.ReadFile(filepath.Join(w.dir, "config.yaml")); err != nil || strings.Contains(string(text), "ollama/") {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
}

// An Ollama is found in the form that OLLAMA_HOST has, its embedding model is not taken, and init, doctor, the first screen and status say
// that the window is too small, with the command that changes it. parley models says from where each fact is, with and without a host.
func TestOllamaIsSetUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	env := append(w.env, "OLLAMA_HOST="+strings.TrimPrefix(ollama(t), "http://")+"/")
	w.env = env
	file := filepath.Join(w.dir, "config.yaml")
	const fix = "OLLAMA_CONTEXT_LENGTH=32768 ollama serve"
	if out, code := w.cli("init", "--yes", "--state", "state"); code != 0 || !strings.Contains(out, fix) {
		t.Errorf("init: exit %d: %s", code, out)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "ollama/tiny:1b") {
		t.Fatalf("%s, %v", text, err)
	}
	if out, _ := w.cli("doctor"); !strings.Contains(out, fix) || !strings.Contains(out, "parley models test ollama/tiny:1b") {
		t.Errorf("doctor: %s", out)
	}
	check := func(when string) {
		t.Helper()
		out, code := w.cli("models", "--json")
		var list []api.Model
		if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 1 {
			t.Fatalf("%s: exit %d, %v: %s", when, code, err, out)
		}
		m := list[0]
		if m.Name != "ollama/tiny:1b" || m.Window != 4096 || m.From.Window != models.Asked || m.Images || m.Tools || m.From.Tools != models.Asked || len(m.Levels) != 0 || !m.Default {
			t.Errorf("%s: %+v", when, m)
		}
		out, code = w.cli("models", "test", "--json")
		var x models.Trial
		if err := json.Unmarshal([]byte(out), &x); err != nil || code != 0 || !x.OK || len(x.Turns) != 4 || !x.Turns[0].OK || x.Turns[0].Usage.Input != 20 {
			t.Errorf("%s: exit %d, %v: %s", when, code, err, out)
		}
	}
	check("without a host")
	if err := os.WriteFile(file, append(text, "\ngateway: {listen: \"127.0.0.1:0\"}\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.start()
	check("with a host")
	if screen := p.log.String(); !strings.Contains(screen, fix) {
		t.Errorf("the first screen: %s", screen)
	}
	if out, code := w.cli("status"); code != 0 || !strings.Contains(out, fix) || !strings.Contains(out, "accepts no tools (asked)") || !strings.Contains(out, "/v1\n") || !strings.Contains(out, "address http://127.0.0.1:") {
		t.Errorf("status: exit %d: %s", code, out)
	}
	if out, code := w.cli("models", "forget", "ollama/tiny:1b"); code != 0 {
		t.Errorf("forget: exit %d: %s", code, out)
	}
	for name, want := range map[string]struct {
		code int
		says string
	}{
		"ollama":         {0, "nothing to forget"},
		"":               {exitUsage, "is not a model"},
		" ":              {exitUsage, "is not a model"},
		"ollama/":        {exitUsage, "is not a model"},
		"/tiny:1b":       {exitUsage, "is not a model"},
		"ollama/tinny:1": {exitMissing, "did you mean ollama/tiny:1b?"},
		"olama":          {exitMissing, "did you mean ollama?"},
		"tiny:1b":        {exitMissing, "did you mean ollama/tiny:1b?"},
		"elsewhere/big":  {exitMissing, "parley models lists them"},
	} {
		if out, code := w.cli("models", "forget", name); code != want.code || !strings.Contains(out, want.says) {
			t.Errorf("forget %q: exit %d: %s", name, code, out)
		}
	}
	if out, code := w.cli("models", "test", "ollama/absent"); code != 1 || !strings.Contains(out, "✗ plain") {
		t.Errorf("a model that is not there: exit %d: %s", code, out)
	}
	if out, code := w.cli("models", "test", "nobody/x"); code == 0 || !strings.Contains(out, "unknown model") {
		t.Errorf("a provider that is not there: exit %d: %s", code, out)
	}
	p.stop()
}

// TestLessonWords: what parley models says of a bound names what is counted: a request has more messages than its transcript.
func TestLessonWords(t *testing.T) {
	t.Parallel()
	l := sessions.Lesson{Kind: lessons.MaxMessages, Use: "8", Evidence: "at most 10 messages"}
	if got, want := lessonWords(l, "today"), `accepts 8 messages of a transcript; the host summarizes older ones (today: "at most 10 messages")`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
