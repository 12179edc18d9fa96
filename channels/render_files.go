package channels

import (
	"strings"

	"parley/channels/pattern"
)

// Telegram makes links of names that end like the domain of a country: README.md, backup.sh, main.py. They are shown as code, which
// it leaves alone.
//
// source: openclaw/openclaw PR#8649
var linkedName = pattern.New(`^([("'\[“„«]*)((?:[\w.~-]*[\\/])*[\w.-]*[\w-]\.(?:md|sh|py|pl|rs|ps|cc|mk|ml|mm|tf|am|ac|pub|zip|mov))((?::\d+)?[)"'\]”“».,;:!?…]*)$`)

// filesAsCode marks the names of files that the platform would make links of.
func (d *document) filesAsCode() {
	var out []atom // from the first name on
	keep := func(a *atom) {
		if out != nil {
			out = append(out, *a)
		}
	}
	for i := range d.atoms {
		a := &d.atoms[i]
		if a.kind != word || !hasLinkedName(a.text) {
			keep(a)
			continue
		}
		st := a.st
		st.bold, st.italic, st.strike, st.heading, st.quote = false, false, false, false, false
		whole := (i == 0 || d.atoms[i-1].white() || d.atoms[i-1].kind == glue) && (i+1 == len(d.atoms) || d.atoms[i+1].white())
		if st != (style{}) || !whole {
			keep(a)
			continue
		}
		m := linkedName.FindStringSubmatch(a.text)
		if m == nil {
			keep(a)
			continue
		}
		if out == nil {
			out = append(make([]atom, 0, len(d.atoms)+4), d.atoms[:i]...)
		}
		for j, part := range m[1:] {
			if part == "" {
				continue
			}
			b := *a
			b.text, b.openEnd = part, false
			if b.st.code = j == 1; b.st.code {
				b.st.bold, b.st.italic, b.st.strike = false, false, false
			}
			out = append(out, b)
		}
	}
	if out != nil {
		d.atoms = out
	}
}

// hasLinkedName reports whether a text could hold such a name.
func hasLinkedName(s string) bool {
	for at := 0; ; at++ {
		i := strings.IndexByte(s[at:], '.')
		if i < 0 {
			return false
		}
		if at += i; at > 0 && at+2 < len(s) && s[at+1] >= 'a' && s[at+1] <= 'z' && s[at-1] > ' ' {
			return true
		}
	}
}
