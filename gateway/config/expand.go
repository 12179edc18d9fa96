package config

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// reference is ${NAME} or ${NAME:-default}.
var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}\n]*)?\}`)

// referenceHere is a reference at the beginning of a text.
var referenceHere = regexp.MustCompile("^" + reference.String())

// braces are two characters that stand for the { and } of references while YAML is parsed: in a flow mapping, as in
// {token: ${NAME}}, YAML would take the braces for its own.
type braces struct{ open, close string }

// shield replaces the braces of all references by two characters that the text does not contain.
func shield(text string) (string, braces) {
	if !strings.Contains(text, "${") {
		return text, braces{}
	}
	var free []string
	for r := rune(0xE000); len(free) < 2; r++ { // private use; YAML allows them anywhere
		if !strings.ContainsRune(text, r) {
			free = append(free, string(r))
		}
	}
	b := braces{free[0], free[1]}
	return reference.ReplaceAllStringFunc(text, func(m string) string {
		return "$" + b.open + m[2:len(m)-1] + b.close
	}), b
}

// restore puts the braces back, in every text that the parser found.
func (b braces) restore(n *yaml.Node) {
	if b.open == "" {
		return
	}
	r := strings.NewReplacer(b.open, "{", b.close, "}")
	var walk func(*yaml.Node)
	walk = func(n *yaml.Node) {
		n.Value = r.Replace(n.Value)
		n.Anchor = r.Replace(n.Anchor)
		n.Tag = r.Replace(n.Tag)
		for _, c := range n.Content { // aliases are not followed: what they point to is in the tree anyway
			walk(c)
		}
	}
	walk(n)
}

// expansion is the outcome of expanding one scalar.
type expansion struct {
	text    string
	used    bool     // the text contained a reference or an escape
	missing []string // variables that are not set and have no default
	broken  bool     // a ${ that is no reference
}

// expand replaces ${NAME} by the variable, ${NAME:-default} by the default when the variable is unset or empty, and $${ by a
// literal ${. What comes out is never looked at again: neither for references nor as YAML.
func expand(s string, getenv func(string) string) expansion {
	e := expansion{text: s}
	if !strings.Contains(s, "${") {
		return e
	}
	e.used = true
	var b strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			break
		}
		if i > 0 && s[i-1] == '$' {
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		m := referenceHere.FindStringSubmatchIndex(s[i:])
		if m == nil {
			e.broken = true
			b.WriteString("${")
			s = s[i+2:]
			continue
		}
		ref := s[i : i+m[1]]
		name := ref[m[2]:m[3]]
		value := getenv(name)
		switch {
		case value != "":
		case m[4] >= 0:
			value = ref[m[4]+2 : m[5]]
		default:
			e.missing = append(e.missing, name)
		}
		b.WriteString(value)
		s = s[i+len(ref):]
	}
	e.text = b.String()
	return e
}
