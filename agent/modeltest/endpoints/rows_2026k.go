package endpoints

import (
	"fmt"
	"slices"
	"strings"
)

// leavingOut leaves out the pieces of some kinds.
func leavingOut(kinds ...string) func(*Call, []Piece) []Piece {
	return func(_ *Call, pieces []Piece) []Piece {
		return slices.DeleteFunc(slices.Clone(pieces), func(p Piece) bool { return slices.Contains(kinds, p.Kind) })
	}
}

// halfEmoji puts an emoji into a text whose halves come in two events.
func halfEmoji(c *Call, pieces []Piece) (out []Piece) {
	texts := 0
	for _, p := range pieces {
		if p.Kind == "text" {
			p.Raw = encode(p.Data)
			if texts++; texts == 1 {
				p.Raw = strings.Replace(p.Raw, `"},"finish`, `\ud83d"},"finish`, 1)
			} else {
				p.Raw = strings.Replace(p.Raw, `{"content":"`, `{"content":"\ude00`, 1)
			}
		}
		out = append(out, p)
	}
	return out
}

// smiling is what people see of an answer with halfEmoji.
var smiling = Expectation{Plain: `^echo:😀 hello$`, Tool: `^The tool nam😀es a session\.$`, Follow: `^echo: a😀nd now\?$`, Restart: `^echo: are 😀you there\?$`, Back: `^echo: a😀nd here\?$`}

// sentences has the usual model end its echoes as sentences do.
var sentences = instead(func(usual string) string { return strings.TrimSuffix(usual, ".") + "." })

// mayBeCut stands behind an answer whose end was not marked.
const mayBeCut = "\n\n\\(The answer may be cut off: the language model's provider did not say that it is complete\\. Ask me to go on when something is missing\\.\\)$"

// unmarked is what people see of endpoints that never mark the end of an answer. With the second answer that is known.
var unmarked = Expectation{Plain: `^echo: hello\.` + mayBeCut, Follow: `^echo: and now\?\.$`, Restart: `^echo: are you there\?\.` + mayBeCut, Back: `^echo: and here\?\.$`, Log: `do not say that they are complete`}

// cutAt ends a stream behind the first piece of a text, and in front of the pieces of some kinds.
func cutAt(isText func(Piece) bool, ends ...string) func(*Call, []Piece) []Piece {
	return func(c *Call, pieces []Piece) []Piece {
		if i := slices.IndexFunc(pieces, isText); i >= 0 {
			return pieces[:i+1]
		}
		return leavingOut(ends...)(c, pieces)
	}
}

// isKind tells pieces by their kind.
func isKind(kind string) func(Piece) bool { return func(p Piece) bool { return p.Kind == kind } }

// cutShort is what people see of endpoints whose texts always end at the same place.
var cutShort = Expectation{Plain: `^echo: ?` + mayBeCut, Tool: None, Follow: `^echo: a` + mayBeCut, Restart: `^echo: are` + mayBeCut, Back: `^spare: echo: and here\?$`}

// endings are endpoints whose answers do not say that they are at their end, and others that end their lines otherwise.
var endings = []Row{
	{ID: "carriage-returns", Vendor: "a proxy", Source: "https://html.spec.whatwg.org/multipage/server-sent-events.html", Does: "ends its lines with CR alone", Wire: framed(Frame{Newline: "\r"})},
	{ID: "emoji-in-two-events", Vendor: "a gateway in JavaScript", Source: "elizaOS/eliza#30904", Does: "splits a surrogate pair over two events", Wire: ChatWire{Last: halfEmoji}.Wire(), Want: smiling},
	{ID: "no-end-mark", Vendor: "GenieX", Source: "qualcomm/GenieX#1246", Does: "names no finish reason, and ends without DONE", Wire: ChatWire{Frame: Frame{NoDone: true}, NoUsage: true, Last: leavingOut("finish")}.Wire(), Mind: sentences, Want: unmarked},
	{ID: "usage-as-the-end", Vendor: "OpenCode Zen", Source: "vercel/ai#19165", Does: "names no finish reason, and ends with the usage", Wire: ChatWire{Frame: Frame{NoDone: true}, Last: leavingOut("finish")}.Wire()},
	{ID: "responses-no-end-mark", API: Responses, Vendor: "a gateway", Source: "open-learning-exchange/planet#10281", Does: "never sends response.completed", Wire: ResponsesWire{Last: leavingOut("response.completed")}.Wire(), Mind: sentences, Want: unmarked},
	{ID: "messages-no-end-mark", API: Messages, Vendor: "a gateway", Source: "anomalyco/opencode#43882", Does: "never sends message_delta and message_stop", Wire: MessagesWire{Last: leavingOut("message_delta", "message_stop")}.Wire(), Mind: sentences, Want: unmarked},
	{ID: "text-cut-at-one-place", Vendor: "a proxy", Source: "anomalyco/opencode#43882", Does: "ends each text in order, before it is complete", Wire: ChatWire{Frame: Frame{NoDone: true}, NoUsage: true, Last: cutAt(isKind("text"), "finish")}.Wire(), Want: cutShort},
	{ID: "responses-cut-at-one-place", API: Responses, Vendor: "a proxy", Source: "open-learning-exchange/planet#10281", Does: "ends each text in order, before it is complete", Wire: ResponsesWire{Last: cutAt(isKind("response.output_text.delta"), "response.completed")}.Wire(), Want: cutShort},
	{ID: "messages-cut-at-one-place", API: Messages, Vendor: "a proxy", Source: "anomalyco/opencode#43882", Does: "ends each text in order, before it is complete", Wire: MessagesWire{Last: cutAt(func(p Piece) bool {
		delta, _ := p.Data["delta"].(obj)
		return str(delta["type"]) == "text_delta"
	}, "message_delta", "message_stop")}.Wire(), Want: cutShort},
}

// inContent moves calls into a list of content, as Anthropic has them.
func inContent(c *Call, whole obj) {
	for _, ch := range objects(whole["choices"]) {
		m, _ := ch["message"].(obj)
		var content list
		for _, k := range objects(m["tool_calls"]) {
			content = append(content, obj{"type": "tool_use", "id": k["id"], "name": function(k)["name"], "input": rawJSON(str(function(k)["arguments"]))})
		}
		if content != nil {
			m["content"] = append(list{obj{"type": "text", "text": ""}}, content...)
			delete(m, "tool_calls")
		}
	}
}

// textCalls are endpoints without a parser for what their models write.
var textCalls = []Row{
	{ID: "medgemma-thought", Vendor: "Ollama", Source: "https://huggingface.co/google/medgemma-1.5-4b-it", Model: "medgemma", Does: "shows the thoughts of MedGemma between unused tokens", Wire: plainWire, Mind: thinking("<unused94>thought\n", "<unused95>")},
	{ID: "solar-think-marks", Vendor: "vLLM", Source: "https://huggingface.co/upstage/Solar-Open-100B", Model: "solar-open-100b", Does: "shows the marks of Solar Open", Wire: plainWire, Mind: thinking("<|think|>", "<|end|><|begin|>assistant<|content|>")},
	{ID: "inner-thoughts-tags", Vendor: "any", Source: "https://github.com/cpacker/MemGPT", Does: "writes what it thinks as inner thoughts", Wire: plainWire, Mind: thinking("<inner_thoughts>", "</inner_thoughts>\n")},
	{ID: "apertus-inner-marks", Vendor: "vLLM", Source: "https://github.com/vllm-project/vllm/blob/main/vllm/reasoning/apertus_reasoning_parser.py", Model: "apertus-70b", Does: "shows the inner marks of Apertus", Wire: plainWire, Mind: thinking("<|inner_prefix|>", "<|inner_suffix|>")},
	{ID: "json-call-in-a-fence", Vendor: "Ollama", Source: "https://docs.vllm.ai/en/stable/features/tool_calling.html", Model: "xlam-2", Does: "writes a call as JSON in a block of code", Wire: plainWire,
		Mind: markup(func(k ToolCall) string {
			return "```json\n{\"name\": \"" + k.Name + "\", \"arguments\": " + k.Args + "}\n```"
		})},
	{ID: "tool-code-of-gemma", Vendor: "LM Studio", Source: "https://ai.google.dev/gemma/docs/capabilities/function-calling", Model: "gemma-3-27b", Does: "writes a call as Python in a block of tool code", Wire: plainWire,
		Mind: markup(func(k ToolCall) string { return "```tool_code\nprint(" + k.Name + "(limit=5))\n```" })},
	{ID: "pythonic-calls", Vendor: "vLLM", Source: "https://docs.vllm.ai/en/stable/features/tool_calling.html", Model: "llama-3.2-3b", Does: "writes a list of calls in Python", Wire: plainWire,
		Mind: markup(func(k ToolCall) string { return "[" + k.Name + "(limit=5)]" })},
	{ID: "functools-of-phi", Vendor: "Ollama", Source: "https://docs.vllm.ai/en/stable/features/tool_calling.html", Model: "phi-4-mini", Does: "writes a call behind the word functools", Wire: plainWire,
		Mind: markup(func(k ToolCall) string {
			return `functools[{"name": "` + k.Name + `", "arguments": ` + k.Args + `}]`
		})},
	{ID: "tools-tags-of-qwen-coder", Vendor: "Ollama", Source: "ollama/ollama#13519", Model: "qwen2.5-coder", Does: "writes a call as JSON in tools tags", Wire: plainWire,
		Mind: markup(func(k ToolCall) string {
			return "<tools>\n{\"name\": \"" + k.Name + "\", \"arguments\": " + k.Args + "}\n</tools>"
		})},
	{ID: "tool-request-of-lm-studio", Vendor: "LM Studio", Source: "https://lmstudio.ai/docs/developer/openai-compat/tools", Does: "writes a call in LM Studio's own form", Wire: plainWire,
		Mind: markup(func(k ToolCall) string {
			return "[TOOL_REQUEST]{\"name\": \"" + k.Name + "\", \"arguments\": " + k.Args + "}[END_TOOL_REQUEST]"
		})},
	{ID: "tool-use-in-content", Vendor: "a gateway of Anthropic", Source: "api7/aisix#170", Does: "leaves calls in a list of content, as Anthropic has them", Wire: ChatWire{Whole: true, Answer: inContent}.Wire()},
	{ID: "schema-that-refers-to-itself", Vendor: "Google", Source: "google-gemini/gemini-cli#14945", Does: "refuses references in schemas", Tools: []ToolSpec{{"tree", `{"type":"object","properties":{"node":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}`}},
		Checks: []Check{func(c *Call) *Refusal {
			if strings.Contains(string(c.Raw), `"$ref"`) {
				return google(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
			}
			return nil
		}}, Want: Expectation{Sends: []string{`"children"`}}},
}

// refusesField refuses a field of input items that are of a type and have it in a form.
func refusesField(kind, field string, has func(v any) bool, no func(i int) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, item := range objects(c.Body["input"]) {
			role := str(item["role"])
			if v, there := item[field]; there && str(item["type"]) == kind && role != "user" && has(v) {
				return no(i)
			}
		}
		return nil
	}
}

func anything(any) bool { return true }

func isFilled(v any) bool { l, _ := v.(list); return len(l) > 0 }

func isAList(v any) bool { _, ok := v.(list); return ok }

// oneThing are endpoints that refuse one field, one call or one picture, in words that speak of more.
var oneThing = []Row{
	{ID: "responses-id-of-reasoning-unknown", API: Responses, Vendor: "a gateway", Source: "digitallyinduced/haskell-agent#689", Model: "gpt-5.6", Does: "does not know the id of reasoning items, and wants them back", Wire: reasons,
		Checks: []Check{refusesField("reasoning", "id", anything, func(i int) *Refusal {
			return invalid(fmt.Sprintf("input[%d].id", i), "unknown_parameter", "Unknown parameter: 'input[%d].id'.", i)
		})}, Want: Expectation{Refused: 1, Sends: []string{`"encrypted_content":"`}}},
	{ID: "responses-summary-refused", API: Responses, Vendor: "a gateway", Source: "earendil-works/pi#7263", Model: "gpt-5.6", Does: "takes reasoning items with an empty summary only", Wire: reasons,
		Checks: []Check{refusesField("reasoning", "summary", isFilled, func(i int) *Refusal {
			return invalid(fmt.Sprintf("input[%d].summary", i), "array_above_max_length", "Invalid 'input[%d].summary': array too long. Expected an array with maximum length 0, but got an array with length 1 instead.", i)
		})}, Want: Expectation{Refused: 1, Sends: []string{`"encrypted_content":"`}}},
	{ID: "responses-content-as-text-only", API: Responses, Vendor: "a gateway", Source: "earendil-works/pi#7263", Model: "gpt-5.6", Does: "takes texts of the model as a text, not as a list", Wire: reasons,
		Checks: []Check{refusesField("message", "content", isAList, func(i int) *Refusal {
			return invalid(fmt.Sprintf("input[%d].content", i), "invalid_type", "Invalid type for 'input[%d].content': expected a string, but got an array instead.", i)
		})}, Want: Expectation{Refused: 1, Sends: []string{`"encrypted_content":"`}}},
	{ID: "template-fails-with-calls", Vendor: "LocalAI", Source: "mudler/LocalAI#10256", Does: "answers 500 to every request with calls in its history", Lax: true,
		Checks: []Check{callsOf(llama(500, "server_error", "TypeError: Can only get item pairs from a mapping."))}, Want: Expectation{Refused: 8, Again: 3}},
	{ID: "harmony-header-once", Vendor: "vLLM", Source: "vllm-project/vllm#22519", Model: "gpt-oss-120b", Does: "answers 400 once to a call that the model wrote wrongly", Fails: []Failure{once(hello, vllm(400, `unexpected tokens remaining in message header: Some("to=functions.x")`))}},
	{ID: "messages-one-call-only", API: Messages, Vendor: "a gateway", Source: "https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/implement-tool-use", Does: "refuses tools unless parallel calls are off",
		Checks: []Check{func(c *Call) *Refusal {
			choice, _ := c.Body["tool_choice"].(obj)
			if len(c.Tools) > 0 && choice["disable_parallel_tool_use"] != true {
				return claude(400, "invalid_request_error", "Parallel tool calls are not supported by this model.")
			}
			return nil
		}}, Want: Expectation{Refused: 1}},
}
