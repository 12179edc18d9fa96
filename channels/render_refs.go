package channels

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Reference links: "[text][label]" and, somewhere else, "[label]: address". A message has no place for addresses apart from their
// links, so a definition is left out when a link shows its address, and stays visible text when none does. Footnotes
// ("[^1]: …") are not definitions, nor is anything that has more on its line than an address and a title.
var definition = regexp.MustCompile(`^[ \t]*\[([^\[\]^\\\s][^\[\]\\]{0,200})\]:[ \t]*(?:<([^<>\s]+)>|([^<>\s]+))(?:[ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*$`)

// labels are the labels whose definitions are taken out of the text; nil = all.
type labels map[string]bool

var labelsKey = parser.NewContextKey()

// definitions takes definitions out of a paragraph. The parser's own way takes them at the start of a paragraph only and keeps
// what no link leads to.
type definitions struct{}

// Transform implements parser.ParagraphTransformer.
func (definitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	take, _ := pc.Get(labelsKey).(labels)
	lines := node.Lines()
	rest := text.NewSegments()
	var found []*ast.LinkReferenceDefinition
	for i := range lines.Len() {
		line := lines.At(i)
		def := defined(line.Value(reader.Source()))
		if def == nil || !take.want(def) || isDefined(pc, def) || taken(found, def) {
			rest.Append(line)
			continue
		}
		def.Lines().Append(line)
		found = append(found, def)
	}
	if len(found) == 0 || rest.Len() == 0 && node.Parent().Kind() != ast.KindDocument { // an empty list item would be left
		return
	}
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
	if !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("[")) {
		return nil
	}
	m := definition.FindSubmatch(line)
	if m == nil {
		return nil
	}
	dest := m[2]
	if dest == nil {
		dest = m[3]
	}
	if !absolute(address(string(dest))) {
		return nil
	}
	return ast.NewLinkReferenceDefinition(m[1], dest, nil)
}

func (l labels) want(def *ast.LinkReferenceDefinition) bool {
	return l == nil || l[util.ToLinkReference(def.Label)]
}

func isDefined(pc parser.Context, def *ast.LinkReferenceDefinition) bool {
	_, is := pc.Reference(util.ToLinkReference(def.Label))
	return is
}

func taken(found []*ast.LinkReferenceDefinition, def *ast.LinkReferenceDefinition) bool {
	for _, f := range found {
		if util.ToLinkReference(f.Label) == util.ToLinkReference(def.Label) {
			return true
		}
	}
	return false
}

// ParseMarkdown parses a part of the Markdown of chats, as Stretches cuts it. Definitions that no link uses are left in the text by parsing it
// again without them.
func ParseMarkdown(src []byte) ast.Node {
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
	used = labels{}
	if len(pc.References()) == 0 {
		return root, used, true
	}
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
