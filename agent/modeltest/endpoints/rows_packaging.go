package endpoints

import (
	"net/http"
	"strings"
)

// framed is a wire of chat completions in another frame.
func framed(f Frame) Wire { return ChatWire{Frame: f}.Wire() }

// dropping leaves out the pieces of a kind.
func dropping(kind string) Wire {
	return ChatWire{Last: func(_ *Call, pieces []Piece) (out []Piece) {
		for _, p := range pieces {
			if p.Kind != kind {
				out = append(out, p)
			}
		}
		return out
	}}.Wire()
}

// inserting puts pieces of raw data behind the first piece.
func inserting(raw ...string) Wire {
	return ChatWire{Last: func(_ *Call, pieces []Piece) []Piece {
		out := []Piece{pieces[0]}
		for _, r := range raw {
			out = append(out, Piece{Raw: r})
		}
		return append(out, pieces[1:]...)
	}}.Wire()
}

var packaging = []Row{
	{ID: "comments-between-events", Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/api-reference/streaming", Does: "sends comments while it waits", Wire: framed(Frame{Head: ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n"})},
	{ID: "keep-alive-lines", Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/quick_start/rate_limit", Does: "sends empty lines or keep-alive comments while it waits", Wire: framed(Frame{Head: "\n\n: keep-alive\n\n\n"})},
	{ID: "no-done", Vendor: "ik_llama.cpp", Source: "ikawrakow/ik_llama.cpp#467", Does: "ends its stream without DONE", Wire: framed(Frame{NoDone: true})},
	{ID: "crlf", Vendor: "a proxy", Source: "https://html.spec.whatwg.org/multipage/server-sent-events.html", Does: "ends its lines with CR LF", Wire: framed(Frame{Newline: "\r\n"})},
	{ID: "no-space-after-data", Vendor: "an OpenAI-compatible server", Source: "https://html.spec.whatwg.org/multipage/server-sent-events.html", Does: "has no space behind data and its colon", Wire: framed(Frame{Prefix: "data:"})},
	{ID: "byte-order-mark", Vendor: "a proxy", Source: "https://html.spec.whatwg.org/multipage/server-sent-events.html", Does: "begins its stream with a byte order mark", Wire: framed(Frame{Head: "\ufeff"})},
	{ID: "utf8-split-between-packets", Vendor: "any", Source: "alexrudall/ruby-openai#332", Does: "splits a character over two packets", Wire: framed(Frame{Flush: 7}), Mind: instead(func(s string) string { return s + " ✓ ä" }),
		Want: Expectation{Plain: `^echo: hello ✓ ä$`, Tool: ` ✓ ä$`, Follow: ` ✓ ä$`, Restart: ` ✓ ä$`, Back: ` ✓ ä$`}},
	{ID: "stream-as-text-plain", Vendor: "a proxy", Source: "54xzh/FLIT#71", Does: "labels its stream as text/plain", Wire: framed(Frame{ContentType: "text/plain"})},
	{ID: "stream-as-octet-stream", Vendor: "a proxy", Source: "54xzh/FLIT#71", Does: "labels its stream as application/octet-stream", Wire: framed(Frame{ContentType: "application/octet-stream"})},
	{ID: "stream-as-json", Faults: []string{"L1"}, Vendor: "a proxy", Source: "BYK/loreai#1195", Does: "labels its stream as application/json", Wire: framed(Frame{ContentType: "application/json"})},
	{ID: "stream-without-type", Faults: []string{"L1"}, Vendor: "a small server", Source: "BYK/loreai#1195", Does: "sends a stream without a content type", Wire: framed(Frame{ContentType: noType})},
	{ID: "json-instead-of-a-stream", Vendor: "a gateway", Source: "mistralai/mistral-vibe#619", Does: "answers a request for a stream with one JSON object", Wire: ChatWire{Whole: true}.Wire(), Kind: KindWholeReply},
	{ID: "json-as-event-stream", Faults: []string{"L1"}, Vendor: "a gateway", Source: "decolua/9router#3492", Does: "labels one JSON object as text/event-stream", Wire: ChatWire{Whole: true, Frame: Frame{ContentType: "text/event-stream"}}.Wire()},
	{ID: "json-as-text-html", Faults: []string{"L1"}, Vendor: "a PHP gateway", Source: "tinyhumansai/tinyagents#56", Does: "labels one JSON object as text/html", Wire: ChatWire{Whole: true, Frame: Frame{ContentType: "text/html; charset=UTF-8"}}.Wire()},
	{ID: "json-without-type", Faults: []string{"L1"}, Vendor: "a small server", Source: "tinyhumansai/tinyagents#56", Does: "sends one JSON object without a content type", Wire: ChatWire{Whole: true, Frame: Frame{ContentType: noType}}.Wire()},
	{ID: "whole-answer-without-finish", Faults: []string{"L1"}, Vendor: "a small server", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", Does: "has a finish reason of null in a whole answer", Wire: ChatWire{Whole: true, Answer: func(_ *Call, whole obj) { objects(whole["choices"])[0]["finish_reason"] = nil }}.Wire()},
	{ID: "whole-answer-with-white-space", Faults: []string{"L1"}, Vendor: "Azure, DeepSeek", Source: "https://api-docs.deepseek.com/quick_start/rate_limit", Does: "sends empty lines in front of a JSON object while it waits", Wire: func(w http.ResponseWriter, c *Call, s Say) {
		ChatWire{}.number(c, &s)
		send(w, "application/json", "\n\n\n   \n"+encode(ChatWire{}.whole(c, s)), 0)
	}},
	{ID: "json-lines", Faults: []string{"L1"}, Vendor: "Hack Club AI", Source: "hackclub/ai#17", Does: "sends chunks as lines of JSON, without data in front", Wire: func(w http.ResponseWriter, c *Call, s Say) {
		ChatWire{}.number(c, &s)
		var b strings.Builder
		for _, p := range (ChatWire{}).pieces(c, s) {
			b.WriteString(encode(p.Data) + "\n")
		}
		send(w, "application/x-ndjson", b.String(), 0)
	}},
	{ID: "first-choices-empty", Vendor: "Azure", Source: "https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter", Does: "begins with the results of its prompt filter and no choices", Wire: inserting(`{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false,"severity":"safe"}}}]}`)},
	{ID: "choices-null", Vendor: "MiniMax", Source: "RooCodeInc/Roo-Code#9105", Does: "sends a chunk whose choices are null", Wire: inserting(`{"id":"x","object":"chat.completion.chunk","choices":null}`, `{"id":"x","object":"chat.completion.chunk"}`)},
	{ID: "no-role", Vendor: "an OpenAI-compatible server", Source: "https://platform.openai.com/docs/api-reference/chat/streaming", Does: "never names the role", Wire: dropping("role")},
	{ID: "no-usage", Vendor: "an OpenAI-compatible server", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", Does: "never counts tokens", Wire: ChatWire{NoUsage: true}.Wire()},
	{ID: "usage-in-every-chunk", Vendor: "xAI, Moonshot", Source: "https://docs.x.ai/docs/api-reference", Does: "sends a running total in each chunk", Wire: edit(func(_ *Call, p *Piece) {
		p.Data["usage"] = obj{"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
	})},
	{ID: "groq-usage", Vendor: "Groq", Source: "https://console.groq.com/docs/api-reference", Does: "puts the usage into x_groq of the last chunk", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "finish" {
			p.Data["x_groq"] = obj{"id": "req_1", "usage": obj{"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}}
		}
	})},
	{ID: "moonshot-usage-in-choice", Vendor: "Moonshot", Source: "https://platform.moonshot.ai/docs/api/chat", Does: "puts the usage into the last choice", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "finish" {
			p.choice()["usage"] = obj{"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
		}
	})},
	{ID: "null-content-chunks", Vendor: "vLLM, SGLang", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", Does: "has null texts in the chunks of calls and at the end", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind != "text" && p.Kind != "usage" {
			p.delta()["content"], p.delta()["reasoning_content"] = nil, nil
		}
	})},
	{ID: "finish-only-in-done", Vendor: "OpenCode Zen", Source: "anomalyco/opencode#43882", Does: "names no finish reason, and ends with DONE", Wire: dropping("finish")},
	{ID: "finish-twice", Vendor: "a gateway", Source: "open-learning-exchange/planet#10281", Does: "names the finish reason in two chunks", Wire: ChatWire{Last: func(_ *Call, pieces []Piece) (out []Piece) {
		for _, p := range pieces {
			out = append(out, p)
			if p.Kind == "finish" {
				out = append(out, p)
			}
		}
		return out
	}}.Wire()},
	{ID: "finish-stop-with-calls", Vendor: "Gemini, Ollama", Source: "BerriAI/litellm#35663", Does: "ends an answer with calls with the reason stop", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "finish" {
			p.choice()["finish_reason"] = "stop"
		}
	})},
	{ID: "finish-function-call", Vendor: "an older gateway", Source: "https://platform.openai.com/docs/api-reference/chat/streaming", Does: "ends an answer with calls with function_call", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "finish" && p.choice()["finish_reason"] == "tool_calls" {
			p.choice()["finish_reason"] = "function_call"
		}
	})},
	{ID: "finish-eos", Vendor: "TGI, Together", Source: "https://huggingface.co/docs/text-generation-inference/messages_api", Does: "ends with reasons of its own: eos, eos_token, stop_sequence", Wire: edit(func(c *Call, p *Piece) {
		if p.Kind == "finish" && p.choice()["finish_reason"] == "stop" {
			p.choice()["finish_reason"] = []string{"eos", "eos_token", "stop_sequence", "STOP"}[c.memory.times("eos")%4]
		}
	})},
	{ID: "named-events", Vendor: "Cohere, LangServe", Source: "https://docs.cohere.com/docs/compatibility-api", Does: "gives its events names and ids", Wire: edit(func(_ *Call, p *Piece) { p.Event = "chunk\nid: 4\nretry: 10" })},
	{ID: "text-in-message", Vendor: "a gateway", Source: "https://docs.perplexity.ai/api-reference/chat-completions-post", Does: "calls the delta of a stream message", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind != "usage" {
			p.choice()["message"] = p.choice()["delta"]
			delete(p.choice(), "delta")
		}
	})},
	{ID: "junk-between-events", Faults: []string{"H5"}, Vendor: "AgentRouter", Source: "Kilo-Org/kilocode#3083", Does: "sends an event that is no chunk: a text, a number, null", Wire: inserting(`"ok"`, `null`, `7`, `[]`)},
}
