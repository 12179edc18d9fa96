package openai

import (
	"fmt"
	"strings"
	"testing"
)

// TestEventsThatDifferInOneText: what is read of an event that differs from the one before in its content alone is what reading it whole gives.
func TestEventsThatDifferInOneText(t *testing.T) {
	t.Parallel()
	piece := func(text string) string {
		return fmt.Sprintf(`{"id":"1","choices":[{"index":0,"delta":{"content":"%s"}}]}`, text)
	}
	for _, events := range [][]string{
		{piece("a"), piece("b"), piece(""), piece("c d"), piece(`e\nf`), piece("g"), piece("ü€😀"), piece("h")},
		{piece("a"), piece("b"), `{"id":"1","choices":[{"index":0,"delta":{"reasoning_content":"x"}}]}`, piece("b"), piece("c")},
		{piece("a"), `{"id":"1","choices":[{"index":0,"delta":{"reasoning_opaque":"s","content":"b"}}]}`, piece("c"), piece("d")},
		{piece("a"), piece("\xff"), piece("b")},
		{`{"choices":[{"delta":{"content":"a"}}],"model":"a"}`, `{"choices":[{"delta":{"content":"a"}}],"model":"b"}`},
		{`{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}`},
		{`{"choices":[{"delta":{"role":"assistant"},"message":{"content":"a"}}]}`, `{"choices":[{"delta":{"role":"assistant"},"message":{"content":"b"}}]}`},
	} {
		var quick, whole stream
		for _, data := range events {
			text, isQuick := quick.otherText([]byte(data))
			whole.chunk.decode([]byte(data))
			if isQuick && (len(whole.chunk.Choices) != 1 || whole.chunk.Choices[0].Delta.Content != text) {
				t.Errorf("%s of %s: %q", data, strings.Join(events, " "), text)
			}
			quick.chunk.decode([]byte(data))
			if mayBeSealed([]byte(data)) {
				quick.plain.head = nil
			} else if !quick.plain.matches([]byte(data)) {
				quick.plain.set([]byte(data))
			}
			quick.isOneText = quick.plain.isContent([]byte(data), quick.chunk.Choices)
		}
	}
}
