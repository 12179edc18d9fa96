package turn

import (
	"testing"

	"parley/sessions"
)

// What is cut to a line says what else came with it.
func TestShortenNamesWhatIsLost(t *testing.T) {
	t.Parallel()
	heard := sessions.NewContextBlock([]sessions.ContextLine{{Name: "Ann", Text: "hi"}, {Name: "Bob", Text: "ho"}})
	picture := sessions.Block{Type: sessions.ImageBlock}
	for want, content := range map[string][]sessions.Block{
		"look":                  sessions.TextContent(" look\n"),
		"look [with 1 picture]": {{Type: sessions.TextBlock, Text: "look"}, picture},
		"look [with 2 pictures] [behind 2 messages of the group]": {heard, {Type: sessions.TextBlock, Text: "look"}, picture, picture},
		"[with 1 picture]": {picture},
	} {
		got := shorten(sessions.Message{Content: content})
		if len(got) != 1 || got[0].Type != sessions.TextBlock || got[0].Text != want {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}
