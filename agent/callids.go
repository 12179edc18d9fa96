package agent

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// IDForm is the form of call ids that an endpoint names in a refusal, as a regular expression.
type IDForm struct {
	expr *regexp.Regexp
	tree *syntax.Regexp
}

// The bounds of forms of ids, in bytes: of an expression, of an id, and of a part that is repeated any number of times.
const (
	maxIDForm    = 128
	maxMadeID    = 64
	usualRepeats = 24
)

var errIDForm = errors.New("id form is too long or too narrow")

// ParseIDForm reads a form of call ids. It is an error if too few different ids can be made of it, or only ids that are longer than providers
// take.
func ParseIDForm(expr string) (*IDForm, error) {
	if len(expr) > maxIDForm {
		return nil, errIDForm
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("parse id form: %w", err)
	}
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("parse id form: %w", err)
	}
	f := &IDForm{re, tree}
	made := make(map[string]bool)
	for n := range 64 { // so few differ of a form that has too few
		id := f.Make("x", n)
		if !f.Takes(id) || made[id] {
			return nil, errIDForm
		}
		made[id] = true
	}
	return f, nil
}

// Takes reports whether an id has the form.
func (f *IDForm) Takes(id string) bool { return wireable(id) && f.expr.MatchString(id) }

// wireable reports whether an id is one that providers read at all.
func wireable(id string) bool { return len(id) <= maxMadeID && printable(id) }

// TakesShort reports whether the ids that are made for other endpoints have the form.
func (f *IDForm) TakesShort() bool {
	for n := range 4 {
		if !f.Takes(hashID([]byte{byte(n)})) {
			return false
		}
	}
	return true
}

// Make gives the nth id of the form for an id of another form: always the same one.
func (f *IDForm) Make(id string, n int) string {
	m := idMaker{seed: fmt.Appendf(nil, "%s#%d", id, n+1)}
	m.write(f.tree)
	return m.out.String()
}

// idMaker writes one id.
type idMaker struct {
	seed []byte
	sum  []byte // of the seed: the bytes that are not used yet
	out  strings.Builder
}

// next gives a number below n that the seed decides.
func (m *idMaker) next(n int) int {
	if len(m.sum) < 2 {
		sum := sha256.Sum256(m.seed)
		m.seed, m.sum = sum[:], sum[:]
	}
	at := (int(m.sum[0])<<8 | int(m.sum[1])) % n
	m.sum = m.sum[2:]
	return at
}

// write writes a text that an expression takes, as far as it has letters and digits.
func (m *idMaker) write(re *syntax.Regexp) {
	if m.out.Len() > maxMadeID { // it is none
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		m.out.WriteString(string(re.Rune))
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		if letters := lettersOf(re); letters != "" {
			m.out.WriteByte(letters[m.next(len(letters))])
		}
	case syntax.OpStar, syntax.OpPlus:
		m.repeat(re.Sub[0], usualRepeats)
	case syntax.OpRepeat:
		n := max(re.Min, usualRepeats)
		if re.Max >= 0 {
			n = min(n, re.Max)
		}
		m.repeat(re.Sub[0], n)
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			m.write(sub)
		}
	case syntax.OpAlternate:
		m.write(re.Sub[0])
	default: // what may be left out, and places
	}
}

func (m *idMaker) repeat(re *syntax.Regexp, n int) {
	for range min(n, maxMadeID+1) {
		m.write(re)
	}
}

// lettersOf gives the letters and digits that a class has, or its other signs where it has none.
func lettersOf(re *syntax.Regexp) string {
	in := func(c rune) bool {
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= c && c <= re.Rune[i+1] {
				return true
			}
		}
		return re.Op != syntax.OpCharClass
	}
	var out strings.Builder
	for _, c := range idLetters {
		if in(c) {
			out.WriteRune(c)
		}
	}
	for _, c := range "-_." {
		if out.Len() == 0 && in(c) {
			out.WriteRune(c)
		}
	}
	return out.String()
}
