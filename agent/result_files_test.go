package agent

import (
	"fmt"
	"testing"

	"parley/channels"
	"parley/sessions"
)

// Pictures of a tool's result are sent with it, its files are lines unless its text names them, and what has no bytes is not sent.
func TestRepairKeepsFilesOfResults(t *testing.T) {
	t.Parallel()
	picture := sessions.Block{Type: sessions.ImageBlock, ID: "aaaa1111", MIME: "image/png", Data: "aGk="}
	file := sessions.Block{Type: sessions.FileBlock, ID: "bbbb2222", Media: &channels.Media{Kind: channels.Document, Name: "r.pdf", MIME: "application/pdf"}}
	unseen := sessions.Block{Type: sessions.ImageBlock, ID: "cccc3333", MIME: "image/png", Media: &channels.Media{Ref: "sha256:x"}}
	for name, c := range map[string]struct {
		text   string
		blocks []sessions.Block
		want   string
	}{
		"a picture":      {"shot", []sessions.Block{picture}, "[text shot] [image aGk=]"},
		"a file":         {"done", []sessions.Block{file}, "[text done] [text " + FileLine(file) + "]"},
		"a named file":   {"done: attachment bbbb2222", []sessions.Block{file}, "[text done: attachment bbbb2222]"},
		"both":           {"done", []sessions.Block{file, picture}, "[text done] [text " + FileLine(file) + "] [image aGk=]"},
		"without bytes":  {"shot", []sessions.Block{unseen}, "[text shot]"},
		"a lone picture": {" ", []sessions.Block{picture}, "[image aGk=]"},
	} {
		msgs := []sessions.Message{user("go"), {Role: sessions.Assistant, Content: []sessions.Block{callBlock("c1", "shot", "{}")}},
			{Role: sessions.ToolResult, ToolCallID: "c1", ToolName: "shot", Content: append(sessions.TextContent(c.text), c.blocks...)}}
		out := Repair(msgs, Target{ToolPictures: true})
		got := ""
		for i, b := range out[2].Content {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("[%s %s%s]", b.Type, b.Text, b.Data)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if len(msgs[2].Content) != 1+len(c.blocks) || msgs[2].Content[1].Type != c.blocks[0].Type {
			t.Errorf("%s: the transcript has changed: %+v", name, msgs[2].Content)
		}
	}
}
