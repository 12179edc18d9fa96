package wire

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// halves joins characters that a server cut in two, as the escapes of a surrogate pair in two events: the first half moves to where the
// second one comes. What is no character becomes a mark: one letter is no reason to lose an answer.
//
// source: elizaOS/eliza#30904, elie222/rakazo#416
type halves struct {
	first  []byte // of a character that the text of an earlier event ended with
	joined []byte // the event at hand
}

// join gives an event's data as valid UTF-8. The data is changed only where it has a half or is not valid.
func (h *halves) join(data []byte) []byte {
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	if !bytes.Contains(data, []byte(`\ud`)) && !bytes.Contains(data, []byte(`\uD`)) {
		return data
	}
	h.joined = h.joined[:0]
	var first []byte
	isJoined := false
	for i := 0; i < len(data); {
		n, half := escapeAt(data[i:])
		switch begins, ends := i > 0 && data[i-1] == '"', i+n < len(data) && data[i+n] == '"'; {
		case half == secondHalf && begins && h.first != nil:
			h.joined, isJoined = append(append(h.joined, h.first...), data[i:i+n]...), true
		case half == firstHalf && ends:
			first = bytes.Clone(data[i : i+n])
		case half != noHalf:
			h.joined = append(h.joined, "\uFFFD"...)
		default:
			h.joined = append(h.joined, data[i:i+n]...)
		}
		i += n
	}
	if isJoined || first != nil {
		h.first = first
	}
	return h.joined
}

// half is which half of a character an escape is.
type half int

const (
	noHalf half = iota
	firstHalf
	secondHalf
)

// surrogateLen is the length of an escape such as \ud83d.
const surrogateLen = len(`\ud83d`)

// escapeAt gives the length and kind of what data begins with: an escape, a surrogate pair, or a byte.
func escapeAt(data []byte) (n int, kind half) {
	switch {
	case data[0] != '\\':
		return 1, noHalf
	case isSurrogate(data, "cCdDeEfF"):
		return surrogateLen, secondHalf
	case !isSurrogate(data, "89aAbB"):
		return min(2, len(data)), noHalf
	case isSurrogate(data[surrogateLen:], "cCdDeEfF"):
		return 2 * surrogateLen, noHalf
	}
	return surrogateLen, firstHalf
}

// isSurrogate reports whether data begins with the escape of a surrogate whose second digit is one of these.
func isSurrogate(data []byte, digits string) bool {
	const hex = "0123456789abcdefABCDEF"
	return len(data) >= surrogateLen && data[0] == '\\' && data[1] == 'u' && (data[2] == 'd' || data[2] == 'D') && strings.IndexByte(digits, data[3]) >= 0 &&
		strings.IndexByte(hex, data[4]) >= 0 && strings.IndexByte(hex, data[5]) >= 0
}
