package lessons

import (
	"slices"
	"strconv"

	"parley/sessions"
	"parley/tools"
)

// toolFraming is what a request has of each tool besides its own texts, in bytes.
const toolFraming = 64

// sizesOf returns how many bytes the first tools take in a request: of one, of two, and so on.
func sizesOf(specs []tools.Spec) []int {
	out, n := make([]int, len(specs)), 0
	for i := range specs {
		n += len(specs[i].Name) + len(specs[i].Description) + len(specs[i].Schema) + toolFraming
		out[i] = n
	}
	return out
}

// readToolsSize reads errors about the size of all tools together: as many of the first ones are sent as there is room for, and the others are
// found by find_tool. Where an error names no size that helps, half of them are. Without tools goes only what not even one of them fits into.
// source: dwgx/WindsurfAPI#70
func readToolsSize(r reading) (sessions.Lesson, bool) {
	n := len(r.sent.Tools)
	if n == 0 || !r.f.ToolsTooLarge() {
		return sessions.Lesson{}, false
	}
	if name := r.namedTool(); name != "" {
		return r.without(name), true
	}
	sizes := sizesOf(r.call.offered)
	if len(sizes) != n { // of stubs
		return sessions.Lesson{Kind: Tools}, true
	}
	all := sizes[n-1]
	room, isBound := all/2, false
	if said := r.f.Sizes(); len(said) > 0 {
		switch least, most := slices.Min(said), slices.Max(said); {
		case least < most:
			room = int(float64(all) * float64(least) / float64(most))
		case least < all:
			room, isBound = least, true
		}
	}
	room -= room / 10
	fits := 0
	for fits < n-1 && sizes[fits] <= room {
		fits++
	}
	if fits == 0 && !isBound { // the sizes that are named may be those of something else
		fits = n / 2
	}
	if fits == 0 {
		return sessions.Lesson{Kind: Tools}, true
	}
	return sessions.Lesson{Kind: MaxTools, Use: strconv.Itoa(fits)}, true
}
