package models

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Served describes a model as its server does. A zero or nil field was not in the answer. Prices are dollars for a million tokens.
type Served struct {
	Name       string
	Owner      string // owned_by: which program serves it
	Window     int    // tokens, prompt and answer, as they are really available
	Trained    int    // tokens that the model could take at most, where the server gives it fewer
	Images     *bool
	Tools      *bool
	Chat       *bool    // it answers in chats; false for embeddings and the like
	Levels     []string // efforts that it takes; [] = it does not think
	Free       bool     // its prices are said to be 0
	Input      float64
	Output     float64
	CacheRead  float64
	CacheWrite float64

	numCtx  bool   // of Ollama: its Modelfile sets the window, whatever the server's default is
	version string // what tells this model from another one of the same name; "" = nothing was said
}

// notChat is how models are called that answer nothing in a chat: embeddings, rerankers, speech, pictures.
var notChat = regexp.MustCompile(`(?i)(^|[^a-z])(bge|gte|e5|minilm|mpnet|rerank\w*|whisper|tts|moderation|dall-e|stable-diffusion|colbert|clip)([^a-z]|$)|embed|rerank`)

// CanChat reports whether a model may be chosen to answer in chats: by what its server says, else by its name.
func (s Served) CanChat() bool {
	if s.Chat != nil {
		return *s.Chat
	}
	return !notChat.MatchString(s.Name)
}

// doc is a JSON object whose fields may have any type.
type doc map[string]any

// at gives a field, by a path of names; nil = it is not there.
func (d doc) at(path ...string) any {
	var v any = map[string]any(d)
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}

// text gives a field that is a text.
func (d doc) text(path ...string) string {
	s, _ := d.at(path...).(string)
	return strings.TrimSpace(s)
}

// number reads a number that may be written as a text.
func number(v any) (float64, bool) {
	var f float64
	var err error
	switch x := v.(type) {
	case json.Number:
		f, err = x.Float64()
	case string:
		f, err = strconv.ParseFloat(strings.TrimSpace(x), 64)
	case float64:
		f = x
	case int:
		f = float64(x)
	default:
		return 0, false
	}
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// minWindow is the smallest window that is believed, in tokens: no turn fits into a smaller one, and some servers say 1 for what they do not know.
const minWindow = 256

// count reads a number of tokens; 0 = there is none that makes sense.
func (d doc) count(path ...string) int {
	if f, ok := number(d.at(path...)); ok && f >= 1 && f <= 1e9 {
		return int(f)
	}
	return 0
}

// words reads a list of texts, or the names that are true of an object; nil = it is neither. Lower case.
func words(v any) []string {
	switch x := v.(type) {
	case string:
		return strings.FieldsFunc(strings.ToLower(x), func(r rune) bool { return strings.ContainsRune(" ,+|", r) })
	case []any:
		out := make([]string, 0, len(x))
		for _, e := range x {
			if s, ok := e.(string); ok {
				out = append(out, strings.ToLower(s))
			}
		}
		return out
	case map[string]any:
		out := make([]string, 0, len(x))
		for k, e := range x {
			if on, ok := truth(e); ok && on {
				out = append(out, strings.ToLower(k))
			}
		}
		return out
	}
	return nil
}

// truth reads a truth value that may be written as a text or a number, or be an object with a field supported.
func truth(v any) (on, ok bool) {
	switch x := v.(type) {
	case bool:
		return x, true
	case string:
		on, err := strconv.ParseBool(strings.TrimSpace(x))
		return on, err == nil
	case json.Number:
		return x != "0", true
	case map[string]any:
		return truth(x["supported"])
	}
	return false, false
}

func has(list []string, any ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(any, s) })
}

// firstTruth gives the first of several fields that is a truth value.
func (d doc) firstTruth(names ...string) *bool {
	for _, n := range names {
		if on, ok := truth(d.at(n)); ok {
			return &on
		}
	}
	return nil
}

// servedOf reads an entry of a list of models, in the ways of OpenRouter, vLLM, LM Studio, Mistral, Groq, Together, llama.cpp, Moonshot,
// LiteLLM, Gemini and those that are like them.
func servedOf(d doc) Served {
	s := Served{Name: firstText(d, "id", "name", "model", "model_name", "key"), Owner: strings.ToLower(d.text("owned_by"))}
	if info, ok := d.at("model_info").(map[string]any); ok { // LiteLLM
		for k, v := range info {
			if _, taken := d[k]; !taken {
				d[k] = v
			}
		}
	}
	for _, path := range [][]string{{"loaded_context_length"}, {"meta", "n_ctx"}, {"n_ctx"}, {"max_model_len"}, {"top_provider", "context_length"}, {"context_length"}, {"context_window"},
		{"max_context_length"}, {"max_context_len"}, {"max_input_tokens"}, {"inputTokenLimit"}, {"input_token_limit"}, {"context_size"}, {"contextLength"}, {"contextWindow"}, {"limit", "context"}, {"limits", "max_context_window_tokens"},
		{"limits", "max_context_length"}, {"limits", "max_input_tokens"}, {"capabilities", "limits", "max_context_window_tokens"}, {"metadata", "context_length"}, {"model_spec", "availableContextTokens"}} {
		if n := d.count(path...); n >= minWindow {
			s.Window = n
			break
		}
	}
	if s.Window == 0 {
		s.Window = smallestWindow(d)
	}
	if d.count("loaded_context_length") > 0 || d.text("state") == "not-loaded" { // LM Studio
		s.Trained = d.count("max_context_length")
		if d.text("state") == "not-loaded" {
			s.Window = 0
		}
	}
	if loaded, ok := d.at("loaded_instances").([]any); ok { // LM Studio's newer list
		s.Trained, s.Window = d.count("max_context_length"), 0
		for _, x := range loaded {
			m, _ := x.(map[string]any)
			if n := doc(m).count("config", "context_length"); n >= minWindow && (s.Window == 0 || n < s.Window) {
				s.Window = n
			}
		}
	}
	s.abilities(d)
	s.prices(d)
	s.version = versionOf(d, time.Now())
	return s
}

// smallestWindow reads the window of a model that several providers serve behind one name; 0 = nothing is said.
// source: router.huggingface.co/v1/models
func smallestWindow(d doc) (least int) {
	all, _ := d.at("providers").([]any) // nil when it is no list
	for _, x := range all {
		p, _ := x.(map[string]any)
		if n := doc(p).count("context_length"); n >= minWindow && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// minAge is how old a time of an entry must be to say something of the model: vLLM and llama.cpp give the time of the request.
const minAge = 24 * time.Hour

// versionOf reads what an entry of a list says of the version and the abilities of its model.
// source: github.com/ollama/ollama/blob/main/docs/api.md (digest, modified_at), docs.vllm.ai (root, max_model_len),
// openrouter.ai/docs/api-reference/list-available-models (supported_parameters)
func versionOf(d doc, now time.Time) string {
	out := []string{d.text("digest"), d.text("modified_at"), d.text("root"), d.text("parent"), d.text("hugging_face_id"), d.text("canonical_slug"), d.text("quantization")}
	for _, name := range []string{"created", "created_at"} {
		if n, ok := number(d.at(name)); ok && now.Sub(time.Unix(int64(n), 0)) > minAge {
			out = append(out, strconv.FormatInt(int64(n), 10))
		}
	}
	for _, name := range []string{"max_model_len", "supported_parameters", "capabilities", "features", "input_modalities"} {
		if v, there := d[name]; there {
			text, err := json.Marshal(v) // what was decoded can be encoded
			if err == nil {
				out = append(out, string(text))
			}
		}
	}
	return strings.Trim(strings.Join(out, "\x00"), "\x00")
}

func firstText(d doc, names ...string) string {
	for _, n := range names {
		if t := d.text(n); t != "" {
			return t
		}
	}
	return ""
}

// abilities reads what a model can: pictures, tools, thinking.
func (s *Served) abilities(d doc) {
	yes, no := true, false
	what := func(on bool) *bool {
		if on {
			return &yes
		}
		return &no
	}
	if caps := words(d.at("capabilities")); caps != nil {
		_, named := d.at("capabilities").(map[string]any)
		if named || has(caps, "completion", "chat", "tools", "tool_use", "trained_for_tool_use", "vision", "completion_chat", "chat_completion") {
			s.Images, s.Tools = what(has(caps, "vision", "image", "images", "image_input", "multimodal")), what(has(caps, "tools", "tool_use", "tool_call", "tool_calls", "tool_calling", "function_calling", "function-calling", "tool-use", "trained_for_tool_use"))
		}
		s.chat(caps)
	}
	for _, path := range [][]string{{"architecture", "input_modalities"}, {"input_modalities"}, {"modalities", "input"}, {"modalities"}, {"supported_input_modalities"}, {"inputModalities"}} {
		if in := words(d.at(path...)); len(in) > 0 {
			s.Images = what(has(in, "image", "images", "vision"))
			break
		}
	}
	if in, _, ok := strings.Cut(d.text("architecture", "modality"), "->"); ok && s.Images == nil {
		s.Images = what(has(words(in), "image"))
	}
	if ps := words(d.at("supported_parameters")); len(ps) > 0 {
		s.Tools = what(has(ps, "tools", "tool_choice", "functions"))
		if !has(ps, "reasoning", "reasoning_effort", "include_reasoning", "thinking") {
			s.Levels = []string{}
		}
	}
	if on := d.firstTruth("supports_vision", "supports_image_in", "supports_images", "supports_image_input", "vision"); on != nil {
		s.Images = on
	}
	if on := d.firstTruth("supports_function_calling", "supports_tools", "supports_tool_calls", "supports_tool_choice"); on != nil {
		s.Tools = on
	}
	if caps, ok := d.at("model_spec", "capabilities").(map[string]any); ok { // Venice. source: docs.venice.ai/api-reference/endpoint/models/list
		s.Images, s.Tools = doc(caps).firstTruth("supportsVision"), doc(caps).firstTruth("supportsFunctionCalling")
	}
	if on := d.firstTruth("supports_reasoning", "supports_thinking"); on != nil && !*on {
		s.Levels = []string{}
	}
	for _, path := range [][]string{{"reasoning", "supported_efforts"}, {"supported_reasoning_efforts"}, {"reasoning_efforts"}, {"supported_reasoning_levels"}} {
		if l := words(d.at(path...)); len(l) > 0 {
			s.Levels = l
			break
		}
	}
	switch t := strings.ToLower(firstText(d, "type", "mode", "task")); {
	case t == "vlm":
		s.Images = &yes
	case strings.Contains(t, "embed"), strings.Contains(t, "rerank"), t == "moderation", t == "image", strings.Contains(t, "audio"), t == "transcribe", t == "video":
		s.Chat = &no
	}
}

// chat says by a list of capabilities whether a model answers in chats.
func (s *Served) chat(caps []string) {
	chats := has(caps, "completion", "chat", "completion_chat", "chat_completion", "tools", "tool_use", "vision")
	if chats || has(caps, "embedding", "embeddings", "rerank") {
		s.Chat = &chats
	}
}

// minPerMillion is the lowest price of a million tokens in dollars. What is lower is the price of a token.
const minPerMillion = 0.001

// isPerToken reports whether a list has the prices of single tokens in fields that mostly have those of a million.
// source: vercel.com/docs/ai-gateway (models endpoint)
func isPerToken(d doc) bool {
	dearest := 0.0
	for _, name := range []string{"input", "output", "input_tokens", "output_tokens"} {
		if f, ok := number(d.at("pricing", name)); ok {
			dearest = max(dearest, f)
		}
	}
	return dearest > 0 && dearest < minPerMillion
}

// plausible is the highest price of a token in dollars. What is higher is the price of a million.
const plausible = 0.01

// prices reads what tokens cost.
func (s *Served) prices(d doc) {
	read := func(into *float64, perToken bool, paths ...[]string) {
		for _, path := range paths {
			f, ok := number(d.at(path...))
			if !ok || f <= 0 || *into > 0 {
				continue
			}
			if perToken && f < plausible {
				f *= 1e6
			}
			if f <= 100_000 {
				*into = math.Round(f*1e6) / 1e6
			}
		}
	}
	for _, price := range [][2][]string{{{"pricing", "prompt"}, {"pricing", "completion"}}, {{"input_cost_per_token"}, {"output_cost_per_token"}}} {
		in, saysIn := number(d.at(price[0]...))
		out, saysOut := number(d.at(price[1]...))
		s.Free = s.Free || saysIn && saysOut && in == 0 && out == 0
	}
	read(&s.Input, true, []string{"pricing", "prompt"}, []string{"input_cost_per_token"})
	read(&s.Output, true, []string{"pricing", "completion"}, []string{"output_cost_per_token"})
	read(&s.CacheRead, true, []string{"pricing", "input_cache_read"}, []string{"cache_read_input_token_cost"})
	read(&s.CacheWrite, true, []string{"pricing", "input_cache_write"}, []string{"cache_creation_input_token_cost"})
	perToken := isPerToken(d)
	read(&s.Input, perToken, []string{"pricing", "input"}, []string{"pricing", "input_tokens"}, []string{"metadata", "pricing", "input_tokens"}, []string{"model_spec", "pricing", "input", "usd"})
	read(&s.Output, perToken, []string{"pricing", "output"}, []string{"pricing", "output_tokens"}, []string{"metadata", "pricing", "output_tokens"}, []string{"model_spec", "pricing", "output", "usd"})
	read(&s.CacheRead, perToken, []string{"pricing", "cached_input"}, []string{"metadata", "pricing", "cache_read_tokens"})
}
