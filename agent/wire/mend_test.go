package wire

import (
	"encoding/json"
	"testing"
)

func TestMend(t *testing.T) {
	t.Parallel()
	names := []string{"choices", "delta", "message", "content", "usage"}
	for data, want := range map[string]string{
		`{"choices":"[{\"index\":0}]"}`: `{"choices":[{"index":0}]}`,
		`{"choices":["{\"index\":0,\"delta\":\"{\\\"content\\\":\\\"x\\\"}\"}"],"id":  1.50 }`: `{"choices":[{"index":0,"delta":{"content":"x"}}],"id":1.50}`,
		`{"message":{"content":"[{\"type\":\"text\",\"text\":\"x\"}]"}}`:                       `{"message":{"content":[{"type":"text","text":"x"}]}}`,
		`{"message":{"content":"[{'type': 'text', 'text': None}]"}}`:                           `{"message":{"content":[{"type": "text", "text": null}]}}`,
		`{"choices":[1],"choices":[]}`:                                                         `{"choices":[1]}`,
		`{"choices":[1],"a":2,"choices":[3]}`:                                                  `{"a":2,"choices":[3]}`,
	} {
		if got, ok := Mend([]byte(data), names...); !ok || string(got) != want || !json.Valid(got) {
			t.Errorf("%s becomes %s", data, got)
		}
	}
	for _, data := range []string{
		`{"choices":[{"delta":{"content":"x"}}]}`, `{"message":{"content":"[{\"name\":\"x\"}]"}}`, `{"message":{"content":"{\"a\":1}"}}`, `{"message":{"content":"[]"}}`, `{"delta":"{\"a\":1}"}`,
		`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\"content\":\"{\\\"type\\\":1}\"}"}}]}}]}`, `{"error":{"message":"{\"type\":\"x\"}"}}`, `"{"`, `{"choices":"[{\"index\":0"}`, `{`, ``, `null`,
	} {
		if got, ok := Mend([]byte(data), names...); ok || string(got) != data {
			t.Errorf("%s becomes %s", data, got)
		}
	}
}

func TestFromPython(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{'a': None, 'b': [True, False], "it's": 'a "b" \'c\' \\ \xe4 \u00e4 \U0001f600 \n'}`: `{"a": null, "b": [true, false], "it's": "a \"b\" 'c' \\ ä ä 😀 \n"}`,
		`{"a":[1,2,],"b":", ]",}`: `{"a":[1,2],"b":", ]"}`,
		`{'a': 'x\`:               "",
		`{'a': NoneOfIt}`:         "",
		`{"a":`:                   "",
	} {
		if got := fromPython([]byte(data)); string(got) != want {
			t.Errorf("%s becomes %s", data, got)
		}
	}
}
