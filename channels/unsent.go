package channels

import (
	"cmp"
	"strconv"
	"strings"
)

// FileNote is the sentence, in Markdown, that tells a chat why it does not get a file.
func FileNote(file, why string) string { return "(The file `" + file + "` " + why + ".)" }

// NotSendable is why a chat does not get a file that cannot be sent there, whoever found that out: the host by the channel's limits, or
// the platform by refusing it.
const NotSendable = "cannot be sent in this chat"

// NoteRoom is the part of Limits.Text that Limits.Caption leaves free, so that a text which was the caption of files can name those that
// the platform refuses.
const NoteRoom = 64

// WithNote returns the message with sentences at its end that name the files which the platform refused. Where there is no room for the
// names, one sentence counts the files.
func (o Outbound) WithNote(refused []File, l Limits) Outbound {
	notes := make([]string, len(refused))
	for i, f := range refused {
		notes[i] = FileNote(cmp.Or(f.Name, f.Words), NotSendable)
	}
	few := strconv.Itoa(len(refused)) + " files cannot be sent in this chat"
	if len(refused) == 1 {
		few = "A file cannot be sent in this chat"
	}
	for _, note := range []string{strings.Join(notes, "\n"), "(" + few + ".)"} {
		parts := Split(note, l)
		if len(parts) != 1 {
			continue
		}
		with := o
		with.Text, with.Plain = strings.TrimLeft(o.Text+"\n\n"+parts[0].Text, "\n"), strings.TrimLeft(o.Plain+"\n\n"+parts[0].Plain, "\n")
		if counted := with.counted(l); within(counted, l) {
			return with
		}
	}
	return o
}

// counted is the form of a text by which the platform measures its length.
func (o Outbound) counted(l Limits) string {
	if l.Dialect == TelegramHTML {
		return o.Plain
	}
	return o.Text
}

// FileWords lists files in words, for Receipt.Unsent.
func FileWords(files []File) string {
	var all []string
	for _, f := range files {
		all = append(all, cmp.Or(f.Words, f.Name))
	}
	return strings.Join(all, "; ")
}
