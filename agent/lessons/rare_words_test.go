package lessons

import "testing"

// TestRareWords: a model without tools, in words that are seldom used. One definition that is wrong is none of them.
// source: withceleste/celeste-python#197, lmstudio-ai/lmstudio-bug-tracker#715 (trained for tool use), unslothai/unsloth#10314
func TestRareWords(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`[{"error":{"code":400,"message":"The model does not support function declarations.","status":"INVALID_ARGUMENT"}}]`: Tools,
		`{"error":"This model was not trained for tool use; remove the tool definitions"}`:                                   Tools,
		`{"error":{"message":"Tool use with function calling is unsupported by the model.","status":"INVALID_ARGUMENT"}}`:    Tools,
		`{"error":{"message":"This model has no tool calling support"}}`:                                                     Tools,
		`{"error":{"message":"tool use is not a capability of this model"}}`:                                                 Tools,
		`{"error":{"message":"The loaded model isn't capable of using tools"}}`:                                              Tools,
		`{"error":{"message":"this model was not designed for function calling"}}`:                                           Tools,
		`{"error":{"message":"At most 2 function declarations are supported"}}`:                                              MaxTools,
		`{"error":{"message":"Invalid function declarations"}}`:                                                              MaxTools,
	} {
		c := NewBook(Config{}).Call(at, "")
		x, _ := c.understand(refusal(400, body), Sent{Tools: []string{"look", "list", "send"}, System: true, Stream: true})
		if !x.found || x.lesson.Kind != want {
			t.Errorf("%s: %v %+v", body, x.found, x.lesson)
		}
	}
}

// TestTypeOfMessages: messages go without a type to an endpoint that takes them so; calls keep theirs.
// source: envoyproxy/ai-gateway#1838, platform.openai.com/docs/guides/error-codes (unknown_parameter)
func TestTypeOfMessages(t *testing.T) {
	t.Parallel()
	sent := Sent{Params: []Param{{Name: ItemField + "type", Value: Taken, Fixed: true}}, Roles: []string{"user", Blocks, "tool"}, Steps: true}
	for body, want := range map[string]bool{
		`{"error":{"message":"Unknown parameter: 'input[0].type'.","param":"input[0].type","code":"unknown_parameter"}}`: true,
		`{"detail":[{"type":"extra_forbidden","loc":["body","input",0,"type"],"msg":"Extra inputs are not permitted"}]}`: true,
		`{"error":{"message":"Unknown parameter: 'input[1].type'.","param":"input[1].type","code":"unknown_parameter"}}`: false,
		`{"error":{"message":"Unknown parameter: 'input[3].type'.","param":"input[3].type","code":"unknown_parameter"}}`: true, // there is none: the server counts otherwise
		`{"error":{"message":"Invalid value: 'function_call' is not supported","param":"input[0].type"}}`:                false,
	} {
		c := NewBook(Config{}).Call(at, "")
		x, _ := c.understand(refusal(400, body), sent)
		if isType := x.found && x.lesson.Name == ItemField+"type"; isType != want {
			t.Errorf("%s: %v %+v", body, x.found, x.lesson)
		}
	}
}

// TestChangedServer: a parameter that an endpoint took before is learned in one call when the endpoint refuses it twice and names it. One refusal that
// is not repeated teaches nothing.
// source: platform.openai.com/docs/guides/error-codes (unknown_parameter)
func TestChangedServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body  string
		sends func(request) bool
		want  []int // refused requests of the calls after the change
	}{
		"a parameter": {`{"error":{"message":"Unknown parameter: 'stream_options'.","param":"stream_options"}}`, func(r request) bool { return r.params["stream_options"] != "" }, []int{2, 0, 0}},
		"in quotes":   {"unknown field `stream_options`", func(r request) bool { return r.params["stream_options"] != "" }, []int{2, 0, 0}},
		"an effort":   {`{"error":{"message":"Unknown parameter: 'reasoning_effort'.","param":"reasoning_effort"}}`, func(r request) bool { return r.params["reasoning_effort"] != "" }, []int{2, 0, 0}},
	} {
		b := NewBook(Config{})
		ask(t, b, "", takesAll)
		for i, want := range c.want {
			refused, _ := ask(t, b, "", func(r request) error {
				if c.sends(r) {
					return refusal(400, c.body)
				}
				return nil
			})
			if refused != want {
				t.Errorf("%s: call %d: %d refused", name, i, refused)
			}
		}
	}
	b, once := NewBook(Config{}), true
	ask(t, b, "", takesAll)
	refused, last := ask(t, b, "", func(request) error {
		if once {
			once = false
			return refusal(400, `{"error":{"message":"Unknown parameter: 'stream_options'.","param":"stream_options"}}`)
		}
		return nil
	})
	if refused != 1 || last.params["stream_options"] == "" || len(b.Known()) > 0 {
		t.Errorf("one refusal teaches %+v", b.Known())
	}
}
