package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// fromPython gives JSON for what Python writes of objects, and for lists that end with a comma; nil where that makes no JSON.
//
// source: sysid/sse-starlette#21, Osmantic/ODS#3809 (dicts in events), docs.python.org/3/reference/lexical_analysis.html#escape-sequences
func fromPython(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); {
		read, n := fromPythonToken(out, data, i)
		if n == 0 {
			return nil
		}
		out, i = read, i+n
	}
	if !json.Valid(out) {
		return nil
	}
	return out
}

// printedByPython gives JSON for the object or list that data begins with, as Python prints it, and its length there; 0 = it has no end. What
// no JSON has is a text: objects with a name and what they were made of, addresses, tuples are lists.
//
// source: docs.python.org/3/library/functions.html#repr, vllm-project/vllm (ctx of a value_error is ValueError('…'))
func printedByPython(data []byte) (out []byte, n int) {
	for i, open := 0, 0; i < len(data); {
		c := data[i]
		switch {
		case c == '(' || c == '[' || c == '{':
			open++
		case c == ')' || c == ']' || c == '}':
			open--
		}
		switch word, _ := pythonWord(data[i:]); {
		case c == '(':
			out, n = append(out, '['), 1
		case c == ')':
			out, n = append(out, ']'), 1
		case word == 0 && (c == '<' || isWordByte(c) && (c < '0' || c > '9')):
			if n = printedObject(data[i:]); n == 0 {
				return nil, 0
			}
			out = Quote(out, string(data[i:i+n]))
		default:
			if out, n = fromPythonToken(out, data, i); n == 0 {
				return nil, 0
			}
		}
		if i += n; open == 0 {
			return out, i
		}
	}
	return nil, 0
}

// printedObject returns the length of a name and of what stands in brackets behind it, or of what stands in angle brackets; 0 = it has no end.
func printedObject(data []byte) int {
	n, open := 0, 0
	for n < len(data) && (isWordByte(data[n]) || data[n] == '.') {
		n++
	}
	for ; n < len(data); n++ {
		switch c := data[n]; {
		case c == '\'' || c == '"':
			_, length := pythonText(data[n:])
			if length == 0 {
				return 0
			}
			n += length - 1
		case c == '(' || c == '<' || c == '[' || c == '{':
			open++
		case (c == ')' || c == '>' || c == ']' || c == '}') && open > 0:
			open--
			if open == 0 {
				return n + 1
			}
		case open == 0:
			return n
		}
	}
	return 0
}

// fromPythonToken appends JSON for what stands at a place of data, and gives its length there; 0 = a text that has no end.
func fromPythonToken(out, data []byte, i int) (read []byte, n int) {
	c := data[i]
	if word, value := pythonWord(data[i:]); word > 0 && (i == 0 || !isWordByte(data[i-1])) {
		return append(out, value...), word
	}
	switch {
	case c == '\'' || c == '"':
		text, n := pythonText(data[i:])
		if n == 0 {
			return nil, 0
		}
		return Quote(out, text), n
	case c == ',' && closesNext(data[i+1:]):
		return out, 1
	}
	return append(out, c), 1
}

// closesNext reports whether an object or a list ends next.
func closesNext(data []byte) bool {
	data = bytes.TrimLeft(data, " \t\r\n")
	return len(data) > 0 && (data[0] == '}' || data[0] == ']' || data[0] == ')')
}

// pythonWord returns the length of a word of Python that data begins with, and JSON's word for it; 0 = none.
func pythonWord(data []byte) (n int, value string) {
	for _, w := range [...][2]string{{"None", "null"}, {"True", "true"}, {"False", "false"}} {
		if n := len(w[0]); bytes.HasPrefix(data, []byte(w[0])) && (len(data) == n || !isWordByte(data[n])) {
			return n, w[1]
		}
	}
	return 0, ""
}

// pythonEscapes are what stands for one character behind a backslash, in Python or in JSON.
var pythonEscapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'a': '\a', 'v': '\v', '0': 0, '\\': '\\', '\'': '\'', '"': '"', '/': '/'}

// pythonText reads a text in quotes of either kind, and gives its length with them; 0 = it has no end.
func pythonText(data []byte) (text string, n int) {
	end := 1
	for ; end < len(data) && data[end] != data[0]; end++ {
		if data[end] == '\\' {
			end++
		}
	}
	if end >= len(data) {
		return "", 0
	}
	if data[0] == '"' && json.Unmarshal(data[:end+1], &text) == nil {
		return text, end + 1
	}
	var out []byte
	for i := 1; i < end; i++ {
		if data[i] != '\\' || i+1 >= end {
			out = append(out, data[i])
			continue
		}
		i++
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[data[i]]
		if c, known := pythonEscapes[data[i]]; known {
			out = append(out, c)
		} else if code, err := strconv.ParseUint(string(data[i+1:min(i+1+digits, end)]), 16, 32); digits > 0 && err == nil {
			out, i = append(out, string(rune(code))...), i+digits
		} else {
			out = append(out, '\\', data[i])
		}
	}
	return string(out), end + 1
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
