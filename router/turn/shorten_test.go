package turn

import (
	"strings"
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

// A forward ahead of its comment is a line of its own, however long it is: the comment is kept, and an edit of the comment replaces the
// comment alone (seed 517444).
func TestShortenKeepsTheCommentOfAForward(t *testing.T) {
	t.Parallel()
	forward := "Ann: [forwarded from Bob]\n" + strings.Repeat("long ", 100) + "\n"
	m := sessions.Message{Content: []sessions.Block{{Type: sessions.TextBlock, Text: forward}, {Type: sessions.TextBlock, Text: "Ann: is this\ntrue?"}}}
	got := sessions.Message{Content: shorten(m)}
	ahead, own, ok := strings.Cut(got.Text(), "\n")
	if !ok || own != "Ann: is this true?" || !strings.HasPrefix(ahead, "Ann: [forwarded from Bob] long") || len([]rune(ahead)) != maxShort {
		t.Errorf("it is %q", got.Text())
	}
	if at := got.LastText(); at != 1 || got.Content[at].Text != own {
		t.Errorf("an edit replaces the text %d of %+v", at, got.Content)
	}
}
