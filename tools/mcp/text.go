package mcp

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean makes text of a server fit to be shown: valid, and without control characters but line breaks and tabs.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}

// line makes one line of it, of at most n bytes.
func line(s string, n int) string {
	return cut(strings.Join(strings.Fields(clean(s)), " "), n)
}

// cut cuts s to at most n bytes and never inside a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// leads are words of the SDK that say nothing to people.
var leads = []string{"rejected by transport: ", ": rejected by transport", "jsonrpc2: ", "mcp: "}

// plain words an error for people and models: one line, without secrets and without the address, which may hold some.
func (s *server) plain(err error) string {
	text := err.Error()
	if gone, ok := errors.AsType[*unreachedError](err); ok {
		text = gone.Error()
	}
	for _, lead := range leads {
		text = strings.ReplaceAll(text, lead, "")
	}
	if s.conf.URL != "" {
		text = strings.ReplaceAll(text, s.conf.URL, "its address")
	}
	return line(s.secretless(text), 500)
}

// secretless takes the server's own secrets, and those of the host, out of a text.
func (s *server) secretless(text string) string {
	return s.all.deps.Redact(s.hide.Replace(text))
}
