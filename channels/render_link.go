package channels

import (
	"bytes"
	"html"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// link writes text that leads somewhere. What no platform would follow, and what is too long, is written out behind the text.
func (b *builder) link(dest string, words func()) {
	written := clean(unescape(dest))
	dest = address(dest)
	if b.st.link != 0 || dest == "" {
		words()
		return
	}
	if opens := b.spec.opens(dest); !opens || len(dest) > b.maxURL {
		if opens {
			written = dest // as it is shown where it is short enough
		}
		written, dest = WrittenAddress(written), WrittenAddress(dest)
		at := len(b.atoms)
		words()
		switch {
		case b.said(at) == written: // its text is the address
			return
		case len(dest) > b.maxURL || dest != written:
			b.text(" (" + written + ")")
		default:
			b.text(" (")
			b.put(glue, dest)
			b.text(")")
		}
		return
	}
	at, was := len(b.atoms), b.st
	b.links = append(b.links, dest)
	b.st.link = int32(len(b.links))
	words()
	b.st = was
	switch t := b.said(at); {
	case blank(t): // a link that cannot be seen
		b.put(glue, dest)
	case t == dest || "http://"+t == dest || "https://"+t == dest:
		for i := at; i < len(b.atoms); i++ {
			b.atoms[i].st.quiet = true
		}
	}
}

// said gives the words from an atom on.
func (d *document) said(at int) string {
	var s strings.Builder
	for _, a := range d.atoms[at:] {
		if a.kind != newline {
			s.WriteString(a.text)
		}
	}
	return s.String()
}

// address makes a link's destination one that is safe in every dialect: entities resolved, spaces, quotes and brackets encoded.
func address(s string) string {
	if isSafeAddress(s) {
		return s
	}
	s = clean(unescape(s))
	var b strings.Builder
	for _, r := range s {
		switch {
		case r <= ' ' || strings.ContainsRune(encodedInAddress, r):
			for _, c := range []byte(string(r)) {
				b.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(c)|0x100, 16)[1:]))
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isSafeAddress reports whether nothing of an address has to change, as in nearly every one.
func isSafeAddress(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || unsafeInAddress[c] {
			return false
		}
	}
	return true
}

var unsafeInAddress = newByteSet("&" + encodedInAddress)

const encodedInAddress = "\"<>()[]\\`*|{}^"

// opens reports whether the platform opens an address that stands behind words. Telegram takes any other scheme for a part of an address of the web.
//
// source: Telegram Bot API, HTML style; yagop/node-telegram-bot-api#295; discord/discord-api-docs#6088
func (s *spec) opens(dest string) bool {
	scheme, _, _ := strings.Cut(dest, ":")
	return absolute(dest) && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http") || s.html && strings.EqualFold(scheme, "tg"))
}

// WrittenAddress returns how people write an address: that of a mailbox or telephone without its scheme, any other as it is.
func WrittenAddress(address string) string {
	scheme, rest, _ := strings.Cut(address, ":")
	if rest == "" || strings.Contains(rest, "?") || !strings.EqualFold(scheme, "mailto") && !strings.EqualFold(scheme, "tel") {
		return address
	}
	return rest
}

// absolute reports whether an address is a whole one that leads out of a text.
func absolute(s string) bool {
	if strings.IndexByte(s, ':') < 0 { // no scheme
		return false
	}
	if isPlainAddress(s) {
		return true
	}
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "mailto", "tel", "tg":
		return true
	}
	return false
}

// isPlainAddress reports whether an address is one of the web without anything that could make it a wrong one, as nearly all are.
func isPlainAddress(s string) bool {
	rest, isWeb := strings.CutPrefix(s, "https://")
	if !isWeb {
		rest, isWeb = strings.CutPrefix(s, "http://")
	}
	if !isWeb {
		return false
	}
	host := 0
	for host < len(rest) && (util.IsAlphaNumeric(rest[host]) || rest[host] == '.' || rest[host] == '-') {
		host++
	}
	for i := host; i < len(rest); i++ {
		if c := rest[i]; c <= ' ' || c >= 0x7f || c == '%' {
			return false
		}
	}
	return host > 0 && (host == len(rest) || among(rune(rest[host]), "/?#"))
}

// unescape resolves backslash escapes and entities.
func unescape(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			end := strings.IndexByte(s[i:min(len(s), i+40)], ';')
			if end > 1 {
				if t := html.UnescapeString(s[i : i+end+1]); t != s[i:i+end+1] {
					b.WriteString(clean(t))
					i += end
					continue
				}
			}
			b.WriteByte('&')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// inAddress reports whether the run of marks at src[at:at+n] is part of an address, and no markup: **https://example.com/a** ends with markup,
// https://example.com/**a** does not.
func (s *inlineScan) inAddress(src []byte, at, n int) bool {
	const longest = 1000
	start := s.addressBefore(src, at)
	if start < 0 || start < at-longest {
		return false
	}
	from := at
	for from > start && isOfAddress(src[from-1]) {
		from--
	}
	if from > start && (src[from-1] < utf8.RuneSelf || wideAddress(src, from, max(0, at-longest)) > start) {
		return false
	}
	for start > 0 && util.IsAlphaNumeric(src[start-1]) {
		start--
	}
	before := src[start:at]
	if bytes.Count(before, []byte(")")) > bytes.Count(before, []byte("(")) {
		return false
	}
	mark := src[at : at+n]
	rest := src[at+n : min(len(src), at+n+longest)]
	if rest = bytes.TrimRight(rest[:addressLength(rest)], `*_~.,:;!?'")]`); len(rest) > 0 {
		return !bytes.HasSuffix(src[:start], mark)
	}
	return bytes.Count(before, mark)%2 == 1
}

// wideAddress gives where the address with letters beyond ASCII in its host begins that ends at a place; the place itself when none does. Behind
// a host of ASCII such letters are text: they need no space in front.
func wideAddress(src []byte, end, least int) int {
	from := end
	for from > least && src[from-1] > ' ' && src[from-1] != '<' && src[from-1] != '>' && src[from-1] != '"' {
		from--
	}
	i := bytes.LastIndex(src[from:end], []byte("://"))
	if i <= 0 {
		return end
	}
	host := src[from+i+len("://") : end]
	if n := bytes.IndexAny(host, "/?#"); n >= 0 {
		host = host[:n]
	}
	if bytes.IndexFunc(host, unicode.IsLetter) < 0 || isASCII(host) || bytes.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsPunct(r) }) {
		return end
	}
	return from
}

func isASCII(s []byte) bool { return !bytes.ContainsFunc(s, func(r rune) bool { return !ascii(r) }) }

// addressLength gives how much of a text could be the rest of an address.
func addressLength[T string | []byte](s T) int {
	for i := range len(s) {
		if !isOfAddress(s[i]) {
			return i
		}
	}
	return len(s)
}

// isOfAddress reports whether a byte can be a part of an address.
func isOfAddress(c byte) bool {
	return c > ' ' && c < utf8.RuneSelf && c != '<' && c != '>' && c != '"'
}

// webAddress gives where the first address of the web begins that platforms follow, -1 = there is none.
func webAddress(s string) int {
	at := strings.Index(s, "https://")
	if plain := strings.Index(s, "http://"); plain >= 0 && (at < 0 || plain < at) {
		return plain
	}
	return at
}
