package channels

import (
	"strings"
	"testing"
)

const answer = "## Result\n\nThe **first** run was _fast_, see [the log](https://example.org/log?id=7) for details.\n\n- one `item`\n- another, with ~~old~~ new text\n  1. nested\n\n```go\nfunc main() {\n\tprintln(\"hello\")\n}\n```\n\n> quoted words\n\n| name | value |\n|------|-------|\n| a    | 1     |\n\nThat is all & no more.\n\n"

func BenchmarkSplit(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"plain-200B", strings.Repeat("just words of a chat, ", 10)[:200]},
		{"markdown-4kB", strings.Repeat(answer, 4096/len(answer)+1)[:4096]},
		{"markdown-100kB", strings.Repeat(answer, 100<<10/len(answer)+1)[:100<<10]},
	} {
		for _, lim := range []Limits{{Text: 4096, Unit: UTF16, Dialect: TelegramHTML}, {Text: 2000, Lines: 17, Unit: UTF16, Dialect: DiscordMD}} {
			b.Run(c.name+"/"+string(lim.Dialect), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(c.text)))
				for b.Loop() {
					if len(Split(c.text, lim)) == 0 {
						b.Fatal("nothing")
					}
				}
			})
		}
	}
}
