package channels

import (
	"bytes"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Reference links: "[text][label]" and, somewhere else, "[label]: address". A message has no place for addresses apart from their
// links, so a definition is left out when a link shows its address, and stays visible text when none does.

// labels are the labels whose definitions are taken out of the text; nil = all.
type labels map[string]bool

var (
	labelsKey  = parser.NewContextKey()
	definedKey = parser.NewContextKey() // set when there is a definition
)

// definitions takes definitions out of a paragraph. The parser's own way takes them at the start of a paragraph only and keeps
// what no link leads to.
type definitions struct{}

// Transform implements parser.ParagraphTransformer.
func (definitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	var rest *text.Segments // without definitions; nil = there are none
	var found []*ast.LinkReferenceDefinition
	seen := labels{}
	for i := range lines.Len() {
		line := lines.At(i)
		def := defined(line.Value(reader.Source()))
		if def == nil || !seen.isNew(def, pc) {
			if rest != nil {
				rest.Append(line)
			}
			continue
		}
		if rest == nil {
			rest = text.NewSegments()
			rest.AppendAll(lines.Sliced(0, i))
		}
		def.Lines().Append(line)
		found = append(found, def)
	}
	if len(found) == 0 || rest.Len() == 0 && node.Parent().Kind() != ast.KindDocument { // an empty list item would be left
		return
	}
	pc.Set(definedKey, true)
	found[0].SetBlankPreviousLines(node.HasBlankPreviousLines())
	for _, def := range found {
		pc.AddReference(parser.NewReference(def.Label, def.Destination, nil))
		node.Parent().InsertBefore(node.Parent(), node, def)
	}
	if rest.Len() == 0 {
		node.Parent().RemoveChild(node.Parent(), node)
		return
	}
	node.SetLines(rest)
}

// defined gives the definition that a line is.
func defined(line []byte) *ast.LinkReferenceDefinition {
	if !bytes.HasPrefix(withoutBlanks(line), []byte("[")) {
		return nil
	}
	label, dest := definition(line)
	if label == nil || !absolute(address(string(dest))) {
		return nil
	}
	return ast.NewLinkReferenceDefinition(label, dest, nil)
}

// definition gives the label and the address of a line that consists of a definition; no label = it does not. Footnotes ("[^1]: …") are no
// definitions, nor is anything that has more on its line than an address and a title.
func definition(line []byte) (label, dest []byte) {
	const longest = 201
	_, s, isOpen := bytes.Cut(line, []byte("["))
	end := bytes.IndexAny(s, `[]\`)
	if !isOpen || end < 1 || !bytes.HasPrefix(s[end:], []byte("]:")) || s[0] == '^' || isPatternSpace(s[0]) || utf8.RuneCount(s[:end]) > longest {
		return nil, nil
	}
	label, s = s[:end], withoutBlanks(s[end+len("]:"):])
	if dest, s = cutDestination(s); len(dest) == 0 {
		return nil, nil
	}
	if title := withoutBlanks(s); len(title) < len(s) && len(title) > 1 {
		closing := bytes.IndexByte(title[1:], title[0])
		switch title[0] {
		case '"', '\'':
		case '(':
			if closing = bytes.IndexAny(title[1:], "()"); closing >= 0 && title[1+closing] == '(' {
				closing = -1
			}
		default:
			closing = -1
		}
		if closing >= 0 {
			s = title[closing+2:]
		}
	}
	if len(bytes.TrimFunc(s, func(r rune) bool { return ascii(r) && isPatternSpace(byte(r)) })) > 0 {
		return nil, nil
	}
	return label, dest
}

// cutDestination cuts the address of a definition off, which may be in angle brackets.
func cutDestination(s []byte) (dest, rest []byte) {
	bracketed := bytes.HasPrefix(s, []byte("<"))
	if bracketed {
		s = s[1:]
	}
	end := bytes.IndexAny(s, "<> \t\n\f\r")
	switch {
	case bracketed && end > 0 && s[end] == '>':
		return s[:end], s[end+1:]
	case bracketed:
		return nil, s
	case end < 0:
		return s, nil
	}
	return s[:end], s[end:]
}

func isPatternSpace(c byte) bool { return isBlankByte(c) || c == '\f' || c == '\r' }

// isNew reports whether a definition is wanted, is the first one of its label in a text, and is in no set of seen ones, into which it comes then.
func (seen labels) isNew(def *ast.LinkReferenceDefinition, pc parser.Context) bool {
	take, _ := pc.Get(labelsKey).(labels)
	label := util.ToLinkReference(def.Label)
	if _, isDefined := pc.Reference(label); isDefined || seen[label] || take != nil && !take[label] {
		return false
	}
	seen[label] = true
	return true
}

// ParseMarkdown parses a part of the Markdown of chats, as Stretches cuts it. An item of a list that does not follow on the one before it has its
// number as the attribute "value".
func ParseMarkdown(src []byte) ast.Node {
	root := tree(src)
	numberItems(root, src)
	return root
}

// tree parses a piece. Definitions that no link uses are left in the text by parsing it again without them.
func tree(src []byte) ast.Node {
	src = maskFormulas(src)
	var take labels
	for range 2 {
		root, used, all := treeWith(src, take)
		if all {
			return root
		}
		take = used
	}
	root, _, _ := treeWith(src, labels{})
	return root
}

// treeWith parses a piece with some definitions. It gives the labels that links use, and whether all that were found are used.
func treeWith(src []byte, take labels) (root ast.Node, used labels, all bool) {
	pc := parser.NewContext()
	pc.Set(labelsKey, take)
	root = markdown().Parse(text.NewReader(src), parser.WithContext(pc))
	if pc.Get(definedKey) == nil {
		return root, nil, true
	}
	used = labels{}
	// Many short links to one long address would make much out of little.
	room := 4*len(src) + 4000
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		var ref *ast.ReferenceLink
		var dest []byte
		switch n := n.(type) {
		case *ast.Link:
			ref, dest = n.Reference, n.Destination
		case *ast.Image:
			ref, dest = n.Reference, n.Destination
		}
		if entering && ref != nil {
			used[util.ToLinkReference(ref.Value)] = true
			room -= len(dest)
		}
		return ast.WalkContinue, nil
	})
	if room < 0 {
		return root, labels{}, false
	}
	return root, used, len(used) == len(pc.References())
}
