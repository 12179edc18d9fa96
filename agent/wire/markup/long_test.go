package markup

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestLongPieces: an answer that is held back for long reads the same whatever the length of its pieces.
func TestLongPieces(t *testing.T) {
	t.Parallel()
	args := strings.Repeat("0123456789", 2_000)
	for name, in := range map[string]string{
		"white space":           strings.Repeat("\n", 20_000) + "Hello",
		"white space, thinking": "<think>" + strings.Repeat("\n", 20_000) + "so</think>Hello",
		"a call":                "[TOOL_CALLS]look{\"at\":\"" + args + "\"}",
		"a call as JSON":        "{\"name\":\"look\",\"arguments\":{\"at\":\"" + args + "\"}}",
		"a call and words":      "<tool_call>{\"name\":\"look\",\"arguments\":{\"at\":\"" + args + "\"}}</tool_call>",
		"no call":               "[TOOL_CALLS]" + strings.Repeat(" ", 20_000) + "are marks of Mistral.",
	} {
		var want string
		for _, size := range []int{len(in), 1, 3, 700} {
			r := Reader{Tools: func(name string) (json.RawMessage, bool) { return nil, name == "look" }}
			var text, thinking strings.Builder
			take := func(p Piece) {
				if p.Restart {
					text.Reset()
				}
				text.WriteString(p.Text)
				thinking.WriteString(p.Thinking)
			}
			for rest := in; rest != ""; rest = rest[min(size, len(rest)):] {
				take(r.Add(rest[:min(size, len(rest))]))
			}
			take(r.End())
			got := fmt.Sprintf("%q %q %q %v", text.String(), r.Text(), thinking.String(), r.Calls())
			if want == "" {
				want = got
			} else if got != want {
				t.Errorf("%s in pieces of %d: %.200s, not %.200s", name, size, got, want)
			}
		}
	}
}

// BenchmarkHeld is a call of 256 kB in pieces of four bytes.
func BenchmarkHeld(b *testing.B) {
	in := "[TOOL_CALLS]look{\"at\":\"" + strings.Repeat("0123456789", 26_000) + "\"}"
	for b.Loop() {
		r := Reader{Tools: func(name string) (json.RawMessage, bool) { return nil, name == "look" }}
		for rest := in; rest != ""; rest = rest[min(4, len(rest)):] {
			r.Add(rest[:min(4, len(rest))])
		}
		if r.End(); len(r.Calls()) != 1 {
			b.Fatal("no call")
		}
	}
}
