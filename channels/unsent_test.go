package channels_test

import (
	"strings"
	"testing"

	"parley/channels"
)

// A message names the files that were refused, in the form that its platform shows, and never grows longer than the platform takes.
func TestRefusedFilesAreNamed(t *testing.T) {
	t.Parallel()
	pdf := channels.File{Name: "q3.pdf", Words: "q3.pdf, application/pdf, 12 kB"}
	long := channels.File{Name: strings.Repeat("n", 100)}
	for name, c := range map[string]struct {
		text, plain string
		files       []channels.File
		dialect     channels.Dialect
		want        string
	}{
		"Telegram":         {"<b>x</b>", "x", []channels.File{pdf}, channels.TelegramHTML, "<b>x</b>\n\n(The file <code>q3.pdf</code> cannot be sent in this chat.)"},
		"Discord":          {"**x**", "x", []channels.File{pdf}, channels.DiscordMD, "**x**\n\n(The file `q3.pdf` cannot be sent in this chat.)"},
		"no text":          {"", "", []channels.File{{Name: "a"}, {Name: "b"}}, channels.WhatsAppText, "(The file `a` cannot be sent in this chat.)\n(The file `b` cannot be sent in this chat.)"},
		"no room for name": {strings.Repeat("x", 130), strings.Repeat("x", 130), []channels.File{long}, channels.DiscordMD, strings.Repeat("x", 130) + "\n\n(A file cannot be sent in this chat.)"},
		"two of them":      {strings.Repeat("x", 130), strings.Repeat("x", 130), []channels.File{long, long}, channels.DiscordMD, strings.Repeat("x", 130) + "\n\n(2 files cannot be sent in this chat.)"},
		"no room":          {strings.Repeat("x", 199), strings.Repeat("x", 199), []channels.File{pdf}, channels.DiscordMD, strings.Repeat("x", 199)},
	} {
		out := channels.Outbound{Text: c.text, Plain: c.plain}.WithNote(c.files, channels.Limits{Text: 200, Dialect: c.dialect})
		if out.Text != c.want {
			t.Errorf("%s: %q, want %q", name, out.Text, c.want)
		}
	}
}
