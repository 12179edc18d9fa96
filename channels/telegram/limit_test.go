package telegram_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"parley/channels"
)

// Parts that fill the limit, as the platform counts it, are never refused for their length: neither with markup nor without.
func TestFullPartsAreTaken(t *testing.T) {
	t.Parallel()
	from := []string{
		"word ", "A sentence. ", "😀", "👩‍👩‍👧 ", "&amp; & <b> ", "**bold** ", "*it* ", "`a<b` ", "[link](https://e.x/a?b=c&d) ", "\n", "\n\n", "\n- item", "\n> quote\n",
		"\n```go\nx := a < b && c\n```\n", "日本語。", "e\u0301", "\n| a | b |\n|---|---|\n| c & d | e |\n", "https://e.x/😀 ", "&#x1F600; ", "\u00a0", "[r][1] ", "\n\n[1]: https://e.x/1\n\n",
	}
	ch := newRig(t).ch
	full := 0
	rapid.Check(t, func(t *rapid.T) {
		var md strings.Builder
		for _, s := range rapid.SliceOfN(rapid.SampledFrom(from), 1, 8).Draw(t, "s") {
			md.WriteString(strings.Repeat(s, rapid.IntRange(1, 500).Draw(t, "times")))
		}
		to := direct("1001")
		parts := channels.Split(md.String(), ch.Limits(to))
		for i, p := range parts {
			if n := len(utf16.Encode([]rune(p.Plain))); n > 4090 {
				full++
			}
			for _, text := range []string{p.Text, p.Plain} {
				if text == p.Plain {
					text = plainHTML.Replace(text)
				}
				if _, err := ch.Send(t.Context(), channels.Outbound{To: to, Text: text}); err != nil {
					t.Fatalf("part %d of %d: %v", i, len(parts), err)
				}
			}
		}
	})
	if full == 0 {
		t.Error("no part came near the limit, so nothing was tested")
	}
}

var plainHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
