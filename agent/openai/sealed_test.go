package openai

import "testing"

// TestPlainEvent: an event is like the one before if one text differs, and never if there may be a further field.
func TestPlainEvent(t *testing.T) {
	t.Parallel()
	var p plainEvent
	for _, data := range []string{"", "[]", `{"a":1}`, `{"a":"`} {
		if p.set([]byte(data)); p.matches([]byte(data)) {
			t.Errorf("%q is like itself, and has no text", data)
		}
	}
	p.set([]byte(`{"choices":[{"delta":{"content":"one"},"index":0}]}`))
	for data, want := range map[string]bool{
		`{"choices":[{"delta":{"content":"two"},"index":0}]}`:               true,
		`{"choices":[{"delta":{"content":""},"index":0}]}`:                  true,
		`{"choices":[{"delta":{"content":"a \"b\""},"index":0}]}`:           false,
		`{"choices":[{"delta":{"content":"x","signature":"y"},"index":0}]}`: false,
		`{"choices":[{"delta":{"content":"x"},"index":0,"signature":"y"}]}`: false,
		`{"choices":[{"delta":{"signature":"y","content":"x"},"index":0}]}`: false,
		`{"choices":[{"delta":{"content":"one"},"ind`:                       false,
	} {
		if got := p.matches([]byte(data)); got != want {
			t.Errorf("%s is like it: %v", data, got)
		}
	}
}
