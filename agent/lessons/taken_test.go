package lessons

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"parley/agent"
	"parley/sessions"
	"parley/tools"
)

// wholeRequest is a request with every part that may be refused, as far as the book lets it.
type wholeRequest struct {
	stream, system, tools, thinks, reasoning bool
}

// askWhole makes one model call with all parts. refuses gets each request with its number in the call; nil = it is taken. A server that failed is asked
// three times, as agent.Retry does.
func askWhole(t *testing.T, b *Book, refuses func(n int, r wholeRequest) error) (requests int, last wholeRequest) {
	t.Helper()
	c := b.Call(at, "")
	specs := []tools.Spec{{Name: "look", Description: "looks", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "list"}}
	msgs := []sessions.Message{{Role: sessions.Assistant, Model: at.Label(), Time: time.Unix(1, 0), Content: []sessions.Block{{Type: sessions.ThinkingBlock, Text: "hm"}, {Type: sessions.ToolCallBlock, Name: "look", ID: "1"}}}}
	for failures := 0; ; {
		r := wholeRequest{stream: c.Takes(Stream, ""), system: c.Takes(System, "")}
		sent := Sent{Stream: r.stream, System: r.system, Steps: !c.Told() && c.ToldUntil().IsZero(), Messages: msgs}
		if c.Takes(Tools, "") {
			for _, s := range c.Offer(specs) {
				sent.Tools = append(sent.Tools, s.Name)
			}
		}
		r.tools = len(sent.Tools) > 0
		plain := c.Off(Schema, "")
		sent.Loose = r.tools && !plain
		p := Param{Name: "thinking", Value: "adaptive", Effort: true}
		if p.Value, r.thinks = c.Param("thinking", "adaptive"); !r.thinks {
			p.Value = Unset
		}
		sent.Params = []Param{p}
		c.Picture("", msgs)
		from := c.ReasoningFrom()
		r.reasoning = c.Use(Reasoning) != OmitReasoning && (from.IsZero() || msgs[0].Time.After(from)) && sent.Steps
		c.Shows(&Sent{Reasoning: r.reasoning}, nil)
		sent.Reasoning = r.reasoning
		requests++
		err := refuses(requests, r)
		if err == nil {
			c.Worked(t.Context())
			return requests, r
		}
		if requests > 20 {
			t.Fatal("it goes on without end")
		}
		if c.Refused(t.Context(), err, sent) {
			continue
		}
		if e, ok := errors.AsType[*agent.ModelError](err); failures == 2 || ok && e.Class == agent.BadRequest {
			return requests, r
		}
		failures++
	}
}

// TestTakenBefore: one refusal of what was taken a request before teaches nothing, whatever it speaks of. The same request is made again.
func TestTakenBefore(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		// source: github.com/openai/harmony, vllm-project/vllm (tool parsers), ggml-org/llama.cpp (grammars), of one answer of the model
		"Model tried to call unavailable tool 'foo'", "Tool 'foo' not found", "unknown tool: bash", "invalid tool name: 'functions'", "Unsupported tool call type: custom",
		"Error: Unknown recipient functions.x", "tool call id not recognized: call_9", "Tool calls are not valid after reasoning end", "parser does not support nested tool calls",
		"Failed to generate tool call: unsupported grammar", "Unsupported operand type(s) for +: 'NoneType' and 'int' in tool parser", "Tool router not found: starting",
		"this replica does not support tools yet (rolling update)",
		// source: vllm-project/vllm (reasoning parsers), of one answer of the model
		"stream: unsupported chunk from upstream", "Streaming response was not valid", "thinking: internal error", "invalid thinking in output", "system role is not supported by this replica",
	} {
		for _, status := range []int{400, 500} {
			b := NewBook(Config{})
			askWhole(t, b, func(int, wholeRequest) error { return nil })
			n, last := askWhole(t, b, func(n int, _ wholeRequest) error {
				if n == 1 {
					return refusal(status, `{"error":{"message":"`+text+`"}}`)
				}
				return nil
			})
			if want := (wholeRequest{true, true, true, true, true}); n != 2 || last != want || len(b.Known()) > 0 {
				t.Errorf("%d %s: %d requests, the last one %+v; known %+v", status, text, n, last, b.Known())
			}
		}
	}
}

// TestTakenNoMore: what an endpoint took before and refuses in two calls now is known to be refused.
// source: BerriAI/litellm#16265, where the model behind a name was replaced
func TestTakenNoMore(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	askWhole(t, b, func(int, wholeRequest) error { return nil })
	for i, want := range []int{3, 2, 1, 1} {
		n, last := askWhole(t, b, func(_ int, r wholeRequest) error {
			if r.tools {
				return refusal(400, `{"error":{"message":"m does not support tools"}}`)
			}
			return nil
		})
		if n != want || last.tools || !last.stream || !last.thinks {
			t.Errorf("call %d: %d requests, the last one %+v", i, n, last)
		}
	}
	if known := b.Known(); len(known) != 1 || known[0].Kind != Tools {
		t.Errorf("known %+v", known)
	}
}

// TestOneReasoningItem: after an error about one item, older reasoning is left out. Later reasoning and thinking stay.
func TestOneReasoningItem(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		// source: https://platform.openai.com/docs/guides/reasoning, openai/openai-agents-python#1660, openai/codex#13724
		"Item 'rs_x' of type 'reasoning' was provided without its required following item.",
		"Item 'fc_x' of type 'function_call' was provided without its required 'reasoning' item: 'rs_x'.",
		"Item with id 'rs_x' not found. Items are not persisted when `store` is set to false.",
		"Duplicate item found with id rs_x. Remove duplicate items from your input and try again.",
		"Error from provider (Console): Upstream request failed: [invalid_request_error] reasoning `encrypted_content` was not issued to this caller", // source: can1357/oh-my-pi#11928
	} {
		now := newClock()
		b := NewBook(Config{Now: now.Now})
		askWhole(t, b, func(int, wholeRequest) error { return nil })
		n, last := askWhole(t, b, func(_ int, r wholeRequest) error {
			if r.reasoning {
				return refusal(400, `{"error":{"message":"`+text+`"}}`)
			}
			return nil
		})
		known := b.Known()
		if n != 2 || last.reasoning || !last.thinks || !last.tools || len(known) != 1 || known[0].Kind != History && (known[0].Kind != Reasoning || known[0].Name != OldReasoning) {
			t.Errorf("%s: %d requests, the last one %+v; known %+v", text, n, last, known)
		}
	}
}

// TestNullField: Azure AI Foundry names a field of an item as a path with slashes. source: microsoft/agent-framework#4576
func TestNullField(t *testing.T) {
	t.Parallel()
	c := NewBook(Config{}).Call(at, "")
	sent := Sent{Params: []Param{{Name: ItemField + "status", Value: Taken}, {Name: "reasoning.effort", Value: "low", Effort: true}}, Reasoning: true, Steps: true}
	err := refusal(400, `{"error":{"code":"invalid_payload","message":"Invalid payload","details":[{"message":"Value is 'string' but should be 'null'","param":"/input/2/status"}]}}`)
	if !c.Refused(t.Context(), err, sent) || len(c.changed.pending) != 1 || c.changed.pending[0].Name != ItemField+"status" {
		t.Errorf("learned %+v", c.changed.pending)
	}
}

// TestTextOrThinking: a template that takes text or reasoning beside calls gets the reasoning. source: ggml-org/llama.cpp#17040
func TestTextOrThinking(t *testing.T) {
	t.Parallel()
	c := NewBook(Config{}).Call(at, "")
	err := refusal(500, `{"error":{"message":"Cannot pass both content and thinking in an assistant message with tool calls! Put the analysis message in one or the other, but not both. at row 290, column 178:\n{%- if tools %} does not support tools"}}`)
	if !c.Refused(t.Context(), err, Sent{Tools: []string{"look"}, Steps: true, Reasoning: true, Stream: true}) || c.Use(Content) != CallsOnly || len(c.changed.pending) != 1 {
		t.Errorf("learned %+v", c.changed.pending)
	}
}

// TestTemplateFails: a template that fails whenever tools are sent costs the keywords of their schemas, then the tools, and only what is needed of
// that is known in the end.
// source: QwenLM/qwen-code#48
func TestTemplateFails(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	for i, most := range []int{5, 2, 2, 2, 1, 1} {
		n, last := askWhole(t, b, func(_ int, r wholeRequest) error {
			if r.tools {
				return failed(500, `Unknown method: keys at row 57, column 46:\n {%- set handled_keys = ['type'] %}\n {%- for json_key in param_fields.keys() %}`)
			}
			return nil
		})
		if n > most || last.tools {
			t.Errorf("call %d: %d requests, the last one %+v; known %+v", i, n, last, b.Known())
		}
	}
	if known := b.Known(); len(known) != 1 || known[0].Kind != Tools {
		t.Errorf("known %+v", known)
	}
}
