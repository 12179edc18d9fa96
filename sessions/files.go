package sessions

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds the name of a file, in bytes.
const maxName = 120

// FileName makes a plain name of whatever a platform or a person calls a file: one line, no path, nothing that is not seen, at most
// 120 bytes with its ending kept. "" when nothing is left.
func FileName(name string) string {
	name = strings.Map(func(c rune) rune {
		switch {
		case c == '\\':
			return '/'
		case unicode.IsSpace(c):
			return ' '
		case c == utf8.RuneError, unicode.IsControl(c), unicode.Is(unicode.Cf, c):
			return -1
		case strings.ContainsRune(`<>:"|?*[]`+"`", c):
			return '_'
		}
		return c
	}, strings.ToValidUTF8(name, ""))
	name = strings.TrimRight(strings.TrimLeft(name[strings.LastIndex(name, "/")+1:], ". "), ". ")
	if len(name) <= maxName {
		return name
	}
	end := path.Ext(name)
	if len(end) > 16 {
		end = ""
	}
	return strings.TrimRight(strings.ToValidUTF8(name[:maxName-len(end)], ""), ". ") + end
}

// String describes a file in one line: report.pdf, application/pdf, 12 kB.
func (f File) String() string {
	parts := []string{FileName(f.Name)}
	if parts[0] == "" {
		parts[0] = string(f.Kind)
	}
	if t := mimeWords(f.MIME); t != "" {
		parts = append(parts, t)
	}
	if f.Size > 0 {
		parts = append(parts, sizeWords(f.Size))
	}
	return strings.Join(parts, ", ")
}

// mimeWords gives a type as it is claimed, without what no type has in it.
func mimeWords(t string) string {
	t, _, _ = strings.Cut(t, ";")
	t = strings.Map(func(c rune) rune {
		if c > ' ' && c < 0x7f && !strings.ContainsRune(`[](),"<>`, c) {
			return c
		}
		return -1
	}, t)
	return t[:min(len(t), 100)]
}

func sizeWords(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1e6:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	case n < 1e9:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
