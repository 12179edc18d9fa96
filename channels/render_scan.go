package channels

import (
	"bytes"

	"github.com/yuin/goldmark/parser"
)

// inlineScan remembers what was found in the text in front of the marks and backslashes of a piece, and behind them. The parser asks about one
// after the other, so that each byte is looked at once, however many there are.
type inlineScan struct {
	upTo       int    // addresses are known up to here
	web, www   int    // where the last "://" and the last "www." in front of upTo begin, -1 = nowhere
	ends       [4]int // where the next end of each kind of formula stands, at least
	asked      [4]int // where it was looked for last
	start, end int    // of the word that was looked at last
	segment    int    // the end of that word's segment
}

// The kinds of ends in inlineScan.ends.
const (
	endsDisplay = iota
	endsRound
	endsSquare
	endsEnvironment
)

var endSigns = [...][]byte{endsDisplay: []byte("$$"), endsRound: []byte(`\)`), endsSquare: []byte(`\]`), endsEnvironment: []byte(`\end{`)}

var scanKey = parser.NewContextKey()

func scanOf(pc parser.Context) *inlineScan {
	s, _ := pc.Get(scanKey).(*inlineScan)
	if s == nil {
		s = &inlineScan{web: -1, www: -1}
		pc.Set(scanKey, s)
	}
	return s
}

// addressBefore gives where the last "://" or "www." in front of a place begins, -1 = nowhere.
func (s *inlineScan) addressBefore(src []byte, at int) int {
	const longest = len("www.")
	if at < s.upTo {
		s.upTo, s.web, s.www = 0, -1, -1
	}
	from := max(0, s.upTo-longest+1)
	if i := lastIndex(src[from:at], []byte("://")); i >= 0 {
		s.web = from + i
	}
	if i := lastIndex(src[from:at], []byte("www.")); i >= 0 {
		s.www = from + i
	}
	s.upTo = at
	return max(s.web, s.www)
}

// lastIndex is bytes.LastIndex, faster where there is nothing.
func lastIndex(s, sep []byte) int {
	if !bytes.Contains(s, sep) {
		return -1
	}
	return bytes.LastIndex(s, sep)
}

// endOfFormula gives where the next end of a kind stands from a place on; len(src) = nowhere.
func (s *inlineScan) endOfFormula(src []byte, from, kind int) int {
	if from < s.asked[kind] || s.ends[kind] < from {
		i := bytes.Index(src[from:], endSigns[kind])
		if i < 0 {
			i = len(src) - from
		}
		s.ends[kind] = from + i
	}
	s.asked[kind] = from
	return s.ends[kind]
}

// word gives the word of the line at src[at:] that has a byte of it at a place. A word that is longer than longest is not looked at.
func (s *inlineScan) word(src []byte, at int, line []byte) (start, end int, ok bool) {
	const longest = 100
	if segment := at + len(line); s.segment != segment || at < s.start || at >= s.end {
		s.segment, s.start, s.end = segment, at, at+len(line)
		for s.start > 0 && at-s.start < longest && !isBlankByte(src[s.start-1]) {
			s.start--
		}
		for i, c := range line {
			if isBlankByte(c) {
				s.end = at + i
				break
			}
		}
	}
	return s.start, s.end, at-s.start < longest && (s.end-at < longest || s.end-at == longest && len(line) == longest)
}

func isBlankByte(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }
