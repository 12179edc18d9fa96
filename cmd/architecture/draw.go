package main

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
)

// Sizes of the picture, in pixels.
const (
	margin     = 16
	boxWidth   = 104
	boxHeight  = 26
	columnStep = 124
	rowStep    = 34
	bandTitle  = 28 // above the boxes of a band
	bandGap    = 10
)

// spot is where a package's box has its upper left corner.
type spot struct{ x, y int }

// draw writes the picture: the same text for the same graph.
func draw(g graph) (string, error) {
	var boxes, lines strings.Builder
	width, y := 0, margin
	for i, top := range line {
		columns := g.band(top)
		if len(columns) == 0 {
			return "", fmt.Errorf("no package in %s", top)
		}
		rows := 0
		at := map[*pkg]spot{}
		for n, column := range columns {
			arrange(g, column, at)
			for row, p := range column {
				at[p] = spot{2*margin + n*columnStep, y + bandTitle + row*rowStep}
			}
			rows = max(rows, len(column))
		}
		height := bandTitle + rows*rowStep + 4
		width = max(width, 3*margin+(len(columns)-1)*columnStep+boxWidth)
		fmt.Fprintf(&lines, "  <rect class=\"band\" x=\"%d\" y=\"%d\" width=\"@\" height=\"%d\" rx=\"8\"/>\n  <text class=\"h\" x=\"%d\" y=\"%d\">%d · %s</text><text x=\"%d\" y=\"%d\">%s</text>\n",
			margin, y, height, 2*margin, y+19, i+1, top, 2*margin+columnStep, y+19, html.EscapeString(folderSentence(g[top])))
		for _, column := range columns {
			for _, p := range column {
				connect(&lines, g, p, at)
				box(&boxes, p, at[p])
			}
		}
		y += height + bandGap
	}
	frame := width - 2*margin
	var out strings.Builder
	fmt.Fprintf(&out, head, width, y+margin, width, y+margin)
	out.WriteString(strings.ReplaceAll(lines.String(), `width="@"`, fmt.Sprintf(`width="%d"`, frame)))
	out.WriteString(boxes.String())
	fmt.Fprintf(&out, "  <text x=\"%d\" y=\"%d\">A package imports only from the bands above its own, and from its left. Lines: imports inside a band that no other line implies.</text>\n</svg>\n", margin, y+6)
	return out.String(), nil
}

// maxAbout is how many characters of a folder's sentence have room.
const maxAbout = 170

// folderSentence is what a band says of its folder.
func folderSentence(p *pkg) string {
	if p == nil {
		return ""
	}
	text := []rune(strings.TrimPrefix(p.sentence, "Package "+p.name()+" "))
	if len(text) > maxAbout {
		return string(text[:maxAbout-1]) + "…"
	}
	return string(text)
}

// arrange sorts a column so that packages stand near what they import.
func arrange(g graph, column []*pkg, at map[*pkg]spot) {
	height := func(p *pkg) int {
		list := g.inside(p)
		sum := 0
		for _, i := range list {
			sum += at[i].y
		}
		return sum / max(len(list), 1)
	}
	slices.SortFunc(column, func(a, b *pkg) int { return cmp.Or(cmp.Compare(height(a), height(b)), strings.Compare(a.path, b.path)) })
}

// connect draws the lines from a package to what it imports.
func connect(out *strings.Builder, g graph, p *pkg, at map[*pkg]spot) {
	for _, i := range g.inside(p) {
		if g.reaches(p, i) {
			continue
		}
		from, to := at[i], at[p]
		x1, y1, x2, y2 := from.x+boxWidth, from.y+boxHeight/2, to.x, to.y+boxHeight/2
		const bend = columnStep - boxWidth
		fmt.Fprintf(out, "  <path class=\"i\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2)
	}
}

// box draws a package; a pointer over it shows its sentence and its imports.
func box(out *strings.Builder, p *pkg, at spot) {
	tip := p.path
	if p.sentence != "" {
		tip += ": " + p.sentence
	}
	if len(p.imports) > 0 {
		tip += "\nimports " + strings.Join(p.imports, ", ")
	}
	class := "box"
	if p.path == p.folder() {
		class = "root"
	}
	fmt.Fprintf(out, "  <g><title>%s</title><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\"/><text class=\"c\" x=\"%d\" y=\"%d\">%s</text></g>\n",
		html.EscapeString(tip), class, at.x, at.y, boxWidth, boxHeight, at.x+boxWidth/2, at.y+boxHeight/2+4, html.EscapeString(p.name()))
}

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="t">
  <title id="t">The packages of parley and what they import</title>
  <!-- made by: go test ./cmd/architecture -update -->
  <style>
    svg { --page: #fbfbfa; --band: #f1f3f5; --card: #ffffff; --edge: #c9cdd3; --ink: #1f2328; --soft: #5d6570; --root: #e8f0fb; --rootedge: #86a9dd; --flow: #8aa0bd; background: var(--page); }
    @media (prefers-color-scheme: dark) {
      svg { --page: #15181d; --band: #1a1e24; --card: #1f242b; --edge: #444c57; --ink: #e7eaee; --soft: #a0a9b5; --root: #1b2b44; --rootedge: #4a72ad; --flow: #5b708c; }
    }
    text { font-family: system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; font-size: 12px; fill: var(--soft); }
    .h { font-size: 13px; font-weight: 600; fill: var(--ink); }
    .c { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 11px; fill: var(--ink); text-anchor: middle; }
    .band { fill: var(--band); }
    .box { fill: var(--card); stroke: var(--edge); }
    .root { fill: var(--root); stroke: var(--rootedge); stroke-width: 1.4; }
    .i { fill: none; stroke: var(--flow); stroke-width: 1.1; }
  </style>
`
