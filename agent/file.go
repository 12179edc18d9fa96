package agent

import (
	"parley/channels"
	"parley/sessions"
)

// fileMark starts the line that stands for a file.
const fileMark = "[file "

// FileLine is what a model is shown of a file that came with a message: what its sender calls it, and by what name it can ask for it.
func FileLine(b sessions.Block) string {
	return fileMark + oneLine(b.ID) + ": " + fileWords(b) + " — tool attachments reads it]"
}

// fileWords describes a file for people and summaries.
func fileWords(b sessions.Block) string {
	m := b.Media
	if m == nil {
		m = &channels.Media{Kind: channels.Document}
	}
	return oneLine(sessions.File{Kind: m.Kind, Name: m.Name, MIME: m.MIME, Size: m.Size}.String())
}
