package sessions

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"parley/channels"
)

func TestFileName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 2000)
	for name, want := range map[string]string{
		"report.pdf":            "report.pdf",
		"../../etc/passwd":      "passwd",
		`C:\Users\x\a b.txt`:    "a b.txt",
		"..":                    "",
		"":                      "",
		".bashrc":               "bashrc",
		"a\n[b]\x00\u202egpj.x": "a _b_gpj.x",
		"dir/":                  "",
		"\xff\xfe":              "",
		long + ".pdf":           strings.Repeat("ä", 58) + ".pdf",
		"x." + long:             "x." + strings.Repeat("ä", 59),
	} {
		if got := FileName(name); got != want {
			t.Errorf("%.40q: %q, want %q", name, got, want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("x" + strings.Repeat("\f", 130) + "y")
	f.Add("a/b\\c\x00.txt")
	f.Add(strings.Repeat("x", 4096) + ".tar.gz")
	f.Fuzz(func(t *testing.T, name string) {
		got := FileName(name)
		if len(got) > maxName || !utf8.ValidString(got) || strings.ContainsAny(got, "/\\[]") || strings.ContainsFunc(got, unicode.IsControl) || strings.HasPrefix(got, ".") {
			t.Errorf("%q: %q", name, got)
		}
		if again := FileName(got); again != got {
			t.Errorf("%q: %q, and then %q", name, got, again)
		}
	})
}

func TestFileWords(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]File{
		"report.pdf, application/pdf, 12 kB": {Name: "report.pdf", MIME: "application/pdf", Size: 12_345},
		"audio, audio/ogg":                   {Kind: channels.Audio, MIME: "audio/ogg; codecs=opus"},
		"a.bin, 999 bytes":                   {Name: "/srv/a.bin", Size: 999},
		"b, text/xhost, 1.5 MB":              {Name: "b", MIME: "text/x]\n[host", Size: 1_500_000},
		"c, 2.0 GB":                          {Name: "c", Size: 2e9},
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
