package source

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deep values may be in each other.
const maxDepth = 100

// ParseJSON5 reads one value of JSON5: JSON with comments, trailing commas, names without quotes, single quotes, and more ways to write
// numbers. Objects are map[string]any, numbers json.Number. Of a name that stands twice in an object the last one counts.
func ParseJSON5(text []byte) (any, error) {
	v, _, err := parseJSON5(text)
	return v, err
}

// parseJSON5 also returns the names that stand twice in an object, each with its line.
//
// source: spec.json5.org, section 3.1: an object is as ECMAScript 5.1 makes it (11.1.5: of the same name the last one counts)
func parseJSON5(text []byte) (v any, twice []string, err error) {
	if !utf8.Valid(text) {
		return nil, nil, fmt.Errorf("it is not UTF-8 text")
	}
	p := &parser{s: strings.TrimPrefix(string(text), "\uFEFF")}
	v, err = p.value(0)
	if err == nil {
		if err = p.space(); err == nil && p.i < len(p.s) {
			err = p.wrong("unexpected text after the value")
		}
	}
	return v, p.twice, err
}

type parser struct {
	s     string
	i     int
	twice []string // names that stand twice in an object
}

func (p *parser) wrong(format string, a ...any) error {
	before := p.s[:min(p.i, len(p.s))]
	return fmt.Errorf("line %d, column %d: %s", strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n'), fmt.Sprintf(format, a...))
}

// space passes over white space and comments.
func (p *parser) space() error {
	for p.i < len(p.s) {
		switch r, n := utf8.DecodeRuneInString(p.s[p.i:]); {
		case unicode.IsSpace(r) || r == '\uFEFF':
			p.i += n
		case strings.HasPrefix(p.s[p.i:], "//"):
			end := strings.IndexAny(p.s[p.i:], "\n\r\u2028\u2029")
			if end < 0 {
				end = len(p.s) - p.i
			}
			p.i += end
		case strings.HasPrefix(p.s[p.i:], "/*"):
			end := strings.Index(p.s[p.i+2:], "*/")
			if end < 0 {
				return p.wrong("a comment is not closed")
			}
			p.i += end + 4
		default:
			return nil
		}
	}
	return nil
}

// next is the byte after white space; 0 at the end.
func (p *parser) next() (byte, error) {
	if err := p.space(); err != nil || p.i >= len(p.s) {
		return 0, err
	}
	return p.s[p.i], nil
}

func (p *parser) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, p.wrong("values are nested more than %d deep", maxDepth)
	}
	c, err := p.next()
	if err != nil {
		return nil, err
	}
	switch {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"' || c == '\'':
		return p.text()
	case c == 0:
		return nil, p.wrong("a value is missing")
	}
	for word, v := range map[string]any{"true": true, "false": false, "null": nil} {
		if strings.HasPrefix(p.s[p.i:], word) && !p.nameAt(p.i+len(word)) {
			p.i += len(word)
			return v, nil
		}
	}
	return p.number()
}

func (p *parser) object(depth int) (any, error) {
	out := map[string]any{}
	p.i++
	for {
		c, err := p.next()
		if err != nil {
			return nil, err
		}
		if c == '}' {
			p.i++
			return out, nil
		}
		var name string
		if c == '"' || c == '\'' {
			name, err = p.text()
		} else {
			name, err = p.name()
		}
		if err != nil {
			return nil, err
		}
		if _, twice := out[name]; twice {
			p.twice = append(p.twice, fmt.Sprintf("%s (line %d)", name, strings.Count(p.s[:p.i], "\n")+1))
		}
		if c, err = p.next(); err != nil || c != ':' {
			return nil, p.or(err, "a colon is missing after a name")
		}
		p.i++
		if out[name], err = p.value(depth + 1); err != nil {
			return nil, err
		}
		if err := p.comma('}'); err != nil {
			return nil, err
		}
	}
}

func (p *parser) or(err error, format string, a ...any) error {
	if err != nil {
		return err
	}
	return p.wrong(format, a...)
}

// comma passes over a comma; none is needed in front of the end.
func (p *parser) comma(end byte) error {
	c, err := p.next()
	switch {
	case err != nil:
		return err
	case c == ',':
		p.i++
	case c != end:
		return p.wrong("a comma or %c is missing", end)
	}
	return nil
}

func (p *parser) array(depth int) (any, error) {
	out := []any{}
	p.i++
	for {
		c, err := p.next()
		if err != nil {
			return nil, err
		}
		if c == ']' {
			p.i++
			return out, nil
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if err := p.comma(']'); err != nil {
			return nil, err
		}
	}
}

// nameAt reports whether a character of a name stands there.
func (p *parser) nameAt(i int) bool {
	r, _ := utf8.DecodeRuneInString(p.s[min(i, len(p.s)):])
	return r != utf8.RuneError && (r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

func (p *parser) name() (string, error) {
	from := p.i
	for p.nameAt(p.i) {
		_, n := utf8.DecodeRuneInString(p.s[p.i:])
		p.i += n
	}
	name := p.s[from:p.i]
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "", p.wrong("a name is missing")
	}
	return name, nil
}

// number reads a number; what JSON cannot write (hexadecimal, .5, +1) is written again.
func (p *parser) number() (any, error) {
	from := p.i
	for p.i < len(p.s) && strings.IndexByte("+-.0123456789abcdefABCDEFxXINityn", p.s[p.i]) >= 0 {
		p.i++
	}
	raw := p.s[from:p.i]
	if n := json.Number(raw); json.Valid([]byte(raw)) && raw != "" {
		if _, err := n.Float64(); err == nil {
			return n, nil
		}
	}
	plain := strings.TrimPrefix(raw, "+")
	if digits, ok := strings.CutPrefix(strings.ToLower(strings.TrimPrefix(plain, "-")), "0x"); ok {
		if n, err := strconv.ParseUint(digits, 16, 63); err == nil {
			sign := ""
			if plain[0] == '-' {
				sign = "-"
			}
			return json.Number(sign + strconv.FormatUint(n, 10)), nil
		}
	}
	f, err := strconv.ParseFloat(plain, 64)
	b, bad := json.Marshal(f)
	if err != nil || bad != nil || strings.ContainsAny(plain, "xXINn") {
		p.i = from
		return nil, p.wrong("this is not a value")
	}
	return json.Number(b), nil
}

var escapes = map[byte]string{'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", '0': "\x00", '\n': ""}

func (p *parser) text() (string, error) {
	quote := p.s[p.i]
	p.i++
	var b strings.Builder
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == quote:
			p.i++
			return b.String(), nil
		case c == '\n' || c == '\r':
			return "", p.wrong("a string has no closing quote in its line")
		case c == '\\':
			s, err := p.escape()
			if err != nil {
				return "", err
			}
			b.WriteString(s)
		default:
			b.WriteByte(c)
			p.i++
		}
	}
	return "", p.wrong("a string has no closing quote")
}

func (p *parser) escape() (string, error) {
	p.i++
	if p.i >= len(p.s) {
		return "", p.wrong("a string has no closing quote")
	}
	switch c := p.s[p.i]; c {
	case 'u':
		r, err := p.hex(4)
		if err == nil && utf16.IsSurrogate(r) && strings.HasPrefix(p.s[p.i:], `\u`) {
			at := p.i
			p.i++
			low, bad := p.hex(4)
			if both := utf16.DecodeRune(r, low); bad == nil && both != utf8.RuneError {
				return string(both), nil
			}
			p.i = at
		}
		return string(r), err
	case 'x':
		r, err := p.hex(2)
		return string(r), err
	case '\r':
		p.i++
		if p.i < len(p.s) && p.s[p.i] == '\n' {
			p.i++
		}
		return "", nil
	default:
		if s, ok := escapes[c]; ok {
			p.i++
			return s, nil
		}
		r, n := utf8.DecodeRuneInString(p.s[p.i:])
		p.i += n
		return string(r), nil
	}
}

func (p *parser) hex(n int) (rune, error) {
	p.i++
	v, err := strconv.ParseUint(p.s[p.i:min(p.i+n, len(p.s))], 16, 32)
	if err != nil || p.i+n > len(p.s) {
		return 0, p.wrong("%d hexadecimal digits are missing", n)
	}
	p.i += n
	return rune(v), nil //nolint:gosec // at most four digits
}
