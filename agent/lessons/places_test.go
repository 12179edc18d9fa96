package lessons

import (
	"fmt"
	"testing"

	"parley/tools"
)

// TestPlaceInHistory: a refusal whose place is a message costs no tools, although the place has the word tool in it.
// source: docs.pydantic.dev/latest/concepts/unions (the tag of a discriminated union is a part of "loc")
func TestPlaceInHistory(t *testing.T) {
	t.Parallel()
	place := func(kind, msg, loc string) string {
		return fmt.Sprintf(`{"detail":[{"type":%q,"loc":["body",%s],"msg":%q,"input":"x"}]}`, kind, loc, msg)
	}
	for text, kind := range map[string]string{
		place("missing", "Field required", `"messages",3,"tool","name"`):                                             Parameter,
		place("missing", "Field required", `"messages",3,"name"`):                                                    Parameter,
		place("missing", "Field required", `"messages",3,"ChatCompletionToolMessageParam","name"`):                   Parameter,
		place("string_type", "Input should be a valid string", `"messages",3,"tool","content","str"`):                History,
		place("string_too_long", "String should have at most 200 characters", `"messages",3,"tool","content"`):       MaxText,
		place("missing", "Field required", `"input",3,"function_call","status"`):                                     Parameter,
		`{"detail":"body -> messages -> 3 -> tool -> name: Field required"}`:                                         Parameter,
		`{"error":{"message":"messages[3].tool.name: Field required"}}`:                                              Parameter,
		`{"error":{"message":"Conversation with tools is not in the right order: 'tool' message at index 3"}}`:       History,
		`{"error":{"message":"tools are not available for this model"}}`:                                             Tools,
		place("extra_forbidden", "Extra inputs are not permitted", `"tools"`):                                        Tools,
		place("string_pattern_mismatch", "String should match pattern", `"tools",1,"function","name"`):               Tool,
		`{"type":"error","error":{"type":"invalid_request_error","message":"tools.1.custom.name: String too long"}}`: Tool,
		`{"error":{"message":"Missing required parameter: 'tools[1].strict'.","param":"tools[1].strict"}}`:           Tool,
	} {
		c := NewBook(Config{}).Call(at, "")
		sent := Sent{Tools: []string{"look", "list"}, Roles: []string{"system", "user", "assistant", "tool"}, Steps: true, Params: []Param{
			{Name: ResultName, Value: Unset}, {Name: ItemStatus, Value: Unset},
		}}
		if !c.Refused(t.Context(), refusal(422, text), sent) || len(c.changed.pending) != 1 || c.changed.pending[0].Kind != kind {
			t.Errorf("%s: learned %+v", text, c.changed.pending)
		}
	}
}

// TestPlaceOfSystem: an unknown fault of the system message costs its role alone; one of a person's message costs nothing that has no part in it.
func TestPlaceOfSystem(t *testing.T) {
	t.Parallel()
	for place, changes := range map[int]bool{0: true, 1: false} {
		c := NewBook(Config{}).Call(at, "")
		sent := Sent{Tools: []string{"look"}, Roles: []string{"system", "user"}, System: true, Stream: true}
		changed := c.Refused(t.Context(), refusal(422, fmt.Sprintf(`{"detail":[{"type":"missing","loc":["body","messages",%d,"system","weight"],"msg":"Field required"}]}`, place)), sent)
		if changed != changes || c.Off(System, "") != changes || c.Off(Tools, "") || c.Off(Stream, "") {
			t.Errorf("message %d: %v, changed %+v", place, changed, c.changed.applied)
		}
	}
}

// TestWrongDefinition: a definition that is refused without a name costs the richness of schemas, then half of the tools, and all of them only when a
// single one is refused.
// source: Mesh-LLM/mesh-llm#1761, ollama/ollama#10328, microsoft/vscode#316983
func TestWrongDefinition(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"error":{"message":"Invalid tool definition","type":"invalid_request_error"}}`,
		`{"error":{"message":"Invalid tools"}}`,
		`{"error":{"message":"Invalid request","type":"invalid_request_error","param":"tools"}}`,
		`{"error":{"message":"tools: Tool names must be unique."}}`,
		`{"error":{"message":"Failed to parse tools"}}`,
		`{"error":{"message":"json: cannot unmarshal string into Go struct field ToolFunction.tools.function.parameters.properties.type of type api.PropertyType"}}`,
		`{"error":{"message":"工具参数定义不合法"}}`,
	} {
		c := NewBook(Config{}).Call(at, "")
		all := specs("a1", "b2", "c3", "d4")
		var steps []int
		for range 6 {
			rich := !c.Off(Schema, "")
			var names []string
			if c.Takes(Tools, "") {
				for _, s := range c.Offer(all) {
					names = append(names, s.Name)
				}
			}
			if steps = append(steps, len(names)); len(names) == 0 || !c.Refused(t.Context(), refusal(400, text), Sent{Tools: names, Loose: rich}) {
				break
			}
		}
		if fmt.Sprint(steps) != "[4 4 2 1 0]" {
			t.Errorf("%s: sends %v", text, steps)
		}
	}
}

// TestTookTheseTools: what was offered to an endpoint that took the same tools before is not left out for a word: the calls in the history are told as
// text first.
func TestTookTheseTools(t *testing.T) {
	t.Parallel()
	b := NewBook(Config{})
	offer := func(c *Call) *Call {
		c.Takes(Tools, "")
		c.Offer([]tools.Spec{{Name: "look"}})
		return c
	}
	offer(b.Call(at, "")).Worked(t.Context())
	c := offer(b.Call(at, ""))
	for range 2 {
		if !c.Refused(t.Context(), refusal(400, `{"error":{"message":"Invalid tools"}}`), Sent{Tools: []string{"look"}, Steps: true}) {
			t.Fatal("it gives up")
		}
	}
	if c.Off(Tools, "") || c.ToldUntil().IsZero() {
		t.Errorf("changed %+v", c.changed.applied)
	}
}

// TestMomentaryWords: what is not there at the moment teaches nothing.
func TestMomentaryWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"reasoning engine unavailable, try again",
		"Failed to parse stream: unexpected end of JSON in upstream stream",
		"tool server not reachable, tools not available",
		"tools: invalid value at this time",
	} {
		c := NewBook(Config{}).Call(at, "")
		sent := Sent{Tools: []string{"look"}, Stream: true, Params: []Param{{Name: "reasoning_effort", Words: []string{"reasoning"}, Value: "high", Effort: true}}}
		if !c.Refused(t.Context(), refusal(400, `{"error":{"message":"`+text+`"}}`), sent) || len(c.changed.applied) != 0 {
			t.Errorf("%s: changed %+v", text, c.changed.applied)
		}
	}
}
