package channels

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
)

// bracketAddresses puts addresses in angle brackets where Discord would take what follows on them for a part of them: it ends an address at a
// space, and sees no markup in front of that.
//
// source: Discord's rule for addresses, /^((?:https?|steam):\/\/[^\s<]+[^<.,:;"'\]\s])/
func (d *document) bracketAddresses() {
	var out []atom // from the first such address on
	for i, a := range d.atoms {
		start, end := d.swallowing(i)
		if start == end {
			if out != nil {
				out = append(out, a)
			}
			continue
		}
		if out == nil {
			out = append(make([]atom, 0, len(d.atoms)+8), d.atoms[:i]...)
		}
		mark := atom{kind: markup, st: a.st}
		for k, part := range []string{a.text[:start], "<", a.text[start:end], ">", a.text[end:]} {
			switch next := a; {
			case part == "":
			case k%2 == 1:
				mark.text = part
				out = append(out, mark)
			default:
				next.text, next.openEnd = part, a.openEnd && k == 4
				if k == 2 {
					next.kind = glue
				}
				out = append(out, next)
			}
		}
	}
	if out != nil {
		d.atoms = out
	}
}

// swallowing gives where in an atom an address stands that Discord would make longer; nowhere when both are the same.
func (d *document) swallowing(i int) (start, end int) {
	a := &d.atoms[i]
	if a.kind != glue && a.kind != word || a.st.link != 0 || a.st.pre != 0 || a.st.code {
		return 0, 0
	}
	if start = webAddress(a.text); start < 0 {
		return 0, 0
	}
	end = len(a.text)
	if a.kind == word {
		end = start + min(addressLength(a.text[start:]), discordAddress(a.text[start:]))
		_, host, _ := strings.Cut(a.text[start:end], "://")
		if next, _ := utf8.DecodeRuneInString(a.text[end:]); !strings.ContainsAny(host, "./?#") && !ascii(next) && ofWord(next) { // of the host
			return 0, 0
		}
		if end < len(a.text) && a.text[end] < utf8.RuneSelf && a.text[end] != '`' { // a sign that Discord ends it at, too
			return 0, 0
		}
	}
	if end == len(a.text) && !d.continuesAddress(i) {
		return 0, 0
	}
	return start, end
}

// continuesAddress reports whether Discord would take what follows directly on atom i for a part of its address though it is none. Marks that
// end there do end it, and so does punctuation at the end of a sentence.
func (d *document) continuesAddress(i int) bool {
	was := d.atoms[i].st
	for i++; i < len(d.atoms) && !d.atoms[i].white(); i++ {
		st := d.atoms[i].st
		if was.bold && !st.bold || was.italic && !st.italic || was.strike && !st.strike {
			return false
		}
		text := d.atoms[i].text
		isOfIt := discordAddress(text) == len(text) && addressLength(text) == len(text)
		if st != was || !isOfIt && strings.Trim(text, `.,:;"')]!?`) != "" {
			return true
		}
	}
	return false
}

// joinsList reports whether Discord would take a list for a part of the one in front of it: what follows on a line of a list is an item of it,
// with a number or a dash as the first one has.
//
// source: Discord's rule for lists, /^( *)((?:[*-]|\d+\.)) [\s\S]+?(?:\n(?! )(?!\1(?:[*-]|\d+\.) )|$)/
func (b *builder) joinsList(l *ast.List) bool {
	before, ok := l.PreviousSibling().(*ast.List)
	if !ok || b.spec.dialect != DiscordMD || b.unmarked == before || l.HasBlankPreviousLines() || before.IsOrdered() == l.IsOrdered() || before.Marker == ')' || l.Marker == ')' {
		return false
	}
	b.unmarked = l
	return true
}

// isListNumber reports whether a word that begins a line is a number that Discord would make a list of, which it would count in its own way.
func isListNumber(s string) bool {
	digits, isNumber := strings.CutSuffix(s, ".")
	return isNumber && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// isUnderscored reports whether an underscore ends a word in code or in an address, where it cannot be escaped. One inside of a word opens
// italics for Discord, and such a one would close them.
//
// source: Discord's rule for italics, /^\b_((?:__|\\[\s\S]|[^\\_])+?)_\b/, whose first \b holds at the start of any rest of a text
func (d *document) isUnderscored() bool {
	for _, link := range d.links {
		if endsWithUnderscore(link) {
			return true
		}
	}
	start := 0 // of the atoms in which an address could stand that is not over yet
	for i := range d.atoms {
		a := &d.atoms[i]
		switch {
		case a.white():
			start = i + 1
		case !endsWithUnderscore(a.text):
		case a.kind != word || a.st.code || a.st.pre != 0 || hasAddress(d.atoms[start:i+1]):
			return true
		default:
			start = i + 1
		}
	}
	return false
}

func hasAddress(atoms []atom) bool {
	return slices.ContainsFunc(atoms, func(a atom) bool { return webAddress(a.text) >= 0 })
}

// endsWithUnderscore reports whether an underscore stands at the end of a word.
func endsWithUnderscore(s string) bool {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], '_')
		if n < 0 {
			return false
		}
		if i += n; i+1 == len(s) || !asciiWord(rune(s[i+1])) && s[i+1] != '_' {
			return true
		}
	}
}
