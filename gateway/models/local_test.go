package models

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
)

// An Ollama's embedding models are never chosen, whether it says what they are or only their names do; a model with tools goes first.
// source: odysseus#4487; NemoClaw#4813
func TestFindLocalOllama(t *testing.T) {
	t.Parallel()
	const embed = `{"id":"nomic-embed-text:latest","owned_by":"library"}`
	show := func(by map[string]string) spoken {
		return func(r *http.Request) string {
			switch {
			case r.URL.Host != "gpu:11434":
				return ""
			case strings.HasSuffix(r.URL.Path, "/models"):
				return by["list"]
			case strings.HasSuffix(r.URL.Path, "/show"):
				buf := make([]byte, 200)
				n, _ := r.Body.Read(buf)
				for name, text := range by {
					if strings.Contains(string(buf[:n]), name) {
						return text
					}
				}
			}
			return ""
		}
	}
	for name, c := range map[string]struct {
		by   map[string]string
		want string
		why  string // none can be taken
	}{
		"by name":                       {map[string]string{"list": `{"data":[` + embed + `,{"id":"llama3.2:latest","owned_by":"library"}]}`}, "llama3.2:latest", ""},
		"by its abilities":              {map[string]string{"list": `{"data":[{"id":"arctic:latest"},{"id":"llama3.2:latest"}]}`, "arctic": `{"capabilities":["embedding"]}`}, "llama3.2:latest", ""},
		"tools first":                   {map[string]string{"list": `{"data":[{"id":"gemma:2b"},{"id":"qwen3:8b"}]}`, "gemma": `{"capabilities":["completion"]}`, "qwen3": `{"capabilities":["completion","tools"]}`}, "qwen3:8b", ""},
		"none has tools":                {map[string]string{"list": `{"data":[{"id":"gemma:2b"},{"id":"phi:3b"}]}`, "gemma": `{"capabilities":["completion"]}`, "phi": `{"capabilities":["completion"]}`}, "gemma:2b", ""},
		"embeddings only":               {map[string]string{"list": `{"data":[` + embed + `]}`}, "", "the Ollama on this machine has no chat model"},
		"embeddings by their abilities": {map[string]string{"list": `{"data":[{"id":"arctic:latest"}]}`, "arctic": `{"capabilities":["embedding"]}`}, "", "the Ollama on this machine has no chat model"},
		"no model":                      {map[string]string{"list": `{"data":null}`}, "", "the Ollama on this machine has no model"},
		"something else":                {map[string]string{"list": `<html>`}, "", "the server at http://gpu:11434 lists no models (no JSON: invalid character '<' looking for beginning of value)"},
		"nothing":                       {map[string]string{}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := Asker{Client: &http.Client{Transport: show(c.by)}}
			l, why, ok := a.FindLocal(t.Context(), func(string) string { return "gpu" })
			if ok != (c.want != "") || l.Model.Name != c.want || ok && l.Name != "ollama" || why != c.why {
				t.Errorf("%+v, %q, %v", l, why, ok)
			}
		})
	}
}

// A server that keeps silent is no missing server, and one that takes a second is found: a small machine loads its disk first.
func TestFindLocalWaits(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]string{
		time.Second: "",
		time.Hour:   "the server at http://gpu:11434 did not answer within 3s",
	} {
		synctest.Test(t, func(t *testing.T) {
			slow := answers(func(r *http.Request) (*http.Response, error) {
				select {
				case <-time.After(after):
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
				return spoken(func(*http.Request) string { return `{"data":[{"id":"qwen3:8b"}]}` }).RoundTrip(r)
			})
			l, why, ok := Asker{Client: &http.Client{Transport: slow}}.FindLocal(t.Context(), func(string) string { return "gpu" })
			if ok != (want == "") || why != want || ok && l.Model.Name != "qwen3:8b" {
				t.Errorf("%s: %+v, %q", after, l, why)
			}
		})
	}
}

// answers is a transport made of a function.
type answers func(*http.Request) (*http.Response, error)

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// Other programs are found at their usual ports, after Ollama, and only when they say who they are.
func TestFindLocalOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ port, list, want string }{
		"llama.cpp": {"8080", `{"data":[{"id":"/m/x.gguf","owned_by":"llamacpp"}]}`, "llamacpp//m/x.gguf"},
		"vllm":      {"8000", `{"data":[{"id":"Qwen/Qwen3","owned_by":"vllm"}]}`, "vllm/Qwen/Qwen3"},
		"lm studio": {"1234", `{"data":[{"id":"text-embedding-nomic","type":"embeddings","owned_by":"organization_owner"},{"id":"q","owned_by":"organization_owner"}]}`, "lmstudio/q"},
		"parley":    {"8080", `{"data":[{"id":"main","owned_by":"parley"}]}`, "/"},
		"a website": {"8000", `[]`, "/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := Asker{Client: &http.Client{Transport: spoken(func(r *http.Request) string {
				if r.URL.Port() == c.port && strings.HasSuffix(r.URL.Path, "/models") {
					return c.list
				}
				return ""
			})}}
			l, _, ok := a.FindLocal(t.Context(), func(string) string { return "" })
			if got := l.Name + "/" + l.Model.Name; got != c.want || ok != (c.want != "/") {
				t.Errorf("%s, %v", got, ok)
			}
		})
	}
}

// An Ollama that has not loaded a model is told to, without an answer that costs anything; then its real window is known.
func TestLoad(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]string{"POST /api/generate": `{"model":"m","done":true,"done_reason":"load"}`})
	p := agent.Provider{API: "openai", BaseURL: s.URL + "/v1"}
	if err := (Asker{}).Load(t.Context(), p, "m"); err != nil || len(s.asked) != 1 || s.asked[0] != "POST /api/generate" {
		t.Errorf("%v, %q", err, s.asked)
	}
	p.BaseURL = s.URL + "/elsewhere/v1"
	if err := (Asker{}).Load(t.Context(), p, "m"); err == nil {
		t.Error("a server that refuses has loaded it")
	}
}
