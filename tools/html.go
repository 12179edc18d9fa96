package tools

import (
	"io"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// htmlText is what is read out of an HTML page.
type htmlText struct {
	base  *url.URL
	text  strings.Builder
	title strings.Builder

	skip  atom.Atom // inside of this element nothing is text
	depth int       // elements of the same kind inside of it
	head  bool      // inside of the title
	pre   int       // inside of elements whose spaces count
	links []string  // targets of the open links, "" = none worth showing
	gap   int       // line ends before the next text: 2 = an empty line
	space bool      // a space before the next text
	lists []int     // open lists: the number of the last item, -1 = not numbered
}

// maxPage is the longest piece of markup that is read; more ends the text there.
const maxPage = 1 << 20

// readPage gives the text of an HTML page in reading order, with headings, lists and links as Markdown has them. It reads the page as
// a row of tags, so that it takes time linear in its length whatever the tags are.
func readPage(r io.Reader, base *url.URL) (title, text string) {
	p := &htmlText{base: base}
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxPage)
	for {
		switch z.Next() {
		case html.ErrorToken: // the end, or what was cut off
			return strings.Join(strings.Fields(p.title.String()), " "), strings.TrimSpace(p.text.String())
		case html.TextToken:
			p.words(string(z.Text()))
		case html.StartTagToken:
			p.start(z.Token(), false)
		case html.SelfClosingTagToken:
			p.start(z.Token(), true)
		case html.EndTagToken:
			name, _ := z.TagName()
			p.end(atom.Lookup(name))
		}
	}
}

// hidden are elements without text for readers.
func hidden(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Canvas, atom.Select, atom.Textarea, atom.Math:
		return true
	}
	return false
}

// gapOf says how many line ends stand before and after an element.
func gapOf(a atom.Atom) int {
	switch a {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Pre, atom.Table, atom.Blockquote, atom.Hr, atom.Article, atom.Section, atom.Main:
		return 2
	case atom.Div, atom.Br, atom.Li, atom.Tr, atom.Dt, atom.Dd, atom.Header, atom.Footer, atom.Nav, atom.Aside, atom.Form, atom.Figure, atom.Figcaption, atom.Address, atom.Title, atom.Body, atom.Option, atom.Summary, atom.Details:
		return 1
	}
	return 0
}

func (p *htmlText) start(t html.Token, empty bool) {
	a := t.DataAtom
	switch {
	case p.skip != 0:
		if a == p.skip && !empty {
			p.depth++
		}
		return
	case hidden(a):
		if !empty {
			p.skip, p.depth = a, 1
		}
		return
	}
	p.gap = max(p.gap, gapOf(a))
	switch a {
	case atom.Title:
		p.head = p.title.Len() == 0
	case atom.Pre:
		p.pre++
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		p.raw(strings.Repeat("#", int(t.Data[1]-'0')) + " ")
	case atom.Ul:
		p.lists = append(p.lists, -1)
	case atom.Ol:
		p.lists = append(p.lists, 0)
	case atom.Li:
		p.item()
	case atom.Td, atom.Th:
		if p.gap == 0 {
			p.raw(" | ")
		}
	case atom.Img:
		if alt := attribute(t, "alt"); alt != "" {
			p.words("[image: " + alt + "]")
		}
	case atom.A:
		if !empty {
			p.links = append(p.links, p.target(attribute(t, "href")))
		}
	}
}

func (p *htmlText) end(a atom.Atom) {
	if p.skip != 0 {
		if a == p.skip {
			if p.depth--; p.depth == 0 {
				p.skip = 0
			}
		}
		return
	}
	p.gap = max(p.gap, gapOf(a))
	switch a {
	case atom.Title:
		p.head = false
	case atom.Pre:
		p.pre = max(p.pre-1, 0)
	case atom.Ul, atom.Ol:
		p.lists = p.lists[:max(len(p.lists)-1, 0)]
	case atom.A:
		if n := len(p.links); n > 0 {
			if to := p.links[n-1]; to != "" {
				p.text.WriteString(" <" + to + ">")
			}
			p.links = p.links[:n-1]
		}
	}
}

// item begins an entry of a list.
func (p *htmlText) item() {
	mark := "- "
	if n := len(p.lists); n > 0 && p.lists[n-1] >= 0 {
		p.lists[n-1]++
		mark = strconv.Itoa(p.lists[n-1]) + ". "
	}
	p.raw(strings.Repeat("  ", min(max(len(p.lists)-1, 0), 8)) + mark)
}

// words adds text; outside of pre all space is one space.
func (p *htmlText) words(s string) {
	switch {
	case p.skip != 0:
	case p.head:
		p.title.WriteString(s)
	case p.pre > 0:
		p.raw(s)
	default:
		f := strings.Fields(s)
		if len(f) == 0 {
			p.space = p.space || s != ""
			return
		}
		if p.space || strings.TrimLeft(s, " \t\r\n\f") != s {
			p.lead(" ")
		}
		p.raw(strings.Join(f, " "))
		p.space = strings.TrimRight(s, " \t\r\n\f") != s
	}
}

// lead puts a space between two words of a line.
func (p *htmlText) lead(s string) {
	if p.gap == 0 && p.text.Len() > 0 && !strings.HasSuffix(p.text.String(), " ") {
		p.text.WriteString(s)
	}
}

// raw adds text as it is, behind the line ends that are due.
func (p *htmlText) raw(s string) {
	if p.text.Len() > 0 {
		p.text.WriteString(strings.Repeat("\n", p.gap))
	}
	p.gap, p.space = 0, false
	p.text.WriteString(s)
}

// target gives where a link leads, whole; "" for what is no page.
func (p *htmlText) target(href string) string {
	u, err := p.base.Parse(strings.TrimSpace(href))
	if href == "" || strings.HasPrefix(href, "#") || err != nil || u.Scheme != "http" && u.Scheme != "https" || len(href) > 1000 {
		return ""
	}
	return u.String()
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
