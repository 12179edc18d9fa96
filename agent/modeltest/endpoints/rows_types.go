package endpoints

import "strings"

// edit is a wire that changes each piece.
func edit(change func(c *Call, p *Piece)) Wire { return ChatWire{Edit: change}.Wire() }

// eachCall is a wire that changes each call of a stream, in one piece.
func eachCall(change func(k obj)) Wire {
	return ChatWire{AtOnce: true, Edit: func(_ *Call, p *Piece) {
		for _, k := range p.calls() {
			change(k)
		}
	}}.Wire()
}

// function gives the function of a call.
func function(k obj) obj {
	f, _ := k["function"].(obj)
	return f
}

var types = []Row{
	{ID: "mistral-content-list", Faults: []string{"H5"}, Vendor: "Mistral", Source: "https://docs.mistral.ai/capabilities/reasoning/", Model: "magistral-medium-latest", Does: "sends thinking as parts of a content list, and then text as text", Wire: ChatWire{Reasoning: "content"}.Wire()},
	{ID: "mistral-content-list-of-text", Faults: []string{"H5"}, Vendor: "Mistral", Source: "symfony/ai#2422", Model: "magistral-small-latest", Does: "sends text too as parts of a content list", Wire: ChatWire{Reasoning: "content", Edit: func(_ *Call, p *Piece) {
		if p.Kind == "text" {
			p.delta()["content"] = list{obj{"type": "text", "text": p.delta()["content"]}}
		}
	}}.Wire()},
	{ID: "mistral-whole-content-list", Faults: []string{"H5"}, Vendor: "Mistral", Source: "https://docs.mistral.ai/capabilities/reasoning/", Model: "magistral-medium-latest", Does: "sends a content list in an answer that is no stream", Wire: ChatWire{Reasoning: "content", Whole: true}.Wire()},
	{ID: "arguments-as-object", Faults: []string{"H5"}, Vendor: "a gateway", Source: "openclaw/openclaw#68418", Does: "sends the arguments of a call as an object", Wire: eachCall(func(k obj) { function(k)["arguments"] = rawJSON(str(function(k)["arguments"])) })},
	{ID: "arguments-as-object-in-a-whole-answer", Faults: []string{"H5"}, Vendor: "Ollama", Source: "BerriAI/litellm#16434", Does: "sends arguments as an object in an answer that is no stream", Wire: ChatWire{Whole: true, Answer: func(_ *Call, whole obj) {
		for _, k := range objects(objects(whole["choices"])[0]["message"].(obj)["tool_calls"]) {
			function(k)["arguments"] = rawJSON(str(function(k)["arguments"]))
		}
	}}.Wire()},
	{ID: "call-id-as-number", Faults: []string{"H5"}, Vendor: "an OpenAI-compatible server", Source: "ggml-org/llama.cpp#20198", Does: "numbers its calls with JSON numbers", Wire: eachCall(func(k obj) { k["id"] = 7 })},
	{ID: "index-as-text", Faults: []string{"H5"}, Vendor: "an OpenAI-compatible server", Source: "sipeed/picoclaw#1379", Does: "sends the index of a call as text", Wire: eachCall(func(k obj) { k["index"] = "0" })},
	{ID: "index-as-fraction", Faults: []string{"H5"}, Vendor: "an OpenAI-compatible server", Source: "google/adk-go#1254", Does: "sends the index of a call as a number with a fraction", Wire: eachCall(func(k obj) { k["index"] = rawJSON("0.0") })},
	{ID: "reasoning-as-object", Faults: []string{"H5"}, Vendor: "a gateway", Source: "openclaw/openclaw#68418", Does: "sends reasoning as an object with content", Wire: ChatWire{Reasoning: "reasoning", Edit: func(_ *Call, p *Piece) {
		if p.Kind == "reasoning" {
			p.delta()["reasoning"] = obj{"content": p.delta()["reasoning"]}
		}
	}}.Wire()},
	{ID: "reasoning-as-list", Faults: []string{"H5"}, Vendor: "a gateway", Source: "openclaw/openclaw#68418", Does: "sends reasoning_content as a list of parts", Wire: ChatWire{Reasoning: "reasoning_content", Edit: func(_ *Call, p *Piece) {
		if p.Kind == "reasoning" {
			p.delta()["reasoning_content"] = list{obj{"type": "text", "text": p.delta()["reasoning_content"]}}
		}
	}}.Wire()},
	{ID: "empty-error-in-chunks", Faults: []string{"H5"}, Vendor: "a gateway", Source: "sipeed/picoclaw#1379", Does: "has an empty text named error in each ordinary chunk", Wire: edit(func(_ *Call, p *Piece) { p.Data["error"] = "" })},
	{ID: "empty-error-object-in-chunks", Faults: []string{"H5"}, Vendor: "a gateway", Source: "sipeed/picoclaw#1379", Does: "has an empty object, false or a list named error in ordinary chunks", Wire: edit(func(c *Call, p *Piece) {
		p.Data["error"] = []any{obj{}, false, list{}}[c.memory.times("error")%3]
	})},
	{ID: "choices-as-object", Faults: []string{"H5"}, Vendor: "an OpenAI-compatible server", Source: "google/adk-go#1254", Does: "sends an empty object as choices in the chunk of the usage", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "usage" {
			p.Data["choices"] = obj{}
		}
	})},
	{ID: "usage-as-text", Faults: []string{"H5"}, Vendor: "a gateway", Source: "BerriAI/litellm#16434", Does: "sends the numbers of the usage as texts", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "usage" {
			p.Data["usage"] = obj{"prompt_tokens": "12", "completion_tokens": "5", "total_tokens": "17"}
		}
	})},
	{ID: "usage-with-fractions", Faults: []string{"H5"}, Vendor: "Cloudflare", Source: "https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/", Does: "counts tokens with fractions, and details as numbers", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "usage" {
			p.Data["usage"] = obj{"prompt_tokens": 12.0, "completion_tokens": 5.5, "total_tokens": 17.5, "prompt_tokens_details": list{}}
		}
	})},
	{ID: "finish-reason-as-object", Faults: []string{"H5"}, Vendor: "a gateway", Source: "google/adk-go#1254", Does: "sends the finish reason as an object", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "finish" {
			p.choice()["finish_reason"] = obj{"type": p.choice()["finish_reason"]}
		}
	})},
	{ID: "id-and-model-as-numbers", Faults: []string{"H5"}, Vendor: "an OpenAI-compatible server", Source: "ggml-org/llama.cpp#20198", Does: "sends id, model and created in other types", Wire: edit(func(_ *Call, p *Piece) { p.Data["id"], p.Data["model"], p.Data["created"] = 7, nil, "now" })},
	{ID: "content-as-number", Faults: []string{"H5"}, Vendor: "an OpenAI-compatible server", Source: "openclaw/openclaw#68418", Does: "sends a piece of text that is a number as a JSON number", Mind: instead(func(string) string { return "42" }),
		Wire: ChatWire{Last: func(_ *Call, pieces []Piece) []Piece {
			var out []Piece
			done := false
			for _, p := range pieces {
				if p.Kind == "text" {
					if done {
						continue
					}
					done = true
					p.delta()["content"] = 42
				}
				out = append(out, p)
			}
			return out
		}}.Wire(), Want: Expectation{Plain: `^42$`, Tool: `^42$`, Follow: `^42$`, Restart: `^42$`, Back: `^42$`}},
	{ID: "delta-missing", Faults: []string{"H5"}, Vendor: "a gateway", Source: "sipeed/picoclaw#1379", Does: "sends choices without a delta, and a delta that is null", Wire: edit(func(_ *Call, p *Piece) {
		switch p.Kind {
		case "role":
			delete(p.choice(), "delta")
		case "finish":
			p.choice()["delta"] = nil
		}
	})},
	{ID: "tool-calls-as-object", Faults: []string{"H5"}, Vendor: "a gateway", Source: "google/adk-go#1254", Does: "sends one call as an object, not as a list of one", Wire: ChatWire{AtOnce: true, Edit: func(_ *Call, p *Piece) {
		if ks := p.calls(); len(ks) > 0 {
			p.delta()["tool_calls"] = ks[0]
		}
	}}.Wire()},
	{ID: "tool-calls-null-in-text", Vendor: "Groq, vLLM", Source: "https://docs.vllm.ai/en/latest/features/tool_calling.html", Does: "has tool_calls null or an empty list in chunks of text", Wire: edit(func(c *Call, p *Piece) {
		if p.Kind == "text" {
			p.delta()["tool_calls"] = []any{nil, list{}}[c.memory.times("null")%2]
		}
	})},
	{ID: "unknown-keys-everywhere", Vendor: "Perplexity, Cerebras", Source: "https://docs.perplexity.ai/api-reference/chat-completions-post", Does: "adds citations, time_info and other keys to chunks", Wire: edit(func(_ *Call, p *Piece) {
		p.Data["citations"], p.Data["time_info"], p.Data["search_results"] = list{"https://example.com"}, obj{"queue_time": 0.1}, list{obj{"title": "x"}}
		p.choice()["message"] = obj{"role": "assistant", "content": strings.Repeat("the whole so far ", 3)}
	})},
}
