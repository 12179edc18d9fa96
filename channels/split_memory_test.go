package channels

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPartsOutliveTheirMemory: texts are written in the memory of others, one after the other and at the same time, and no part changes with that.
func TestPartsOutliveTheirMemory(t *testing.T) {
	t.Parallel()
	type text struct {
		md  string
		lim Limits
	}
	var texts []text
	for _, hostile := range []string{"words in marks", "links", "lines", "a table", "CJK", "joined emoji", "fences with text", "an open fence"} {
		for _, d := range []Dialect{TelegramHTML, DiscordMD, WhatsAppText, Markdown, PlainText} {
			texts = append(texts, text{hostileTexts[hostile](1 << 13), Limits{Text: 500, Unit: UTF16, Dialect: d}})
		}
	}
	first, copies := make([][]Part, len(texts)), make([][]Part, len(texts))
	for i, x := range texts {
		first[i] = Split(x.md, x.lim)
		for _, p := range first[i] {
			copies[i] = append(copies[i], Part{strings.Clone(p.Text), strings.Clone(p.Plain)})
		}
	}
	t.Run("again", func(t *testing.T) {
		for i, x := range texts {
			t.Run(string(x.lim.Dialect), func(t *testing.T) {
				t.Parallel()
				for k := range texts {
					n := (i + k) % len(texts)
					if diff := cmp.Diff(copies[n], Split(texts[n].md, texts[n].lim)); diff != "" {
						t.Fatal(diff)
					}
				}
			})
		}
	})
	if diff := cmp.Diff(copies, first); diff != "" {
		t.Error(diff)
	}
}
