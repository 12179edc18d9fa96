package lessons

import (
	"fmt"
	"strings"
	"testing"

	"parley/agent"
	"parley/sessions"
)

// several is a history with calls that were made together.
var several = []sessions.Message{{Role: sessions.Assistant, Content: []sessions.Block{{Type: sessions.ToolCallBlock, ID: "a"}, {Type: sessions.ToolCallBlock, ID: "b"}}}}

// responsesParams are what a request of the Responses API has.
var responsesParams = []Param{
	{Name: "tools.strict", Value: "false", Words: []string{"strict"}, Fixed: true}, {Name: "include", Value: "reasoning.encrypted_content"},
	{Name: ParallelCalls, Value: Unset, Next: []string{"false"}},
	{Name: "reasoning.summary", Value: "auto", Words: []string{"reasoning summaries", "reasoning summary"}, Next: []string{"detailed", "concise"}},
	{Name: "reasoning.effort", Value: "minimal", Words: []string{"reasoning", "effort", "thinking"}, Effort: true},
}

// TestParts: errors name a part of a request in many words; the lesson is about that very part.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		text   string
		want   string // kind, name, value, use
	}{
		// The system role. source: aattaran/deepclaude#29
		{422, "Failed to deserialize the JSON body into the target type: messages[0].role: unknown variant `system`, expected one of `user`, `assistant`, `tool` at line 1 column 30", "system"},
		{400, "unknown variant `system`, expected one of `user`, `assistant`, `tool`", "system"},
		{400, "'system' is not one of ['user', 'assistant'] - 'messages.0.role'", "system"}, // source: python-jsonschema.readthedocs.io
		// source: docs.pydantic.dev/latest/errors/validation_errors (literal_error), docs.pydantic.dev/1.10 (type_error.enum)
		{422, "Input should be 'user' or 'assistant'", "system"},
		{422, `{"detail":[{"type":"literal_error","loc":["body","messages",0,"role"],"msg":"Input should be 'user' or 'assistant'","input":"system"}]}`, "system"},
		{422, `{"detail":[{"loc":["body","messages",0,"role"],"msg":"value is not a valid enumeration member; permitted: 'user', 'assistant'","type":"type_error.enum"}]}`, "system"},
		{400, "first message must be from the user", "system"},
		{400, "A conversation must start with a user message.", "system"},
		// Calls that were made together. source: the chat template of Llama 3.1 at huggingface.co
		{400, "This model only supports single tool-calls at once!", "one-call"},
		{500, `{"error":{"code":500,"message":"Jinja Exception: This model only supports single tool-calls at once!","type":"server_error"}}`, "one-call"},
		{400, "Multiple tool calls are not supported", "one-call"},
		// One field of all tools. source: platform.openai.com/docs/guides/function-calling (strict), docs.pydantic.dev
		{400, "Unknown parameter: 'tools[0].strict'", "parameter tools.strict false"},
		{422, `{"detail":[{"loc":["body","tools",0,"strict"],"msg":"Extra inputs are not permitted"}]}`, "parameter tools.strict false"},
		{400, "tools.0.function.strict: unknown field", "parameter tools.strict false"},
		// A field with parts. source: platform.openai.com/docs/guides/reasoning
		{400, `{"error":{"message":"Unknown parameter: 'reasoning'.","param":"reasoning","code":"unknown_parameter"}}`, "parameter reasoning"},
		{400, "Unrecognized request argument supplied: 'reasoning'", "parameter reasoning"},
		{400, "Unsupported parameter: 'reasoning.summary' is not supported with the 'm' model.", "parameter reasoning.summary auto"},
		// A value alone. source: platform.openai.com/docs/guides/reasoning (summary: detailed)
		{400, "Unsupported value: 'auto' is not supported with the 'm' model. Supported values are: 'detailed'.", "parameter reasoning.summary auto detailed"},
		{400, "Unsupported value: 'minimal' is not supported with this model. Supported values are: 'none', 'low', 'medium', 'high'.", "parameter reasoning.effort minimal low"},
		// The ids of calls. source: ggml-org/llama.cpp#11402 (nine letters and digits)
		{422, `{"detail":[{"loc":["body","messages",2,"tool_calls",0,"id"],"msg":"ids are alphanumeric and nine characters long"}]}`, "call-ids"},
		// The number of pictures. source: docs.anthropic.com/en/docs/build-with-claude/vision, docs.vllm.ai
		{400, "Too many images: 4 > 3", "max-images 3"},
		{400, "Too many images and documents: 4 + 0 > 3", "max-images 3"},
		{400, "At most 2 image(s) may be provided in one prompt.", "max-images 2"},
		{400, "You have exceeded the maximum of 3 images per request", "max-images 3"},
		{400, "number of images exceeds the limit", "max-images 3"},
		// Other statuses.
		{413, "images not allowed", "images"},
		{400, "parallel tool calls are not supported by this model; set parallel_tool_calls to false", "parameter parallel_tool_calls (unset) false"},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			call := NewBook(Config{}).Call(at, "")
			sent := Sent{Params: responsesParams, Tools: []string{"look", "list"}, Pictures: []string{"YQ==", "Yg==", "Yw==", "ZA=="}, System: true, Stream: true, Steps: true, Messages: several}
			if !call.Refused(t.Context(), refusal(c.status, c.text), sent) || len(call.changed.pending) != 1 {
				t.Fatalf("learned %+v, supposed %+v", call.changed.pending, call.changed.blind.changes)
			}
			l := call.changed.pending[0]
			if got := strings.Join(strings.Fields(fmt.Sprint(l.Kind, " ", l.Name, " ", l.Value, " ", l.Use)), " "); got != c.want {
				t.Errorf("learned %q, not %q", got, c.want)
			}
		})
	}
}

// TestOtherPartsStay: errors about one call of the history, one answer or the moment take nothing away that they speak of by the way.
func TestOtherPartsStay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Expected `thinking`, but found `tool_use`.",                                                           // a gateway's short form of the next one
		"messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",         // source: Kilo-Org/kilocode#5219
		"Function call is missing a thought_signature in functionCall parts.",                                  // source: ai.google.dev/gemini-api/docs/thought-signatures
		"This model only supports single tool-calls at once!",                                                  // source: the chat template of Llama 3.1
		"parallel tool calls are not supported by this model",                                                  // of the parameter parallel_tool_calls
		"The system is not available right now", "System busy: unsupported load, retry", "Streaming timed out", // of the moment
		"stream error: upstream closed the connection", "Invalid function call: unexpected turn", "Upstream failure", // of one request
		"unexpected tokens remaining in message header: Some(\\\"to=functions.x\\\")", // source: vllm-project/vllm#22519, gpt-oss
		"schema validation of the model's function call failed",                       // of one answer
		"Unknown parameter: 'tools[0].strict'", "Unknown parameter: 'tools[1].function.cache'",
	} {
		call := NewBook(Config{}).Call(at, "")
		sent := Sent{Params: responsesParams, Tools: []string{"look", "list"}, System: true, Stream: true, Steps: true, Reasoning: true, Messages: several}
		for range 2 {
			call.Refused(t.Context(), refusal(400, `{"error":{"message":"`+text+`"}}`), sent)
			for _, l := range call.changed.pending {
				if l.Kind == Tools || l.Kind == Tool || l.Kind == System || l.Kind == Stream || l.Kind == Schema {
					t.Errorf("%s: learned %+v", text, l)
				}
			}
		}
		if call.Off(Tools, "") || call.Off(Tool, "look") {
			t.Errorf("%s: the tools are gone", text)
		}
	}
}

// TestPassingWords: a refusal that looks like one that passes is met with the same request first, and teaches nothing when that is taken.
// source: github.com/openai/openai-python (408, 409), rfc-editor.org/rfc/rfc8470 (425)
func TestPassingWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		text   string
		again  bool // at once; otherwise behind the pause of agent.Retry
	}{
		{400, "The system is not available right now", true},
		{400, "Tool use is temporarily unsupported", true},
		{400, "Upstream request failed", true},
		{400, "stream error: upstream closed the connection", true},
		{503, "down", false}, {529, "tools are down", false}, {503, "no vision worker available", false},
		{500, "multimodal inputs are unavailable: no projector loaded", false},
		{429, "images per minute exceeded", false}, {401, "Missing Authentication header; image", false},
		{503, "no healthy upstream: image pull failed, unsupported image", false},
	} {
		b := NewBook(Config{})
		call := b.Call(at, "")
		sent := Sent{Params: responsesParams, Tools: []string{"look"}, Pictures: []string{"YQ=="}, System: true, Stream: true, Loose: true}
		err := refusal(c.status, `{"error":{"message":"`+c.text+`"}}`)
		setClass(err, c.status)
		if got := call.Refused(t.Context(), err, sent); got != c.again || len(call.changed.applied) > 0 {
			t.Errorf("%d %s: again %v, changed %+v", c.status, c.text, got, call.changed.applied)
		}
		if call.Worked(t.Context()); len(b.Known()) > 0 || len(b.suspects) > 0 {
			t.Errorf("%d %s: known %+v, suspects %+v", c.status, c.text, b.Known(), b.suspects)
		}
	}
}

// setClass gives an error the class of a status that refusal does not know.
func setClass(err error, status int) {
	e, _ := err.(*agent.ModelError) //nolint:errorlint // refusal makes no other
	switch status {
	case 429:
		e.Class = agent.RateLimited
	case 401, 403:
		e.Class = agent.BadKey
	}
}

// TestOtherStatuses: what an error names is changed, whatever its status: behind a repeat where the status is of servers that are down, and
// it is remembered when it cured two calls.
func TestOtherStatuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		text   string
		kind   string
		before int // refusals before the change
	}{
		{403, "Organization verification required for streamed output", Stream, 0},
		{500, "multimodal inputs are unavailable: no projector loaded", Images, 1}, // source: github.com/ggml-org/llama.cpp/blob/master/docs/multimodal.md
		{503, "no vision worker available", Images, 1},
		{429, "image input is limited to 0 per request", Images, 0}, // source: docs.vllm.ai (limit-mm-per-prompt)
	} {
		b := NewBook(Config{})
		for turn, want := range []int{c.before + 1, 1, 0} {
			call, refused := b.Call(at, ""), 0
			for call.Takes(Images, "") && call.Takes(Stream, "") {
				err := refusal(c.status, `{"error":{"message":"`+c.text+`"}}`)
				setClass(err, c.status)
				sent := Sent{Tools: []string{"look"}, Pictures: []string{"YQ=="}, Stream: true}
				if refused++; !call.Refused(t.Context(), err, sent) && refused > c.before {
					t.Fatalf("%s: nothing is changed", c.text)
				}
			}
			if call.Worked(t.Context()); refused != want {
				t.Errorf("%s: turn %d: %d refused", c.text, turn, refused)
			}
		}
		if all := b.Known(); len(all) != 1 || all[0].Kind != c.kind || all[0].Evidence != c.text {
			t.Errorf("%s: known %+v", c.text, all)
		}
	}
}

// TestPassingGuess: what seemed to end refusals that pass is dropped by the next call, which is taken without it.
func TestPassingGuess(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 2, 3, 4} {
		b := NewBook(Config{})
		left := times
		e := func(request) error {
			if left--; left >= 0 {
				return refusal(400, `{"error":{"message":"Upstream request failed"}}`)
			}
			return nil
		}
		for range 3 {
			ask(t, b, "", e)
		}
		if _, last := ask(t, b, "", e); len(b.Known()) > 0 || len(b.suspects) > 0 || len(last.params) != 3 || !last.stream {
			t.Errorf("%d times: known %+v, suspects %+v, sent %+v", times, b.Known(), b.suspects, last)
		}
	}
}

// TestBothNeeded: two changes that help only together are both remembered, with the provider's words.
// source: platform.openai.com/docs/guides/reasoning (models that do not reason refuse the whole field)
func TestBothNeeded(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	for range 6 {
		ask(t, b, "", vagueOn("reasoning_effort", "stream_options"))
	}
	if n, last := ask(t, b, "", vagueOn("reasoning_effort", "stream_options")); n != 0 || len(last.params) != 1 || len(b.Known()) != 2 {
		t.Errorf("%d refused, sent %v, known %+v", n, last.params, b.Known())
	}
	for _, l := range b.Known() {
		if l.Evidence != "Bad Request" {
			t.Errorf("known by %q", l.Evidence)
		}
	}
	parts := NewBook(Config{})
	for _, want := range []int{2, 0} { // the effort alone does not help
		c, refused := parts.Call(at, ""), 0
		for {
			var sent Sent
			for _, p := range []Param{{Name: "reasoning.effort", Value: "low", Effort: true}, {Name: "reasoning.summary", Value: "auto"}} {
				value, send := c.Param(p.Name, p.Value)
				if p.Value = value; !send {
					p.Value = Unset
				}
				sent.Params = append(sent.Params, p)
			}
			if sent.Params[0].Value == Unset && sent.Params[1].Value == Unset {
				break
			}
			if refused++; !c.Refused(t.Context(), refusal(400, "Unsupported parameter: 'reasoning.effort' is not supported with this model."), sent) {
				t.Fatal("it gives up")
			}
		}
		if c.Worked(t.Context()); refused != want {
			t.Errorf("%d refused, known %+v", refused, parts.Known())
		}
	}
}

// TestSystemAmongGuesses: where nothing else helps, the system text goes in front of the first message.
func TestSystemAmongGuesses(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	e := func(r request) error {
		if r.system {
			return vague(r)
		}
		return nil
	}
	if _, last := ask(t, b, "", e); last.system {
		t.Error("the system text stays")
	}
}

// TestNewestPictures: an endpoint that takes so many pictures gets the newest ones.
func TestNewestPictures(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	b.Load([]sessions.Lesson{{Provider: at.Provider, Address: at.Address, Model: at.Model, Kind: MaxImages, Use: "2", At: b.conf.Now()}})
	var msgs []sessions.Message
	for _, data := range []string{"YQ==", "Yg==", "Yw=="} {
		msgs = append(msgs, sessions.Message{Role: sessions.User, Content: []sessions.Block{{Type: sessions.ImageBlock, Data: data}}})
	}
	show := b.Call(at, "").Picture("", msgs)
	for i, want := range []bool{false, true, true} {
		if show(msgs[i].Content[0]) != want {
			t.Errorf("picture %d", i)
		}
	}
}

// TestFullerFingerprint: a lesson that was learned before the server's list of models was known holds for that list from then on.
func TestFullerFingerprint(t *testing.T) {
	t.Parallel()
	same := func(a, b string) bool { // as in gateway/models
		confA, listA, _ := strings.Cut(a, ":")
		confB, listB, _ := strings.Cut(b, ":")
		return confA == confB && (listA == listB || listA == "" || listB == "")
	}
	b := NewBook(Config{Same: same})
	ask(t, b, "conf:", noTools)
	ask(t, b, "conf:one", noTools)
	if _, last := ask(t, b, "conf:two", takesAll); len(last.tools) == 0 || len(b.Known()) > 0 {
		t.Errorf("another list: known %+v", b.Known())
	}
}

// TestOnePicture: errors about one picture leave that picture out, not all; so does whatever a model says of pictures that has taken another.
func TestOnePicture(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"The image length and width do not meet the model restrictions. [height:1 or width:1 must be larger than 10]", // source: help.aliyun.com/zh/model-studio/error-code
		"Image could not be loaded: cannot identify image file <_io.BytesIO object at 0x7f>",                          // source: docs.mistral.ai, 3310
		"图片输入格式/解析错误", // source: docs.bigmodel.cn/cn/api/api-code, 1210
		"image media type not supported", "The image you provided is too small. Minimum is 14x14",
		"images must have less than 8000 px on each side", "Unsupported image: animated GIF is not supported", "file type is not supported for this image",
	} {
		b := NewBook(Config{})
		c := b.Call(at, "")
		sent := Sent{Tools: []string{"look"}, Pictures: []string{"YQ==", "Yg=="}}
		if !c.Refused(t.Context(), refusal(400, `{"error":{"message":"`+text+`"}}`), sent) || c.Off(Images, "") || !c.Off(Images, Hash("Yg==")) {
			t.Errorf("%s: changed %+v", text, c.changed.applied)
		}
	}
	b := NewBook(Config{})
	good := b.Call(at, "")
	show := good.Picture("", []sessions.Message{{Content: []sessions.Block{{Type: sessions.ImageBlock}}}})
	show(sessions.Block{Type: sessions.ImageBlock, Data: "YQ=="})
	good.Worked(t.Context())
	c := b.Call(at, "")
	if !c.Refused(t.Context(), refusal(400, `{"error":{"message":"image input is not supported"}}`), Sent{Pictures: []string{"YQ==", "Yg=="}}) || c.Off(Images, "") {
		t.Errorf("a model that took a picture: changed %+v", c.changed.applied)
	}
}

// TestBesidesTheReason: what an error says besides its reason is no evidence, and blocks that were changed on their way are left out up to now.
func TestBesidesTheReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]key{
		"property 'stream_options' is unsupported, did you mean 'stream'?": {Parameter, "stream_options", "include_usage"}, // source: console.groq.com/docs/errors
		"litellm.UnsupportedParamsError: bedrock does not support parameters: ['reasoning_effort'], for model=x. Received Model Group=x\\nAvailable Model Group Fallbacks=None":              {Parameter, "reasoning_effort", "low"}, // source: docs.litellm.ai/docs/exception_mapping
		"messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.": {Reasoning, OldReasoning, ""},          // source: docs.anthropic.com/en/docs/build-with-claude/extended-thinking
	} {
		c := NewBook(Config{}).Call(at, "")
		sent := Sent{Params: []Param{{Name: "reasoning_effort", Value: "low", Effort: true}, {Name: "stream_options", Value: "include_usage"}}, Tools: []string{"look"}, Stream: true, Steps: true, Reasoning: true}
		if !c.Refused(t.Context(), refusal(400, `{"error":{"message":"`+text+`"}}`), sent) || len(c.changed.applied) != 1 || keyOf(c.changed.applied[0]) != want || c.changed.applied[0].Kind == Parameter && c.changed.applied[0].Use != "" {
			t.Errorf("%s: changed %+v", text, c.changed.applied)
		}
	}
}
