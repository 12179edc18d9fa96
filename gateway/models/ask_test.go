package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"parley/agent"
	"parley/channels"
)

// server answers by "METHOD path"; it keeps what it was asked.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string
	header http.Header
}

func serve(t *testing.T, answers map[string]string) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.RequestURI())
		s.header = r.Header
		s.mu.Unlock()
		a, ok := answers[r.Method+" "+r.URL.RequestURI()]
		if !ok {
			a, ok = answers[r.Method+" "+r.URL.Path]
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprint(w, a)
	}))
	t.Cleanup(s.Close)
	return s
}

func word(b *bool) string {
	if b == nil {
		return "?"
	}
	return fmt.Sprint(*b)
}

// What servers say of a model, each in its own way, with odd types among it.
// source: openrouter.ai/docs/api-reference/list-available-models; docs.vllm.ai (max_model_len); lmstudio.ai/docs/app/api/endpoints/rest;
// docs.mistral.ai/api (capabilities); console.groq.com/docs/models; docs.together.ai/reference/models; ggml-org/llama.cpp tools/server/README.md;
// ollama/ollama docs/api.md; docs.litellm.ai/docs/proxy/model_management
func TestAsk(t *testing.T) {
	t.Parallel()
	const list = "GET /v1/models"
	for name, c := range map[string]struct {
		answers map[string]string
		model   string
		want    string // window trained images tools levels input output
	}{
		"openrouter": {map[string]string{list: `{"data":[{"id":"a/b","context_length":200000,"top_provider":{"context_length":"131072"},"architecture":{"input_modalities":["text","image"]},
			"pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003"},"supported_parameters":["tools","reasoning"]}]}`}, "a/b", "131072 0 true true nil 3 15"},
		"openrouter, plain": {map[string]string{list: `{"data":[{"id":"a/b","context_length":8192,"top_provider":{"context_length":null},"architecture":{"modality":"text->text"},
			"pricing":{"prompt":"-1","completion":0},"supported_parameters":["temperature"]}]}`}, "a/b", "8192 0 false false [] 0 0"},
		"vllm":     {map[string]string{list: `{"data":[{"id":"Qwen/Qwen3-32B","owned_by":"vllm","max_model_len":40960}]}`}, "Qwen/Qwen3-32B", "40960 0 ? ? nil 0 0"},
		"mistral":  {map[string]string{list: `{"data":[{"id":"m","max_context_length":131072,"capabilities":{"completion_chat":true,"function_calling":false,"vision":true}}]}`}, "m", "131072 0 true false nil 0 0"},
		"groq":     {map[string]string{list: `{"data":[{"id":"g","context_window":131072.0,"owned_by":"Meta"}]}`}, "g", "131072 0 ? ? nil 0 0"},
		"together": {map[string]string{list: `[{"id":"t","context_length":"32768","type":"chat","pricing":{"input":0.88,"output":"0.9","hourly":0}}]`}, "t", "32768 0 ? ? nil 0.88 0.9"},
		"moonshot": {map[string]string{list: `{"data":[{"id":"kimi-k3","context_length":262144,"supports_image_in":true,"supports_reasoning":false}]}`}, "kimi-k3", "262144 0 true ? [] 0 0"},
		"gemini":   {map[string]string{list: `{"data":[{"id":"models/gemini-3","object":"model"}]}`}, "gemini-3", "0 0 ? ? nil 0 0"},
		"llama.cpp": {map[string]string{list: `{"models":[{"name":"x","capabilities":["completion"]}],"data":[{"id":"/m/x.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
			"GET /props": `{"default_generation_settings":{"n_ctx":8192},"total_slots":4,"modalities":{"vision":false,"audio":false}}`}, "whatever", "8192 0 false ? nil 0 0"},
		"tgi": {map[string]string{list: `{"object":"list","data":[{"id":"meta-llama/Llama-3.1-8B","object":"model","created":0,"owned_by":"meta-llama/Llama-3.1-8B"}]}`,
			"GET /info": `{"model_id":"meta-llama/Llama-3.1-8B","max_input_tokens":3072,"max_total_tokens":4096,"router":"text-generation-router"}`}, "tgi", "4096 0 ? ? nil 0 0"},
		"tgi, no facts": {map[string]string{list: `{"data":[{"id":"m","owned_by":"m"}]}`}, "m", "0 0 ? ? nil 0 0"},
		"lm studio": {map[string]string{list: `{"data":[{"id":"q","owned_by":"organization_owner"}]}`,
			"GET /api/v0/models": `{"data":[{"id":"e","type":"embeddings"},{"id":"q","type":"vlm","state":"loaded","max_context_length":131072,"loaded_context_length":4096,"capabilities":["tool_use"]}]}`}, "q", "4096 131072 true true nil 0 0"},
		"lm studio, not loaded": {map[string]string{list: `{"data":[{"id":"q","owned_by":"organization_owner"}]}`,
			"GET /api/v0/models": `{"data":[{"id":"q","type":"llm","state":"not-loaded","max_context_length":131072}]}`}, "q", "0 131072 ? ? nil 0 0"},
		// source: github.com/lmstudio-ai/docs/blob/main/1_developer/2_rest/list.md
		"lm studio, newer": {map[string]string{list: `{"data":[{"id":"q","owned_by":"organization_owner"}]}`,
			"GET /api/v0/models": `{"error":"Unexpected endpoint or method."}`,
			"GET /api/v1/models": `{"models":[{"type":"embedding","key":"e","max_context_length":2048,"loaded_instances":[]},{"type":"llm","key":"q","loaded_instances":[{"id":"q","config":{"context_length":4096}}],"max_context_length":131072,"capabilities":{"vision":true,"trained_for_tool_use":true}}]}`}, "q", "4096 131072 true true nil 0 0"},
		"lm studio, newer, not loaded": {map[string]string{list: `{"data":[{"id":"q","owned_by":"organization_owner"}]}`,
			"GET /api/v1/models": `{"models":[{"type":"llm","key":"q","loaded_instances":[],"max_context_length":131072,"capabilities":{"vision":false,"trained_for_tool_use":false}}]}`}, "q", "0 131072 false false nil 0 0"},
		// source: github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (Routing requests)
		"llama.cpp, router": {map[string]string{list: `{"data":[{"id":"x","owned_by":"llamacpp"},{"id":"y","owned_by":"llamacpp"}]}`,
			"GET /props": `{"role":"router"}`, "GET /props?autoload=false&model=y": `{"default_generation_settings":{"n_ctx":8192},"modalities":{"vision":true}}`}, "y", "8192 0 true ? nil 0 0"},
		"ollama, loaded": {map[string]string{list: `{"data":[{"id":"llama3.2:latest","owned_by":"library"}]}`,
			"POST /api/show": `{"capabilities":["completion","tools"],"model_info":{"general.architecture":"llama","llama.context_length":131072},"parameters":"num_ctx 8192"}`,
			"GET /api/ps":    `{"models":[{"name":"llama3.2:latest","context_length":16384}]}`}, "llama3.2", "16384 131072 false true [] 0 0"},
		"ollama, modelfile": {map[string]string{list: `{"data":[{"id":"q:7b","owned_by":"library"}]}`,
			"POST /api/show": `{"capabilities":["completion","vision","thinking"],"model_info":{"qwen.context_length":40960},"parameters":"stop \"x\"\nnum_ctx                        32768"}`,
			"GET /api/ps":    `{"models":[]}`}, "q:7b", "32768 40960 true false nil 0 0"},
		"ollama, its default": {map[string]string{list: `{"data":[{"id":"q:7b","owned_by":"library"}]}`,
			"POST /api/show": `{"model_info":{"general.architecture":"qwen","qwen.context_length":40960}}`}, "q:7b", "0 40960 ? ? nil 0 0"},
		"ollama, cloud": {map[string]string{list: `{"data":[{"id":"big:cloud","owned_by":"library"}]}`,
			"POST /api/show": `{"remote_host":"https://ollama.com:443","model_info":{"general.architecture":"x","x.context_length":262144}}`}, "big:cloud", "262144 262144 ? ? nil 0 0"},
		"odd": {map[string]string{list: `{"object":"list","data":[null,7,{"id":null},{"id":"m","context_length":{"x":1},"context_window":"many","max_model_len":-1,"capabilities":"none","pricing":[1],"architecture":null,"supported_parameters":{}}]}`}, "m", "0 0 ? ? nil 0 0"},
		// source: vercel.com/docs/ai-gateway, deepinfra.com/docs, docs.github.com/copilot, inference-docs.cerebras.ai, router.huggingface.co, docs.venice.ai, docs.fireworks.ai
		"vercel":       {map[string]string{list: `{"data":[{"id":"m","context_window":200000,"max_tokens":64000,"pricing":{"input":"0.000003","output":"0.000015","input_cache_read":"0.0000003"}}]}`}, "m", "200000 0 ? ? nil 3 15"},
		"deepinfra":    {map[string]string{list: `{"data":[{"id":"m","metadata":{"context_length":7777,"max_tokens":7777,"pricing":{"input_tokens":0.23,"output_tokens":0.4}}}]}`}, "m", "7777 0 ? ? nil 0.23 0.4"},
		"copilot":      {map[string]string{list: `{"data":[{"id":"m","capabilities":{"limits":{"max_context_window_tokens":64000,"max_prompt_tokens":60000}}}]}`}, "m", "64000 0 false false nil 0 0"},
		"cerebras":     {map[string]string{list: `{"data":[{"id":"m","limits":{"max_context_length":65536}}]}`}, "m", "65536 0 ? ? nil 0 0"},
		"github":       {map[string]string{list: `{"data":[{"id":"m","limits":{"max_input_tokens":131072}}]}`}, "m", "131072 0 ? ? nil 0 0"},
		"hugging face": {map[string]string{list: `{"data":[{"id":"m","providers":[{"provider":"x","context_length":32768},{"provider":"y","context_length":16384},{"provider":"z"}]}]}`}, "m", "16384 0 ? ? nil 0 0"},
		"venice":       {map[string]string{list: `{"data":[{"id":"m","model_spec":{"availableContextTokens":32001,"capabilities":{"supportsVision":false,"supportsFunctionCalling":true},"pricing":{"input":{"usd":0.15},"output":{"usd":0.6}}}}]}`}, "m", "32001 0 false true nil 0.15 0.6"},
		"fireworks":    {map[string]string{list: `{"data":[{"id":"m","context_length":4096,"supports_image_input":false,"supports_tools":false}]}`}, "m", "4096 0 false false nil 0 0"},
		"by name":      {map[string]string{list: `{"data":{"m":{"context_length":8192},"n":7}}`}, "m", "8192 0 ? ? nil 0 0"},
		"names":        {map[string]string{list: `{"models":["a","m"]}`}, "m", "0 0 ? ? nil 0 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.answers)
			x, err := Asker{}.Ask(t.Context(), "p", agent.Provider{API: "openai", BaseURL: s.URL + "/v1/"}, c.model)
			if err != nil {
				t.Fatal(err)
			}
			m := x.Model
			levels := "nil"
			if m.Levels != nil {
				levels = fmt.Sprint(m.Levels)
			}
			if got := fmt.Sprintf("%d %d %s %s %s %v %v", m.Window, m.Trained, word(m.Images), word(m.Tools), levels, m.Input, m.Output); got != c.want || m.Name == "" {
				t.Errorf("%q: %s, want %s", m.Name, got, c.want)
			}
		})
	}
}

// LiteLLM says what a model costs beside its list; it is known by its name only.
func TestAskLiteLLM(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]string{"GET /v1/models": `{"data":[{"id":"claude"}]}`,
		"GET /model/info": `{"data":[{"model_name":"claude","model_info":{"id":"77","max_input_tokens":200000,"input_cost_per_token":3e-06,"output_cost_per_token":0.000015,"supports_vision":true,"supports_function_calling":true,"mode":"chat"}}]}`})
	x, err := Asker{}.Ask(t.Context(), "litellm", agent.Provider{API: "openai", BaseURL: s.URL + "/v1"}, "claude")
	if m := x.Model; err != nil || m.Window != 200_000 || m.Input != 3 || m.Output != 15 || word(m.Images) != "true" || word(m.Tools) != "true" {
		t.Errorf("%+v, %v", m, err)
	}
}

// The question carries key, headers and query of the provider, and an error none of them.
func TestAskSigns(t *testing.T) {
	t.Parallel()
	s := serve(t, map[string]string{"GET /v1/models": `{"data":[]}`})
	p := agent.Provider{API: "openai", BaseURL: s.URL + "/v1?api-version=2", APIKey: channels.NewSecret("made-up-key"),
		ModelSettings: agent.ModelSettings{Headers: map[string]channels.Secret{"X-House": channels.NewSecret("made-up-header")}, Query: map[string]string{"code": "made-up-query"}}}
	if _, err := (Asker{}).Ask(t.Context(), "p", p, "m"); err != nil {
		t.Fatal(err)
	}
	if s.asked[0] != "GET /v1/models?api-version=2&code=made-up-query" || s.header.Get("Authorization") != "Bearer made-up-key" || s.header.Get("X-House") != "made-up-header" {
		t.Errorf("%q, %v", s.asked, s.header)
	}
	for _, base := range []string{s.URL + "/elsewhere", "http://user:made-up-pass@127.0.0.1:1/v1"} {
		p.BaseURL = base
		if _, err := (Asker{}).Ask(t.Context(), "p", p, "m"); err == nil || strings.Contains(err.Error(), "made-up") {
			t.Errorf("%s: %v", base, err)
		}
	}
}

func TestCanChat(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for name, want := range map[string]bool{
		"nomic-embed-text:latest": false, "mxbai-embed-large": false, "bge-m3:latest": false, "all-minilm:22m": false, "snowflake-arctic-embed2": false,
		"qwen3-embedding:8b": false, "dengcao/Qwen3-Reranker-8B": false, "text-embedding-3-small": false, "BAAI/bge-reranker-v2-m3": false, "whisper-large-v3": false, "gte-qwen2": false,
		"llama3.2:latest": true, "qwen3:8b": true, "gemma3:27b": true, "gpt-oss:20b": true, "deepseek-r1:7b": true, "mistral-small": true, "clippy-7b": true, "badge": true,
	} {
		if got := (Served{Name: name}).CanChat(); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if !(Served{Name: "embed", Chat: &yes}).CanChat() || (Served{Name: "llama", Chat: &no}).CanChat() {
		t.Error("a name counts for more than what the server says")
	}
}

// source: ollama/ollama envconfig/config_test.go
func TestOllamaAddress(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"":                            "http://127.0.0.1:11434/v1",
		"127.0.0.1":                   "http://127.0.0.1:11434/v1",
		"0.0.0.0":                     "http://127.0.0.1:11434/v1",
		"0.0.0.0:11434":               "http://127.0.0.1:11434/v1",
		"0.0.0.0:5000":                "http://127.0.0.1:5000/v1",
		":11434":                      "http://127.0.0.1:11434/v1",
		":5000":                       "http://127.0.0.1:5000/v1",
		"[::]:5000":                   "http://[::1]:5000/v1",
		"::":                          "http://[::1]:11434/v1",
		"[::]":                        "http://[::1]:11434/v1",
		"::1":                         "http://[::1]:11434/v1",
		"[::1]:9":                     "http://[::1]:9/v1",
		"gpu":                         "http://gpu:11434/v1",
		"gpu.example:1":               "http://gpu.example:1/v1",
		"gpu:0":                       "http://gpu:11434/v1",
		"gpu:66000":                   "http://gpu:11434/v1",
		"http://gpu":                  "http://gpu/v1",
		"http://gpu:11434/":           "http://gpu:11434/v1",
		"https://gpu.example":         "https://gpu.example/v1",
		"https://gpu.example/ollama/": "https://gpu.example/ollama/v1",
		"https://gpu.example:8443/x":  "https://gpu.example:8443/x/v1",
		"http://gpu:11434/v1":         "http://gpu:11434/v1",
		" \"gpu\" ":                   "http://gpu:11434/v1",
		"https://me:pw@gpu.example":   "https://me:pw@gpu.example/v1",
		"http://0.0.0.0:11434":        "http://127.0.0.1:11434/v1",
	} {
		if got := OllamaAddress(host); got != want {
			t.Errorf("%q: %s, want %s", host, got, want)
		}
	}
}

func FuzzServed(f *testing.F) {
	f.Add(`{"id":"m","context_length":"1","pricing":{"prompt":"1e-6"},"capabilities":["vision"]}`)
	f.Add(`{"model_name":"m","model_info":{"max_input_tokens":1e99}}`)
	f.Fuzz(func(t *testing.T, text string) {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var v any
		if dec.Decode(&v) != nil {
			return
		}
		for _, s := range append(listOf(v), listOf([]any{v})...) {
			if s.Window < 0 || s.Window > 1e9 || s.Input < 0 || s.Input > 1e5 {
				t.Errorf("%+v", s)
			}
		}
		if m, ok := v.(map[string]any); ok {
			var s Served
			s.show(m)
			s.props(m)
			_ = reflect.DeepEqual(s, s)
		}
	})
}
