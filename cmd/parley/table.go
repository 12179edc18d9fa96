package main

import (
	"fmt"
	"io"
	"strings"

	"parley/gateway/chatclient"
)

// grid is a table that fits the width of its page: a row is one line, and what is too long is cut.
type grid struct {
	p    *page
	head []string
	soft []bool // columns that are cut first: marked with ~ in the head
	rows [][]string
}

const (
	gap     = 2 // between columns
	softMin = 8 // a column is not made narrower than this as long as another one can be
)

// grid begins a table. A column whose name begins with ~ may be cut before the others.
func (p *page) grid(head ...string) *grid {
	g := &grid{p: p, head: head, soft: make([]bool, len(head))}
	for i, h := range head {
		g.head[i], g.soft[i] = strings.TrimPrefix(h, "~"), strings.HasPrefix(h, "~")
	}
	return g
}

// row adds a row.
func (g *grid) row(cells ...any) {
	row := make([]string, len(g.head))
	for i := range min(len(cells), len(row)) {
		row[i] = chatclient.OneLine(fmt.Sprint(cells[i]))
	}
	g.rows = append(g.rows, row)
}

// print prints the table; without rows only what is said then.
func (g *grid) print(empty string) {
	if len(g.rows) == 0 {
		g.p.note("%s\n", empty)
		return
	}
	widths := g.widths()
	var b strings.Builder
	g.line(&b, g.head, widths, func(int, string) colour { return bold })
	for _, r := range g.rows {
		g.line(&b, r, widths, func(_ int, cell string) colour { return moods[cell] })
	}
	_, _ = io.WriteString(g.p.out, b.String()) // the cells are clean
}

// nothing says that a list is empty: there is nothing yet, or nothing that fits what was asked for.
func nothing(what string, asked bool) string {
	if asked {
		return "No " + what + " match."
	}
	return "No " + what + " yet."
}

func (g *grid) line(b *strings.Builder, cells []string, widths []int, paint func(i int, cell string) colour) {
	var line strings.Builder
	pad := 0
	for i, c := range cells {
		if widths[i] == 0 {
			continue
		}
		shown := cut(c, widths[i])
		line.WriteString(strings.Repeat(" ", pad))
		line.WriteString(g.p.paint(paint(i, c), shown))
		pad = gap + widths[i] - columns(shown)
	}
	b.WriteString(strings.TrimRight(line.String(), " "))
	b.WriteByte('\n')
}

// widths gives each column its room. Columns of which no row has anything take none.
func (g *grid) widths() []int {
	w := make([]int, len(g.head))
	for i := range g.head {
		for _, r := range g.rows {
			w[i] = max(w[i], columns(r[i]))
		}
		if w[i] > 0 {
			w[i] = max(w[i], columns(g.head[i]))
		}
	}
	if g.p.width == 0 {
		return w
	}
	for _, least := range []struct {
		width int
		soft  bool
	}{{softMin, true}, {softMin, false}, {1, false}} {
		for over := total(w) - g.p.width; over > 0; over = total(w) - g.p.width {
			i := widest(w, func(i int) bool { return (g.soft[i] || !least.soft) && w[i] > least.width })
			if i < 0 {
				break
			}
			w[i]--
		}
	}
	return w
}

func total(w []int) int {
	n := 0
	for _, x := range w {
		if x > 0 {
			n += x + gap
		}
	}
	return n - gap
}

// widest gives the widest column of those that may be cut; -1 = none.
func widest(w []int, may func(i int) bool) int {
	at := -1
	for i := range w {
		if may(i) && (at < 0 || w[i] > w[at]) {
			at = i
		}
	}
	return at
}

// bar is a bar of a chart: value of most, in cells of an eighth.
func bar(value, most float64, width int) string {
	if value <= 0 || most <= 0 {
		return ""
	}
	eighths := max(int(value/most*float64(width*8)+0.5), 1)
	s := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		s += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return s
}
