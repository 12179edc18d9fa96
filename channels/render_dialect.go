package channels

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"

	"parley/channels/pattern"
)

// The dialects. Facts about each are the platform's own: Telegram's HTML tags and their nesting, Discord's Markdown, WhatsApp's
// marks.
var (
	plainSpec = spec{
		dialect: PlainText, bullet: "•", tables: tableRows, quote: "> ",
		link: func(url string, quiet bool) (string, string) {
			if quiet {
				return "", ""
			}
			return "", " (" + url + ")"
		},
	}
	telegramSpec = spec{
		dialect: TelegramHTML, html: true, bullet: "•", tables: tableCode,
		bold: [2]string{"<b>", "</b>"}, italic: [2]string{"<i>", "</i>"}, strike: [2]string{"<s>", "</s>"},
		code: [2]string{"<code>", "</code>"}, ticks: [2]string{"<code>", "</code>"},
		link: func(url string, _ bool) (string, string) { return `<a href="` + escapeHTML(url) + `">`, "</a>" },
		pre: func(p pre) (string, string) {
			if p.lang == "" {
				return "<pre>", "</pre>"
			}
			return `<pre><code class="language-` + escapeHTML(p.lang) + `">`, "</code></pre>"
		},
		word: func(out []byte, s string, _ wordPlace) []byte { return append(out, escapeHTML(s)...) }, inCode: func(s string, _ style) string { return escapeHTML(s) }, glue: escapeHTML,
	}
	discordSpec = spec{
		dialect: DiscordMD, headings: true, bullet: "-", tables: tableCode, quote: "> ",
		bold: [2]string{"**", "**"}, italic: [2]string{"*", "*"}, italicNext: "_", strike: [2]string{"~~", "~~"},
		code: [2]string{"`", "`"}, ticks: [2]string{"`` ", " ``"},
		link: func(url string, quiet bool) (string, string) { return "[", "](" + url + ")" },
		pre:  func(p pre) (string, string) { return "```" + p.lang + "\n", "\n```" },
		word: escapeDiscord, behind: escapeBehindAddress, inCode: discordCode,
	}
	whatsAppSpec = spec{
		dialect: WhatsAppText, whole: true, bullet: "-", tables: tableBullets, quote: "> ",
		bold: [2]string{"*", "*"}, italic: [2]string{"_", "_"}, strike: [2]string{"~", "~"},
		code: [2]string{"`", "`"}, ticks: [2]string{"```", "```"},
		link: plainSpec.link, pre: func(pre) (string, string) { return "```\n", "\n```" },
		inCode: func(s string, _ style) string { return splitFences(s) },
	}
	markdownSpec = spec{
		dialect: Markdown, verbatim: true,
		pre: func(p pre) (string, string) { return p.open + "\n", "\n" + p.close },
	}
)

// specOf gives the dialect; an unknown one is written as plain text.
func specOf(d Dialect) *spec {
	switch d {
	case TelegramHTML:
		return &telegramSpec
	case DiscordMD:
		return &discordSpec
	case WhatsAppText:
		return &whatsAppSpec
	case Markdown:
		return &markdownSpec
	}
	return &plainSpec
}

// plainOf writes a document without markup and without limits.
func plainOf(d *document, lim Limits) string {
	w := newWriter(&plainSpec, d, lim.Unit)
	for i := range d.atoms {
		w.write(&d.atoms[i])
	}
	return w.finish()
}

// escapeHTML escapes what Telegram needs escaped.
func escapeHTML(s string) string {
	if !htmlSigns.in(s) {
		return s
	}
	return htmlText.Replace(s)
}

// byteSet is a set of bytes. It is asked once a word, which strings.ContainsAny is too slow for.
type byteSet [256]bool

func newByteSet(s string) *byteSet {
	set := new(byteSet)
	for i := range len(s) {
		set[s[i]] = true
	}
	return set
}

// in reports whether a text has a byte of the set.
func (set *byteSet) in(s string) bool {
	for i := range len(s) {
		if set[s[i]] {
			return true
		}
	}
	return false
}

var (
	htmlSigns    = newByteSet("&<>")
	discordSigns = newByteSet("\\`*_~|[]<:")
)

// Attributes need no more: address encodes quotes, and language has none.
var htmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// splitFences keeps a block of code from ending early: a run of three backticks gets an invisible space.
func splitFences(s string) string {
	if !strings.Contains(s, "```") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "```", "``\u200b`"), "```", "``\u200b`")
}

// discordCode keeps code from ending early.
func discordCode(s string, st style) string {
	if !st.ticks || st.pre != 0 || !strings.Contains(s, "``") {
		return splitFences(s)
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "``", "`\u200b`"), "``", "`\u200b`")
}

// needsTicks reports whether code in a line has backticks that one backtick on each side cannot hold. On Discord it can hold pairs of them.
//
// source: Khan/simple-markdown, rule inlineCode: /^(`+)([\s\S]*?[^`])\1(?!`)/
func (s *spec) needsTicks(code string) bool {
	if !strings.Contains(code, "`") {
		return false
	}
	code = strings.Trim(code, " \t") // white space at the ends of code is written outside of it
	others := strings.ReplaceAll(code, "``", "")
	return s.dialect != DiscordMD || strings.Contains(others, "`") || strings.Contains(code, "```") || strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`")
}

// wordPlace says where a word stands.
type wordPlace struct {
	lineStart   bool
	underscored bool // an underscore that cannot be escaped could close what one in this word opens
}

// within gives the place of the rest of a word.
func (p wordPlace) within() wordPlace { return wordPlace{underscored: p.underscored} }

// escapeDiscord appends a word and escapes what Discord would take for markup. It sees one word at a time; its neighbours are spaces or markup. Nothing is
// escaped in an address.
func escapeDiscord(out []byte, s string, at wordPlace) []byte {
	hasSigns := discordSigns.in(s)
	if hasSigns {
		if start := webAddress(s); start >= 0 {
			end := start + discordAddress(s[start:])
			if start > 0 {
				out = escapeDiscord(out, s[:start], at)
			}
			return escapeDiscord(append(out, s[start:end]...), s[end:], at.within())
		}
	}
	if at.lineStart {
		switch {
		case strings.Trim(s, "#") == "" && len(s) <= 3, s == "-", s == "*", s == "+", s == ">", s == ">>>", s == "-#":
			return append(append(out, '\\'), s...)
		}
		if isListNumber(s) {
			return append(append(out, s[:len(s)-1]...), `\.`...)
		}
	}
	done := 0 // of s
	for i := 0; i < len(s) && hasSigns; i++ {
		if discordSigns[s[i]] && (needsEscape(s, i) || s[i] == '_' && at.underscored) {
			out = append(append(out, s[done:i]...), '\\')
			done = i
		}
	}
	return append(out, s[done:]...)
}

// discordAddress gives how much of a text without spaces is part of the address that it begins in, or goes on with: nothing is escaped there.
func discordAddress(s string) int { return strings.IndexAny(s+"`", "`<>\"|\\") }

// escapeBehindAddress appends and escapes what stands directly behind an address.
func escapeBehindAddress(out []byte, s string, at wordPlace) []byte {
	end := discordAddress(s)
	out = append(out, s[:end]...)
	if end == len(s) {
		return out
	}
	return escapeDiscord(out, s[end:], at.within())
}

func needsEscape(s string, i int) bool {
	next := byte(0)
	if i+1 < len(s) {
		next = s[i+1]
	}
	switch s[i] {
	case '`':
		return true
	case ':': // a:b:c is no emoji, and :smile: is one
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		if before != ':' && !ofWord(before) || i > 1 && s[i-2] == '<' { // of Discord's own: <a:name:1>, <t:1:R>
			return false
		}
		name := emojiName.FindString(s[i:])
		after, _ := utf8.DecodeRuneInString(s[i+len(name):])
		return name != "" && (after == ':' || ofWord(after)) && (strings.Trim(name, ":0123456789") != "" || name == ":100:" || name == ":1234:")
	case '\\':
		return !asciiWord(rune(next))
	case '*':
		return s != "*"
	case '_':
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+1:])
		return !asciiWord(before) || !asciiWord(after) // for Discord other letters end a word
	case '~', '|':
		return next == s[i] || i > 0 && s[i-1] == s[i]
	case '[':
		return strings.Contains(s[i:], "](")
	case ']': // a link whose text has several words
		return next == '(' && !strings.Contains(s[:i], "[")
	case '<': // a mention, or an address in brackets, which may go on in the next line: they would be left out
		end := strings.IndexByte(s[i:], '>')
		if among(rune(next), "@#/i") && discordMention.MatchString(s[i:]) {
			return true
		}
		if end < 0 {
			return len(s) > 1 && (!strings.Contains(s[i:], ":") || strings.Contains(s[i:], ":/"))
		}
		return strings.Contains(s[i:i+end], ":/")
	}
	return false
}

// discordMention finds what Discord shows as the name of a person, role, game, channel, command or page of the server. The adapter takes the backslash
// away again where it knows the name. Emoji and times are shown as what they are. A command of several words is found by its first one: a "<" that
// does not end.
//
// source: Discord documentation, Reference, Message Formatting (formats and guild navigation types)
var discordMention = pattern.New(`^<(?:@[!&$]?[0-9]+|#[0-9]+|/[^:>\n]+:[0-9]+|id:(?:customize|browse|guide|linked-roles(?::[0-9]+)?))>`)

// emojiName finds the name of an emoji as Discord writes it: :smile:, :+1:.
var emojiName = pattern.New(`^:[0-9A-Za-z_+-]+:`)

func asciiWord(r rune) bool { return ascii(r) && util.IsAlphaNumeric(byte(r)) }
