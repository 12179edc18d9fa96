package endpoints

// deepSeek is DeepSeek's shape of a refusal.
func deepSeek(text string) *Refusal {
	return openAI(400, "invalid_request_error", nil, "invalid_request_error", "%s", text)
}

// kimi is Moonshot's shape of a refusal.
func kimi(text string) *Refusal {
	return raw(400, encode(obj{"error": obj{"message": text, "type": "invalid_request_error"}}))
}

var thinksApart = ChatWire{Reasoning: "reasoning_content"}.Wire()

// sealed gives the calls of an answer Google's thought signatures.
func sealed(c *Call, p *Piece) {
	for _, k := range p.calls() {
		f, _ := k["function"].(obj)
		if name := str(f["name"]); name != "" {
			k["extra_content"] = obj{"google": obj{"thought_signature": c.memory.opaque(name + str(f["arguments"]))}}
		}
		delete(k, "index")
	}
}

// encrypted puts one piece with encrypted reasoning in front of the calls.
func encrypted(c *Call, s Say, index int) obj {
	return obj{"type": "reasoning.encrypted", "data": c.memory.opaque(s.Reasoning), "id": "rs_1", "format": "openai-responses-v1", "index": index}
}

var reasoning = []Row{
	{
		ID: "deepseek-v4-wants-reasoning-back", Faults: []string{"C1"}, Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/guides/thinking_mode", Model: "deepseek-v4",
		Does: "thinks by default, and refuses an assistant message with tool calls that lacks its reasoning_content", Kind: KindReasoning, Wire: thinksApart,
		Checks: []Check{wantsReasoning("reasoning_content", func(int) *Refusal {
			return deepSeek("The `reasoning_content` in the thinking mode must be passed back to the API.")
		})}, Want: Expectation{Interrupt: true},
	},
	{
		ID: "kimi-k2-thinking-wants-reasoning-back", Faults: []string{"C1"}, Vendor: "Moonshot", Source: "charmbracelet/crush#2696", Model: "kimi-k2-thinking",
		Does: "names the index of the message that lacks its reasoning; an empty text is not enough", Wire: thinksApart,
		Checks: []Check{wantsReasoning("reasoning_content", position("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", kimi))},
	},
	{
		ID: "kimi-thinks-without-words", Faults: []string{"C1"}, Vendor: "Moonshot", Source: "openclaw/openclaw#71050", Model: "kimi-k2.6",
		Does: "wants reasoning in the message with the calls although it sent none with them", Wire: thinksApart, Mind: plainly,
		Checks: []Check{wantsAnyReasoning(position("thinking is enabled but reasoning_content is missing in assistant tool call message at index %d", kimi))}, Want: Expectation{Refused: 1},
	},
	{
		ID: "litellm-says-missing-reasoning", Faults: []string{"C1"}, Vendor: "LiteLLM before DeepSeek", Source: "sst/opencode#24722",
		Does: "wraps the refusal of missing reasoning in its own text", Wire: thinksApart,
		Checks: []Check{wantsReasoning("reasoning_content", func(int) *Refusal {
			return openAI(400, "None", nil, "400", "litellm.BadRequestError: DeepseekException - {\"error\":{\"message\":\"The `reasoning_content` in the thinking mode must be passed back to the API.\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":\"invalid_request_error\"}}. Received Model Group=deepseek-v4")
		})},
	},
	{
		ID: "vllm-calls-it-reasoning", Faults: []string{"C1"}, Vendor: "vLLM", Source: "https://docs.vllm.ai/en/latest/features/reasoning_outputs.html",
		Does: "calls the field reasoning, in answers and in messages that come back", Wire: ChatWire{Reasoning: "reasoning"}.Wire(),
		Want: Expectation{Sends: []string{`"reasoning":"` + Musing}},
	},
	{
		ID: "deepseek-r1-refuses-reasoning", Vendor: "DeepSeek", Source: "https://api-docs.deepseek.com/guides/reasoning_model", Model: "deepseek-reasoner",
		Does: "sends reasoning_content, and refuses a request that has the field in a message", Wire: thinksApart, Kind: KindLearned,
		Checks: []Check{refusesReasoning("reasoning_content", deepSeek("The reasoning_content field is not allowed in the input messages."))}, Want: Expectation{Refused: 1, Image: None},
	},
	{
		ID: "groq-refuses-reasoning-content", Vendor: "Groq", Source: "https://console.groq.com/docs/reasoning", Model: "qwen/qwen3-32b",
		Does: "sends reasoning apart, and takes no unknown property in a message", Wire: ChatWire{Reasoning: "reasoning"}.Wire(), Checks: []Check{noUnknownReasoning}, Want: Expectation{Refused: 1},
	},
	{
		ID: "gemini-3-wants-signature-back", Faults: []string{"C2"}, Vendor: "Google", Source: "https://ai.google.dev/gemini-api/docs/thought-signatures", Model: "gemini-3-pro-preview", Path: "/v1beta/openai",
		Does: "signs the first call of each step in extra_content, and refuses a turn that lacks the signature", Kind: KindSignature,
		Wire: ChatWire{AtOnce: true, Edit: sealed}.Wire(), Checks: []Check{signatures}, Want: Expectation{Image: ImageText, Interrupt: true},
	},
	{
		ID: "gemini-3-signs-whole-answers", Faults: []string{"C2"}, Vendor: "Google", Source: "https://ai.google.dev/gemini-api/docs/openai", Model: "gemini-3-flash-preview", Path: "/v1beta/openai", Config: "stream: off",
		Does: "signs calls in answers that are no stream too", Wire: ChatWire{Answer: func(c *Call, whole obj) {
			for _, k := range objects(objects(whole["choices"])[0]["message"].(obj)["tool_calls"]) {
				f := k["function"].(obj)
				k["extra_content"] = obj{"google": obj{"thought_signature": c.memory.opaque(str(f["name"]) + str(f["arguments"]))}}
			}
		}}.Wire(), Checks: []Check{signatures},
	},
	{
		ID: "gemini-3-both-calls-one-signature", Faults: []string{"C2"}, Vendor: "Google", Source: "https://ai.google.dev/gemini-api/docs/thought-signatures", Model: "gemini-3-pro-preview", Path: "/v1beta/openai",
		Does: "signs only the first of two parallel calls, both without an index", Mind: both2,
		Wire: ChatWire{AtOnce: true, Edit: func(c *Call, p *Piece) {
			if ks := p.calls(); len(ks) > 0 {
				if ks[0]["index"] == 0 {
					sealed(c, p)
				}
				delete(ks[0], "index")
			}
		}}.Wire(), Checks: []Check{signatures},
	},
	{
		ID: "openrouter-wants-reasoning-details-back", Faults: []string{"C2"}, Vendor: "OpenRouter", Source: "https://openrouter.ai/docs/use-cases/reasoning-tokens", Model: "openai/gpt-5.2",
		Does: "sends encrypted reasoning_details with calls, which have to come back unchanged", Kind: KindEncrypted,
		Wire: ChatWire{Reasoning: "reasoning_details", Last: sealDetails}.Wire(),
		Checks: []Check{details(func(i int) *Refusal {
			return router(400, "OpenAI", encode(obj{"error": obj{"message": "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.", "type": "invalid_request_error", "param": "input", "code": nil}}))
		})},
	},
	{
		ID: "openrouter-gemini-3-signature", Faults: []string{"C2"}, Vendor: "OpenRouter", Source: "RooCodeInc/Roo-Code#9506", Model: "google/gemini-3-pro-preview",
		Does: "says in metadata.raw that Gemini misses the thought signature of reasoning_details", Wire: ChatWire{Reasoning: "reasoning_details", Last: sealDetails, AtOnce: true}.Wire(),
		Checks: []Check{details(func(int) *Refusal {
			return router(400, "Google AI Studio", `{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly","status":"INVALID_ARGUMENT"}}`)
		})},
	},
	{
		ID: "minimax-wants-thinking-in-content", Faults: []string{"C1", "H4"}, Vendor: "MiniMax", Source: "https://platform.minimax.io/docs/guides/text-m2-function-call", Model: "MiniMax-M2",
		Does: "thinks in tags at the front of the content, and wants that content back whole", Wire: ChatWire{Reasoning: "tags"}.Wire(),
		Want: Expectation{Sends: []string{`"role":"assistant","content":"<think>\\n` + Musing}},
	},
	{
		ID: "minimax-wants-reasoning-details-back", Faults: []string{"C1"}, Vendor: "MiniMax", Source: "https://platform.minimax.io/docs/api-reference/text-openai-api", Model: "MiniMax-M2.1", Config: "body: {reasoning_split: true}",
		Does: "with reasoning_split sends reasoning_details of text, which are to come back", Wire: ChatWire{Reasoning: "reasoning_details"}.Wire(),
		Want: Expectation{Sends: []string{`"reasoning_details":\[\{[^]]*` + Musing}},
	},
	{
		ID: "glm-interleaved-thinking", Faults: []string{"C1"}, Vendor: "Z.ai", Source: "https://docs.z.ai/guides/capabilities/thinking-mode", Model: "glm-4.7",
		Does: "thinks between tool calls, and wants the reasoning_content of the turn back unchanged", Wire: thinksApart,
		Want: Expectation{Sends: []string{`"reasoning_content":"` + Musing}},
	},
	{
		ID: "reasoning-hidden-in-two-fields", Vendor: "OpenRouter, vLLM", Source: "https://openrouter.ai/docs/use-cases/reasoning-tokens",
		Does: "sends the same reasoning as reasoning and as reasoning_content", Wire: ChatWire{Reasoning: "reasoning", Edit: func(_ *Call, p *Piece) {
			if d := p.delta(); p.Kind == "reasoning" {
				d["reasoning_content"] = d["reasoning"]
			}
		}}.Wire(),
	},
}

// wantsAnyReasoning wants any reasoning at all with calls.
func wantsAnyReasoning(no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		return assistants(c, func(i int, m obj) *Refusal {
			if s := str(m["reasoning_content"]); len(objects(m["tool_calls"])) > 0 && s == "" {
				return no(i)
			}
			return nil
		})
	}
}

// refusesReasoning refuses a field in assistant messages.
func refusesReasoning(field string, no *Refusal) Check {
	return func(c *Call) *Refusal {
		return assistants(c, func(_ int, m obj) *Refusal {
			if _, there := m[field]; there {
				return no
			}
			return nil
		})
	}
}

// noUnknownReasoning takes the field that the server itself sends, and no other.
func noUnknownReasoning(c *Call) *Refusal {
	return assistants(c, func(i int, m obj) *Refusal {
		for _, k := range []string{"reasoning_content", "reasoning_details", "extra_content"} {
			if _, there := m[k]; there {
				return invalid(nil, nil, "'messages.%d' : for 'role:assistant' the following must be satisfied[('messages.%d' : property '%s' is unsupported)]", i, i, k)
			}
		}
		return nil
	})
}

// both2 is Usual that makes two calls where one is asked for.
func both2(c *Call) Say {
	s := Usual(c)
	if len(s.Calls) == 1 {
		s.Calls = append(s.Calls, ToolCall{Name: "session_status", Args: `{}`})
	}
	return s
}

// sealDetails puts a piece with encrypted details of the reasoning behind its text.
func sealDetails(c *Call, pieces []Piece) []Piece {
	var out []Piece
	thought := ""
	for _, p := range pieces {
		if p.Kind == "reasoning" {
			thought += str(p.delta()["reasoning"])
		} else if thought != "" {
			out = append(out, Piece{Kind: "reasoning", Data: obj{"id": "gen-1", "object": "chat.completion.chunk", "model": c.Body["model"], "choices": list{obj{"index": 0,
				"delta": obj{"role": "assistant", "content": "", "reasoning_details": list{encrypted(c, Say{Reasoning: thought}, 1)}}, "finish_reason": nil}}}})
			thought = ""
		}
		out = append(out, p)
	}
	return out
}
