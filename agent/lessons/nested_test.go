package lessons

import (
	"fmt"
	"strings"
	"testing"
)

// TestFrameworksNameFields: the forms in which frameworks refuse a field of an item.
// source: docs.pydantic.dev/latest/errors/validation_errors, serde.rs/container-attrs.html, pkg.go.dev/encoding/json, ajv.js.org/api.html,
// zod.dev/error-formatting, platform.openai.com/docs/guides/error-codes
func TestFrameworksNameFields(t *testing.T) {
	t.Parallel()
	for field, name := range map[string]string{"id": ItemField + "id", "type": ItemField + "type", "phase": ItemField + "phase", "annotations": contentForm + "assistant"} {
		place, loc := "", `1`
		if field == "annotations" {
			place, loc = "/content/0", `1,"content",0`
		}
		for _, body := range []string{
			fmt.Sprintf(`{"detail":[{"type":"extra_forbidden","loc":["body","input",%s,%q],"msg":"Extra inputs are not permitted","input":"x"}]}`, loc, field),
			fmt.Sprintf(`{"detail":[{"type":"extra_forbidden","loc":["body","input","list[union[Message,Call]]",1,"Message",%q],"msg":"Extra inputs are not permitted","input":"x"}]}`, field),
			fmt.Sprintf(`{"error":{"message":"json: unknown field \"%s\""}}`, field),
			fmt.Sprintf("{\"error\":{\"message\":\"input[1]: unknown field `%s`, expected one of `role`, `content` at line 1 column 812\"}}", field),
			fmt.Sprintf(`{"errors":[{"instancePath":"/input/1%s","keyword":"additionalProperties","params":{"additionalProperty":%q},"message":"must NOT have additional properties"}]}`, place, field),
			fmt.Sprintf(`{"error":{"issues":[{"code":"unrecognized_keys","keys":[%q],"path":["input",%s],"message":"Unrecognized key(s) in object: '%s'"}]}}`, field, loc, field),
			fmt.Sprintf(`{"error":{"message":"Unknown parameter: 'input[1]%s.%s'.","type":"invalid_request_error","param":"input[1]%s.%s","code":"unknown_parameter"}}`, strings.ReplaceAll(place, "/content/0", ".content[0]"), field, strings.ReplaceAll(place, "/content/0", ".content[0]"), field),
		} {
			c := NewBook(Config{}).Call(at, "")
			sent := Sent{Steps: true, Reasoning: true, Tools: []string{"look"}, Stream: true, Roles: []string{"user", "assistant", Blocks, "tool"}, Params: []Param{
				{Name: contentForm + "assistant", Value: AsList, Fixed: true}, {Name: ItemField + "id", Value: Taken, Fixed: true}, {Name: ItemField + "type", Value: Taken, Fixed: true}, {Name: ItemField + "phase", Value: Taken, Fixed: true},
			}}
			if !c.Refused(t.Context(), refusal(400, body), sent) || len(c.changed.pending) != 1 || c.changed.pending[0].Name != name {
				t.Errorf("%s: learned %+v", body, c.changed.pending)
			}
		}
	}
}

// TestNestedFields: a refusal that names a part of the history, by a name that nothing else has or by its place, is about that part, whatever
// its other words and its form.
// source: docs.pydantic.dev/latest/errors/validation_errors (value_error, "loc"), jsonapi.org/format/#error-objects (pointer),
// platform.openai.com/docs/guides/error-codes (param)
func TestNestedFields(t *testing.T) {
	t.Parallel()
	byName := []string{"%s is an output-only field", "please strip %s before sending", "we do not like %s", "%s found in request", "no %s please", "%s: nope", "'%s' found in message 2",
		"Assistant messages may only have role, content, tool_calls (got %s)", "%s is read-only", "%s of previous turns must be removed"}
	items := []Param{{Name: contentForm + "assistant", Value: AsList, Fixed: true}, {Name: ItemField + "id", Value: Taken, Fixed: true}, {Name: ItemField + "type", Value: Taken, Fixed: true}, {Name: ItemField + "phase", Value: Taken, Fixed: true}}
	check := func(body, field string, sent Sent, kind, name string) {
		t.Helper()
		sent.Steps, sent.Reasoning = true, true
		sent.Tools, sent.Stream, sent.System = []string{"look"}, true, true
		sent.Params = append(sent.Params, Param{Name: "stream_options", Value: "include_usage"}, Param{Name: "reasoning_effort", Value: "low", Effort: true})
		c := NewBook(Config{}).Call(at, "")
		if !c.Refused(t.Context(), refusal(400, body), sent) || len(c.changed.pending) != 1 || c.changed.pending[0].Kind != kind || c.changed.pending[0].Name != name {
			t.Errorf("%s: %s: learned %+v", field, body, c.changed.pending)
		}
	}
	roles := []string{"user", "assistant", "tool"}
	for _, words := range byName {
		for _, field := range []string{"reasoning_content", "reasoning_details", "encrypted_content"} {
			check(fmt.Sprintf(`{"error":{"message":%q}}`, fmt.Sprintf(words, field)), field, Sent{Thoughts: []string{"reasoning_content"}, Roles: roles}, Reasoning, "")
		}
		check(fmt.Sprintf(`{"error":{"message":%q}}`, fmt.Sprintf(words, "annotations")), "annotations", Sent{Params: items, Roles: roles}, Parameter, contentForm+"assistant")
	}
	for place, want := range map[string][2]string{
		"input 1 id": {Parameter, ItemField + "id"}, "input 1 type": {Parameter, ItemField + "type"}, "input 1 phase": {Parameter, ItemField + "phase"}, "input 1 encrypted_content": {Reasoning, ""},
		"messages 1 reasoning_content": {Reasoning, ""}, "input 1 content 0 annotations": {Parameter, contentForm + "assistant"},
	} {
		var list, n, field string
		if k, _ := fmt.Sscan(place, &list, &n, &field); k != 3 {
			t.Fatal(place)
		}
		rest := place[len(list)+len(n)+2:]
		dots, slashes, quoted := "", "", ""
		for _, part := range strings.Fields(rest) {
			dots, slashes, quoted = dots+"."+part, slashes+"/"+part, quoted+`,"`+part+`"`
		}
		path := list + "[" + n + "]" + dots
		for _, body := range []string{
			fmt.Sprintf(`{"error":{"message":"%s: nope"}}`, path),
			fmt.Sprintf(`{"error":{"message":"Bad Request","param":%q}}`, path),
			fmt.Sprintf(`{"error":{"message":"Invalid value","param":%q,"code":"invalid_value"}}`, path),
			fmt.Sprintf(`{"detail":[{"type":"value_error","loc":["body",%q,%s%s],"msg":"Value error, nope"}]}`, list, n, quoted),
			fmt.Sprintf(`{"errors":[{"pointer":"/%s/%s%s","detail":"nope"}]}`, list, n, slashes),
			fmt.Sprintf(`{"error":{"message":"/%s/%s%s nope"}}`, list, n, slashes),
		} {
			check(body, place, Sent{Params: items, Roles: roles}, want[0], want[1])
		}
	}
}
