package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"parley/agent"
	"parley/agent/lessons"
	"parley/sessions"
	"parley/tools"
)

// invalid is an error as the API words it.
func invalid(message string) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":%q},"request_id":"req_1"}`, message)
}

// TestLearning: one part of the request is refused; the request is made again without it, and that is remembered.
func TestLearning(t *testing.T) {
	t.Parallel()
	low := toolTurn()
	low.Thinking = "low"
	max := agent.Prompt{Model: "m", Thinking: "high", Levels: []string{"low", "medium", "high", "xhigh", "max"}}
	picture := sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: "aGVsbG8="}
	shot := toolTurn()
	shot.Messages[2].Content = append(shot.Messages[2].Content, picture)
	shown := agent.Prompt{Model: "m", Messages: []sessions.Message{{Role: sessions.User, Content: []sessions.Block{{Type: sessions.TextBlock, Text: "look"}, picture}}}}
	foreign := toolTurn()
	foreign.Messages[1].Model, foreign.Messages[1].Content = "other/x", foreign.Messages[1].Content[1:]
	loose := agent.Prompt{Model: "m", Tools: []tools.Spec{{Name: "look", Schema: json.RawMessage(`{"type":"object","oneOf":[{"required":["a"]}],"properties":{"a":{"anyOf":[{"type":"string","format":"uri"},{"type":"null"}]}}}`)}, {Name: "save", Schema: json.RawMessage(`{"properties":{"b":{"type":"string"}},"type":"object"}`)}}}
	warm, cool := 0.7, 0.9
	sampled := func(c *Config) {
		c.Settings = func(string) agent.ModelSettings { return agent.ModelSettings{Temperature: &warm, TopP: &cool} }
	}
	withBody := func(c *Config) {
		c.Settings = func(string) agent.ModelSettings {
			return agent.ModelSettings{Body: map[string]any{"top_k": 50, "service_tier": "auto", "max_tokens": 64000}}
		}
	}
	for _, c := range []struct {
		name     string
		p        agent.Prompt
		config   func(*Config)
		says     string   // the body of the refusal
		when     []string // the request has one of these in it
		has, not string   // of the request that worked
		each     bool     // nothing is remembered, or only the window: another prompt has another length
		requests int      // 0 = 2
	}{
		{name: "adaptive thinking", p: low, says: invalid("adaptive thinking is not supported on this model"), when: []string{`"adaptive"`}, has: `"type":"enabled","budget_tokens":2048`, not: "output_config"},
		// source: docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use#parallel-tool-use
		{name: "parallel calls", p: low, says: invalid("parallel tool calls are not supported by this model"), when: []string{`}}],"thinking"`}, has: `"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`},
		{name: "adaptive thinking, in a list of tags", p: low, when: []string{`"adaptive"`}, has: `"type":"enabled"`,
			says: invalid("thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'")},
		{name: "adaptive thinking, called a mode", p: low, says: invalid("this model does not support the adaptive thinking mode"), when: []string{`"adaptive"`}, has: `"thinking":"I should look"`},
		{name: "thinking at all", p: low, says: `{"error":{"message":"\"llama3.1:8b\" does not support thinking"}}`, when: []string{`"adaptive"`, `"enabled"`}, not: `"thinking":{`}, // source: ollama#12561
		{name: "effort", p: low, says: invalid("This model does not support the effort parameter."), when: []string{"output_config"}, has: `"adaptive"`, not: "output_config"},
		{name: "effort, as a field", p: low, says: invalid("output_config.effort: Extra inputs are not permitted"), when: []string{"output_config"}, has: `"adaptive"`, not: "output_config"}, // source: BerriAI/litellm#27074
		{name: "a level of effort", p: max, says: invalid("output_config.effort: Input should be 'low' or 'medium'"), when: []string{`"effort":"high"`}, has: `"effort":"medium"`},
		{name: "a level of effort, in words", p: max, says: `{"error":{"message":"litellm.BadRequestError: effort='high' is not supported by this model. Supported levels: low, max"}}`, when: []string{`"effort":"high"`}, has: `"effort":"low"`},
		{name: "display", p: low, says: invalid("thinking.adaptive.display: Extra inputs are not permitted"), when: []string{"display"}, has: `"thinking":{"type":"adaptive"},`},
		{name: "a number of tokens for thinking", p: low, requests: 3, says: invalid("thinking.enabled.budget_tokens: Extra inputs are not permitted; adaptive is not supported"), when: []string{"budget_tokens", `"adaptive"`}, has: `"thinking":{"type":"enabled"}`}, // source: sgl-project/sglang#25876
		{name: "disabled thinking", p: agent.Prompt{Model: "m", Thinking: "off"}, says: invalid(`"thinking.type.disabled" is not supported for this model.`), when: []string{"disabled"}, not: `"thinking":{`},
		{name: "the length of the answer", p: agent.Prompt{Model: "m", MaxTokens: 64000}, says: invalid("max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022"), when: []string{`"max_tokens":64000`}, has: `"max_tokens":8192`},
		{name: "a window smaller than the answer", p: agent.Prompt{Model: "m"}, says: `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 25 input tokens","code":400}}`, when: []string{`"max_tokens":8192`}, has: `"max_tokens":4071`, each: true}, // source: vllm, serving: max_tokens check
		// source: docs.anthropic.com/en/api/errors, docker/docker-agent#569
		{name: "a prompt and an answer longer than the window", p: agent.Prompt{Model: "m"}, says: invalid("input length and `max_tokens` exceed context limit: 194000 + 8192 > 200000, decrease input length or `max_tokens` and try again"), when: []string{`"max_tokens":8192`}, has: `"max_tokens":6000`, each: true},
		{name: "a window smaller than the answer, told in two steps", p: agent.Prompt{Model: "m"}, says: invalid("max_tokens=8192 cannot be greater than max_model_len=4096"), when: []string{`"max_tokens":8192`}, has: `"max_tokens":4096`},
		{name: "both temperature and top_p", p: low, config: sampled, says: invalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one."), when: []string{"top_p"}, has: `"temperature":0.7`, not: "top_p"}, // source: OpenHands/software-agent-sdk#1945
		{name: "temperature", p: low, config: sampled, says: invalid("`temperature` is deprecated for this model."), when: []string{"temperature"}, has: `"top_p":0.9`, not: "temperature"},                                                      // source: The-PR-Agent/pr-agent#2456
		{name: "temperature with thinking", p: low, config: sampled, says: invalid("`temperature` may only be set to 1 when thinking is enabled."), when: []string{"temperature"}, has: `"adaptive"`, not: "temperature"},
		{name: "prompt caching, by no name", p: low, says: `{"message":"You invoked an unsupported model or your request did not allow prompt caching. See the documentation for more information."}`, when: []string{`"cache_control"`}, not: `"cache_control"`}, // source: simkeyur/vscode-agents#1
		{name: "a mark on the tools", p: low, says: invalid("tools.1.cache_control: Extra inputs are not permitted"), when: []string{`"input_schema":{"type":"object","properties":{}},"cache_control"`}, has: `"content":"done","cache_control"`},                // source: earendil-works/pi#7938
		{name: "marks", p: low, says: invalid("*.cache_control: Extra inputs are not permitted"), when: []string{"cache_control"}, not: "cache_control"},                                                                                                          // source: cg-dot/vertexai-cf-workers#21
		{name: "instructions as a list", p: low, says: `{"detail":[{"type":"string_type","loc":["body","system"],"msg":"Input should be a valid string"}]}`, when: []string{`"system":[`}, has: `"system":"be kind"`},
		{name: "instructions", p: low, says: invalid("system role not supported"), when: []string{`"system":`}, has: `{"role":"user","content":[{"type":"text","text":"be kind"},{"type":"text","text":"hi"`},
		// source: docs.anthropic.com/en/api/messages (errors name the field), BerriAI/litellm#16265
		{name: "a field of the configuration", p: low, config: withBody, says: invalid("top_k: Extra inputs are not permitted"), when: []string{`"top_k"`}, has: `"service_tier":"auto"`, not: "top_k"},
		{name: "its value", p: low, config: withBody, says: invalid("top_k: Input should be less than or equal to 40"), when: []string{`"top_k":50`}, has: `"top_k":40`},
		{name: "its length of the answer", p: low, config: withBody, says: invalid("max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens"), when: []string{`"max_tokens":64000`}, has: `"max_tokens":8192`},
		{name: "streaming", p: low, says: invalid("This model does not support streaming."), when: []string{`"stream":true`}, not: `"stream"`},
		{name: "tools", p: low, says: invalid("registry.ollama.ai/library/gemma3:4b does not support tools"), when: []string{`"tools":`}, has: "I called the tool look", not: "tool_use"}, // source: picobot#6
		{name: "one tool", p: loose, says: invalid("tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"), when: []string{`"name":"look"`}, has: `"name":"save"`, not: `"name":"look"`, requests: 3},
		{name: "a keyword of a schema", p: loose, says: invalid("tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"), when: []string{"oneOf"}, has: `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		{name: "pictures", p: shown, says: invalid("This model does not support image input"), when: []string{`"image"`}, not: `"image"`},
		{name: "a picture in a result", p: shot, says: invalid("Input should be a valid string (ref: a9065c14)"), when: []string{`"tool_result","tool_use_id":"toolu_1","content":[`}, has: `"content":"done"},{"type":"text","text":"[host: the pictures`},                                             // source: ollama/ollama#18055
		{name: "a picture in a result, without a word", p: shot, says: invalid("Invalid input"), when: []string{`"tool_result","tool_use_id":"toolu_1","content":[`}, has: `"image"`},                                                                                                                   // source: CommandCodeAI/command-code#850
		{name: "thinking that is missing", p: foreign, says: invalid("The `content[].thinking` in the thinking mode must be passed back to the API."), when: []string{`"role":"assistant","content":[{"type":"tool_use"`}, has: `{"type":"thinking","thinking":" ","signature":""},{"type":"tool_use"`}, // source: DeepSeek-Reasonix#8902
		{name: "reasoning that is missing", p: foreign, says: invalid("thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"), when: []string{`"role":"assistant","content":[{"type":"tool_use"`}, has: `{"type":"thinking","thinking":" "`},                  // source: NousResearch/hermes-agent#14018
		{name: "thinking in the history", p: low, says: `{"detail":[{"type":"literal_error","loc":["body","messages",1,"content",0,"type"],"msg":"Input should be 'text', 'image', 'tool_use' or 'tool_result'"}]}`, when: []string{"I should look"}, not: "I should look"},                             // source: vllm v0.14.0, entrypoints/anthropic/protocol
		{name: "a signature that is empty", p: low, says: invalid("messages.1.content.0.thinking.signature: Extra inputs are not permitted"), when: []string{`"signature":""`}, has: `{"type":"thinking","thinking":"I should look"}`},
		{name: "a signature that is wrong", p: low, says: invalid("messages.1.content.0: Invalid `signature` in `thinking` block"), when: []string{"I should look"}, not: "I should look"},
		{name: "ids", p: low, says: invalid("messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9]{9}$'"), when: []string{"toolu_1"}, not: "toolu_1"},
		{name: "tool_choice", p: agent.Prompt{Model: "m", Messages: toolTurn().Messages}, says: invalid("tool_choice: only auto is supported"), when: []string{"tool_choice"}, not: "tool_choice", has: `"tools":`},
		{name: "no reason at all", p: low, requests: 3, says: `{}`, when: []string{"cache_control"}, not: "cache_control"},
	} {
		for _, status := range []int{400, 422, 200} {
			if status == 200 && (c.says == "{}" || !strings.Contains(c.says, `"error":`)) {
				continue
			}
			t.Run(fmt.Sprint(c.name, " ", status), func(t *testing.T) {
				t.Parallel()
				no := refuses(c.says, c.when...)
				e := &endpoint{answer: func(n int, body string) reply {
					r := no(n, body)
					if r.status == 0 {
						return r
					}
					if r.status = status; status == 200 { // the same inside of a stream
						r.body = sse(msgStart, c.says)
					}
					return r
				}}
				var kept []sessions.Lesson
				book := lessons.NewBook(lessons.Config{Save: func(_ context.Context, l ...sessions.Lesson) { kept = append(kept, l...) }})
				m := e.at(elsewhere, func(conf *Config) { conf.Lessons = book })
				if c.config != nil {
					m = e.at(elsewhere, c.config, func(conf *Config) { conf.Lessons = book })
				}
				h := listen(t, m, c.p)
				if h.err != nil || h.text != "hello" {
					t.Fatalf("%v after %d requests: %s", h.err, e.count(), strings.Join(e.bodies, "\n"))
				}
				want := c.requests
				if want == 0 {
					want = 2
				}
				if e.count() != want && !(c.requests == 0 && c.name == "thinking at all" && e.count() == 3) || !strings.Contains(e.last(), c.has) || c.not != "" && strings.Contains(e.last(), c.not) {
					t.Errorf("%d requests: %s", e.count(), strings.Join(e.bodies, "\n"))
				}
				if !json.Valid([]byte(e.last())) {
					t.Errorf("no JSON: %s", e.last())
				}
				before, was := e.count(), e.last()
				if h := listen(t, m, c.p); h.err != nil || e.count() > before+1 && c.says != "{}" && !c.each || c.says != "{}" && e.last() != was && !c.each {
					t.Errorf("again: %v, %d more requests: %s", h.err, e.count()-before, e.last())
				}
				if len(kept) == 0 && c.says != "{}" {
					t.Error("nothing was kept")
				}
				for _, l := range kept {
					if l.Address != elsewhere || l.Model != "m" || l.Evidence == "" && l.Kind != lessons.Parameter {
						t.Errorf("kept %+v", l)
					}
				}
			})
		}
	}
}

// TestNothingIsLearned: what is no matter of one part of the request is not tried again with less.
func TestNothingIsLearned(t *testing.T) {
	t.Parallel()
	for says, class := range map[string]agent.ErrorClass{
		invalid("Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."): agent.NoCredit, // source: claude-code#4684
		invalid("prompt is too long: 213462 tokens > 200000 maximum"):                                                                       agent.TooLong,
		invalid("Output blocked by content filtering policy"):                                                                               agent.Refused,
		`{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`:                                            agent.BadKey,
	} {
		e := &endpoint{answer: always(reply{status: 400, body: says})}
		p := toolTurn()
		p.Thinking = "low"
		h := listen(t, e.at(elsewhere), p)
		if got := classOf(h.err); got != class || e.count() != 1 {
			t.Errorf("%s: %s after %d requests", says, got, e.count())
		}
	}
	// An endpoint that wants thinking back and refuses the one that it gets is asked without thinking at the end.
	round := &endpoint{answer: func(_ int, body string) reply {
		switch {
		case strings.Contains(body, `"signature":"bad"`) || strings.Contains(body, `"signature":""`):
			return reply{status: 400, body: invalid("messages.1.content.0: Invalid `signature` in `thinking` block")}
		case strings.Contains(body, `"thinking":{"type":"adaptive"`):
			return reply{status: 400, body: invalid("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block")}
		}
		return reply{body: hello}
	}}
	signed := toolTurn()
	signed.Thinking = "low"
	signed.Messages[1].Content[0].Opaque = &sessions.Opaque{From: origin(elsewhere), Data: json.RawMessage(`{"signature":"bad"}`)}
	if h := listen(t, round.at(elsewhere), signed); h.err != nil || round.count() > 8 {
		t.Errorf("%v after %d requests", h.err, round.count())
	}
	// A refusal that nothing helps against ends, and says what the provider said.
	e := &endpoint{answer: always(reply{status: 400, body: invalid("the moon is too bright for thinking, tools and system images")})}
	p := toolTurn()
	p.Thinking = "low"
	if h := listen(t, e.at(elsewhere), p); classOf(h.err) != agent.BadRequest || e.count() > 9 || !strings.Contains(h.err.Error(), "the moon") {
		t.Errorf("%v after %d requests", h.err, e.count())
	}
}

func classOf(err error) agent.ErrorClass {
	e, ok := errors.AsType[*agent.ModelError](err)
	if !ok {
		return ""
	}
	return e.Class
}
