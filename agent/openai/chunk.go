package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"

	"parley/agent/wire"
	"parley/channels/pattern"
	"parley/sessions"
)

// chunk is one event of a stream, or a whole answer, as far as it is looked at. Ordinary ones are decoded into it at once; tolerant.go
// reads those whose fields have other types.
type chunk struct {
	Model   string
	Choices []choice
	Usage   *usage
	Error   json.RawMessage
	Blocked json.RawMessage `json:"promptFeedback"` // Gemini, by gateways: why there is no answer. source: simonw/llm-gemini#144
	// Gateways write it so as well. source: litellm, vertex_and_google_ai_studio_gemini.py
	BlockedSnake json.RawMessage `json:"prompt_feedback"`
	Filters      json.RawMessage `json:"prompt_filter_results"` // Azure. source: learn.microsoft.com/azure/ai-services/openai/concepts/content-filter
	Groq         *struct {
		Usage *usage
		Error json.RawMessage
	} `json:"x_groq"`
}

type choice struct {
	Index        int
	Delta        delta
	Message      *delta // in an answer that is not a stream, and in the chunks of some servers
	Text         string // legacy completions
	FinishReason string `json:"finish_reason"`
	Native       string `json:"native_finish_reason"` // OpenRouter
	Usage        *usage // Moonshot
	Error        json.RawMessage
}

type delta struct {
	Role             role
	Content          string
	Refusal          string
	ReasoningContent string `json:"reasoning_content"` // DeepSeek, Moonshot, GLM, Qwen, older vLLM
	Reasoning        string // OpenRouter, Ollama, Groq, vLLM
	ReasoningText    string `json:"reasoning_text"` // GitHub Copilot
	Thinking         string // some proxies
	Thoughts         string // others, in the field thoughtsIn; empty = thoughts
	thoughtsIn       string
	ChainOfThought   string          `json:"cot_summary"`       // Azure, by Copilot. source: microsoft/vscode-copilot-chat (thinking.ts)
	Details          json.RawMessage `json:"reasoning_details"` // OpenRouter, MiniMax
	ToolCalls        []toolCall      `json:"tool_calls"`
	FunctionCall     *function       `json:"function_call"`            // before there were tools
	Extra            json.RawMessage `json:"extra_content"`            // Gemini
	Sealed           json.RawMessage `json:"reasoning_opaque"`         // GitHub Copilot. source: anomalyco/opencode#8900
	Provider         json.RawMessage `json:"provider_specific_fields"` // LiteLLM
	Blocks           json.RawMessage `json:"thinking_blocks"`          // LiteLLM. source: docs.litellm.ai/docs/reasoning_content
	Audio            audio           // OpenAI. source: platform.openai.com/docs/guides/audio
	Images           pictures        // OpenRouter. source: openrouter.ai/docs/features/multimodal/image-generation
	parts            []contentPart   // content that came as a list: the other texts are empty then
}

// role says whose words those of a delta are.
type role uint8

const (
	roleUnsaid role = iota
	roleModel
	roleOther // a tool's or a person's: agents that run tools themselves stream the results
)

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (r *role) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "null", `""`:
		*r = roleUnsaid
	case `"tool"`, `"function"`, `"user"`, `"system"`, `"developer"`:
		*r = roleOther
	default:
		*r = roleModel
	}
	return nil
}

// audio is what of a spoken answer people can read.
type audio struct{ Transcript string }

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (a *audio) UnmarshalJSON(raw []byte) error {
	var fields struct{ Transcript string }
	_ = json.Unmarshal(raw, &fields) // nothing where it is another value
	a.Transcript = fields.Transcript
	return nil
}

// pictures is how many pictures came. Their data is not kept.
type pictures int

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (p *pictures) UnmarshalJSON(raw []byte) error {
	var list []struct{}
	if json.Unmarshal(raw, &list) == nil {
		*p = pictures(len(list))
	}
	return nil
}

// contentPart is a piece of content that came as a list.
type contentPart struct {
	thinking bool
	text     string
	rest     map[string]any // of thinking: its further fields, as a signature
}

type toolCall struct {
	Index    int
	ID       string
	Function function
	Extra    json.RawMessage `json:"extra_content"` // Gemini
	signed
}

type function struct {
	Name, Arguments string
	signed
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit   int `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached     int `json:"cached_tokens"`           // Moonshot
	Input      int `json:"input_tokens"`
	Output     int `json:"output_tokens"`
	CacheRead  int `json:"cache_read_input_tokens"` // gateways of Anthropic, as the next one
	CacheWrite int `json:"cache_creation_input_tokens"`
}

// counted gives what is paid for. Thinking that a provider counts in the total only is output.
//
// source: docs.x.ai/docs/key-information/consumption-and-rate-limits, Wei-Shaw/sub2api#5771, docs.litellm.ai/docs/completion/usage
func (u usage) counted() sessions.Usage {
	out := sessions.Usage{Input: max(u.Prompt, 0), Output: max(u.Completion, 0), CacheRead: max(u.Details.Cached, u.CacheHit, u.Cached, u.CacheRead, 0), CacheWrite: max(u.CacheWrite, 0)}
	if u.Prompt == 0 && u.Completion == 0 {
		out.Input, out.Output = max(u.Input, 0), max(u.Output, 0)
		if u.Input > 0 { // Anthropic counts the cache beside it
			out.Input += max(u.CacheRead, 0) + out.CacheWrite
		}
	}
	if rest := u.Total - out.Input - out.Output; rest > 0 && out.Input > 0 {
		out.Output += rest
	}
	return out
}

// filtered reports whether Azure says that a filter refused the prompt.
func (c *chunk) filtered() bool {
	return len(c.Filters) > 0 && filteredTrue.Match(c.Filters)
}

var filteredTrue = regexp.MustCompile(`"filtered"\s*:\s*true`)

// isUnknown reports whether nothing in a chunk is known, although there are objects in it: they may hold the answer.
func (c *chunk) isUnknown(data []byte) bool {
	return len(c.Choices) == 0 && c.Usage == nil && c.Groq == nil && len(c.Error)+len(c.Filters)+len(c.Blocked)+len(c.BlockedSnake) == 0 && bytes.Count(data, []byte("{")) > 1
}

// empty reports whether a delta says nothing.
func (d *delta) empty() bool {
	return d.Content == "" && d.Refusal == "" && d.ReasoningContent == "" && d.Reasoning == "" && d.ReasoningText == "" && d.Thinking == "" && d.Thoughts == "" && d.ChainOfThought == "" &&
		len(d.Details) == 0 && len(d.ToolCalls) == 0 && d.FunctionCall == nil && len(d.Extra) == 0 && len(d.Sealed) == 0 && len(d.Provider) == 0 && len(d.Blocks) == 0 && d.Images == 0 && d.Audio.Transcript == "" && len(d.parts) == 0
}

// thought gives the reasoning of a delta and the field that it came in. Some servers send the same in two fields.
func (d *delta) thought(field string) (text, in string) {
	fields := [...]struct{ name, text string }{
		{"reasoning_content", d.ReasoningContent}, {"reasoning", d.Reasoning}, {"reasoning_text", d.ReasoningText}, {"thinking", d.Thinking}, {cmp.Or(d.thoughtsIn, "thoughts"), d.Thoughts}, {"cot_summary", d.ChainOfThought},
	}
	for _, f := range fields {
		if f.text != "" && (text == "" || f.name == field) {
			text, in = f.text, f.name
		}
	}
	return text, in
}

// decode reads one event: typed first, because nearly all are as documented. more are further events that stood in the same one.
// odd: something of it could not be read.
func (c *chunk) decode(data []byte) (more []chunk, odd bool) {
	clear(c.Choices[:cap(c.Choices)])
	*c = chunk{Choices: c.Choices[:0]}
	if json.Unmarshal(data, c) == nil {
		if inner := c.wrapped(data); inner != nil {
			return c.decode(inner)
		}
		nothing := c.saysNothing(data)
		if nothing {
			if fixed, ok := wire.MendTwice(data, chunkObjects...); ok {
				return c.decode(fixed)
			}
		}
		if c.hasOddCall(data) || nothing && oddFields.Match(data) {
			if all, odd := tolerant(data); len(all) == 1 && !odd {
				*c = all[0]
			}
		}
		c.readOtherThought(data)
		return nil, false
	}
	if fixed, ok := wire.Repair(data); ok {
		return c.decode(fixed)
	}
	all, odd := tolerant(data)
	if len(all) == 0 {
		*c = chunk{}
		return nil, true
	}
	*c = all[0]
	return all[1:], odd
}

// chunkObjects are the fields of a chunk in which objects and lists stand, from the chunk down.
var chunkObjects = []string{"choices", "delta", "message", "content", "usage"}

// oddFields are those that say something in a place where the document has none.
var oddFields = regexp.MustCompile(`"(?:text|content|finish_reason|finishReason|` + thoughtWords + `)"\s*:\s*"[^"]`)

// thoughtWords are names of fields that may hold reasoning: thoughtName looks closer.
const thoughtWords = `\w*(?:think|thought|reasoning|rationale|scratchpad|monologue)\w*|reason|cot|cot_\w+|chain_of_\w+|analysis`

// mayThink matches a whole answer that may have reasoning in a field of another name.
var mayThink = regexp.MustCompile(`"(?:` + thoughtWords + `)"\s*:\s*"[^"]`)

// readOtherThought reads the reasoning of a whole answer that has none where it is known to be. Pieces of a stream that have nothing else are looked at by
// saysNothing.
func (c *chunk) readOtherThought(data []byte) {
	var answer struct {
		Choices []struct{ Message map[string]any }
	}
	for i := range c.Choices {
		m := c.Choices[i].Message
		if m == nil {
			return
		}
		if said, _ := m.thought(""); said != "" || len(m.Details)+len(m.Blocks) > 0 {
			continue
		}
		if answer.Choices == nil && (!mayThink.Match(data) || json.Unmarshal(data, &answer) != nil) || i >= len(answer.Choices) {
			return
		}
		m.Thoughts, m.thoughtsIn = otherThought(answer.Choices[i].Message)
	}
}

// saysNothing reports whether nothing of an answer could be read of a chunk.
func (c *chunk) saysNothing(data []byte) bool {
	if c.Usage != nil || c.Groq != nil || len(c.Error)+len(c.Filters)+len(c.Blocked)+len(c.BlockedSnake) > 0 {
		return false
	}
	for i := range c.Choices {
		if o := &c.Choices[i]; !o.Delta.empty() || o.Message != nil && !o.Message.empty() || o.Text != "" || o.FinishReason != "" || o.Native != "" || len(o.Error) > 0 {
			return false
		}
	}
	return len(c.Choices) > 0 || bytes.Count(data, []byte(`"choices"`)) > 1
}

// envelopes are the fields in which gateways put a whole answer, or a chunk. source: developers.cloudflare.com/fundamentals/api (result)
var envelopes = []string{"data", "result", "response", "body", "output"}

// quotedEnvelopes are the same as an event has them.
var quotedEnvelopes = []string{`"data"`, `"result"`, `"response"`, `"body"`, `"output"`}

// wrapped gives the answer in an event that has nothing else of one; nil = there is none.
func (c *chunk) wrapped(data []byte) []byte {
	if len(c.Choices) > 0 || wire.IsError(c.Error) || !bytes.Contains(data, []byte(`choices`)) {
		return nil
	}
	if !slices.ContainsFunc(quotedEnvelopes, func(name string) bool { return bytes.Contains(data, []byte(name)) }) {
		return nil // the chunk with the usage
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields["choices"] != nil {
		return nil
	}
	for _, name := range envelopes {
		inner := fields[name]
		var text string
		if json.Unmarshal(inner, &text) == nil {
			inner = json.RawMessage(text)
		}
		var answer struct{ Choices json.RawMessage }
		if json.Unmarshal(inner, &answer) == nil && len(answer.Choices) > 0 && string(answer.Choices) != "null" {
			return inner
		}
	}
	return nil
}

// oddCallFields are names of fields in calls whose form is another than that of the document.
var oddCallFields = pattern.New(`"(?:parameters|args|input|params|kwargs|tool_\w+|tool[A-Z]\w*|functionCall|function_(?:call|name|arguments)|call_id|custom)"\s*:`)

// oddLists are names of fields with calls that are none of the document.
var oddLists = pattern.New(`"(?:toolCalls?|tool_(?:calls?|uses)|toolUse|function_calls|functionCalls?|calls)"\s*:\s*(?:\[\s*[\[{"]|[{"])`)

// hasOddCall reports whether a call of a chunk has no name, or no arguments, where the document has them, and may have them elsewhere.
func (c *chunk) hasOddCall(data []byte) bool {
	for i := range c.Choices {
		o := &c.Choices[i]
		calls := o.Delta.ToolCalls
		if o.Message != nil {
			calls = append(calls[:len(calls):len(calls)], o.Message.ToolCalls...)
		}
		if f := o.Delta.FunctionCall; f != nil {
			calls = append(calls[:len(calls):len(calls)], toolCall{Function: *f})
		}
		if len(calls) == 0 && (o.Message != nil || o.Delta.empty()) && (bytes.Contains(data, []byte("all")) || bytes.Contains(data, []byte("tool"))) && oddLists.MatchString(string(data)) {
			return true
		}
		for _, k := range calls {
			if k.Function.Name == "" && k.Function.Arguments != "" && (bytes.Contains(data, []byte(`_name"`)) || bytes.Contains(data, []byte(`Name"`))) {
				return true
			}
			if k.Function.Name == "" && k.Function.Arguments == "" || k.Function.Arguments == "" && oddCallFields.MatchString(string(data)) {
				return true
			}
		}
	}
	return false
}

// says reports whether a value is an error: servers send null, "" and {} in ordinary events.
func says(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	switch string(raw) {
	case "", "null", `""`, "{}", "[]", "false", "0":
		return false
	}
	if raw[0] != '{' && raw[0] != '[' {
		return true
	}
	var v any
	return json.Unmarshal(raw, &v) != nil || filled(v)
}

// filled reports whether a value holds a text, a number or true.
func filled(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case bool:
		return v
	case float64:
		return v != 0
	case []any:
		for _, x := range v {
			if filled(x) {
				return true
			}
		}
		return false
	case map[string]any:
		for _, x := range v {
			if filled(x) {
				return true
			}
		}
		return false
	}
	return true
}
