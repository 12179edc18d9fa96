package wire

import (
	"encoding/json"
	"testing"
)

// TestArguments: what is plainly meant is read; what may be cut off, or is something else, stays.
// source: ollama/ollama#13519, vllm-project/vllm (tool parsers), php.net/json_encode, npmjs.com/package/jsonrepair
func TestArguments(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"a":"b"}`:                   `{"a":"b"}`,
		`{"a":"b"}}`:                  `{"a":"b"}`,
		`{"a":"b"}</tool_call>`:       `{"a":"b"}`,
		`{"a":"b"}<|im_end|>`:         `{"a":"b"}`,
		"```json\n{\"a\":\"b\"}\n```": `{"a":"b"}`,
		`{"a":"b",}`:                  `{"a":"b"}`,
		"{\"a\":\"one\ntwo\"}":        `{"a":"one\ntwo"}`,
		"{\"a\":\"one\ttwo\"}}":       `{"a":"one\ttwo"}`,
		`[{"a":"b"}]`:                 `{"a":"b"}`,
		`[]`:                          `{}`,
		`{"a":"b`:                     `{"a":"b`,
		`{"a":"b"`:                    `{"a":"b"`,
		`{"a":"b"} and then some`:     `{"a":"b"} and then some`,
		`[{"a":1},{"a":2}]`:           `[{"a":1},{"a":2}]`,
		`"text"`:                      `"text"`,
		`{"a":"x,}"`:                  `{"a":"x,}"`,
		``:                            ``,
		`null`:                        `null`,
	} {
		if got := Arguments(json.RawMessage(raw)); string(got) != want {
			t.Errorf("%s: %s, not %s", raw, got, want)
		}
	}
}
