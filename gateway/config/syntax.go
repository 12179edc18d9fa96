package config

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// document parses the one YAML document of a file. Without content the node is nil.
func document(data []byte) (*yaml.Node, *Problem) {
	text, b := shield(string(data))
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxProblem(data, err)
	case doc.Kind != yaml.DocumentNode || len(doc.Content) != 1:
		return nil, nil
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, &Problem{Line: second.Line, Text: "a second document begins here", Hint: "a configuration is one document; remove the ---"}
	case !errors.Is(err, io.EOF):
		return nil, syntaxProblem(data, err)
	}
	b.restore(&doc)
	return doc.Content[0], nil
}

var yamlError = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// explained turns what the YAML parser says into what people can act on.
var explained = []struct{ says, text, hint string }{
	{"found character that cannot start any token", "a value begins with a character that YAML reserves", "quote the value; indent with spaces, not tabs"},
	{"did not find expected alphabetic or numeric character", "a value begins with * or &, which YAML reserves", `quote the value: "*"`},
	{"unknown anchor", "a value begins with *, which YAML reserves", `quote the value: "*"`},
	{"mapping values are not allowed in this context", `unexpected ":"`, `check the indentation, or quote values that contain ": "`},
	{"could not find expected ':'", "this line has no key", `write ": " between key and value`},
	{"did not find expected key", "the indentation does not match the lines above", "start all keys of a group in the same column"},
	{"did not find expected '-' indicator", "the indentation does not match the list above", `start all items of a list in the same column, each with "- "`},
	{"did not find expected ',' or ']'", "a list that begins with [ has no closing ]", "close the list, or quote its items"},
	{"did not find expected ',' or '}'", "a group that begins with { has no closing }", "close the group, or quote its values"},
	{"found unexpected end of stream", "a quoted text has no closing quote", "add the missing quote"},
	{"found a tab character that violates indentation", "a tab is used for indentation", "use spaces"},
	{"undefined tag handle", "a value begins with !, which YAML reserves", "quote the value"},
	{"exceeded max depth", "is nested too deeply", "check for repeated brackets"},
	{"control characters are not allowed", "the file contains a control character", "remove it"},
}

// syntaxProblem words a parser's error. It never repeats text of the file.
func syntaxProblem(data []byte, err error) *Problem {
	p := &Problem{Text: "is not valid YAML", Hint: "check this line and the one above"}
	m := yamlError.FindStringSubmatch(err.Error())
	if m == nil {
		return p
	}
	p.Line, _ = strconv.Atoi(m[1])
	for _, e := range explained {
		if strings.Contains(m[2], e.says) {
			p.Text, p.Hint = e.text, e.hint
			break
		}
	}
	if line, ok := firstBroken(data, m[2]); ok {
		p.Line = line
	}
	if line, ok := tabIndent(data, p.Line); ok {
		p.Line, p.Text, p.Hint = line, "a tab is used for indentation", "use spaces"
	}
	return p
}

// firstBroken finds the line that makes the parser fail. The parser names the beginning of the construct around it, which can be
// the top of the file; the shortest beginning of the file that fails in the same way ends with the line that people look for.
func firstBroken(data []byte, message string) (int, bool) {
	if len(data) > 64<<10 {
		return 0, false // not worth parsing again and again
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	fails := func(n int) bool {
		text, _ := shield(string(bytes.Join(lines[:n], nil)))
		dec := yaml.NewDecoder(strings.NewReader(text))
		for {
			var doc yaml.Node
			if err := dec.Decode(&doc); err != nil {
				m := yamlError.FindStringSubmatch(err.Error())
				return m != nil && m[2] == message
			}
		}
	}
	n := sort.Search(len(lines), func(i int) bool { return fails(i + 1) })
	return n + 1, n < len(lines) && fails(n+1)
}

// tabIndent finds a tab in the indentation at or shortly before the line where the parser gave up.
func tabIndent(data []byte, line int) (int, bool) {
	lines := bytes.Split(data, []byte("\n"))
	for i := min(line, len(lines)); i > 0 && i > line-3; i-- {
		l := lines[i-1]
		if indent := l[:len(l)-len(bytes.TrimLeft(l, " \t"))]; bytes.IndexByte(indent, '\t') >= 0 && len(indent) < len(l) {
			return i, true
		}
	}
	return 0, false
}
