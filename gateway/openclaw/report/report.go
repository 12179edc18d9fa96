// Package report collects what becomes of everything that an import finds: what a person must do, what differs, what is left out.
//
// It is the lowest package of the import and knows neither configurations nor sessions. A Report is filled by one goroutine; the
// caller owns it. It holds no secret: who writes a line passes names and reasons, never values of keys.
package report

import (
	"cmp"
	"slices"
)

// Item is one line of the report.
type Item struct {
	What string `json:"what"`          // the key, file, or session, as OpenClaw calls it
	Why  string `json:"why,omitempty"` // the reason, and what to do
}

// Report has one list of lines for each section, in the order in which a person reads them.
type Report struct {
	NeedsYou   []Item `json:"needsYou"`   // the import is not complete before somebody decides or does this
	OpenToMore []Item `json:"openToMore"` // admits more people, chats, tools or destinations than OpenClaw did; should be empty
	Different  []Item `json:"different"`  // carried over, with another meaning or in another place
	Left       []Item `json:"left"`       // not carried over
	Also       []Item `json:"also"`       // files and folders that were found and not read
	Carried    []Item `json:"carried"`    // carried over as they are
	Sessions   int    `json:"sessions"`
	Messages   int    `json:"messages"`
}

// Need adds a line to the section "Needs you".
func (r *Report) Need(what, why string) { r.NeedsYou = append(r.NeedsYou, Item{what, why}) }

// Open adds a line to the section "Open to more people than before".
func (r *Report) Open(what, why string) { r.OpenToMore = append(r.OpenToMore, Item{what, why}) }

// Differ adds a line to the section "Different now".
func (r *Report) Differ(what, why string) { r.Different = append(r.Different, Item{what, why}) }

// Leave adds a line to the section "Left out".
func (r *Report) Leave(what, why string) { r.Left = append(r.Left, Item{what, why}) }

// See adds a line to the section "Also in this folder".
func (r *Report) See(what, why string) { r.Also = append(r.Also, Item{what, why}) }

// Carry adds a line to the list of what was carried over as it is.
func (r *Report) Carry(what, why string) { r.Carried = append(r.Carried, Item{what, why}) }

// Sort orders each section by name, removes repeated lines, and makes absent sections empty lists.
func (r *Report) Sort() {
	for _, list := range []*[]Item{&r.NeedsYou, &r.OpenToMore, &r.Different, &r.Left, &r.Also, &r.Carried} {
		slices.SortStableFunc(*list, func(a, b Item) int { return cmp.Compare(a.What, b.What) })
		*list = slices.Compact(*list)
		if *list == nil {
			*list = []Item{}
		}
	}
}
