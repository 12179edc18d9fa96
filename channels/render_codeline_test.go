package channels

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/channels/pattern"
)

// notLooked finds what of a line is not looked at for signs of code: code between backticks, addresses, links, and what stands in front of its words.
var notLooked = pattern.New("`+[^`]*`+" + `|https?://\S+|\[[^\]]*\]\([^)]*\)|^[\s>]*(?:(?:[-+•*]|\d+[.)])\s+)?`)

// TestLineSigns: a line that is passed over for want of a character has no sign, and the words of a line are what notLooked leaves of it.
func TestLineSigns(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(rapid.SampledFrom([]string{" ", "  ", "> ", "- ", "1. ", "• ", "a", "b", "r", "f", "for", "if ", "do", "x1", "_", "A", "SELECT", "(", ")", "[", "]", "](", "{", "}", "'", "\"", ".", ":", ";", "=",
		"==", ":=", "->", "2>&1", "$", "$(", "%", "%md", "#", "#if", "&", "&&", "|", "~", "!", "!~", "?", "*", "/", "`", "://", "http://a", "é", "\t"}), rapid.StringMatching(`[ -~]{0,3}`))
	rapid.Check(t, func(t *rapid.T) {
		line := []byte(strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "line"), ""))
		whole := bytes.TrimSpace(notLooked.ReplaceAll(line, []byte(" ")))
		if got := lineWords(line); !bytes.Equal(got, whole) {
			t.Fatalf("words of %q: %q, not %q", line, got, whole)
		}
		if !mayHaveSigns(whole) && (codeSigns.Match(whole) || nameSigns.Match(whole)) {
			t.Fatalf("%q has a sign", whole)
		}
	})
}
