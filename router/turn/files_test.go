package turn

import (
	"fmt"
	"testing"

	"parley/channels"
	"parley/sessions"
)

// TestFilesOfWaitingMessages: of messages that waited and are shortened, the files can still be read.
func TestFilesOfWaitingMessages(t *testing.T) {
	t.Parallel()
	m := sessions.Message{Content: append(sessions.TextContent("see"), MediaBlocks([]channels.Media{
		document("a", "r"), {Kind: channels.Image, Ref: "p"}, {Kind: channels.Document, MIME: "image/png", Ref: "p2"}, {Kind: channels.Audio, Ref: "v"}})...)}
	got := shorten(m)
	if len(got) != 3 || got[0].Text != "see [with 2 pictures]" || got[1].ID != m.Content[1].ID || got[2].Media.Kind != channels.Audio {
		t.Errorf("%+v", got)
	}
	seen := map[string]bool{}
	for _, b := range m.Content[1:] {
		if len(b.ID) != 8 || seen[b.ID] {
			t.Errorf("the id %q", b.ID)
		}
		seen[b.ID] = true
	}
	if n := len(MediaBlocks(make([]channels.Media, 100))); n != 0 {
		t.Errorf("%d blocks of files that cannot be had", n)
	}
	many := make([]channels.Media, 100)
	for i := range many {
		many[i] = document(fmt.Sprint(i), "r")
	}
	if n := len(MediaBlocks(many)); n != MaxMedia {
		t.Errorf("%d blocks", n)
	}
}

// document is a file of a message.
func document(name, ref string) channels.Media {
	return channels.Media{Kind: channels.Document, Name: name, Ref: ref, MIME: "text/plain", Size: 12}
}
