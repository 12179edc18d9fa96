package agent

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"parley/sessions"
)

// textCut stands at the end of a text that was cut off, with how many characters it has.
const textCut = "\n[the rest of %d characters was left out: the model's endpoint takes no longer message]"

// cutTexts cuts the texts of messages to so many characters each. What the endpoint made itself, and wants back as it came, is cut as well.
// The messages' blocks are replaced, never changed.
func cutTexts(msgs []sessions.Message, most int) {
	const between = 2 // what may stand between two texts
	for i := range msgs {
		size := 0
		for _, b := range msgs[i].Content {
			if b.Type == sessions.TextBlock {
				size += utf8.RuneCountInString(b.Text) + between
			}
		}
		if size <= most {
			continue
		}
		blocks := slices.Clone(msgs[i].Content)
		for over := size - most; over > 0; {
			longest, n := -1, 0
			for j, b := range blocks {
				if c := utf8.RuneCountInString(b.Text); b.Type == sessions.TextBlock && c > n {
					longest, n = j, c
				}
			}
			notice := fmt.Sprintf(textCut, n)
			keep := max(0, n-over-len(notice))
			if longest < 0 || keep+len(notice) >= n {
				break // only short parts are left
			}
			blocks[longest].Text = string([]rune(blocks[longest].Text)[:keep]) + notice
			over -= n - keep - len(notice)
		}
		msgs[i].Content = blocks
	}
}
