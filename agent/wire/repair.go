package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Repair returns JSON without what many servers write and no JSON has: numbers that are none (NaN, Infinity) become null, control characters
// and wrong escapes in strings are escaped, and what Python writes of objects is read. ok is false where there was none of them. It is called
// for what cannot be read, so that one odd figure does not cost an answer.
func Repair(data []byte) (fixed []byte, ok bool) {
	fixed, ok = escaped(data)
	if ok && json.Valid(fixed) {
		return fixed, true
	}
	if !ok && json.Valid(data) {
		return data, false
	}
	for _, odd := range [][]byte{data, fixed} {
		if read := fromPython(odd); read != nil {
			return read, true
		}
	}
	return fixed, ok
}

// escaped replaces numbers that are none, and what has to be escaped.
//
// source: https://docs.python.org/3/library/json.html#infinite-and-nan-number-values, allow_nan is the default
func escaped(data []byte) (fixed []byte, ok bool) {
	done := 0
	replace := func(from, to int, with string) {
		fixed = append(append(fixed, data[done:from]...), with...)
		done = to
	}
	inString := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			inString = !inString
		case !inString:
			if n := noNumber(data[i:]); n > 0 && (i == 0 || !isWordByte(data[i-1])) && (i+n == len(data) || !isWordByte(data[i+n])) {
				replace(i, i+n, "null")
				i += n - 1
			}
		case c < ' ':
			replace(i, i+1, fmt.Sprintf(`\u%04x`, c))
		case c == '\\':
			if !isEscape(data[i:]) {
				replace(i, i+1, `\\`)
			} else {
				i++ // what it escapes
			}
		}
	}
	if done == 0 {
		return data, false
	}
	return append(fixed, data[done:]...), true
}

// noNumber returns the length of a word at the beginning of data that stands for a number which JSON does not have; 0 = none.
func noNumber(data []byte) int {
	if bytes.IndexByte([]byte("NIni-"), data[0]) < 0 {
		return 0
	}
	for _, word := range []string{"NaN", "Infinity", "-Infinity", "-NaN", "nan", "inf", "-inf"} {
		if bytes.HasPrefix(data, []byte(word)) {
			return len(word)
		}
	}
	return 0
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isEscape reports whether data begins with an escape of a JSON string.
func isEscape(data []byte) bool {
	n := 2
	if len(data) > 1 && data[1] == 'u' {
		n = 6
	}
	return len(data) >= n && json.Valid(append(append([]byte{'"'}, data[:n]...), '"'))
}
