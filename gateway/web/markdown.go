package web

import (
	"bytes"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	rhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"parley/channels"
	"parley/channels/pattern"
)

// maxMarkdown is the longest text that is parsed, in bytes; a longer one is shown as it is.
const maxMarkdown = 256 << 10

// RenderMarkdown gives HTML that is safe to put into the page, whatever an agent wrote: tags are shown as text, links lead only
// to http, https and mailto and open in a new tab, other addresses are shown, and pictures are links, because fetching one would tell its
// server what the agent put into the address. It takes linear time.
func RenderMarkdown(md string) string {
	if len(md) > maxMarkdown {
		return "<pre>" + html.EscapeString(md) + "</pre>"
	}
	var out bytes.Buffer
	for _, s := range channels.Stretches(channels.SeparateFences(md)) {
		src := []byte(s.Text)
		if s.IsPlain || page().Render(&out, src, tame(channels.ParseMarkdown(src), src)) != nil { // a Buffer takes every write
			out.WriteString("<pre>" + html.EscapeString(s.Text) + "</pre>\n")
		}
	}
	return out.String()
}

// page writes what the parser of the chats has read: a text means the same on the page as on a phone.
var page = sync.OnceValue(func() renderer.Renderer {
	return goldmark.New(
		goldmark.WithRendererOptions(
			rhtml.WithHardWraps(), rhtml.WithWriter(asWritten{rhtml.DefaultWriter}),
			renderer.WithNodeRenderers(
				util.Prioritized(tagsAsText{}, 1),
				util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
				util.Prioritized(taskBoxes{}, 500),
				util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 500), // no inline styles: the page forbids them
			),
		),
	).Renderer()
})

// asWritten writes text without a second look for entities and backslashes: the parser has left out what is markup.
type asWritten struct{ rhtml.Writer }

// Write implements html.Writer.
func (w asWritten) Write(out util.BufWriter, source []byte) { w.RawWrite(out, source) }

// taskBoxes draws the boxes of task lists as signs with a name: an input that nobody can change needs a label and has none.
type taskBoxes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (taskBoxes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(east.KindTaskCheckBox, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if box, ok := n.(*east.TaskCheckBox); ok && entering {
			sign := `<span role="img" aria-label="not done">☐</span> `
			if box.IsChecked {
				sign = `<span role="img" aria-label="done">☑</span> `
			}
			_, _ = w.WriteString(sign)
		}
		return ast.WalkContinue, nil
	})
}

// tame changes the parsed document where the page is stricter than Markdown, and gives it.
func tame(doc ast.Node, src []byte) ast.Node {
	var lists []*ast.List
	var links []*ast.Link
	var autos []*ast.AutoLink
	var images []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.List:
			lists = append(lists, n)
		case *ast.Heading:
			n.Level = min(n.Level+2, 6) // the page has its own h1 and h2
		case *ast.Link:
			links = append(links, n)
		case *ast.AutoLink:
			autos = append(autos, n)
		case *ast.Image:
			images = append(images, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range lists {
		asNumbered(n)
	}
	for _, n := range images {
		l := ast.NewLink()
		l.Destination = n.Destination
		if !n.HasChildren() {
			n.AppendChild(n, ast.NewString(n.Destination))
		}
		moveChildren(l, n)
		n.Parent().ReplaceChild(n.Parent(), n, l)
		links = append(links, l)
	}
	for _, n := range links {
		if leadsOut(string(n.Destination)) {
			newTab(n)
			if pretends(n, src) {
				n.Parent().InsertAfter(n.Parent(), n, ast.NewString([]byte(" ("+string(n.Destination)+")")))
			}
			continue
		}
		plain := ast.NewTextBlock()
		moveChildren(plain, n)
		if text, isString := plain.FirstChild().(*ast.String); (!isString || !bytes.Equal(text.Value, n.Destination)) && len(n.Destination) > 0 {
			plain.AppendChild(plain, ast.NewString([]byte(" ("+channels.WrittenAddress(string(n.Destination))+")")))
		}
		p := n.Parent()
		for c := plain.FirstChild(); c != nil; c = plain.FirstChild() {
			plain.RemoveChild(plain, c)
			p.InsertBefore(p, n, c)
		}
		p.RemoveChild(p, n)
	}
	for _, n := range autos {
		if n.AutoLinkType == ast.AutoLinkEmail || leadsOut(string(n.URL(src))) {
			newTab(n)
			continue
		}
		n.Parent().ReplaceChild(n.Parent(), n, ast.NewString(n.Label(src)))
	}
	return doc
}

// asNumbered writes the numbers of a list out where the browser would show others: 007. becomes 7. there, and 3) becomes 3.
func asNumbered(l *ast.List) {
	const value = "value" // what the parser of the chats keeps a number in that does not follow on the one before
	if !l.IsOrdered() {
		return
	}
	var numbers []string
	next, isWritten := l.Start, l.Marker == ')'
	for n := l.FirstChild(); n != nil; n = n.NextSibling() {
		digits := strconv.Itoa(next)
		if v, ok := n.AttributeString(value); ok {
			digits = string(v.([]byte))
			next, _ = strconv.Atoi(digits)
		}
		isWritten = isWritten || digits != strconv.Itoa(next)
		numbers = append(numbers, digits)
		next++
	}
	if !isWritten {
		return
	}
	l.Start = 1
	for n := l.FirstChild(); n != nil; n = n.NextSibling() {
		n.RemoveAttributes()
		n.SetAttributeString("class", []byte("written"))
		number := ast.NewString([]byte(numbers[0] + string(l.Marker) + " "))
		numbers = numbers[1:]
		switch first := n.FirstChild(); first.(type) {
		case *ast.TextBlock, *ast.Paragraph:
			first.InsertBefore(first, first.FirstChild(), number)
		default:
			line := ast.NewTextBlock()
			line.AppendChild(line, number)
			n.InsertBefore(n, first, line)
		}
	}
}

// pretends reports whether the words of a link are, or hold, the address of another host than the one that it leads to.
func pretends(n *ast.Link, src []byte) bool {
	plain := func(host string) string { return strings.TrimPrefix(strings.ToLower(host), "www.") }
	leadsTo := ""
	if dest, err := url.Parse(string(n.Destination)); err == nil {
		leadsTo = plain(dest.Hostname())
	}
	return slices.ContainsFunc(hostsSaid(string(n.Text(src))), func(host string) bool { return plain(host) != leadsTo }) //nolint:staticcheck // the words without their markup
}

// hostsSaid gives the hosts of the addresses in words: of all with a scheme, and of one without when the words begin with it. It refuses nothing: people
// take for an address what no program would.
func hostsSaid(words string) (hosts []string) {
	words = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r):
			return -1
		case r == '\\':
			return '/'
		case r == '。' || r == '．' || r == '｡': // browsers take them for dots
			return '.'
		}
		return r
	}, words))
	for i, word := range strings.Fields(words) {
		_, host, isAddress := strings.Cut(word, "://")
		if !isAddress {
			if i > 0 || !domain.MatchString(words) {
				continue
			}
			host = word
		}
		host = strings.TrimLeft(host, "/")
		host = host[:strings.IndexAny(host+"/", "/?#")]
		host = port.ReplaceAllString(host[strings.LastIndexByte(host, '@')+1:], "")
		if host = strings.TrimRight(strings.Trim(host, "[]"), `.,;:!?)'"`); host != "" {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

var (
	domain = pattern.New(`^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}\.?(?:[/:?#]|$)`) // the name of a host in front of a path, or of a port
	port   = pattern.New(`:\d*$`)
)

func moveChildren(to, from ast.Node) {
	for c := from.FirstChild(); c != nil; c = from.FirstChild() {
		from.RemoveChild(from, c)
		to.AppendChild(to, c)
	}
}

func newTab(n ast.Node) {
	n.SetAttributeString("target", []byte("_blank"))
	n.SetAttributeString("rel", []byte("noopener noreferrer nofollow"))
}

func leadsOut(dest string) bool {
	u, err := url.Parse(dest)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return true
	}
	return false
}

// tagsAsText shows HTML in a message as the text that it is.
type tagsAsText struct{}

func (r tagsAsText) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindRawHTML, r.inline)
	reg.Register(ast.KindHTMLBlock, r.block)
	reg.Register(ast.KindCodeBlock, r.indented)
}

func (tagsAsText) inline(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if n, ok := node.(*ast.RawHTML); ok && entering {
		if channels.EndsLine(src, n) {
			_, _ = w.WriteString("<br>\n")
			return ast.WalkSkipChildren, nil
		}
		for i := range n.Segments.Len() {
			seg := n.Segments.At(i)
			_, _ = w.Write(util.EscapeHTML(seg.Value(src)))
		}
	}
	return ast.WalkSkipChildren, nil
}

// indented shows indented text as the text that it is: nobody means code by it in a chat.
func (tagsAsText) indented(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<p>")
	for i := range n.Lines().Len() {
		if i > 0 {
			_, _ = w.WriteString("<br>\n")
		}
		line := n.Lines().At(i)
		s := bytes.TrimRight(line.Value(src), " \t\n")
		words := bytes.TrimLeft(s, " \t")
		_, _ = w.WriteString(strings.Repeat("\u00a0", len(s)-len(words)))
		_, _ = w.Write(util.EscapeHTML(words))
	}
	_, _ = w.WriteString("</p>\n")
	return ast.WalkContinue, nil
}

func (tagsAsText) block(w util.BufWriter, src []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n, ok := node.(*ast.HTMLBlock)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		seg := n.Lines().At(i)
		b.Write(seg.Value(src))
	}
	if n.HasClosure() {
		b.Write(n.ClosureLine.Value(src))
	}
	_, _ = w.WriteString("<p>")
	_, _ = w.Write(bytes.ReplaceAll(util.EscapeHTML(bytes.TrimSpace(b.Bytes())), []byte("\n"), []byte("<br>\n")))
	_, _ = w.WriteString("</p>\n")
	return ast.WalkContinue, nil
}
