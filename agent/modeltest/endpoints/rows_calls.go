package endpoints

import (
	"fmt"
	"strings"
)

// ided is a wire with call ids of another form.
func ided(id func(made int) string) Wire { return ChatWire{ID: id}.Wire() }

var callForms = []Row{
	{ID: "mistral-strict-order-and-ids", Faults: []string{"H8"}, Vendor: "Mistral", Source: "block/goose#5998", Model: "mistral-large-latest", Kind: KindCallID, Does: "wants ids of nine letters and digits, and an assistant between a tool and a person", Wire: ided(mistralID),
		Checks: []Check{mistralOrder, mistralIDs}, Want: Expectation{Interrupt: true, Refused: 1}},
	{ID: "mistral-on-vllm-ids", Faults: []string{"H8"}, Vendor: "vLLM", Source: "anomalyco/opencode#1680", Does: "wants ids of nine letters and digits in words of its own", Wire: ided(mistralID),
		Checks: []Check{mistralIDForm(func(id string) *Refusal {
			return vllm(400, "Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", id)
		})}, Want: learnsBack},
	{ID: "mistral-by-openrouter", Faults: []string{"H8", "M3"}, Vendor: "OpenRouter", Source: "NousResearch/hermes-agent#20154", Does: "passes Mistral's refusal on in metadata.raw", Wire: ided(mistralID),
		Checks: []Check{func(c *Call) *Refusal {
			if no := mistralOrder(c); no != nil {
				return router(400, "Mistral", no.Body)
			}
			return nil
		}, mistralIDForm(func(id string) *Refusal {
			return router(400, "Mistral", `{"object":"error","message":"Tool call id was `+id+` but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","param":null,"code":"3280"}`)
		})}, Want: Expectation{Interrupt: true, Refused: 1}},
	{ID: "same-ids-in-each-answer", Faults: []string{"H8"}, Vendor: "Mistral on llama.cpp", Source: "zed-industries/zed#37021", Does: "numbers its calls from call00000 in each answer, and wants nine characters", Wire: ided(func(int) string { return "call00000" }),
		Checks: []Check{mistralIDForm(func(id string) *Refusal {
			return vllm(400, "Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", id)
		})}, Want: learnsBack},
	{ID: "nim-mistral-user-after-tool", Faults: []string{"H8"}, Vendor: "NVIDIA NIM", Source: "mistralai/mistral-vibe#578", Does: "answers 500 to a person behind a tool's result", Wire: ided(mistralID),
		Checks: []Check{toolThenUser(raw(500, `{"error":{"message":"Unexpected role 'user' after role 'tool'","type":"internal_server_error","param":null,"code":500}}`))}, Want: Expectation{Interrupt: true, Refused: 3}},
	{ID: "template-wants-alternating-roles", Vendor: "vLLM", Source: "vllm-project/vllm#6862", Does: "fails in the chat template when user and assistant do not alternate",
		Checks: []Check{alternates(vllm(400, "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."))}, Want: Expectation{Interrupt: true, Refused: 1}},
	{ID: "kimi-function-ids", Faults: []string{"M11"}, Vendor: "Moonshot", Source: "vybestack/llxprt-code#713", Model: "kimi-k2", Does: "names its calls functions.name:0, and breaks on other ids of its own calls", Wire: ided(kimiID),
		Checks: []Check{sameIDs(func(id string) *Refusal { return kimi("tool_call_id " + id + " is not found") })}, Kind: KindCallID},
	{ID: "kimi-writes-markers-after-other-ids", Faults: []string{"M11"}, Vendor: "Kimi on MLX", Source: "ml-explore/mlx-lm#821", Model: "kimi-k2.5", Does: "prints ids into its prompt, and writes its calls as text once one of its own has another form than functions.name:0", Wire: ided(kimiID),
		Mind: func(c *Call) Say {
			s := Usual(c)
			if id := firstOtherID(c, "call_spare"); len(s.Calls) > 0 && id != "" {
				s.Text, s.Calls = "<|tool_calls_section_begin|><|tool_call_begin|>"+id+"1<|tool_call_argument_begin|>", nil
			}
			return s
		}},
	{ID: "kimi-silent-after-ids-of-others", Vendor: "Kimi by LiteLLM", Source: "getkimchi/kimchi#1063", Model: "kimi-k2.7", Does: "ends its turn without a word while a call in the history has another id than functions.name:0", Wire: ided(kimiID),
		Mind: func(c *Call) Say {
			if firstOtherID(c, "") != "" {
				return Say{}
			}
			return Usual(c)
		}},
	{ID: "gemini-empty-ids", Vendor: "Google", Source: "openai/openai-python#3246", Path: "/v1beta/openai", Model: "gemini-2.5-flash", Does: "sends calls without an id or an index", Wire: ChatWire{AtOnce: true, Edit: func(_ *Call, p *Piece) {
		for _, k := range p.calls() {
			delete(k, "index")
			k["id"] = ""
		}
	}}.Wire(), Want: Expectation{Image: ImageText}},
	{ID: "long-call-ids", Vendor: "a gateway", Source: "agno-agi/agno#5382", Does: "makes ids that are longer than the 40 characters which others take", Wire: ided(func(made int) string { return fmt.Sprintf("chatcmpl-tool-0123456789abcdef0123456789abcdef%03d", made) })},
	{ID: "uuid-call-ids", Vendor: "Cohere", Source: "https://docs.cohere.com/docs/compatibility-api", Does: "makes ids with a name and a UUID", Wire: ided(func(made int) string { return fmt.Sprintf("sessions_list_0f8fad5b-d9cb-469f-a165-7086%03d", made) })},
	{ID: "two-calls-index-0", Vendor: "Gemini, Ollama", Source: "ollama/ollama#15457", Does: "gives two parallel calls the same index", Mind: both2, Wire: eachCall(func(k obj) { k["index"] = 0 })},
	{ID: "index-from-1", Vendor: "an OpenAI-compatible server", Source: "LibreChat-AI/agents#260", Does: "counts parallel calls from 1", Mind: both2, Wire: edit(func(_ *Call, p *Piece) {
		for _, k := range p.calls() {
			k["index"] = k["index"].(int) + 1
		}
	})},
	{ID: "index-null", Vendor: "an OpenAI-compatible server", Source: "SamSaffron/term-llm#314", Does: "sends null as the index of calls", Mind: both2, Wire: eachCall(func(k obj) { k["index"] = nil })},
	{ID: "same-id-twice", Vendor: "an OpenAI-compatible server", Source: "mcowger/plexus#691", Does: "gives two parallel calls the same id", Mind: both2, Wire: ChatWire{ID: func(int) string { return "call_same" }, AtOnce: true}.Wire()},
	{ID: "name-in-every-piece", Vendor: "MiniMax on NVIDIA NIM", Source: "NousResearch/hermes-agent#11984", Does: "repeats id and name of a call in each piece of its arguments", Wire: edit(func(c *Call, p *Piece) {
		for _, k := range p.calls() {
			if p.Kind == "arguments" {
				k["id"], function(k)["name"] = callID(c.Made()), "sessions_list"
			}
		}
	})},
	{ID: "arguments-encoded-twice", Vendor: "GLM", Source: "openclaw/openclaw#68418", Does: "encodes the arguments of a call twice", Wire: eachCall(func(k obj) { function(k)["arguments"] = encode(function(k)["arguments"]) })},
	{ID: "arguments-empty-object-in-a-piece", Vendor: "a gateway of Claude", Source: "BerriAI/litellm#4537", Does: "sends {} as the first piece of the arguments", Wire: ChatWire{Last: func(_ *Call, pieces []Piece) (out []Piece) {
		for _, p := range pieces {
			if p.Kind == "call" {
				f := function(p.calls()[0])
				first := str(f["arguments"])
				f["arguments"] = "{}"
				out = append(out, p, Piece{Kind: "arguments", Data: obj{"id": "x", "choices": list{obj{"index": 0, "delta": obj{"tool_calls": list{obj{"index": 0, "function": obj{"arguments": first}}}}}}}})
				continue
			}
			out = append(out, p)
		}
		return out
	}}.Wire()},
	{ID: "arguments-begin-with-empty-object", Vendor: "Bedrock", Source: "openai/openai-agents-js#712", Does: "sends {} in front of the arguments", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "call" {
			function(p.calls()[0])["arguments"] = "{}" + str(function(p.calls()[0])["arguments"])
		}
	})},
	{ID: "name-in-a-later-piece", Faults: []string{"H5"}, Vendor: "an OpenAI-compatible server", Source: "vercel/ai#14722", Does: "sends id and arguments of a call first, and its name later", Wire: edit(func(_ *Call, p *Piece) {
		switch p.Kind {
		case "call":
			delete(function(p.calls()[0]), "name")
		case "arguments":
			function(p.calls()[0])["name"] = "sessions_list"
		}
	})},
	{ID: "name-empty-first", Vendor: "vMLX, Cohere on vLLM", Source: "jjang-ai/vmlx#244", Does: "begins a call with an empty name", Wire: edit(func(c *Call, p *Piece) {
		switch p.Kind {
		case "call":
			function(p.calls()[0])["name"] = ""
		case "arguments":
			function(p.calls()[0])["name"], p.calls()[0]["id"] = "sessions_list", callID(c.Made())
		}
	})},
	{ID: "name-empty-afterwards", Vendor: "an OpenAI-compatible gateway", Source: "A3S-Lab/Code#139", Does: "repeats the name of a call as an empty text, and adds other keys", Wire: edit(func(_ *Call, p *Piece) {
		if p.Kind == "arguments" {
			function(p.calls()[0])["name"], function(p.calls()[0])["parameters"] = "", nil
		}
	})},
	{ID: "id-in-a-later-piece", Vendor: "Azure by LiteLLM", Source: "pipecat-ai/pipecat#5023", Does: "sends the id of a call after its name", Wire: edit(func(c *Call, p *Piece) {
		switch p.Kind {
		case "call":
			delete(p.calls()[0], "id")
		case "arguments":
			p.calls()[0]["id"] = callID(c.Made())
		}
	})},
	{ID: "call-in-two-entries-of-one-piece", Vendor: "vLLM with speculative decoding", Source: "openai/openai-python#3201", Does: "has two entries with the same index in one chunk, which belong together", Wire: ChatWire{Last: func(_ *Call, pieces []Piece) (out []Piece) {
		for _, p := range pieces {
			if p.Kind == "arguments" {
				before := out[len(out)-1].delta()
				before["tool_calls"] = append(before["tool_calls"].(list), p.calls()[0])
				continue
			}
			out = append(out, p)
		}
		return out
	}}.Wire()},
	{ID: "null-content-refused", Vendor: "mistral-common, grok2api", Source: "mistralai/mistral-common#324", Does: "wants a text as content also where there are only calls", Checks: []Check{nullContent(fastAPI("string_type", list{"body", "messages", 2, "content"}, "Input should be a valid string", nil))}, Want: staged},
	{ID: "empty-content-refused", Vendor: "Bedrock", Source: "vercel/ai#13505", Does: "refuses an empty text as content beside calls", Checks: []Check{emptyContent(openAI(400, "None", nil, "400", "litellm.BadRequestError: BedrockException - {\"message\":\"The text field in the ContentBlock object at messages.1.content.0 is blank. Add text to the text field, and try again.\"}"))}},
	{ID: "system-only-at-the-beginning", Vendor: "vLLM", Source: "vllm-project/vllm#41114", Model: "qwen3.5-27b", Does: "takes one system message, at the beginning", Checks: []Check{systemFirst(vllm(400, "System message must be at the beginning."))}, Want: Expectation{Interrupt: true, Image: ImageText}},
	{ID: "mistral-refuses-reasoning-content", Faults: []string{"C1"}, Vendor: "Mistral", Source: "charmbracelet/crush#1590", Model: "devstral-2512", Does: "takes no reasoning_content of other providers in the history", Wire: ided(mistralID), Checks: []Check{refusesReasoning("reasoning_content", raw(422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted","input":"\n"}]},"type":"invalid_request_error","param":null,"code":null}`))}},
	{ID: "arguments-empty", Vendor: "Gemini, vLLM", Source: "Kilo-Org/cloud#4753", Does: "sends no arguments, null or an empty text for a call without parameters", Mind: func(c *Call) Say {
		s := Usual(c)
		for i := range s.Calls {
			s.Calls[i].Args = ""
		}
		return s
	}, Wire: ChatWire{Edit: func(c *Call, p *Piece) {
		for _, k := range p.calls() {
			switch c.memory.times("empty") % 3 {
			case 0:
				delete(function(k), "arguments")
			case 1:
				function(k)["arguments"] = nil
			}
		}
	}}.Wire()},
	{ID: "text-then-call-in-one-answer", Vendor: "Claude, Kimi", Source: "https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/overview", Does: "says a word in front of its call", Mind: func(c *Call) Say {
		s := Usual(c)
		if s.Calls != nil {
			s.Text = "Let me look."
		}
		return s
	}},
	{ID: "legacy-function-call", Vendor: "an older gateway", Source: "https://platform.openai.com/docs/api-reference/chat/create", Does: "sends a call as function_call instead of tool_calls", Wire: ChatWire{AtOnce: true, Edit: func(_ *Call, p *Piece) {
		if ks := p.calls(); len(ks) > 0 {
			p.delta()["function_call"] = ks[0]["function"]
			delete(p.delta(), "tool_calls")
		}
		if p.Kind == "finish" && p.choice()["finish_reason"] == "tool_calls" {
			p.choice()["finish_reason"] = "function_call"
		}
	}}.Wire()},
	{ID: "name-with-white-space", Vendor: "an OpenAI-compatible server", Source: "openclaw/openclaw#45000", Does: "puts white space around the name of a tool", Wire: eachCall(func(k obj) { function(k)["name"] = " " + str(function(k)["name"]) + "\n" })},
	{ID: "name-with-namespace", Vendor: "Kimi, Gemini", Source: "vllm-project/vllm#32768", Does: "puts a name space in front of the name of a tool", Wire: eachCall(func(k obj) { function(k)["name"] = "functions." + str(function(k)["name"]) })},
}

// learnsBack is what an endpoint costs that learns of ids only when another model's call is in the history.
var learnsBack = Expectation{Refused: 1, Again: 1}

// mistralID is an id as Mistral makes them.
func mistralID(made int) string { return fmt.Sprintf("D681PevK%d", made%10) }

// mistralIDForm is mistralIDs in other words.
func mistralIDForm(no func(id string) *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, m := range c.Messages {
			for _, k := range m.Calls {
				if !matches(`^[a-zA-Z0-9]{9}$`, k.ID) {
					return no(k.ID)
				}
			}
		}
		return nil
	}
}

// kimiID is an id as Kimi's models are trained to write and read it.
func kimiID(made int) string { return fmt.Sprintf("functions.sessions_list:%d", made) }

// firstOtherID gives the first id of a call in the history that has another form than kimiID's, and does not begin with spared; "" = none.
func firstOtherID(c *Call, spared string) string {
	for _, m := range c.Messages {
		for _, k := range m.Calls {
			if !matches(`^functions\.\w+:\d+$`, k.ID) && (spared == "" || !strings.HasPrefix(k.ID, spared)) {
				return k.ID
			}
		}
	}
	return ""
}
